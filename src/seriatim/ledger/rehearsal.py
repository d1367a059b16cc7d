"""A ledger for dry runs: it knows nothing and records nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from seriatim.errors import LedgerError
from seriatim.model.history import History, SeriesState, nothing_published
from seriatim.ports import DraftRecord, LedgerCheck, ReleaseRecord, Reservation


@dataclass(frozen=True, slots=True)
class NoLedger:
    """``seriatim.ports.Ledger`` with nothing in it; only a dry run can use it."""

    secret: bytes | None = field(default=None, repr=False)
    """If set, every dry run draws alike."""

    def state(self, series: str, destination: Path | None = None, head: Path | None = None) -> SeriesState:
        if head is not None:
            from seriatim.ledger.manifests import refuse_behind_head, refuse_unusable_head

            refuse_unusable_head(head, series)
            refuse_behind_head(head, series, ())
        if destination is not None and os.path.lexists(destination):
            from seriatim.ledger.destinations import refuse_unusable_destination
            from seriatim.ledger.manifests import refuse_published_manifest

            refuse_unusable_destination(destination)
            refuse_published_manifest(destination, series)
        return SeriesState(series, secret=self.secret)

    def history(self, series: str, sensitive: str | None = None, newest: int | None = None) -> History:  # noqa: ARG002
        return nothing_published()

    def memory(self, series: str) -> Mapping[str, pa.Table]:  # noqa: ARG002
        return {}

    def in_other_series(self, series: str, respondents: pa.Array | pa.ChunkedArray) -> Mapping[str, int]:  # noqa: ARG002
        return {}

    def stage(self) -> AbstractContextManager[Path]:
        raise LedgerError("a dry run stages nothing")

    def reserve(self, reservation: Reservation) -> ReleaseRecord:  # noqa: ARG002
        raise LedgerError("a dry run reserves nothing")

    def keep(self, reservation: Reservation, author: str, reasons: Sequence[str] = ()) -> DraftRecord:  # noqa: ARG002
        raise LedgerError("a dry run keeps no draft")

    def drafts(self, series: str | None = None) -> Sequence[DraftRecord]:  # noqa: ARG002
        return ()

    def approve(self, series: str, approved_by: str, digest: str = "") -> ReleaseRecord:  # noqa: ARG002
        raise LedgerError("a dry run approves nothing")

    def decline(self, series: str, reason: str, declined_by: str, digest: str = "") -> DraftRecord:  # noqa: ARG002
        raise LedgerError("a dry run keeps no draft")

    def seal(self, series: str, number: int) -> ReleaseRecord:  # noqa: ARG002
        raise LedgerError("a dry run seals nothing")

    def series(self) -> Sequence[str]:
        return ()

    def records(self, series: str | None = None) -> Sequence[ReleaseRecord]:  # noqa: ARG002
        return ()

    def record(self, series: str, number: int) -> ReleaseRecord | None:  # noqa: ARG002
        return None

    def verify(self, published: Sequence[Path] = ()) -> LedgerCheck:  # noqa: ARG002
        return LedgerCheck(0, 0, 0, ())
