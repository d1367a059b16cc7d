"""A history to judge: everything released so far, with the draft as its newest release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar, cast

from seriatim.model.draft import Draft
from seriatim.model.history import History
from seriatim.model.verdict import Estimate
from seriatim.model.view import View

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgedHistory:
    """What promises about a series judge, for one sensitive column."""

    history: History
    """All releases, the judged one last; people have their numbers in all of them."""
    column: str | None = None
    """The sensitive column whose values the history follows."""
    _: KW_ONLY
    draft: Draft | None = None
    """The newest release as its maker knows it; None for a history that was only read."""
    view: View | None = None
    """What the draft was made from."""
    estimate: Estimate | None = None
    """What a simulated attack on this history concluded; None if no promise bounds it."""
    believed: Estimate | None = None
    """What someone who knows how values follow each other believes; None if no promise bounds it."""
    since: int = 0
    """The number of the first release that the method's own promises judge; another method made those before it."""
    _made: dict[Callable[[JudgedHistory], Any], Any] = field(default_factory=dict, init=False)

    @classmethod
    def of_draft(cls, history: History, draft: Draft, view: View, column: str | None) -> JudgedHistory:
        """Return the releases so far with the draft after them, for one sensitive column."""
        return cls(history.with_draft(draft, column), column, draft=draft, view=view)

    def __repr__(self) -> str:
        return f"Judged({len(self.history)} releases, column {self.column!r})"

    def once(self, make: Callable[[JudgedHistory], T]) -> T:
        """Return ``make(self)``, made once and shared by all promises."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])


def judged_draft_and_view(judged: JudgedHistory) -> tuple[Draft, View]:
    """Return the judged draft and its view; a history that was only read has none."""
    if judged.draft is None or judged.view is None:
        raise ValueError("this promise judges a draft, and the history was only read")
    return judged.draft, judged.view
