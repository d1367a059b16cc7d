"""The statements that every publication asks, built once: building one takes longer than a small ledger's answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from seriatim.ledger import chain
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
    .where(_entries.circumstance.contains('"destination":'))
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
