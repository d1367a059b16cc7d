"""A restored backup that does not know every release goes no further, wherever the releases went."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.command_line import Ran, seriatim, write_policy, write_view

import seriatim as sr
from seriatim import api

PUBLISH = ("publish", "view.csv", "-p", "policy.toml", "--allow", "again", "--out")
AFTER = {
    "publish": (*PUBLISH, "{next}"),
    "dry run": (*PUBLISH, "{next}", "--dry-run"),
    "deliver": ("ledger", "deliver", "s", "1", "--to", "lab"),
    "recall": ("ledger", "recall", "s", "2", "--reason", "wrong"),
    "erase": ("ledger", "erase", "s", "p1"),
    "verify": ("ledger", "verify"),
}


def ended(ran: Ran) -> tuple[int, bool]:
    return ran.code, "restore" in ran.out + ran.err


def desk_with_old_backup(folder: Path, outs: Sequence[str], head: str | None = None) -> None:
    """Publish to one folder after the other; ledger and shelf are then as they were before the last."""
    write_view(folder)
    text = write_policy(folder, series="s").read_text()
    if head is not None:
        (folder / "policy.toml").write_text(text.replace('name = "s"', f'name = "s"\nhead = "{head}"', 1))
    for out in outs[:-1]:
        assert seriatim(folder, *PUBLISH, out).code == 0
    shutil.copytree(folder / "ledger.db.shelf", folder / "old.shelf")
    shutil.copy(folder / "ledger.db", folder / "old.db")
    assert seriatim(folder, *PUBLISH, outs[-1]).code == 0
    shutil.rmtree(folder / "ledger.db.shelf")
    (folder / "old.shelf").rename(folder / "ledger.db.shelf")
    (folder / "old.db").rename(folder / "ledger.db")


@pytest.mark.parametrize("after", AFTER)
def test_a_folder_for_each_release(tmp_path: Path, after: str) -> None:
    desk_with_old_backup(tmp_path, ["out/2026-01", "out/2026-02", "out/2026-03"])
    asked = [word.format(next="out/2026-04") for word in AFTER[after]]
    before = api.open_ledger(tmp_path / "ledger.db").entries()
    assert ended(seriatim(tmp_path, *asked)) == (4, True)
    assert api.open_ledger(tmp_path / "ledger.db").entries() == before
    assert not (tmp_path / "out/2026-04").exists()


@pytest.mark.parametrize("after", AFTER)
def test_a_head_outside_the_shelf(tmp_path: Path, after: str) -> None:
    desk_with_old_backup(tmp_path, ["one/a", "two/b", "three/c"], head="s.head")
    assert len((tmp_path / "s.head").read_text().splitlines()) == 1
    assert ended(seriatim(tmp_path, *(word.format(next="four/d") for word in AFTER[after]))) == (4, True)
    assert not (tmp_path / "four").exists()


def test_a_ledger_that_was_lost_is_not_made_again_beside_its_head(tmp_path: Path) -> None:
    desk_with_old_backup(tmp_path, ["one/a", "two/b"], head="s.head")
    shutil.rmtree(tmp_path / "ledger.db.shelf")
    (tmp_path / "ledger.db").unlink()
    assert ended(seriatim(tmp_path, *PUBLISH, "three/c")) == (4, True)
    assert not (tmp_path / "ledger.db").exists()


def test_a_head_is_no_promise_and_follows_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk_with_old_backup(tmp_path, ["one/a", "one/b"])
    shutil.rmtree(tmp_path / "one/b")
    plain = sr.Policy.load(tmp_path / "policy.toml")
    text = (tmp_path / "policy.toml").read_text()
    (tmp_path / "policy.toml").write_text(text.replace('name = "s"', 'name = "s"\nhead = "heads/s.head"', 1))
    (tmp_path / "heads").mkdir()
    policy = sr.Policy.load(tmp_path / "policy.toml")
    assert (policy.digest, policy.head) == (plain.digest, tmp_path / "heads/s.head")
    ledger = api.open_ledger(tmp_path / "ledger.db")
    with monkeypatch.context() as patched:
        patched.setattr(type(ledger), "seal", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sr.publish(tmp_path / "view.csv", policy, ledger, again=True, out=tmp_path / "one/b")
    assert not (tmp_path / "heads/s.head").exists()
    (record,) = ledger.resume()
    assert record.manifest["chain"] in (tmp_path / "heads/s.head").read_text()
    assert ledger.verify().sound
    (tmp_path / "heads/s.head").unlink()
    assert any("heads/s.head" in note for note in ledger.verify().notes)


def test_a_head_replaces_nothing_else(tmp_path: Path) -> None:
    write_view(tmp_path)
    text = write_policy(tmp_path, series="s").read_text().replace('name = "s"', 'name = "s"\nhead = "view.csv"', 1)
    (tmp_path / "policy.toml").write_text(text)
    before = (tmp_path / "view.csv").read_text()
    refused = seriatim(tmp_path, *PUBLISH, "out")
    assert (refused.code, (tmp_path / "view.csv").read_text()) == (2, before)
    assert "[series] head" in refused.err
    assert not (tmp_path / "ledger.db").exists()


def test_folders_of_another_ledger_beside_ours_are_no_sign_of_a_backup(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path, series="s")
    for out in ("try", "try", "try"):
        assert seriatim(tmp_path, *PUBLISH, out, "--ledger", "try.db").code == 0
    for out in ("releases", "elsewhere"):
        assert seriatim(tmp_path, *PUBLISH, out).code == 0
    assert seriatim(tmp_path, "ledger", "verify").code == 0
