"""What a method remembers of people: kept with its release, read back for the next one, erased with the person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.ledgers import SECRET, made_groups, made_policy, publish

import seriatim as sr
from seriatim.errors import SeriatimError
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.model import Draft
from seriatim.ports import Reservation
from seriatim.testing.hospital import hospital
from seriatim.usecases.publish import plan as plan_case

ANY_TYPES = pa.table(
    {
        "respondent": ["bob", "ann", "bob"],
        "weight": pa.array([0.25, None, 1.5], pa.float64()),
        "since": pa.array([dt.date(2024, 2, 29), None, dt.date(1900, 1, 1)], pa.date32()),
        "seen": pa.array([[1, 2], [], None], pa.list_(pa.int16())),
        "last": pa.array([{"value": "flu", "n": 1}, None, {"value": None, "n": 2}]),
        "word": pa.array(["x", None, "y"]).dictionary_encode(),
        "price": pa.array([Decimal("1.10"), Decimal("-2.00"), None], pa.decimal128(9, 2)),
        "raw": pa.array([b"\x00\xff", None, b""], pa.binary()),
        "when": pa.array([0, None, 5], pa.timestamp("us", "Europe/Rome")),
        "for": pa.array([1, 2, None], pa.duration("s")),
        "nothing": pa.nulls(3),
        "yes": pa.array([True, None, False]),
        "big": pa.array([2**64 - 1, 0, None], pa.uint64()),
    }
)


@pytest.fixture
def ledger(ledger_url: str, tmp_path: Path) -> SqlLedger:
    return open_ledger(ledger_url, shelf=tmp_path / "shelf")


def remember(ledger: SqlLedger, respondents: list[str], memory: Mapping[str, pa.Table]) -> int:
    state = ledger.state("ward")
    with ledger.stage() as folder:
        (folder / "table.csv").write_text("age\n")
        asked = Reservation(
            state=state,
            secret=SECRET,
            policy=made_policy(),
            staged=folder,
            groups=made_groups(respondents),
            n_published=2,
            memory=memory,
        )
        record = ledger.reserve(asked)
    return ledger.seal("ward", record.number).number


def test_any_column_types_come_back_as_they_were(ledger: SqlLedger) -> None:
    remember(ledger, ["ann", "bob"], {"beliefs": ANY_TYPES, "empty": ANY_TYPES.slice(0, 0)})
    found = ledger.memory("ward")
    assert found["beliefs"].equals(ANY_TYPES)
    assert found["empty"].schema.equals(ANY_TYPES.schema)
    assert found["empty"].num_rows == 0
    check = ledger.verify()
    assert check.sound
    assert not check.notes


def test_only_the_newest_release_is_remembered(ledger: SqlLedger) -> None:
    assert ledger.memory("ward") == {}
    remember(ledger, ["ann", "bob"], {"seen": pa.table({"respondent": ["ann"], "times": [1]})})
    later = pa.table({"respondent": ["zoe", "ann"], "times": [1, 2]})  # zoe stands in no group: she is a newcomer
    remember(ledger, ["ann", "bob"], {"seen": later})
    assert ledger.memory("ward")["seen"].equals(later)
    assert ledger.history("ward").respondents.to_pylist() == ["ann", "bob", "zoe"]
    publish(ledger, ["ann", "bob"])
    assert ledger.memory("ward") == {}


def test_people_are_numbers_on_the_shelf(ledger: SqlLedger) -> None:
    remember(ledger, ["ann", "bob"], {"seen": pa.table({"times": [1, 2], "respondent": ["bob", "ann"]})})
    content = (ledger.shelf.release("ward", 1) / "memory-seen.parquet").read_bytes()
    assert b"bob" not in content
    assert b"ann" not in content


def test_a_memory_is_erased_with_the_person_in_every_release(ledger: SqlLedger) -> None:
    for _ in range(2):
        seen = pa.table({"respondent": ["bob", "ann"], "canary": ["secret-of-bob", "x"]})
        remember(ledger, ["ann", "bob"], {"seen": seen})
    assert ledger.erase("ward", "bob") == 3
    assert ledger.memory("ward")["seen"].to_pylist() == [{"respondent": "ann", "canary": "x"}]
    check = ledger.verify()
    assert check.sound, check.faults
    assert not check.notes
    for number in (1, 2):
        assert b"secret-of-bob" not in (ledger.shelf.release("ward", number) / "memory-seen.parquet").read_bytes()


def test_an_erasure_cut_short_is_finished_by_resume(ledger: SqlLedger) -> None:
    remember(ledger, ["ann", "bob"], {"seen": pa.table({"respondent": ["bob", "ann"], "times": [1, 2]})})
    path = ledger.shelf.release("ward", 1) / "memory-seen.parquet"
    old = path.read_bytes()
    ledger.erase("ward", "bob")
    path.rename(path.with_name("memory-seen.parquet.next"))
    path.write_bytes(old)  # as if the power had gone between the commit and the rename
    assert ledger.memory("ward")["seen"].column("respondent").to_pylist() == ["ann"]
    ledger.resume()
    assert path.read_bytes() != old
    assert ledger.verify().sound


def test_a_changed_memory_is_found_and_not_read(ledger: SqlLedger) -> None:
    remember(ledger, ["ann", "bob"], {"seen": pa.table({"respondent": ["bob"], "times": [1]})})
    path = ledger.shelf.release("ward", 1) / "memory-seen.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert [fault for fault in ledger.verify().faults if "memory-seen" in fault]
    with pytest.raises(SeriatimError, match="not the file that was reserved"):
        ledger.memory("ward")


@pytest.mark.parametrize(
    ("name", "memory", "why"),
    [
        ("Seen", {"respondent": ["ann"]}, "a name must be made of"),
        ("../x", {"respondent": ["ann"]}, "a name must be made of"),
        ("seen", {"times": [1]}, "exactly one column respondent"),
        ("seen", {"respondent": ["ann", None]}, "1 rows without a respondent"),
        ("seen", {"respondent": ["ann"], "person": [1]}, "may not be called person"),
        ("seen", {"respondent": ["ann"], "gap": pa.nulls(1, pa.month_day_nano_interval())}, "Parquet cannot hold"),
    ],
)
def test_a_memory_that_cannot_be_kept_is_refused_before_anything_is(
    ledger: SqlLedger, name: str, memory: dict[str, Any], why: str
) -> None:
    with pytest.raises(SeriatimError, match=why):
        remember(ledger, ["ann", "bob"], {name: pa.table(memory)})
    assert not ledger.records()
    assert ledger.verify().sound


def test_a_method_meets_its_own_memory_again(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "ward", "respondent": "patient"},
            "columns": {
                "patient": {"role": "drop"},
                "age": {"role": "quasi", "kind": "number"},
                "disease": {"role": "sensitive"},
            },
            "promise": {"k": 5},
            "defence": {"method": "median"},
        }
    )
    view = hospital(60).select(["patient", "age", "disease"])
    met: list[int | None] = []
    defence_named = plan_case.defence_named

    def remembering(method: str) -> Any:
        def defend(view: Any, policy: Any, state: Any, workers: Any) -> Draft:
            before = state.memory.get("times")
            met.append(before and before.column("times")[0].as_py())
            times = pa.table({"respondent": view.cells("patient"), "times": [len(met)] * len(view)})
            return replace(defence_named(method)(view, policy, state, workers), memory={"times": times})

        return defend

    monkeypatch.setattr(plan_case, "defence_named", remembering)
    for _ in range(3):
        assert sr.publish(view, policy, ledger, out=tmp_path / "out", again=True).verdict.released
    assert met == [None, 1, 2]
    assert not list((tmp_path / "out").rglob("memory*"))
