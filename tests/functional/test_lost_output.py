"""What happened keeps its exit code, whether or not anybody could be told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import write_policy, write_view

from seriatim import api


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(("k", "form", "code", "releases"), [(3, (), 0, 1), (30, ("--json",), 3, 0)])
def test_a_full_disk_behind_the_output(tmp_path: Path, k: int, form: tuple[str, ...], code: int, releases: int) -> None:
    write_view(tmp_path)
    write_policy(tmp_path, k=k)
    command = [sys.executable, "-m", "seriatim", "publish", "view.csv", "-p", "policy.toml", *form]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False
        )
    assert done.returncode == code, done.stderr
    assert "could not be written" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert len(api.open_ledger(tmp_path / "ledger.db").records()) == releases


def until_the_reader_leaves(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a command whose output nobody reads from the start; return its exit code and what it said elsewhere."""
    command, pipe = [sys.executable, "-m", "seriatim", *arguments], subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        return running.wait(300), running.stderr.read()


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_who_leaves_early_changes_no_exit_code(tmp_path: Path, form: tuple[str, ...]) -> None:
    write_view(tmp_path)
    write_policy(tmp_path)
    assert until_the_reader_leaves(tmp_path, "publish", "view.csv", "-p", "policy.toml", *form) == (0, "")
    assert until_the_reader_leaves(tmp_path, "publish", "view.csv", "-p", "policy.toml", *form) == (3, "")
    assert until_the_reader_leaves(tmp_path, "ledger", "show", *form) == (0, "")
    assert until_the_reader_leaves(tmp_path, "ledger", "verify", *form) == (0, "")
    assert until_the_reader_leaves(tmp_path, "audit", "view.csv", "-p", "policy.toml", *form) == (3, "")


@pytest.mark.parametrize("arguments", [("--help",), ("publish", "--help"), ("ledger", "--help"), ("--version",)])
def test_a_reader_who_leaves_the_help_page_early(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert until_the_reader_leaves(tmp_path, *arguments) == (0, "")
