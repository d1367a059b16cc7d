"""Verifying says what it compared and finds every flipped bit; a folder with nothing to compare proves nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim, write_policy, write_view

MANIFEST = "manifest.json"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Two releases; copies of the first at its destination, at a recipient's folder and in an archive."""
    write_view(tmp_path)
    text = write_policy(tmp_path, series="s").read_text().replace('name = "s"', 'name = "s"\nhead = "s.head"', 1)
    (tmp_path / "policy.toml").write_text(text)
    for _ in range(2):
        assert seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--allow", "again").code == 0
    assert seriatim(tmp_path, "ledger", "deliver", "s", "1", "--to", "lab", "--out", "for-lab").code == 0
    shutil.copytree(tmp_path / "releases" / "s-0001", tmp_path / "archive" / "s-0001")
    shutil.copytree(tmp_path / "releases" / "s-0001" / "public", tmp_path / "web" / "s-0001")
    return tmp_path


def verified(desk: Path, *folders: str) -> dict[str, Any]:
    named = [word for folder in folders for word in ("--published", folder)]
    ran = seriatim(desk, "ledger", "verify", "--json", *named)
    found: dict[str, Any] = json.loads(ran.out)
    assert ran.code == (0 if found["sound"] else 4)
    return found


def test_it_says_how_many_copies_were_compared(desk: Path) -> None:
    assert verified(desk)["n_copies"] == 3  # two at their destination, one that was delivered
    found = verified(desk, "archive", "web", "archive/s-0001/public")
    assert (found["sound"], found["n_copies"]) == (True, 5)
    assert (
        "5 published copies" in seriatim(desk, "ledger", "verify", "--published", "archive", "--published", "web").out
    )


def emptied(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def without_manifests(folder: Path) -> None:
    for path in folder.rglob(MANIFEST):
        path.unlink()


def broken(folder: Path) -> None:
    for path in folder.rglob(MANIFEST):
        path.write_bytes(b"[" + path.read_bytes()[1:])


def without_private_manifest(folder: Path) -> None:
    (folder / "s-0001" / "private" / MANIFEST).unlink()


@pytest.mark.parametrize("spoil", [shutil.rmtree, emptied, without_manifests, broken, without_private_manifest])
def test_a_named_folder_in_which_nothing_can_be_compared_is_a_fault(desk: Path, spoil: Callable[[Path], None]) -> None:
    spoil(desk / "archive")
    found = verified(desk, "archive", "web")
    assert not found["sound"]
    assert all("archive" in fault for fault in found["faults"])


def test_one_of_two_copies_without_its_manifest_is_a_fault(desk: Path) -> None:
    shutil.copytree(desk / "releases" / "s-0002" / "public", desk / "web" / "s-0002")
    assert verified(desk, "web")["n_copies"] == 5
    (desk / "web" / "s-0002" / MANIFEST).unlink()
    (fault,) = verified(desk, "web")["faults"]
    assert "web/s-0002" in fault


def test_a_flipped_bit_in_any_file_is_found(desk: Path) -> None:
    """In each file of shelf, destination, head and copies a few bits, one at a time."""
    files = [path for path in desk.rglob("*") if path.is_file() and "ledger.db.shelf" in str(path)]
    files += [path for name in ("releases", "for-lab", "archive", "web") for path in (desk / name).rglob("*")]
    files = [path for path in [*files, desk / "s.head"] if path.is_file() and path.name[0] != "."]
    files = [path for path in files if path.name != "lock"]
    assert len(files) > 40
    for path in files:
        whole = path.read_bytes()
        for at in {0, len(whole) // 2, len(whole) - 1} if whole else ():
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            assert not verified(desk, "archive", "web")["sound"], (path, at)
        path.write_bytes(whole)
    assert verified(desk, "archive", "web")["sound"]
