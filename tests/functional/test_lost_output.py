"""What happened keeps its exit code, whether or not anybody could be told."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

import pytest
from support.command_line import write_policy, write_view
from support.command_nursery import nursery

from seriatim import api


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(("k", "form", "code", "releases"), [(3, (), 0, 1), (30, ("--json",), 3, 0)])
def test_a_full_disk_behind_the_output(tmp_path: Path, k: int, form: tuple[str, ...], code: int, releases: int) -> None:
    write_view(tmp_path)
    write_policy(tmp_path, k=k)
    with Path("/dev/full").open("w") as full, TemporaryFile("w+") as said:
        arguments = ["publish", "view.csv", "-p", "policy.toml", *form]
        ended = nursery().fork_command(arguments, tmp_path, full.fileno(), said.fileno()).wait(300)
        said.seek(0)
        err = said.read()
    assert ended == code, err
    assert "could not write the output" in err
    assert len(err.splitlines()) == 1
    assert len(api.open_ledger(tmp_path / "ledger.db").records()) == releases


def until_the_reader_leaves(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a command whose output nobody reads from the start; return its exit code and what it said elsewhere."""
    reader, writer = os.pipe()
    with TemporaryFile("w+") as said:
        running = nursery().fork_command([*arguments], folder, writer, said.fileno())
        os.close(writer)
        os.close(reader)
        code = running.wait(300)
        said.seek(0)
        return code, said.read()


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
