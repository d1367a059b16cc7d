"""The parts that publishing works with: workers, a defence, a writer, and whoever is told of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from seriatim.model.draft import Draft
from seriatim.model.history import SeriesState
from seriatim.model.policy import Policy
from seriatim.model.release import Release
from seriatim.model.view import View

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[str, float], None]
"""Called with the name of the current step and the share of the whole that is done."""


def no_progress(step: str, share: float) -> None:
    """Ignore progress."""


class Workers(Protocol):
    """Runs independent pieces of work in parallel, with results in order."""

    @property
    def count(self) -> int: ...

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]: ...


class Defence(Protocol):
    """Makes a draft from a view, a policy and the history."""

    def __call__(self, view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft: ...


class Writer(Protocol):
    """Writes the files of a release into a folder, as CSV or Parquet."""

    def __call__(self, release: Release, folder: Path) -> None: ...
