"""Nothing about a person leaves the private shelf: not by errors, entries, rows or manifests."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from support.ledgers import PASTS, SECRET, made_groups, made_policy, publish

from seriatim.errors import SeriatimError
from seriatim.ledger.sql_ledger import open_ledger
from seriatim.ports import Reservation

PERSON, VALUE = "canary-person-7f3a", "canary-disease-9c1e"


def test_the_catalogue_and_the_manifest_hold_no_cell(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    groups = made_groups([PERSON, "bob"], [VALUE, "flu"])
    with ledger.stage() as folder:
        state = ledger.state("ward")
        ledger.reserve(
            Reservation(
                state=state,
                secret=SECRET,
                policy=made_policy(),
                staged=folder,
                groups=groups,
                n_published=2,
                destination=tmp_path / "out",
            )
        )
    ledger.seal("ward", 1)
    ledger.erase("ward", PERSON)
    check = ledger.verify([tmp_path / "out"])
    seen = [repr(ledger.entries()), repr(ledger.records()), repr(check), repr(ledger.state("ward"))]
    seen += [path.read_bytes().decode("latin-1") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    seen += [path.read_bytes().decode("latin-1") for path in tmp_path.glob("ledger.db*") if path.is_file()]
    assert len(seen) >= 6
    for text in seen:
        assert PERSON not in text
        assert VALUE not in text
        assert SECRET.hex() not in text
    for path in (ledger.shelf.root).rglob("*"):
        assert path.is_dir() or PERSON.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "groups",
    [
        made_groups([PERSON]).append_column("lineage", pa.array([VALUE])),
        made_groups([PERSON]).append_column("group", pa.array([VALUE])),
        made_groups([PERSON]).set_column(0, "respondent", pa.array([PERSON.encode() + b"\xff"])),
        made_groups([PERSON]).set_column(0, "respondent", pa.array([[PERSON]])),
    ],
)
def test_bad_groups_are_refused_without_showing_them(groups: pa.Table, tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    with ledger.stage() as folder, pytest.raises(SeriatimError) as raised:
        ledger.reserve(
            Reservation(
                state=ledger.state("ward"),
                secret=SECRET,
                policy=made_policy(),
                staged=folder,
                groups=groups,
                n_published=1,
            )
        )
    assert PERSON not in str(raised.value)
    assert VALUE not in str(raised.value)
    assert ledger.entries() == []


def test_bad_history_is_refused_without_showing_it(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    huge = 2**64 - 1
    bad = [
        PASTS.set_column(0, "release", pa.array([huge] * 5, pa.uint64())),
        PASTS.set_column(0, "release", pa.array([[PERSON]] * 5)),
        PASTS.set_column(0, "release", pa.array([f"{PERSON}-{row}" for row in range(5)])),
        PASTS.set_column(1, "respondent", pa.array([[PERSON]] * 5)),
    ]
    for pasts in bad:
        with pytest.raises(SeriatimError) as raised:
            ledger.import_history(made_policy(), pasts)
        assert PERSON not in str(raised.value)
        assert str(huge) not in str(raised.value)
    assert ledger.entries() == []


def test_damage_is_told_without_the_cells(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    publish(ledger, [PERSON, "bob"])
    path = ledger.shelf.release("ward", 1) / "people.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SeriatimError) as raised:
        ledger.history("ward")
    assert PERSON not in str(raised.value)
    assert PERSON not in repr(ledger.verify())
