"""A ledger written by an older version opens, verifies and goes on in this one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.ledgers import SECRET, made_policy, publish

from seriatim.ledger.sql_ledger import open_ledger

KEPT = Path(__file__).parent.parent / "kept"


@pytest.mark.parametrize("version", sorted(path.name for path in KEPT.glob("ledger-*")))
def test_a_kept_ledger_goes_on(version: str, tmp_path: Path) -> None:
    shutil.copytree(KEPT / version, tmp_path / "kept")
    ledger = open_ledger(tmp_path / "kept" / "ledger.db", create=False)
    check = ledger.verify()
    assert check.sound, check.faults
    assert (check.n_releases, check.n_entries) == (5, 14)
    states = [(record.series, record.number, record.state, record.epoch) for record in ledger.records()]
    assert states == [
        ("before us", 1, "imported", 1),
        ("before us", 2, "imported", 1),
        ("ward", 1, "sealed", 1),
        ("ward", 2, "sealed", 2),
        ("ward", 3, "reserved", 2),
    ]
    assert ledger.records("ward")[0].recipients == ("office", "lab")
    assert ledger.state("ward").secret == SECRET
    history = ledger.history("ward")
    assert history.respondents.to_pylist() == ["ann", "bob", None, "dan", "eve"]
    assert [past.person.tolist() for past in history] == [[0, 1, -1, 2], [1, 3], [4, 0]]
    assert [record.number for record in ledger.resume()] == [3]
    assert publish(ledger, ["eve", "fay"], policy=made_policy(epoch=2, k=3)).number == 4
    assert publish(ledger, ["ann", "cid"], policy=made_policy("before us")).number == 3
    assert ledger.verify().sound


def test_something_is_kept() -> None:
    assert (KEPT / "ledger-0.1" / "ledger.db").is_file()
