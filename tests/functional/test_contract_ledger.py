"""Both databases keep the shipped clauses of a ledger, and each clause finds a ledger that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from seriatim.errors import LedgerMoved
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.model import History, SeriesState
from seriatim.ports import DraftRecord, LedgerCheck, ReleaseRecord, Reservation
from seriatim.testing import LEDGER_CONTRACT, ContractBroken, check_ledger
from seriatim.testing.clauses import check_contract, clause_name
from seriatim.testing.ledger import Site

Opener = Callable[[Path], Any]


def on_sqlite(folder: Path) -> SqlLedger:
    return open_ledger(folder / "ledger.db")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "sqlite":
        return on_sqlite
    postgres = request.getfixturevalue("postgres")
    addresses: dict[Path, str] = {}

    def on_postgresql(folder: Path) -> SqlLedger:
        if folder not in addresses:
            addresses[folder] = postgres.fresh_url()
        return open_ledger(addresses[folder], shelf=folder / "shelf")

    return on_postgresql


@pytest.mark.parametrize("check_clause", LEDGER_CONTRACT, ids=clause_name)
def test_the_ledger_keeps(check_clause: Callable[[Site], None], opener: Opener, tmp_path: Path) -> None:
    check_clause(Site(opener, tmp_path / "desk"))


@dataclass(frozen=True)
class Wrapped:
    """A ledger that does everything right; each below does one thing wrong."""

    right: SqlLedger

    def state(self, series: str, destination: Path | None = None, head: Path | None = None) -> SeriesState:
        return self.right.state(series, destination, head)

    def history(self, series: str, sensitive: str | None = None) -> History:
        return self.right.history(series, sensitive)

    def memory(self, series: str) -> Mapping[str, pa.Table]:
        return self.right.memory(series)

    def stage(self) -> Any:
        return self.right.stage()

    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        return self.right.reserve(reservation)

    def keep(self, reservation: Reservation, author: str, reasons: Any = ()) -> DraftRecord:
        return self.right.keep(reservation, author, reasons)

    def drafts(self, series: str | None = None) -> Any:
        return self.right.drafts(series)

    def approve(self, series: str, approved_by: str, digest: str = "") -> ReleaseRecord:
        return self.right.approve(series, approved_by, digest)

    def decline(self, series: str, reason: str, declined_by: str, digest: str = "") -> DraftRecord:
        return self.right.decline(series, reason, declined_by, digest)

    def seal(self, series: str, number: int) -> ReleaseRecord:
        return self.right.seal(series, number)

    def series(self) -> Any:
        return self.right.series()

    def records(self, series: str | None = None) -> Any:
        return self.right.records(series)

    def record(self, series: str, number: int) -> Any:
        return self.right.record(series, number)

    def verify(self, published: Any = ()) -> LedgerCheck:
        return self.right.verify(published)


class SealsAtOnce(Wrapped):
    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        record = super().reserve(reservation)
        self.right.seal(record.series, record.number)
        return record


class TakesAnyVersion(Wrapped):
    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        try:
            return super().reserve(reservation)
        except LedgerMoved:
            now = self.right.state(reservation.state.series)
            return super().reserve(replace(reservation, state=now))


class TakesAnySecret(Wrapped):
    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        now = self.right.state(reservation.state.series)
        return super().reserve(
            replace(
                reservation,
                state=replace(reservation.state, secret=now.secret),
                secret=now.secret or reservation.secret,
            )
        )


class ForgetsTheUnsealed(Wrapped):
    def history(self, series: str, sensitive: str | None = None) -> History:
        whole = super().history(series, sensitive)
        sealed = {record.number for record in self.records(series) if record.state == "sealed"}
        return replace(whole, releases=tuple(past for past in whole if past.number in sealed))


class NumbersEachReleaseAnew(Wrapped):
    def history(self, series: str, sensitive: str | None = None) -> History:
        whole = super().history(series, sensitive)
        anew = [np.unique(past.person, return_inverse=True)[1].astype(np.int32) for past in whole]
        return replace(whole, releases=tuple(replace(past, person=p) for past, p in zip(whole, anew, strict=True)))


class NeverLooks(Wrapped):
    def verify(self, published: Any = ()) -> LedgerCheck:
        return LedgerCheck(0, 0, 0, ())


class TrustsTheDestination(Wrapped):
    def state(self, series: str, destination: Path | None = None, head: Path | None = None) -> SeriesState:
        return self.right.state(series)


class ShowsTheSecret(Wrapped):
    def __repr__(self) -> str:
        return f"ledger of {self.right.state('ward').secret!r}"


class KeepsTheStage(Wrapped):
    @contextmanager
    def stage(self) -> Iterator[Path]:
        with self.right.stage() as folder:
            yield folder
            kept = folder.exists()
        if kept:
            folder.mkdir(parents=True)


class NeverWrites(Wrapped):
    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        return super().reserve(replace(reservation, write=None))


class Forgetful(Wrapped):
    def memory(self, series: str) -> Mapping[str, pa.Table]:
        return {}


class TellsTooMuch(Wrapped):
    def reserve(self, reservation: Reservation) -> ReleaseRecord:
        try:
            return super().reserve(reservation)
        except LedgerMoved as moved:
            raise LedgerMoved(f"{moved}: {reservation.groups['respondent'].to_pylist()}") from None


class ReleasesDrafts(Wrapped):
    def keep(self, reservation: Reservation, author: str, reasons: Any = ()) -> DraftRecord:
        kept = super().keep(reservation, author, reasons)
        self.right.approve(kept.series, "nobody")
        return kept


class ForgetsTheDeclined(Wrapped):
    def drafts(self, series: str | None = None) -> Any:
        return [draft for draft in super().drafts(series) if draft.state != "declined"]


WRONG = {
    ReleasesDrafts: "a_draft_waits_for_another_person a_draft_of_a_moved_series_is_refused",
    ForgetsTheDeclined: "a_draft_of_a_moved_series_is_refused",
    SealsAtOnce: "nothing_is_seen_before_it_is_sealed",
    TakesAnyVersion: "a_moved_series_is_refused of_writers_at_once_one_wins from_reserve_on_it_counts_as_published",
    TakesAnySecret: "the_secret_stays_the_same_and_is_not_shown",
    ForgetsTheUnsealed: "from_reserve_on_it_counts_as_published",
    NumbersEachReleaseAnew: "people_are_numbered_as_they_appear",
    NeverLooks: "a_changed_copy_is_found a_ledger_behind_its_releases_is_refused",
    TrustsTheDestination: "a_ledger_behind_its_releases_is_refused",
    ShowsTheSecret: "the_secret_stays_the_same_and_is_not_shown",
    KeepsTheStage: "a_stage_that_is_left_leaves_no_trace",
    NeverWrites: "files_written_while_reserving_are_published",
    Forgetful: "memory_is_that_of_the_newest_release",
    TellsTooMuch: "errors_name_nobody",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_ledger_is_found(wrong: type[Wrapped], tmp_path: Path) -> None:
    meant = [clause for clause in LEDGER_CONTRACT if clause_name(clause) in WRONG[wrong].split()]
    numbers = count()
    with pytest.raises(ContractBroken) as raised:
        check_contract(meant, lambda: Site(lambda home: wrong(on_sqlite(home)), tmp_path / str(next(numbers))))
    assert [line.partition(":")[0] for line in str(raised.value).splitlines()] == [
        clause_name(clause) for clause in meant
    ]


def test_a_ledger_that_only_passes_on_keeps_everything() -> None:
    check_ledger(lambda home: Wrapped(on_sqlite(home)))
