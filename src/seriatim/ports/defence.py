"""A defence: from a view to a draft."""

from __future__ import annotations

from typing import Protocol

from seriatim.model.draft import Draft
from seriatim.model.history import SeriesState
from seriatim.model.policy import Policy
from seriatim.model.view import View
from seriatim.ports.workers import Workers


class Defence(Protocol):
    """Makes a draft from a view, a policy and the history."""

    def __call__(self, view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft: ...
