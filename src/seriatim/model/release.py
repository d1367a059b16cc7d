"""A release: a draft that its verdict let out. Nothing else can be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any

import pyarrow as pa

from seriatim.model.draft import Draft
from seriatim.model.verdict import Verdict

_KEY = object()


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A draft whose verdict let it out. Only :func:`release` makes one, and writers take nothing else."""

    key: InitVar[object]
    draft: Draft
    verdict: Verdict
    number: int | None = None
    """None until the ledger holds it."""
    manifest: Mapping[str, Any] | None = None
    codebook: Mapping[str, Any] | None = None

    def __post_init__(self, key: object) -> None:
        if key is not _KEY or not self.verdict.released:
            raise TypeError("a Release is made by release(draft, verdict) only, from a verdict that lets it out")

    @property
    def files(self) -> Mapping[str, pa.Table]:
        """What is written out, by name."""
        return self.draft.files

    @property
    def table(self) -> pa.Table:
        return self.draft.table

    @property
    def groups(self) -> pa.Table:
        """Publisher's eyes only: who is in which group."""
        return self.draft.groups

    def sealed(self, number: int, manifest: Mapping[str, Any], codebook: Mapping[str, Any]) -> Release:
        """Return the same release as the ledger holds it."""
        return Release(_KEY, self.draft, self.verdict, number, manifest, codebook)


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A draft that its verdict did not let out: reasons, and nothing that could be written."""

    draft: Draft
    verdict: Verdict

    @property
    def table(self) -> None:
        return None

    @property
    def groups(self) -> pa.Table:
        """Publisher's eyes only: who would have been in which group."""
        return self.draft.groups

    @property
    def number(self) -> None:
        return None

    @property
    def manifest(self) -> None:
        return None

    @property
    def codebook(self) -> None:
        return None


def release(draft: Draft, verdict: Verdict) -> Release | Refusal:
    """Return what can be written out where the verdict lets the draft out, else a refusal."""
    return Release(_KEY, draft, verdict) if verdict.released else Refusal(draft, verdict)
