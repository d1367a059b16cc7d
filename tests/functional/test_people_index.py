"""The index of people answers for every other series what their files of newcomers say, and forgets with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from support.ledgers import PASTS, SECRET, made_policy, publish

from seriatim.ledger import stored_history
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger

EVERYONE = pa.array(["ann", "ann", "bob", "cid", "dan", None])


@pytest.fixture
def ledger(ledger_url: str, tmp_path: Path) -> SqlLedger:
    made = open_ledger(ledger_url, shelf=tmp_path / "shelf")
    publish(made, ["ann", "bob"], policy=made_policy("one"))
    publish(made, ["bob", "cid", None], policy=made_policy("one"))
    publish(made, ["eve"], policy=made_policy("two"))
    made.import_history(made_policy("old"), PASTS, SECRET)
    return made


def index(ledger: SqlLedger, series: str) -> Path:
    return ledger.shelf.series(series) / "people.index"


def test_it_counts_rows_of_people_in_other_series(ledger: SqlLedger) -> None:
    assert ledger.in_other_series("two", EVERYONE) == {"one": 4, "old": 4}
    assert ledger.in_other_series("one", EVERYONE) == {"old": 4}
    assert ledger.in_other_series("new", pa.array(["eve"])) == {"two": 1}
    assert ledger.in_other_series("new", pa.array([7, 8])) == {}
    assert index(ledger, "one").stat().st_mode & 0o777 == 0o600


def test_no_file_of_newcomers_is_read_for_it(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking through 2,500 series took seven seconds of each publication."""
    publish(ledger, ["ann"], policy=made_policy("three"))
    read: list[str] = []
    whole = stored_history.read_reserved
    monkeypatch.setattr(
        stored_history, "read_reserved", lambda place, name, *more: (read.append(name), whole(place, name, *more))[1]
    )
    assert ledger.in_other_series("new", pa.array(["ann", "eve"])) == {"old": 1, "one": 1, "three": 1, "two": 1}
    assert {name.partition("/")[0] for name in read} == {"old"}


def _erased(ledger: SqlLedger) -> None:
    ledger.erase("one", "cid")


def _recalled(ledger: SqlLedger) -> None:
    publish(ledger, ["zoe"], policy=made_policy("one"), recipients=())
    ledger.recall("one", 3, "wrong")


def _recalled_after_someone_was_erased(ledger: SqlLedger) -> None:
    _erased(ledger)
    _recalled(ledger)


@pytest.mark.parametrize("change", [_erased, _recalled, _recalled_after_someone_was_erased])
def test_whoever_is_gone_is_gone_from_it(ledger: SqlLedger, change: Callable[[SqlLedger], None]) -> None:
    before = index(ledger, "one").read_bytes()
    change(ledger)
    assert not index(ledger, "one").exists()
    gone = pa.array(["cid", "zoe"] if change is not _recalled else ["zoe"])
    assert ledger.in_other_series("new", gone) in ({"old": 1}, {})
    index(ledger, "one").write_bytes(before)  # as of an earlier state
    assert ledger.in_other_series("new", gone) in ({"old": 1}, {})
    publish(ledger, ["dan"], policy=made_policy("one"))
    assert ledger.in_other_series("new", EVERYONE)["one"] == (4 if change is not _recalled else 5)
    assert ledger.verify().sound


def test_a_flipped_bit_changes_no_count_and_is_found(ledger: SqlLedger) -> None:
    path = index(ledger, "one")
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert ledger.in_other_series("two", EVERYONE) == {"one": 4, "old": 4}
        if at % 16 == 0:
            assert any("people.index" in fault for fault in ledger.verify().faults)
    path.unlink()
    assert ledger.in_other_series("two", EVERYONE) == {"one": 4, "old": 4}
    assert ledger.verify().sound
