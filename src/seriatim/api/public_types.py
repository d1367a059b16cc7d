"""Policies and histories as users know them: what isinstance is asked about, and how they are made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from seriatim import model, policies
from seriatim.model.doors import PublicType


class Policy(model.Policy, metaclass=PublicType):
    """A policy, and how to load one."""

    __slots__ = ()

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Policy:
        """Read a policy from a TOML file. Raises one PolicyError with every fault."""
        return cast(Policy, policies.load_policy(path))

    @staticmethod
    def from_dict(mapping: Mapping[str, Any], base: str | os.PathLike[str] | None = None) -> Policy:
        """Read a policy from a mapping; ``base`` is the folder of hierarchy files."""
        return cast(Policy, policies.policy_from_dict(mapping, base))


class History(model.History, metaclass=PublicType):
    """A history, and how to read anyone's releases."""

    __slots__ = ()

    @staticmethod
    def from_frame(frame: Any) -> History:
        """Read a long frame with the columns release, respondent (null: a counterfeit), group and sensitive."""
        from seriatim.tables.histories import table_history

        return cast(History, table_history(frame))
