"""The faces of policies, ledgers and histories: what isinstance is asked about."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from seriatim.model import History, Policy
from seriatim.model.face import Face
from seriatim.policies import (
    load_policy,
    policy_from_dict,
)
from seriatim.tables.histories import table_history


class PolicyFace(Policy, metaclass=Face):
    """``seriatim.Policy``: a policy, and how to load one."""

    __slots__ = ()

    @staticmethod
    def load(path: str | os.PathLike[str]) -> PolicyFace:
        """Read a policy from a TOML file. Raises one PolicyError with every fault."""
        return cast(PolicyFace, load_policy(path))

    @staticmethod
    def from_dict(mapping: Mapping[str, Any], base: str | os.PathLike[str] | None = None) -> PolicyFace:
        """Read a policy from a mapping; ``base`` is the folder of hierarchy files."""
        return cast(PolicyFace, policy_from_dict(mapping, base))


class HistoryFace(History, metaclass=Face):
    """``seriatim.History``: a history, and how to read anyone's releases."""

    __slots__ = ()

    @staticmethod
    def from_frame(frame: Any) -> HistoryFace:
        """Read a long frame with the columns release, respondent (null: a counterfeit), group and sensitive."""
        return cast(HistoryFace, table_history(frame))
