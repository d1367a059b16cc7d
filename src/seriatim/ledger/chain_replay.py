"""Replays the chain into a catalogue, and finds where the stored rows differ from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.ledger import catalogue, chain
from seriatim.storage import schema

Row = Mapping[str, Any]
_CATALOGUE = (schema.series, schema.policies, schema.releases)


@dataclass(slots=True)
class ReplayedCatalogue:
    """The catalogue as the chain has it."""

    series: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    releases: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    facts: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    handed_out: list[tuple[str, int, str]] = field(default_factory=list)
    """Series, release and folder of each copy that was made for a recipient."""


@dataclass(frozen=True, slots=True)
class StoredCatalogue:
    """Every row of every table, read in one snapshot."""

    entries: list[chain.Entry]
    rows: Mapping[str, list[Row]]


def read_everything(connection: Connection) -> StoredCatalogue:
    return StoredCatalogue(
        catalogue.entries(connection), {table.name: _rows(connection, table) for table in _CATALOGUE}
    )


def wrong_rows(stored: StoredCatalogue) -> tuple[list[str], ReplayedCatalogue | None]:
    """Return what is wrong with the stored rows, and what the chain expects, as far as it is whole."""
    faults = chain.broken_links(stored.entries)
    try:
        expected = replay(stored.entries)
    except (ValueError, KeyError, TypeError, AttributeError):
        return [*faults, "entries: the chain cannot be replayed, so nothing can be compared with it"], None
    return faults + _compare(expected, stored.rows), None if faults else expected


def _rows(connection: Connection, table: sa.Table) -> list[Row]:
    return [dict(row._mapping) for row in connection.execute(sa.select(table))]


def replay(entries: Iterable[chain.Entry]) -> ReplayedCatalogue:
    """Replay the chain. It has secrets and policies as digests."""
    expected = ReplayedCatalogue()
    for entry in entries:
        facts = entry.facts
        match entry.kind:
            case chain.SERIES:
                created = entry.circumstances["time"]
                expected.series[entry.series] = {"name": entry.series, "secret": facts["secret"], "created": created}
            case chain.POLICY:
                expected.policies[facts["policy"]] = {"digest": facts["policy"], "canonical": facts["canonical"]}
            case chain.RESERVED | chain.IMPORTED:
                expected.releases[entry.series, facts["number"]] = catalogue.release_row(entry)
                expected.facts[entry.series, facts["number"]] = facts
            case chain.SEALED:
                row = expected.releases[entry.series, facts["number"]]
                row |= {"state": chain.SEALED, "sealed_at": entry.circumstances["time"]}
            case chain.DELIVERED:
                row = expected.releases[entry.series, facts["number"]]
                row["recipients"] = chain.text([*catalogue.record_of_row(row).recipients, *facts["recipients"]])
                if "destination" in entry.circumstances:
                    folder = entry.circumstances["destination"]
                    expected.handed_out.append((entry.series, facts["number"], folder))
            case chain.REDIRECTED:
                row = expected.releases[entry.series, facts["number"]]
                row["destination"] = entry.circumstances["destination"]
            case chain.RECALLED:
                expected.releases[entry.series, facts["number"]]["state"] = chain.RECALLED
            case chain.DRAFTED:
                digest = facts["release"]["policy"]
                expected.policies[digest] = {"digest": digest, "canonical": facts["canonical"]}
            case chain.ANSWERED | chain.APPROVED | chain.DECLINED:
                pass  # stand for themselves
            case chain.ERASED:
                expected.facts[entry.series, facts["number"]]["private"] |= catalogue.erased_files(facts)
            case _:
                raise ValueError(entry.kind)
    return expected


def _compare(expected: ReplayedCatalogue, rows: Mapping[str, list[Row]]) -> list[str]:
    digested = {
        "series": [_digested(row, "secret") for row in rows["series"]],
        "policies": [_digested(row, "canonical") for row in rows["policies"]],
        "releases": rows["releases"],
    }
    wanted: dict[str, list[Row]] = {
        "series": list(expected.series.values()),
        "policies": list(expected.policies.values()),
        "releases": list(expected.releases.values()),
    }
    faults = []
    for table in _CATALOGUE:
        keys = [column.name for column in table.primary_key]
        faults += _different_rows(table.name, keys, wanted[table.name], digested[table.name])
    return faults


def _digested(row: Row, column: str) -> Row:
    value = row[column]
    data = value.encode() if isinstance(value, str) else bytes(value) if isinstance(value, bytes | memoryview) else b""
    return {**row, column: chain.sha256(data)}


def _different_rows(table: str, keys: list[str], wanted: Sequence[Row], found: Sequence[Row]) -> list[str]:
    by_key = {tuple(row[key] for key in keys): row for row in found}
    faults = []
    for row in wanted:
        key = tuple(row[key] for key in keys)
        name = " ".join(str(part)[:40] for part in key)
        there = by_key.pop(key, None)
        if there is None:
            faults.append(f"{table}: the row of {name} is missing")
        else:
            changed = [column for column in row if not _same(row[column], there[column])]
            if changed:
                faults.append(f"{table}: the row of {name} was changed: {', '.join(changed)}")
    return faults + [f"{table}: holds a row that the chain does not know"] * len(by_key)


def _same(wanted: Any, found: Any) -> bool:
    return type(wanted) is type(found) and bool(wanted == found)
