"""Commands of an installation that nobody may write to, with a home folder that nobody may write to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seriatim as sr

PACKAGE = Path(sr.__file__).parent
POLICY = """
[series]
name = "visits"

[columns.age]
role = "quasi"
kind = "number"

[columns.disease]
role = "sensitive"

[promise]
k = 3

[defence]
method = "median"
"""


def unprivileged() -> list[str]:
    """What keeps root to the permissions of files, as everybody else is; nothing for everybody else."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write anywhere, and setpriv is not here")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]


@pytest.mark.slow
def test_commands_work_and_say_once_where_compiled_code_is_kept(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    site, home, temporary, work = (tmp_path / name for name in ("site", "home", "temporary", "work"))
    for folder in (home, temporary, work):
        folder.mkdir(mode=0o700)
    shutil.copytree(PACKAGE, site / "seriatim", ignore=shutil.ignore_patterns("__pycache__"))
    (work / "policy.toml").write_text(POLICY)
    rows = [f"{20 + n % 50},{('flu', 'cold', 'angina')[n % 3]}\n" for n in range(300)]
    (work / "visits.csv").write_text("age,disease\n" + "".join(rows))
    for path in (site, *site.rglob("*"), home):
        path.chmod(0o555 if path.is_dir() else 0o444)
    surroundings = {
        name: text for name, text in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    surroundings |= {"PYTHONPATH": str(site), "HOME": str(home), "TMPDIR": str(temporary)}

    def said(*words: str) -> str:
        command = [*unprivileged(), sys.executable, "-m", "seriatim", *words]
        done = subprocess.run(command, cwd=work, env=surroundings, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stderr

    publish = ("publish", "visits.csv", "--policy", "policy.toml")
    for words in ((*publish, "--dry-run"), (*publish, "--dry-run"), ("audit", "visits.csv", "--policy", "policy.toml")):
        assert said(*words).count("compiled code is kept in") == 1, words
    kept = list(temporary.rglob("*.nbi"))
    assert kept, "nothing was kept for the next command"
    assert not list(site.rglob("__pycache__")), "something was written into the installation"
    assert not list(home.iterdir())
