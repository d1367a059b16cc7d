"""Imports releases made before the ledger, so that the next one is judged against them too."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError, TableError
from seriatim.ledger import catalogue, chain, pseudonyms, reservations, shelf
from seriatim.ledger.manifests import refuse_behind_manifest
from seriatim.ledger.pseudonyms import COUNTERFEIT, GROUP, RESPONDENT, SUPPRESSED
from seriatim.ledger.reservations import ReservedFolder
from seriatim.ledger.shelf import Shelf
from seriatim.ledger.stored_history import everyone_in
from seriatim.model.names import name_order
from seriatim.model.policy import Policy
from seriatim.model.table_faults import check_header, check_single_cells, header_of
from seriatim.ports import ReleaseRecord
from seriatim.storage.database import Database
from seriatim.storage.durable_files import disk_errors

RELEASE = "release"
_NAMING = (
    pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_date, pa.types.is_dictionary,
)  # fmt: skip


def import_releases(
    database: Database, place: Shelf, policy: Policy, pasts: pa.Table, secret: bytes | None = None, again: bool = False
) -> list[ReleaseRecord]:
    """Import all releases in one transaction, numbered from 1; only before the first release of the series.

    ``again`` imports releases even if the series already has them.
    """
    sensitive = tuple(rule.name for rule in policy.sensitive)
    releases = imported_releases(pasts, sensitive)
    reservations.check_reservation_storable({"[series] name": policy.series, "policy": policy.canonical})
    with disk_errors(place.root), place.staging() as folder:
        with database.reading() as connection:
            refuse_behind_manifest(connection, place, policy.series, head=policy.head)
            state = catalogue.state(connection, policy.series)
            known = catalogue.past(connection, policy.series)
            crowd = everyone_in(place, policy.series, known)
        prepared = []
        for number, (label, groups) in enumerate(releases, start=state.n_releases + 1):
            made = folder / f"{number:06d}"
            made.mkdir(mode=0o700)
            contents = reservations.ReservationContents(groups, sensitive)
            files, crowd = reservations.prepare_reservation_folder(made, contents, crowd)
            facts = _facts(policy, number, label, len(groups)) | files
            prepared.append(ReservedFolder(made, facts, catalogue.circumstances()))
        if not again:
            _refuse_repeated(policy.series, prepared, known.made)
        with database.writing() as connection:
            reservations.check_reservation_unmoved(state, catalogue.state(connection, policy.series))
            _refuse_after_own(connection, policy.series)
            reservations.reservation_of_series(
                connection, state, policy, secret or state.secret or secrets.token_bytes(32)
            )
            return [reservations.reservation_of_release(connection, place, one) for one in prepared]


def _refuse_repeated(series: str, prepared: list[ReservedFolder], known: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error for releases with the rows, people and values of one in the ledger: they would count twice."""
    held = {facts["private"][shelf.GROUPS]["sha256"]: facts["number"] for facts in known}
    found = [held.get(one.facts["private"][shelf.GROUPS]["sha256"]) for one in prepared]
    numbers = sorted({number for number in found if number is not None})
    if numbers:
        there = f"{sum(number is not None for number in found)} of {len(found)} releases are in the ledger already"
        as_which = "as " + ", ".join(map(str, numbers))
        remedy = "remove them, or import them all the same (again)"
        raise TableError(Fault(f"series {series!r}", f"{there}, {as_which}", "each release once", remedy))


def _refuse_after_own(connection: Connection, series: str) -> None:
    if any(record.state != chain.IMPORTED for record in catalogue.records(connection, series)):
        found = "already has releases of its own"
        raise InputError(Fault(f"series {series!r}", found, "", "import earlier releases first, into a new series"))


def _facts(policy: Policy, number: int, label: int | str, rows: int) -> dict[str, Any]:
    return {
        "kind": chain.IMPORTED,
        "series": policy.series,
        "number": number,
        "label": label,
        "epoch": policy.epoch,
        "policy": policy.digest,
        "rows": rows,
        "recipients": [],
        "approval": None,
    }


def imported_releases(pasts: pa.Table, sensitive: tuple[str, ...]) -> list[tuple[int | str, pa.Table]]:
    """Return a table of groups for each release of a long table, in order, with its name.

    Names are whole numbers or texts; numbers in texts count by size, so 2024-9 comes before 2024-10.
    """
    _check(pasts, sensitive)
    labels = _labels(pasts.column(RELEASE))
    ordered = sorted(pc.unique(labels).to_pylist(), key=lambda name: (name_order(str(name)), str(name)))
    return [(label, _groups(pasts.filter(pc.equal(labels, label)), sensitive)) for label in ordered]


def _labels(release: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the names of the releases, row by row: whole numbers, or texts, which dates become too."""
    return pc.cast(release, pa.int64() if pa.types.is_integer(release.type) else pa.string())


def _groups(past: pa.Table, sensitive: tuple[str, ...]) -> pa.Table:
    respondents = pseudonyms.pseudonym_text(past.column(RESPONDENT))
    group = pseudonyms.pseudonym_column(past, GROUP)
    if not pa.types.is_dictionary(group.type):
        group = group.dictionary_encode()
    columns = {
        RESPONDENT: respondents,
        GROUP: group.indices,
        **{name: past.column(name) for name in sensitive},
        COUNTERFEIT: pc.is_null(respondents),
        SUPPRESSED: pa.array([False]).take(pa.array([0] * len(past), pa.int32())),
    }
    return pa.table(columns)


def _check(pasts: pa.Table, sensitive: tuple[str, ...]) -> None:
    wanted = [RELEASE, RESPONDENT, GROUP, *sensitive]
    allowed = "release, respondent, group and the sensitive columns of the policy"
    check_header("history", pasts, wanted)
    header = header_of("history", pasts)
    faults = [
        Fault(f"history, column {name}", f"there {pasts.column_names.count(name)} times", "once", f"needed: {allowed}")
        for name in dict.fromkeys(wanted)
        if pasts.column_names.count(name) != 1
    ]
    faults += [
        Fault(f"history, {header.place_of(name)}", "unknown", allowed, "leave it out")
        for name in dict.fromkeys(pasts.column_names)
        if name not in wanted
    ]
    if len(set(wanted)) != len(wanted):
        faults.append(Fault("history", "a sensitive column is called like one of ours", "", f"rename it: {allowed}"))
    if not faults:
        check_single_cells("history", pasts, wanted)
        faults = _unusable_cells(pasts)
    if faults:
        raise TableError(faults)


def _in_range(release: pa.ChunkedArray) -> bool:
    least, most = pc.min_max(release).as_py().values()
    return len(release) == 0 or (least >= 0 and most < 1 << 31)


def _unusable_cells(pasts: pa.Table) -> list[Fault]:
    release = pasts.column(RELEASE)
    faults = []
    if not any(is_kind(release.type) for is_kind in _NAMING):
        faults.append(Fault("history, column release", f"holds {release.type}", "whole numbers, texts or dates"))
    elif not pa.types.is_integer(release.type):
        named = pc.sum(pc.not_equal(pc.fill_null(pc.cast(release, pa.string()), ""), "")).as_py()
        empty = len(release) - (named or 0)  # the sum of nothing is null
        if empty:
            faults.append(Fault("history, column release", f"{empty} empty cells", "a name for every published row"))
        elif len(release) > 1 and pc.count_distinct(pc.cast(release, pa.string())).as_py() == len(release):
            found = "another name in every row"  # ids of people, perhaps, which the chain must not keep for ever
            faults.append(Fault("history, column release", found, "the same name for all rows of a release"))
    elif release.null_count or not _in_range(release):
        faults.append(Fault("history, column release", "empty, negative or huge cells", "integers from 0 up"))
    missing = pasts.column(GROUP).null_count
    if missing:
        faults.append(Fault("history, column group", f"{missing} empty cells", "a group for every published row"))
    if not len(release):
        faults.append(Fault("history", "no rows", "at least one release"))
    return faults
