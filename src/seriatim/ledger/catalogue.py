"""The catalogue: rows that follow from the chain. Everything is written as an entry first."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError
from seriatim.ledger import chain, shelf
from seriatim.model.history import PastView, SeriesState
from seriatim.model.verdict import Approval
from seriatim.ports import ReleaseRecord
from seriatim.storage import schema

_entries, _releases = schema.entries.c, schema.releases.c
_series: sa.BindParameter[str] = sa.bindparam("series")
MAKING = (chain.RESERVED, chain.IMPORTED)
"""Kinds of entries that make a release."""


def _among(kind: sa.Column[Any], kinds: Iterable[str]) -> sa.ColumnElement[bool]:
    """Return whether a kind is one of these; as a list of plain values it would be spelt out at every execution."""
    return kind.in_([sa.literal(one) for one in kinds])


def _state() -> sa.Select[Any]:
    """Return one statement for all that is counted or looked up about a series: every publish asks it thrice."""
    moved = schema.entries.alias("moved").c
    last = sa.select(sa.func.max(moved.seq)).where((moved.series == _series) & _among(moved.kind, chain.MOVING))
    version = sa.select(sa.func.count()).where((_entries.series == _series) & _among(_entries.kind, chain.MOVING))
    delivered = sa.select(sa.func.count()).where((_entries.series == _series) & (_entries.kind == chain.DELIVERED))
    policy = sa.select(_entries.body).where((_entries.series == _series) & (_entries.kind == chain.POLICY))
    return sa.select(
        sa.select(schema.series.c.secret).where(schema.series.c.name == _series).scalar_subquery().label("secret"),
        version.scalar_subquery().label("version"),
        sa.select(_entries.digest).where(_entries.seq == last.scalar_subquery()).scalar_subquery().label("head"),
        sa.select(sa.func.count()).where(_releases.series == _series).scalar_subquery().label("n_releases"),
        delivered.scalar_subquery().label("n_deliveries"),
        policy.order_by(_entries.seq.desc()).limit(1).scalar_subquery().label("body"),
    )


def _told(kinds: Iterable[str], *columns: sa.Column[Any]) -> sa.Select[Any]:
    """Return what entries of these kinds say about a series, in order."""
    asked = sa.select(*columns).where((_entries.series == _series) & _among(_entries.kind, kinds))
    return asked.order_by(_entries.seq)


STATE = _state()
NEWEST_ENTRY = sa.select(schema.entries).order_by(_entries.seq.desc()).limit(1)
POLICY = sa.select(schema.policies.c.canonical).where(schema.policies.c.digest == sa.bindparam("digest"))
DIGESTS = _told(MAKING, _entries.digest)
VIEWS = _told((chain.RESERVED, chain.RECALLED), _entries.kind, _entries.body, _entries.circumstance)
RECALLED = _told((chain.RECALLED,), _entries.body)
PAST = _told((*MAKING, chain.RECALLED, chain.ERASED), _entries.kind, _entries.body)

_CIRCUMSTANCES = sa.select(_entries.circumstance).where((_entries.series == _series) & _among(_entries.kind, MAKING))
CIRCUMSTANCES = _CIRCUMSTANCES.where(_entries.circumstance.contains('"head":')).distinct()
CIRCUMSTANCE = _CIRCUMSTANCES.where(_entries.digest == sa.bindparam("digest"))

DESTINATIONS = sa.select(_releases.destination).where(_releases.destination.is_not(None)).distinct()
"""Folders of releases. Circumstances name those of deliveries, and those that a release was to go to at first."""
FURTHER_DESTINATIONS = (
    sa.select(_entries.circumstance)
    .where(_among(_entries.kind, (chain.REDIRECTED, chain.DELIVERED)))
    .where(_entries.circumstance.contains('"destination":'))  # most name none, and need not be parsed
    .distinct()
)

_moved = (
    sa.select(_entries.series, sa.func.max(_entries.seq).label("last"))
    .where(_among(_entries.kind, chain.MOVING))
    .group_by(_entries.series)
    .subquery()
)
HEADS = (
    sa.select(schema.series.c.name, schema.series.c.secret, _entries.digest)
    .join(_moved, _moved.c.series == schema.series.c.name)
    .join(schema.entries, _entries.seq == _moved.c.last)
)
"""Each series that has releases: its secret, and its newest entry of those that count for its version."""

SERIES_WITH_RELEASES = sa.select(_releases.series).distinct().order_by(_releases.series)
RECORD = sa.select(schema.releases).where((_releases.series == _series) & (_releases.number == sa.bindparam("number")))
INPUTS = sa.select(_entries.series, _entries.body, _entries.circumstance).where(_entries.kind == chain.RESERVED)
INPUTS_OF_SERIES = INPUTS.where(_entries.series == _series)
INPUT_OF_RELEASE = INPUTS_OF_SERIES.where(_entries.digest == sa.bindparam("digest"))

ENTER = schema.entries.insert()
ENTER_SERIES = schema.series.insert()
ENTER_POLICY = schema.policies.insert()
ENTER_RELEASE = schema.releases.insert()
CHANGE_RELEASE = schema.releases.update().where(
    (_releases.series == sa.bindparam("of_series")) & (_releases.number == sa.bindparam("of_number"))
)


YEARS = range(2025, 2126)
"""Years that a clock may be in: what the ledger says about time is kept for good."""

Row = dict[str, Any]
Facts = Mapping[str, Any]
Inputs = dict[tuple[str, int], tuple[str, str, str]]
"""By series and number: name and SHA-256 of the input, and the version of the software."""


def circumstances(**further: Any) -> dict[str, Any]:
    """Return when and by which software: what may differ between two otherwise equal runs."""
    now = datetime.now(UTC)
    if now.year not in YEARS:
        allowed = f"a year from {YEARS[0]} to {YEARS[-1]}"
        raise InputError(Fault("clock of this machine", f"the year {now.year}", allowed, "set the clock"))
    return {"time": now.isoformat(timespec="seconds"), "version": _version(), **further}


@functools.cache
def _version() -> str:
    return metadata.version("seriatim")


def append(connection: Connection, facts: Mapping[str, Any], circumstance: Mapping[str, Any]) -> chain.Entry:
    entry = chain.link(_last_entry(connection), facts, circumstance)
    connection.execute(ENTER, dict(zip(schema.entries.c.keys(), astuple(entry), strict=True)))
    return entry


def _last_entry(connection: Connection) -> chain.Entry | None:
    row = connection.execute(NEWEST_ENTRY).first()
    return chain.Entry(**row._mapping) if row else None


def entries(connection: Connection, series: str | None = None) -> list[chain.Entry]:
    query = sa.select(schema.entries).order_by(schema.entries.c.seq)
    if series is not None:
        query = query.where(schema.entries.c.series == series)
    return [chain.Entry(**row._mapping) for row in connection.execute(query)]


def knows(connection: Connection, digest: str) -> bool:
    query = sa.select(schema.entries.c.seq).where(schema.entries.c.digest == digest)
    return connection.execute(query).first() is not None


def release_digests(connection: Connection, series: str) -> frozenset[str]:
    """Return the chain right after each release of a series was reserved or imported, as their manifests have it."""
    return frozenset(connection.execute(DIGESTS, {"series": series}).scalars())


def state(connection: Connection, series: str) -> SeriesState:
    """Return the state of a series: its version counts what a draft is judged against, its head is the last of it.

    ``views`` are not in it (``views``): each release would be read once more wherever a state is compared.
    """
    found = connection.execute(STATE, {"series": series}).one()
    if found.secret is None:  # there is a row for any name, but only a series has a secret
        return SeriesState(series)
    said: Facts = {"epoch": 0, "policy": None} if found.body is None else json.loads(found.body)
    return SeriesState(
        series,
        version=found.version,
        head=found.head or "",
        n_releases=found.n_releases,
        n_deliveries=found.n_deliveries,
        epoch=said["epoch"],
        policy_digest=said["policy"],
        policy=connection.execute(POLICY, {"digest": said["policy"]}).scalar(),
        secret=bytes(found.secret),
    )


def views(connection: Connection, series: str) -> tuple[PastView, ...]:
    """Return what the releases of a series were made from, as far as the chain says so."""
    told = connection.execute(VIEWS, {"series": series}).all()
    gone = {_facts_of(body)["number"] for kind, body, _ in told if kind == chain.RECALLED}
    found = [(_facts_of(body), _facts_of(said)) for kind, body, said in told if kind == chain.RESERVED]
    return tuple(
        PastView(facts["number"], facts["view"], said.get("source") or "")
        for facts, said in found
        if facts.get("view") and facts["number"] not in gone
    )


def _manifest_of(facts: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Return what is published about a release; ``digest`` is the chain right after it was reserved."""
    return {
        "format": 2 if shelf.is_split(facts["files"]) else 1,
        "series": facts["series"],
        "release": facts["number"],
        "epoch": facts["epoch"],
        "policy": facts["policy"],
        "rows": facts["rows"],
        "files": facts["files"],
        "chain": digest,
    }


def release_row(entry: chain.Entry) -> Row:
    """Return the row of a release, as in its ``reserved`` or ``imported`` entry."""
    facts, circumstance = entry.facts, entry.circumstances
    approval = facts["approval"] or {"by": None, "override": None}
    return {
        "series": entry.series,
        "number": facts["number"],
        "state": entry.kind,
        "epoch": facts["epoch"],
        "policy_digest": facts["policy"],
        "manifest": chain.text(_manifest_of(facts, entry.digest)),
        "destination": circumstance.get("destination"),
        "n_published": facts["rows"],
        "recipients": chain.text(facts["recipients"]),
        "approved_by": approval["by"],
        "override": approval["override"],
        "reserved_at": circumstance["time"],
        "sealed_at": "",
    }


def record_of_row(row: Mapping[str, Any]) -> ReleaseRecord:
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


def series(connection: Connection) -> Sequence[str]:
    """Return the series that have releases, in order of their names."""
    return connection.execute(SERIES_WITH_RELEASES).scalars().all()


def records(connection: Connection, series: str | None = None) -> Sequence[ReleaseRecord]:
    columns = schema.releases.c
    query = sa.select(schema.releases).order_by(columns.series, columns.number)
    if series is not None:
        query = query.where(columns.series == series)
    inputs = _inputs(connection, series)
    found = [_with_reason(connection, record_of_row(row._asdict())) for row in connection.execute(query).all()]
    return [_with_input(record, inputs) for record in found]


def record(connection: Connection, series: str, number: int) -> ReleaseRecord | None:
    row = connection.execute(RECORD, {"series": series, "number": number}).first()
    if row is None:
        return None
    record = _with_reason(connection, record_of_row(row._asdict()))
    return _with_input(record, _inputs(connection, series, record.manifest["chain"]))


def no_release(series: str, number: int) -> InputError:
    return InputError(Fault(f"series {series!r}", f"has no release {number}", "", "seriatim ledger show lists them"))


def _with_input(record: ReleaseRecord, inputs: Inputs) -> ReleaseRecord:
    name, sha256, version = inputs.get((record.series, record.number), ("", "", ""))
    return replace(record, input_name=name, input_sha256=sha256, version=version)


def _inputs(connection: Connection, series: str | None, digest: str | None = None) -> Inputs:
    """Return by series and number what a release was made from and by which version, for the page to sign.

    ``digest`` is of the entry of one release, if only that is asked for.
    """
    of_series = INPUTS_OF_SERIES if digest is None else INPUT_OF_RELEASE
    query = INPUTS if series is None else of_series
    found = {}
    for name, body, circumstance in connection.execute(query, {"series": series, "digest": digest}):
        said = json.loads(circumstance)
        known = said.get("input") or {"name": said.get("source") or "", "sha256": ""}
        found[name, json.loads(body)["number"]] = known["name"], known["sha256"], said.get("version", "")
    return found


def _with_reason(connection: Connection, record: ReleaseRecord) -> ReleaseRecord:
    if record.state != chain.RECALLED:
        return record
    return replace(record, recalled=_catalogue_recalled(connection, record.series)[record.number])


def _catalogue_recalled(connection: Connection, series: str) -> dict[int, str]:
    """Return the releases of a series that were recalled, with the reasons."""
    found = [_facts_of(body) for body in connection.execute(RECALLED, {"series": series}).scalars()]
    return {facts["number"]: facts["reason"] for facts in found}


@dataclass(frozen=True, slots=True)
class PastReleases:
    """What the chain says about the releases of a series so far."""

    made: Sequence[Facts] = ()
    """Each release, in order, recalled ones too."""
    recalled: frozenset[int] = frozenset()
    erased: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """By release the newest fingerprint of each file that someone was erased from."""

    @property
    def counting(self) -> list[Facts]:
        """Return the releases that count: all but the recalled ones."""
        return [facts for facts in self.made if facts["number"] not in self.recalled]


def past(connection: Connection, series: str) -> PastReleases:
    """Return the past of a series from one statement: one publication asks three times."""
    told = [(kind, _facts_of(body)) for kind, body in connection.execute(PAST, {"series": series})]
    erased: dict[int, dict[str, Any]] = {}
    for kind, facts in told:
        if kind == chain.ERASED:
            erased.setdefault(facts["number"], {}).update(erased_files(facts))
    return PastReleases(
        [facts for kind, facts in told if kind in MAKING],
        frozenset(facts["number"] for kind, facts in told if kind == chain.RECALLED),
        erased,
    )


def methods(connection: Connection, releases: Sequence[Facts]) -> dict[str, str]:
    """Return the method of every policy that one of these releases was published under, by its digest."""
    digests = {facts["policy"] for facts in releases}
    texts = {digest: connection.execute(POLICY, {"digest": digest}).scalar() for digest in digests}
    from seriatim.model.policy_in_force import policy_in_force

    return {digest: policy_in_force(text).method or "" for digest, text in texts.items()}


@functools.lru_cache(maxsize=2048)
def _facts_of(body: str) -> Facts:
    """Return what an entry's body or circumstance says; one publication asks several times about every release."""
    facts: Facts = json.loads(body)
    return facts


def erased_files(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files that an erasure rewrote, with their fingerprints."""
    people = {shelf.PEOPLE: facts["people"]} if "people" in facts else {}
    return {**people, **facts.get("memory", {})}


def update_release(connection: Connection, series: str, number: int, **changes: Any) -> None:
    connection.execute(CHANGE_RELEASE, {"of_series": series, "of_number": number, **changes})
