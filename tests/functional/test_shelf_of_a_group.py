"""Two people with accounts of their own, one PostgreSQL ledger, and a shelf that belongs to their group."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.fork import forked

import seriatim as sr
from seriatim.testing.hospital import hospital_months

UNREADABLE = 77
POLICY = {
    "series": {"name": "ward", "respondent": "patient"},
    "columns": {
        "age": {"role": "quasi", "kind": "number"},
        "sex": {"role": "quasi"},
        "postcode": {"role": "drop"},
        "ward": {"role": "drop"},
        "disease": {"role": "sensitive"},
    },
    "promise": {"k": 5},
    "defence": {"method": "median"},
}


@pytest.fixture
def colleagues() -> Iterator[list[pwd.struct_passwd]]:
    """Make two accounts in a group of their own, which are removed afterwards."""
    if os.getuid() != 0 or shutil.which("useradd") is None:
        pytest.skip("only root can make accounts")
    name = f"seriatim{secrets.token_hex(3)}"
    subprocess.run(["groupadd", name], check=True)
    names = [f"{name}{letter}" for letter in "ab"]
    try:
        for one in names:
            subprocess.run(["useradd", "--no-create-home", "--gid", name, one], check=True, capture_output=True)
        yield [pwd.getpwnam(one) for one in names]
    finally:
        for one in names:
            subprocess.run(["userdel", one], check=False, capture_output=True)
        subprocess.run(["groupdel", name], check=False, capture_output=True)


@pytest.fixture
def place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="seriatim-shelf-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def done_by(who: pwd.struct_passwd, work: Callable[[], Any]) -> int:
    def as_them() -> None:
        os.setgroups([])
        os.setgid(who.pw_gid)
        os.setuid(who.pw_uid)
        try:
            Path(sr.__file__ or "").read_bytes()
        except PermissionError:
            os._exit(UNREADABLE)
        work()

    return os.waitstatus_to_exitcode(os.waitpid(forked(as_them), 0)[1])


@pytest.mark.postgres
def test_each_goes_on_where_the_other_stopped(
    colleagues: list[pwd.struct_passwd], place: Path, tmp_path: Path, postgres: Any
) -> None:
    anna, ben = colleagues
    shelf = place / "shelf"
    shelf.mkdir()
    os.chown(shelf, 0, anna.pw_gid)
    shelf.chmod(0o2770)
    policy, months = sr.Policy.from_dict(POLICY), hospital_months(100, 3, churn=0.1)
    here = sr.Ledger.open(postgres.fresh_url(), shelf=tmp_path / "shelf")
    for view in months[:2]:  # what children need is loaded: they may read no cache of root's
        sr.publish(view, policy, here)
    url = postgres.fresh_url()

    def published(view: Any) -> Callable[[], None]:
        def publish() -> None:
            assert sr.publish(view, policy, sr.Ledger.open(url, shelf=shelf)).verdict.released

        return publish

    codes = [done_by(who, published(view)) for who, view in zip((anna, ben, anna), months, strict=True)]
    if UNREADABLE in codes:
        pytest.skip("other accounts may not read this installation")
    assert codes == [0, 0, 0]
    checked = sr.Ledger.open(url, shelf=shelf).verify()
    assert (checked.faults, checked.n_releases) == ((), 3)
    assert not [note for note in checked.notes if "open to others" in note]
    for path in shelf.rglob("*"):
        mode = path.stat().st_mode
        assert path.stat().st_gid == anna.pw_gid, path
        assert stat.S_IMODE(mode) == (0o2770 if path.is_dir() else 0o660), path


def test_any_other_shelf_is_for_its_owner_alone(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    sr.publish(hospital_months(100, 1)[0], sr.Policy.from_dict(POLICY), ledger)
    open_to_others = [path for path in tmp_path.rglob("*") if path.stat().st_mode & 0o077]
    assert open_to_others == []
