"""The catalogue: rows that follow from the chain. Everything is written as an entry first."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.ledger import chain, shelf
from seriatim.ledger.chain import Entry, chain_text
from seriatim.model.history import PastView, SeriesState
from seriatim.model.verdict import Approval
from seriatim.ports import ReleaseRecord
from seriatim.storage import schema

Row = dict[str, Any]
Facts = Mapping[str, Any]
Inputs = dict[tuple[str, int], tuple[str, str, str]]
"""By series and number: name and SHA-256 of the input, and the version of the software."""
_MAKING = (chain.RESERVED, chain.IMPORTED)
"""Kinds of entries that make a release."""


def catalogue_circumstances(**further: Any) -> dict[str, Any]:
    """Return when and by which software: what may differ between two otherwise equal runs."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"time": now, "version": _version(), **further}


@functools.cache
def _version() -> str:
    return metadata.version("seriatim")


def append_to_catalogue(connection: Connection, facts: Mapping[str, Any], circumstance: Mapping[str, Any]) -> Entry:
    entry = chain.chain_link(_last_entry(connection), facts, circumstance)
    connection.execute(_ENTER, dict(zip(schema.entries.c.keys(), astuple(entry), strict=True)))
    return entry


_ENTER = schema.entries.insert()
_NEWEST = sa.select(schema.entries).order_by(schema.entries.c.seq.desc()).limit(1)


def _last_entry(connection: Connection) -> Entry | None:
    row = connection.execute(_NEWEST).first()
    return Entry(*row) if row else None


def catalogue_entries(connection: Connection, series: str | None = None) -> list[Entry]:
    query = sa.select(schema.entries).order_by(schema.entries.c.seq)
    if series is not None:
        query = query.where(schema.entries.c.series == series)
    return [Entry(*row) for row in connection.execute(query)]


def catalogue_knows(connection: Connection, digest: str) -> bool:
    query = sa.select(schema.entries.c.seq).where(schema.entries.c.digest == digest)
    return connection.execute(query).first() is not None


def catalogue_release_digests(connection: Connection, series: str) -> frozenset[str]:
    """Return the chain right after each release of a series was reserved or imported, as their manifests have it."""
    entries = schema.entries.c
    query = sa.select(entries.digest).where((entries.series == series) & entries.kind.in_(_MAKING))
    return frozenset(connection.execute(query).scalars())


def catalogue_state(connection: Connection, series: str) -> SeriesState:
    """Return the state of a series: its version counts what a draft is judged against, its head is the last of it.

    ``views`` are not in it (``catalogue_views``): each release would be read once more wherever a state is compared.
    """
    found = connection.execute(_state_query(), {"series": series}).one()
    if found.secret is None:
        return SeriesState(series)
    said: Facts = {"epoch": 0, "policy": None} if found.body is None else json.loads(found.body)
    text = sa.select(schema.policies.c.canonical).where(schema.policies.c.digest == said["policy"])
    return SeriesState(
        series,
        version=found.version,
        head=found.head or "",
        n_releases=found.n_releases,
        n_deliveries=found.n_deliveries,
        epoch=said["epoch"],
        policy_digest=said["policy"],
        policy=connection.execute(text).scalar(),
        secret=bytes(found.secret),
    )


@functools.cache
def _state_query() -> sa.Select[Any]:
    """Return one statement for all that is counted or looked up about a series: every publish asks it four times."""
    name: sa.BindParameter[str] = sa.bindparam("series")
    entries, releases = schema.entries.c, schema.releases.c
    moved = schema.entries.alias("moved").c
    last = sa.select(sa.func.max(moved.seq)).where((moved.series == name) & moved.kind.in_(chain.MOVING))
    version = sa.select(sa.func.count()).where((entries.series == name) & entries.kind.in_(chain.MOVING))
    delivered = sa.select(sa.func.count()).where((entries.series == name) & (entries.kind == chain.DELIVERED))
    policy = sa.select(entries.body).where((entries.series == name) & (entries.kind == chain.POLICY))
    return sa.select(
        sa.select(schema.series.c.secret).where(schema.series.c.name == name).scalar_subquery().label("secret"),
        version.scalar_subquery().label("version"),
        sa.select(entries.digest).where(entries.seq == last.scalar_subquery()).scalar_subquery().label("head"),
        sa.select(sa.func.count()).where(releases.series == name).scalar_subquery().label("n_releases"),
        delivered.scalar_subquery().label("n_deliveries"),
        policy.order_by(entries.seq.desc()).limit(1).scalar_subquery().label("body"),
    )


def catalogue_views(connection: Connection, series: str) -> tuple[PastView, ...]:
    """Return what the releases of a series were made from, as far as the chain says so."""
    entries = schema.entries.c
    query = sa.select(entries.body, entries.circumstance).order_by(entries.seq)
    query = query.where((entries.series == series) & (entries.kind == chain.RESERVED))
    found = [(_facts_of(body), _facts_of(circumstance)) for body, circumstance in connection.execute(query)]
    gone = catalogue_recalled(connection, series)
    return tuple(
        PastView(facts["number"], facts["view"], said.get("source") or "")
        for facts, said in found
        if facts.get("view") and facts["number"] not in gone
    )


def _manifest_of(facts: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Return what is published about a release; ``digest`` is the chain right after it was reserved."""
    return {
        "format": 2 if shelf.is_split_shelf(facts["files"]) else 1,
        "series": facts["series"],
        "release": facts["number"],
        "epoch": facts["epoch"],
        "policy": facts["policy"],
        "rows": facts["rows"],
        "files": facts["files"],
        "chain": digest,
    }


def catalogue_release_row(entry: Entry) -> Row:
    """Return the row of a release, as in its ``reserved`` or ``imported`` entry."""
    facts, circumstance = entry.facts, entry.circumstances
    approval = facts["approval"] or {"by": None, "override": None}
    return {
        "series": entry.series,
        "number": facts["number"],
        "state": entry.kind,
        "epoch": facts["epoch"],
        "policy_digest": facts["policy"],
        "manifest": chain_text(_manifest_of(facts, entry.digest)),
        "destination": circumstance.get("destination"),
        "n_published": facts["rows"],
        "recipients": chain_text(facts["recipients"]),
        "approved_by": approval["by"],
        "override": approval["override"],
        "reserved_at": circumstance["time"],
        "sealed_at": "",
    }


def catalogue_record(row: Mapping[str, Any]) -> ReleaseRecord:
    approval = Approval(row["approved_by"], row["override"]) if row["approved_by"] is not None else None
    return ReleaseRecord(
        series=row["series"],
        number=row["number"],
        state=row["state"],
        epoch=row["epoch"],
        policy_digest=row["policy_digest"],
        manifest=json.loads(row["manifest"]),
        destination=row["destination"],
        n_published=row["n_published"],
        recipients=tuple(json.loads(row["recipients"])),
        approval=approval,
        reserved_at=row["reserved_at"],
        sealed_at=row["sealed_at"],
    )


def catalogue_series(connection: Connection) -> Sequence[str]:
    """Return the series that have releases, in order of their names."""
    names = schema.releases.c.series
    return connection.execute(sa.select(names).distinct().order_by(names)).scalars().all()


def catalogue_records(connection: Connection, series: str | None = None) -> Sequence[ReleaseRecord]:
    columns = schema.releases.c
    query = sa.select(schema.releases).order_by(columns.series, columns.number)
    if series is not None:
        query = query.where(columns.series == series)
    inputs = _inputs(connection, series)
    found = [_with_reason(connection, catalogue_record(row._asdict())) for row in connection.execute(query).all()]
    return [_with_input(record, inputs) for record in found]


def catalogue_newest_record(connection: Connection, series: str, number: int) -> ReleaseRecord | None:
    columns = schema.releases.c
    query = sa.select(schema.releases).where((columns.series == series) & (columns.number == number))
    row = connection.execute(query).first()
    if row is None:
        return None
    record = _with_reason(connection, catalogue_record(row._asdict()))
    return _with_input(record, _inputs(connection, series, record.manifest["chain"]))


def _with_input(record: ReleaseRecord, inputs: Inputs) -> ReleaseRecord:
    name, sha256, version = inputs.get((record.series, record.number), ("", "", ""))
    return replace(record, input_name=name, input_sha256=sha256, version=version)


def _inputs(connection: Connection, series: str | None, digest: str | None = None) -> Inputs:
    """Return by series and number what a release was made from and by which version, for the page to sign.

    ``digest`` is of the entry of one release, if only that is asked for.
    """
    entries = schema.entries.c
    query = sa.select(entries.series, entries.body, entries.circumstance).where(entries.kind == chain.RESERVED)
    if series is not None:
        query = query.where(entries.series == series)
    if digest is not None:
        query = query.where(entries.digest == digest)
    found = {}
    for name, body, circumstance in connection.execute(query):
        said = json.loads(circumstance)
        known = said.get("input") or {"name": said.get("source") or "", "sha256": ""}
        found[name, json.loads(body)["number"]] = known["name"], known["sha256"], said.get("version", "")
    return found


def _with_reason(connection: Connection, record: ReleaseRecord) -> ReleaseRecord:
    if record.state != chain.RECALLED:
        return record
    return replace(record, recalled=catalogue_recalled(connection, record.series)[record.number])


def catalogue_recalled(connection: Connection, series: str) -> dict[int, str]:
    """Return the releases of a series that were recalled, with the reasons."""
    entries = schema.entries.c
    query = sa.select(entries.body).where((entries.series == series) & (entries.kind == chain.RECALLED))
    found = [json.loads(body) for body in connection.execute(query).scalars()]
    return {facts["number"]: facts["reason"] for facts in found}


def catalogue_counting_facts(connection: Connection, series: str, everything: Sequence[Facts]) -> list[Facts]:
    """Return what the chain says about the releases that count: all but the recalled ones."""
    gone = catalogue_recalled(connection, series)
    return [facts for facts in everything if facts["number"] not in gone]


def catalogue_release_facts(connection: Connection, series: str) -> list[Facts]:
    """Return what the chain says about each release of a series, in order, recalled ones too."""
    entries = schema.entries.c
    query = sa.select(entries.body).where((entries.series == series) & entries.kind.in_(_MAKING)).order_by(entries.seq)
    return [_facts_of(body) for body in connection.execute(query).scalars()]


@functools.lru_cache(maxsize=2048)
def _facts_of(body: str) -> Facts:
    """Return what an entry's body or circumstance says; one publication asks several times about every release."""
    facts: Facts = json.loads(body)
    return facts


def catalogue_files_after_erasures(connection: Connection, series: str) -> dict[int, dict[str, Any]]:
    """Return by release the newest fingerprint of each file that someone was erased from."""
    entries = schema.entries.c
    query = sa.select(entries.body).where((entries.series == series) & (entries.kind == chain.ERASED))
    facts = [json.loads(body) for body in connection.execute(query.order_by(entries.seq)).scalars()]
    found: dict[int, dict[str, Any]] = {}
    for one in facts:
        found.setdefault(one["number"], {}).update(catalogue_erased_files(one))
    return found


def catalogue_erased_files(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files that an erasure rewrote, with their fingerprints."""
    people = {shelf.PEOPLE: facts["people"]} if "people" in facts else {}
    return {**people, **facts.get("memory", {})}


def update_catalogue_release(connection: Connection, series: str, number: int, **changes: Any) -> None:
    columns = schema.releases.c
    which = (columns.series == series) & (columns.number == number)
    connection.execute(schema.releases.update().where(which).values(**changes))
