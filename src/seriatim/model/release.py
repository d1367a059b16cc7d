"""A release: a draft that its verdict let out. Nothing else can be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from seriatim.model.draft import Draft
from seriatim.model.verdict import Verdict

_KEY = object()


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """Only :func:`release` makes one. A refused draft gives a Release without a table."""

    key: object
    draft: Draft
    verdict: Verdict
    number: int | None = None
    manifest: Mapping[str, Any] | None = None
    codebook: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.key is not _KEY:
            raise TypeError("a Release is made by release(draft, verdict) only")

    @property
    def table(self) -> pa.Table | None:
        """What is published; None when refused."""
        return self.draft.table if self.verdict.released else None

    @property
    def groups(self) -> pa.Table:
        """Publisher's eyes only: who is in which group."""
        return self.draft.groups


def release(
    draft: Draft,
    verdict: Verdict,
    number: int | None = None,
    manifest: Mapping[str, Any] | None = None,
    codebook: Mapping[str, Any] | None = None,
) -> Release:
    """The only way from a draft to something that can be written out."""
    return Release(_KEY, draft, verdict, number, manifest, codebook)
