"""Open ledgers, and read what they and the folders of others hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.errors import Fault, InputError, PolicyError
from seriatim.model import History, Policy, Role
from seriatim.ports import Ledger, ReleaseRecord
from seriatim.tables.reader import read_table
from seriatim.wiring import wired_ledger

if TYPE_CHECKING:
    from seriatim.ledger.sql_ledger import SqlLedger
    from seriatim.model.recipients import Holdings
    from seriatim.report import SigningFacts, SignOff
    from seriatim.usecases.other_series import OtherSeries


def open_ledger(url: str | Path, shelf: str | Path | None = None, create: bool = True) -> SqlLedger:
    """Open a ledger, or make one."""
    return wired_ledger(url, shelf, create)


def ledger_pasts(table: str | Path, policy: Policy) -> Any:
    """Read a long table of releases made before the ledger, and check it before any ledger is opened."""
    from seriatim.ledger.imports import imported_releases

    pasts = read_table(table).data
    imported_releases(pasts, tuple(rule.name for rule in policy.sensitive))
    return pasts


def ledger_pasts_of_folder(history: str | Path, respondents: Any, policy: Policy) -> tuple[Any, tuple[str, ...]]:
    """Return a folder of published tables as a long table to import, and how its files were read.

    Rows are one group if they are equal in the policy's quasi-identifiers, or in ``group`` if every table has it.
    """
    from seriatim.ledger.folder_imports import long_table
    from seriatim.ledger.imports import imported_releases
    from seriatim.tables.folders import read_folder
    from seriatim.usecases.attack.assembly import history_of_tables
    from seriatim.usecases.attack.bucket_tables import people_with_values

    sensitive = tuple(rule.name for rule in policy.sensitive)
    if not sensitive:
        raise PolicyError(Fault("[columns]", "no sensitive column", "at least one, to follow it", "declare it"))
    besides = Path(respondents) if isinstance(respondents, str | Path) else None
    found = read_folder(Path(history), besides, sensitive[0] if len(sensitive) == 1 else None)
    tables, listed = found.tables, read_table(respondents).data
    if found.values:
        tables, listed = people_with_values(tables, found.values, listed, sensitive[0])
    grouped = all("group" in table.column_names for table in tables.values())
    quasi = [rule.name for rule in policy.columns.values() if rule.role is Role.QUASI]
    known = None if grouped or not quasi else quasi
    files = history_of_tables(tables, listed, sensitive[0], known)
    pasts = long_table(files, sensitive)
    imported_releases(pasts, sensitive)
    return pasts, files.notes


def signed_in_ledger(ledger: Ledger, series: str, number: int) -> SigningFacts:
    """Return what the page to sign says beside the report, as the ledger knows it today."""
    from seriatim.ledger.destinations import signed_facts

    return signed_facts(_signable(ledger, series, number))


def _signable(ledger: Ledger, series: str, number: int) -> ReleaseRecord:
    record = ledger.record(series, number)
    if record is None or record.state == "imported":
        ledger_records(ledger, series)  # a series that does not exist is another mistake
        what = "was made before this ledger" if record is not None else f"has no release {number}"
        raise InputError(Fault(f"series {series!r}", what, "a release made with it", "seriatim ledger show lists them"))
    return record


def sign_off_in_ledger(ledger: SqlLedger, series: str, number: int) -> SignOff:
    """Return the page to sign of any release in the ledger, made again with the recipients it has today."""
    from seriatim.ledger.destinations import page_to_sign

    record = _signable(ledger, series, number)
    return page_to_sign(ledger.report_record(series, number), record)


def ledger_holdings(ledger: Ledger, series: str, others: Sequence[OtherSeries] = ()) -> Holdings:
    """Return who received which release of a series, and of others beside it."""
    from seriatim.model.recipients import holdings_of
    from seriatim.usecases.other_series import received_elsewhere

    own = ((one.number, one.recipients) for one in ledger_records(ledger, series) if not one.recalled)
    return holdings_of([*own, *received_elsewhere([others]).items()])


def ledger_history(ledger: Ledger, series: str, sensitive: str | None = None) -> History:
    """Return a ledger's history of a series, or raise an error: a misspelt name must not look like a safe series."""
    ledger_records(ledger, series)
    found = ledger.history(series, sensitive)
    if sensitive is not None and not len(found):
        told = f"no release has the sensitive column {sensitive}"
        raise InputError(Fault(f"series {series!r}", told, "", "name another, or none for the first"))
    return found


def ledger_records(ledger: Ledger, series: str | None = None) -> Sequence[ReleaseRecord]:
    """Return the releases of a series, which must exist, or of all."""
    found = ledger.records(series)
    if series is not None and not found:
        known = ", ".join(ledger.series())
        raise InputError(Fault(f"series {series!r}", "not in this ledger", known, "check the name"))
    return found
