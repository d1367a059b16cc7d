"""The shapes of what the service takes and answers. An answer has the same fields whatever was decided."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
"""A text without NUL: PostgreSQL keeps none, and what it refuses would stop everybody's requests."""
Value = Name | Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | Annotated[float, Field(allow_inf_nan=False)]
Visible = Literal["pending", "released", "withdrawn", "refused"]


class RequestBody(BaseModel):
    """A record to be released: its respondent, and the record's values unless the service holds the records.

    ``values`` are by column. With one dependency ``x`` (in the order of its columns) and ``y`` do as well.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    respondent: Name
    x: Annotated[list[Value], Field(min_length=1, max_length=20)] | None = None
    y: Value | None = None
    values: Annotated[dict[Name, Value], Field(min_length=2, max_length=100)] | None = None


class Accepted(BaseModel):
    """A request or a change was taken; says nothing about what was decided."""

    id: str
    state: Literal["accepted"] = "accepted"


class RequestAnswer(BaseModel):
    """What became of a request. ``values`` are there once it is released."""

    id: str
    state: Visible
    values: dict[str, str | float | int | bool | None] | None
    reason: str


class ReleasedItem(BaseModel):
    """A released record. ``id`` is the request's, for those who may know it."""

    id: str | None
    values: dict[str, str | float | int | bool | None]


class ReleasedPage(BaseModel):
    """Released records in the order in which they were shown; ``next`` continues the list.

    ``head`` is the digest of the journal as it was when the newest of all released records was first shown; empty for a
    token that sees its own people only. A journal that does not know it is a restored backup.
    """

    items: list[ReleasedItem]
    next: str
    head: str


class FreezeBody(BaseModel):
    """Whether the gate is to be frozen: requests are taken, nothing leaves."""

    model_config = ConfigDict(extra="forbid", strict=True)

    frozen: bool


class BaselineBody(BaseModel):
    """A stored version of the baseline to use: ``freeze`` stops the gate, ``rejudge`` judges again what waits."""

    model_config = ConfigDict(extra="forbid", strict=True)

    number: Annotated[int, Field(ge=1, le=1_000_000)]
    policy: Literal["freeze", "rejudge"]


class Gone(BaseModel):
    """Why nothing was done; it names neither a value nor a test."""

    detail: str


class TestStanding(BaseModel):
    """A statistic beside its critical value, per target, or once for all targets, of one dependency."""

    dependency: int
    test: str
    target: int | None
    statistic: float | None
    critical: float | None
    safe: bool


class Exposure(BaseModel):
    """How everything released fares under each test. Targets are numbered from 0 as in the baseline."""

    baseline: str
    baseline_number: int
    dependencies: list[str]
    frozen: bool
    frozen_for: int | None
    """The version of the baseline because of which the gate is frozen."""
    requests: int
    released: int
    waiting: int
    withdrawn: int
    expired: int
    refused: int
    repeated: int
    """Requests for a record that somebody had asked for already; they are in none of the other counts."""
    records_held: int
    standings: list[TestStanding]


class WaitingItem(BaseModel):
    """A waiting request: its cell as places in the baseline, and since when it waits (milliseconds since 1970).

    ``cells`` has value and target for each dependency; ``value`` and ``target`` are the first one's.
    """

    id: str
    value: int
    target: int
    cells: list[tuple[int, int]]
    since: int


class WaitingPage(BaseModel):
    items: list[WaitingItem]
    next: str


class Explanation(BaseModel):
    """Why records of one cell wait, and how many records of which value would free one.

    Without a test they wait because of another dependency.
    """

    dependency: int
    value: int
    target: int
    waiting: int
    tests: list[str]
    helper_value: int | None
    helpers: int


class Frozen(BaseModel):
    frozen: bool
    changed: bool


class DriftFound(BaseModel):
    """How far a version of the baseline is from the present one, and the tests that what was released fails."""

    dependency: int
    bits: float | None
    p_value: float
    largest_change: float
    broken: list[str]
    advice: str


class BaselineTaken(BaseModel):
    """What came of another version of the baseline."""

    frozen: bool
    changed: bool
    drift: list[DriftFound]
