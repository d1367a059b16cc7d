"""Who is who in a long series: a few files name everyone, whatever was recalled, erased or corrected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.ledgers import SECRET, made_groups, made_policy

from seriatim.ledger import reservations, shelf, stored_history
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.ports import Reservation, Shelf

TOGETHER = "newcomers.parquet"


@pytest.fixture
def ledger(ledger_url: str, tmp_path: Path) -> SqlLedger:
    return open_ledger(ledger_url, shelf=tmp_path / "shelf")


def _publish(ledger: SqlLedger, respondents: Sequence[str], corrected: tuple[str, ...] = ()) -> None:
    state, policy = ledger.state("ward"), made_policy()
    with ledger.stage() as folder:
        (folder / "table.csv").write_bytes(b"disease\nflu\n")
        asked = Reservation(
            state=state,
            secret=state.secret or SECRET,
            policy=policy,
            staged=folder,
            groups=made_groups(respondents),
            n_published=len(respondents),
            corrected=corrected,
        )
        record = ledger.reserve(asked)
    ledger.seal("ward", record.number)


def _began(ledger: SqlLedger, n_releases: int) -> None:
    """Import releases of ann, bob and one newcomer each."""
    people = [(number, who) for number in range(1, n_releases + 1) for who in ("ann", "bob", f"new{number}")]
    release, respondent = zip(*people, strict=True)
    same = {"group": [1] * len(people), "disease": ["flu"] * len(people)}
    ledger.import_history(made_policy(), pa.table({"release": release, "respondent": respondent, **same}), SECRET)


def _goes_on(ledger: SqlLedger, n_releases: int) -> None:
    first = len(ledger.records("ward")) + 1
    for number in range(first, first + n_releases):
        _publish(ledger, ["ann", "bob", f"new{number}"])


def _people(numbers: Sequence[int]) -> list[str]:
    return ["ann", "bob", *(f"new{number}" for number in numbers)]


def _kept_together(ledger: SqlLedger) -> list[int]:
    return [int(path.parent.name) for path in sorted(ledger.shelf.series("ward").glob(f"*/{TOGETHER}"))]


def _files_read(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files from which the people of the series are read."""
    read, found = stored_history.read_reserved, []

    def noted(place: Shelf, name: str, *rest: object) -> object:
        path = Path(name)
        found.append(f"{int(path.parent.name)} {path.stem}")
        return read(place, name, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(stored_history, "read_reserved", noted)
        ledger.history("ward", newest=0)
    return found


def test_seventeen_releases_are_read_from_three_files(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    _began(ledger, 16)
    _goes_on(ledger, 1)
    assert _kept_together(ledger) == [8, 16]
    assert _files_read(ledger, monkeypatch) == ["8 newcomers", "16 newcomers", "17 people"]
    history = ledger.history("ward")
    assert history.respondents.to_pylist() == _people(range(1, 18))
    assert [past.person.tolist() for past in history] == [[0, 1, 1 + number] for number in range(1, 18)]
    check = ledger.verify()
    assert (check.sound, check.notes) == (True, ())


def test_what_a_recalled_release_kept_together_is_not_read(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    _began(ledger, 6)
    _goes_on(ledger, 2)
    ledger.recall("ward", 8, "wrong extract", "Dr Who")
    assert _files_read(ledger, monkeypatch) == [f"{number} people" for number in range(1, 8)]
    ledger.recall("ward", 7, "wrong extract", "Dr Who")
    _goes_on(ledger, 9)  # 9 to 17
    assert _files_read(ledger, monkeypatch)[-2:] == ["16 newcomers", "17 people"]
    known = [who for who in ledger.history("ward").respondents.to_pylist() if who]
    assert known == _people([*range(1, 7), *range(9, 18)])
    assert ledger.verify().sound


def _naming(ledger: SqlLedger, who: str) -> list[str]:
    """Return the files on the shelf that name someone."""
    files = [path for path in sorted(ledger.shelf.series("ward").glob("*/*")) if ".parquet" in path.name]
    tables = {f"{int(path.parent.name)} {path.name}": pq.read_table(path) for path in files}
    columns = {
        name: table["respondent"].to_pylist() for name, table in tables.items() if "respondent" in table.schema.names
    }
    return [name for name, people in columns.items() if who in people]


def test_a_person_is_erased_from_every_file(ledger: SqlLedger) -> None:
    _began(ledger, 9)
    assert _naming(ledger, "new3") == ["3 people.parquet", "8 newcomers.parquet"]
    path = ledger.shelf.release("ward", 8) / TOGETHER
    old = path.read_bytes()
    assert ledger.erase("ward", "new3") == 2
    assert _naming(ledger, "new3") == []
    assert ledger.history("ward").respondents.to_pylist() == [*_people([1, 2]), None, *_people(range(4, 10))[2:]]
    path.rename(path.with_name(f"{TOGETHER}.next"))
    path.write_bytes(old)  # as if the power had gone between the commit and the rename
    path.chmod(0o600)
    assert ledger.history("ward").respondents.to_pylist()[4] is None
    assert ledger.verify().sound
    ledger.resume()
    assert _naming(ledger, "new3") == []
    check = ledger.verify()
    assert (check.sound, check.notes) == (True, ())
    _goes_on(ledger, 7)
    assert _naming(ledger, "new3") == []


def test_corrected_people_are_newcomers_again(ledger: SqlLedger) -> None:
    _began(ledger, 7)
    _publish(ledger, ["ann", "bob", "new2"], corrected=("ann", "new2"))
    _publish(ledger, ["ann", "new2", "bob"], corrected=("ann",))
    history = ledger.history("ward")
    assert [past.person.tolist() for past in history.releases[-2:]] == [[9, 1, 10], [11, 10, 1]]
    assert [history.respondents[at].as_py() for at in (0, 1, 3, 9, 10, 11)] == [None, "bob", None, None, "new2", "ann"]


def test_a_series_from_before_is_read_and_goes_on(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(reservations, "newcomers_since", lambda _: None)
        _began(ledger, 12)
    assert _kept_together(ledger) == []
    _goes_on(ledger, 5)
    assert _kept_together(ledger) == [16]
    assert _files_read(ledger, monkeypatch) == [*(f"{n} people" for n in range(1, 9)), "16 newcomers", "17 people"]
    assert ledger.history("ward").respondents.to_pylist() == _people(range(1, 18))


@pytest.mark.parametrize("n_releases", [1, 7, 8, 63, 64, 65, 100, 511, 512, 1_000])
def test_few_files_name_everyone(n_releases: int) -> None:
    facts = [
        {"number": number, "private": {TOGETHER} if shelf.newcomers_since(number) else {}}
        for number in range(1, n_releases + 1)
    ]
    files = shelf.naming_files(facts)
    named = [
        number
        for one, file in files
        for number in range(
            (shelf.newcomers_since(one["number"]) if file == TOGETHER else None) or one["number"],
            one["number"] + 1,
        )
    ]
    assert named == list(range(1, n_releases + 1))
    digits = 0
    while n_releases:
        n_releases, digit = divmod(n_releases, 8)
        digits += digit
    assert len(files) == digits
