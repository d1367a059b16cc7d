"""Kill -9, two publishers at once, a full disk: the ledger stands and the next publish works."""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.rival_publishers import publish_after_the_other_has_looked

from seriatim import api
from seriatim.errors import SeriatimError
from seriatim.testing.hospital import POLICY, hospital

TESTS = Path(__file__).parents[1]


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    (tmp_path / "policy.toml").write_text(POLICY)
    return api.load_policy(tmp_path / "policy.toml")


@pytest.mark.slow
def test_four_kills(tmp_path: Path) -> None:
    """``./dev bench faults`` makes 500, of stewards who do everything else too."""
    command = [sys.executable, "-m", "support.killed_publishers", str(tmp_path), "4", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, cwd=TESTS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 5


def test_two_publishers_at_once_one_wins(tmp_path: Path, policy: Any) -> None:
    api.open_ledger(tmp_path / "ledger.db")
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    arguments = (tmp_path, barrier, results)
    both = [context.Process(target=publish_after_the_other_has_looked, args=arguments) for _ in range(2)]
    for process in both:
        process.start()
    outcomes = sorted(results.get(timeout=240) for _ in both)
    for process in both:
        process.join(60)
    assert outcomes == [("moved", 4), ("released", 1)]
    ledger = api.open_ledger(tmp_path / "ledger.db")
    assert ledger.verify([tmp_path / "out"]).sound
    assert [record.number for record in ledger.records()] == [1]


def test_a_full_disk_is_one_clear_line_and_leaves_nothing(tmp_path: Path, policy: Any) -> None:
    """A limit on the size of files stands in for a full disk: the write fails in the middle of the table."""
    ledger = api.open_ledger(tmp_path / "ledger.db")
    table = hospital(20_000)
    api.publish(table, policy, ledger, dry_run=True)  # compiled before files are limited
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(SeriatimError) as raised:
            api.publish(table, policy, ledger, out=tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    check = ledger.verify()
    assert check.sound, check.faults
    assert list(ledger.records()) == []
    assert api.publish(table, policy, ledger, out=tmp_path / "out").number == 1
