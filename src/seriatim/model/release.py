"""A release: a draft whose verdict released it. Nothing else can be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any

import pyarrow as pa

from seriatim.model.draft import TABLE, VALUES, Draft
from seriatim.model.verdict import Verdict

_KEY = object()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Release:
    """A draft whose verdict released it. Only :func:`release` makes one, and writers accept nothing else."""

    key: InitVar[object]
    draft: Draft
    verdict: Verdict
    number: int | None = None
    """None until the ledger has it."""
    manifest: Mapping[str, Any] | None = None
    codebook: Mapping[str, Any] | None = None
    draft_digest: str | None = None
    """Names the kept draft that waits for approval; None if it is not kept as one."""

    def __post_init__(self, key: object) -> None:
        if key is not _KEY or not self.verdict.released:
            raise TypeError("only release(draft, verdict) makes a Release, and only if the verdict released the draft")

    @property
    def files(self) -> Mapping[str, pa.Table]:
        """Return what is written, by name; buckets are two tables, the values in an order that says nothing."""
        if not self.draft.buckets:
            return self.draft.files
        values = ["group", *self.draft.sensitive]
        sides = {
            TABLE: self.draft.table.drop_columns(list(self.draft.sensitive)),
            VALUES: self.draft.table.select(values).sort_by([(name, "ascending") for name in values]),
        }
        return {**self.draft.files, **sides}

    @property
    def table(self) -> pa.Table:
        """Return the published table; the first of several."""
        return self.draft.table if self.draft.own_tables else self.files[TABLE]

    @property
    def groups(self) -> pa.Table:
        """Return who is in which group, for the publisher's eyes only."""
        return self.draft.groups

    def waiting(self, digest: str) -> Release:
        """Return the same release as the ledger keeps it: a draft that nobody has approved yet."""
        return Release(key=_KEY, draft=self.draft, verdict=self.verdict, draft_digest=digest)

    def sealed(self, number: int, manifest: Mapping[str, Any], codebook: Mapping[str, Any]) -> Release:
        """Return the same release as the ledger has it."""
        return Release(
            key=_KEY, draft=self.draft, verdict=self.verdict, number=number, manifest=manifest, codebook=codebook
        )


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A draft whose verdict refused it: reasons, and nothing that could be written."""

    draft: Draft
    verdict: Verdict

    @property
    def table(self) -> None:
        return None

    @property
    def groups(self) -> pa.Table:
        """Return who would have been in which group, for the publisher's eyes only."""
        return self.draft.groups

    @property
    def number(self) -> None:
        return None

    @property
    def draft_digest(self) -> None:
        return None

    @property
    def manifest(self) -> None:
        return None

    @property
    def codebook(self) -> None:
        return None


def release(draft: Draft, verdict: Verdict) -> Release | Refusal:
    """Return a Release if the verdict released the draft, else a Refusal."""
    return Release(key=_KEY, draft=draft, verdict=verdict) if verdict.released else Refusal(draft, verdict)
