"""The files of a release: its tables and codebook for recipients, its reports, each where it may be read.

The codebook says what a reader of the table must know, and nothing that was measured against the truth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from seriatim.errors import TableError
from seriatim.measures.query_error import SEED
from seriatim.model import TOP, Draft, Generalised, Kind, Policy, Release, Verdict
from seriatim.model.draft import PLAIN
from seriatim.model.hierarchies import Hierarchy
from seriatim.model.own_tables import folders_by_column
from seriatim.ports import PRIVATE, PUBLIC, Writer
from seriatim.reading.published_release import release_told
from seriatim.report import Facts, PublicReport, Report, TableCounts, promise_told, promises_told, reported_columns
from seriatim.report.words import format_percent

if TYPE_CHECKING:
    from seriatim.model.view import ColumnLabels
    from seriatim.reading.relation import Quality
    from seriatim.usecases.publish.publish import ReleaseOrder

MOST_MEASURED = 1_000_000
"""Rows of a table whose answers are measured, which then is a third of the work; open_release measures larger ones."""


def report_of_draft(policy: Policy, draft: Draft, verdict: Verdict, number: int | None) -> Report:
    """Return the report of a draft and its verdict; a dry run or refusal has no number."""
    forms: dict[str, str] = {column.name: column.form for column in draft.generalised}
    if draft.serial:
        forms |= dict.fromkeys(draft.sensitive, "shuffled")
    if draft.buckets:
        forms = {**dict.fromkeys(draft.quasi, "exact"), **dict.fromkeys(draft.sensitive, "buckets")}
    facts = Facts(
        series=policy.series,
        number=number,
        epoch=policy.epoch,
        policy_digest=policy.digest,
        **asdict(_counts(draft)),
        tables=tuple((name, _counts(own)) for name, own in draft.own_tables.items()),
        columns=reported_columns(policy, forms),
        seed=SEED,
    )
    return Report(policy, verdict, facts)


def _counts(draft: Draft) -> TableCounts:
    """Return the counts of one table; those of a draft with several are of the first."""
    first = next(iter(draft.tables.values()))
    return TableCounts(
        n_records=first.n_records,
        n_published=first.n_records - first.grouping.n_suppressed,
        n_suppressed=first.grouping.n_suppressed,
        n_groups=first.grouping.n_groups,
        n_counterfeits=pc.sum(first.groups.column("counterfeit")).as_py() or 0,
    )


def write_folder(folder: Path, policy: Policy, write: Writer, made: Release, codebook: dict[str, Any]) -> None:
    """Write what recipients get apart from what only the publisher may see."""
    report = report_of_draft(policy, made.draft, made.verdict, codebook["release"])
    for part in (PUBLIC, PRIVATE):
        (folder / part).mkdir(mode=0o700)
    write(made, folder / PUBLIC)
    _write(folder / PUBLIC / "codebook.json", json.dumps(codebook, indent=1, sort_keys=True, ensure_ascii=False))
    _write(folder / PUBLIC / "report.html", _public_report_of(report, made.draft, codebook).to_html())
    _write(folder / PRIVATE / "report.json", report.to_json())
    _write(folder / PRIVATE / "report.html", report.to_html())


def _public_report_of(report: Report, draft: Draft, codebook: Mapping[str, Any]) -> PublicReport:
    """Return the report for recipients."""
    odds = next((one.value for one in report.verdict.measures if one.name == "odds_in_group"), None)
    promises = promises_told(report.verdict)
    return PublicReport(
        report.facts, promises, meaning_of_row(draft, report.policy), NOTATION, odds=odds, codebook=codebook
    )


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


NOTATION = {
    "[a,b]": "a value from a to b, both ends possible",
    "[a,b)": "a value from a to below b",
    "{x,y}": "one of the values listed; a value with a comma, brace or quote is in double quotes",
    "*": "any value",
    "'": "in CSV files an apostrophe before a text that a spreadsheet would run as a formula",
}
ROWS = {
    False: "a row is the record of one person",
    True: "a row does not describe one person: inside a group the sensitive values were shuffled against the other "
    "columns, and some rows are counterfeits; counterfeits.* says how many. Count values per group",
}
BUCKETS = (
    "two tables, joined by group: a row of table.* is one person with their quasi-identifiers as they are, a row of "
    "values.* one value of the group. Which value belongs to whom inside a group is secret"
)
COVERED = (
    "a row is the record of one person; in at most {share} of the rows the value is made up, so that nobody has to be "
    "left out. Which rows is secret"
)
PLAIN_ROWS = (
    "; plain.* has a row for each real person, with the columns published as they are beside their box. No row of it "
    "belongs to a row of table.*"
)
OWN_TABLES = (
    "; each sensitive column has a folder with a table of its own. No row of one table belongs to a row of another: "
    "groups, their numbers and the order of rows have nothing to do with each other. Columns published "
    "unchanged are in the first table only"
)
SAMPLED = (
    "a row is the record of one person, as it is. The rows are a random sample, {share} of all records, drawn without "
    "replacement; later releases show the same people. Multiply counts by {times:g}"
)
NOISY = (
    "noise was added: at most {most} either way, with a mean of 0 and a standard deviation of {spread}. The same "
    "person with the same value has the same noise in every release"
)
MOVED = (
    "noise was added: moved along the order of the column's values by at most {most} of their number either way. The "
    "same person with the same value is moved alike in every release"
)
WHO_MAY_READ = (
    "the files of the folder public, this one among them, are for recipients; those of the folder private are for the "
    "publisher alone"
)


def meaning_of_row(draft: Draft, policy: Policy) -> str:
    """Return what a row is."""
    rows = BUCKETS if draft.buckets else ROWS[draft.serial]
    rate = policy.defence.rate if policy.defence is not None else None
    if rate is not None:
        rows = SAMPLED.format(share=format_percent(rate), times=round(1 / rate, 3))
    if policy.defence is not None and not policy.defence.serial and policy.defence.leftovers == "counterfeit":
        rows = COVERED.format(share=format_percent(policy.defence.allowed))
    if any(PLAIN in own.files for own in draft.tables.values()):
        rows = f"{rows}{PLAIN_ROWS}"
    return f"{rows}{OWN_TABLES}" if draft.own_tables else rows


def _names(draft: Draft) -> list[str]:
    """Return the columns of every table, then those that are only beside its boxes."""
    tables = [own.table for own in draft.tables.values()]
    aside = [own.files[PLAIN] for own in draft.tables.values() if PLAIN in own.files]
    return list(dict.fromkeys(name for table in (*tables, *aside) for name in table.column_names))


def _tables(draft: Draft) -> dict[str, Any]:
    """Return where the table of each sensitive column is, and its columns; nothing if there is one table."""
    folders = folders_by_column(tuple(draft.own_tables))
    found = [
        {"sensitive": name, "folder": folders[name], "columns": own.table.column_names}
        for name, own in draft.own_tables.items()
    ]
    return {"tables": found} if found else {}


def _noise(policy: Policy, draft: Draft, name: str) -> dict[str, str]:
    """Return how much noise a column has, where it has some: users need it to correct what they estimate."""
    amount = None if policy.defence is None else policy.defence.noise.get(name)
    if amount is None:
        return {}
    number = float(amount.rstrip("%"))
    forms = {column.name: column.form for column in draft.generalised}
    if (draft.sensitive[name].scale.form if name in draft.sensitive else forms[name]) != "interval":
        return {"noise": MOVED.format(most=f"{number / 2:g}%")}
    rule = policy.columns[name]
    dated = rule.kind is Kind.DATE or (name in draft.sensitive and draft.sensitive[name].scale.dated)
    counted = rule.unit or ("days" if dated else "units")
    unit = "% of the value" if amount.endswith("%") else f" {counted}"
    from seriatim.model.noise_bell import SPREAD

    return {"noise": NOISY.format(most=f"{number:g}{unit}", spread=f"{SPREAD * number:.3g}{unit}")}


def _labels(hierarchy: Hierarchy, shown: Generalised | None) -> dict[str, dict[str, list[str]]]:
    """Return the values under each published label, as the file of the hierarchy has them."""
    known = hierarchy.known()
    if known is None or shown is None:
        return {}
    found: dict[str, list[str]] = {label: [] for label in shown.labels if label is not None}
    for value, path in zip(known, hierarchy.paths(known), strict=True):
        for label in {*(path or ()), TOP} - {value}:
            if label in found:
                found[label].append(value)
    return {"labels": {label: values for label, values in found.items() if values}}


def codebook_of(order: ReleaseOrder, made: Release, number: int) -> dict[str, Any]:
    """Return all that a reader needs beside the table: what it is, how to read it, and how well it answers."""
    codebook = _columns_and_promises(order.policy, made.draft, made.verdict, number)
    for entry in codebook["columns"]:
        entry |= _labelled(order.view.source.labels.get(entry["name"]))
    origin = {"publisher": order.policy.publisher, "period": order.period, "date": order.date}
    told = {key: value for key, value in origin.items() if value}
    return {**codebook, **told, **_people_and_quality(made.draft, codebook)}


def _labelled(told: ColumnLabels | None) -> dict[str, Any]:
    """Return what the file of the view says about a column: its title, and what its codes mean."""
    if told is None:
        return {}
    every = {"title": told.title, "values": dict(told.values), "missing": [list(one) for one in told.missing]}
    return {key: value for key, value in every.items() if value}


def _people_and_quality(draft: Draft, codebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many people the release is about, and how well it answers questions, from what is published alone."""
    found: dict[str, Any] = {}
    people = 0
    for own in draft.tables.values():
        release = release_told(own.table, own.counterfeits, own.files.get(PLAIN), codebook)
        people = people or release.n_people
        if not release.axes or not 0 < own.table.num_rows <= MOST_MEASURED:
            continue
        for name in own.sensitive:
            with suppress(TableError):  # labels that the codebook does not explain
                found[name] = _quality(release.relation(name).quality())
    return {"people": people, **({"quality": found} if found else {})}


def _quality(measured: Quality) -> dict[str, Any]:
    """Return standard errors in four digits, and no estimate: one of a class with one value would be that value."""
    rows = [] if measured.regression is None else measured.regression.to_pylist()
    told = {row["term"]: float(f"{row['error']:.4g}") for row in rows}
    errors = {column: round(error, 4) for column, error in measured.errors.items()}
    return {"of": measured.of, "errors": errors, **({"regression": told} if told else {})}


def _columns_and_promises(policy: Policy, draft: Draft, verdict: Verdict, number: int) -> dict[str, Any]:
    """Return columns, how values are written, and the promises that were kept; nothing about anyone."""
    forms = {column.name: column.form for column in draft.generalised}
    columns = []
    for name in _names(draft):
        rule = policy.columns.get(name)
        entry: dict[str, Any] = {"name": name, "role": rule.role.value if rule else "group"}
        if name in forms and not draft.buckets:
            entry["form"] = forms[name]
        if rule and rule.unit:
            entry["unit"] = rule.unit
        if rule and rule.order:
            entry["order"] = list(rule.order)
        if rule and rule.hierarchy:
            entry["hierarchy"] = rule.hierarchy.source
            entry |= _labels(rule.hierarchy, {column.name: column for column in draft.generalised}.get(name))
        if rule and (rule.rounding or rule.level):
            told = f"multiples of {rule.rounding:g}" if rule.rounding else f"level {rule.level} of its hierarchy"
            entry["coarser"] = f"values were replaced by {told} first"
        entry |= _noise(policy, draft, name)
        columns.append(entry)
    return {
        "series": policy.series,
        "release": number,
        "epoch": policy.epoch,
        "columns": columns,
        **_tables(draft),
        "notation": NOTATION,
        "rows": meaning_of_row(draft, policy),
        "promises": [promise_told(one) for one in promises_told(verdict)],
        "files": WHO_MAY_READ,
    }
