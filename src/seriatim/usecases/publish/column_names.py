"""Names of published columns: a spreadsheet runs a header like ``=cmd`` as a formula, as it does a cell."""

from __future__ import annotations

from seriatim.errors import Fault, PolicyError
from seriatim.model import Policy, Role

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def check_column_names(policy: Policy) -> None:
    """Raise an error if a column that is published has a name that a spreadsheet would run."""
    faults = [
        Fault(
            f"[columns.{rule.name!r}]",
            "a spreadsheet would run this name as a formula",
            "a name that begins with a letter or digit",
            "rename the column in the table and in the policy, or drop it",
        )
        for rule in policy.columns.values()
        if rule.role is not Role.DROP and rule.name.startswith(_STARTS)
    ]
    if faults:
        raise PolicyError(faults)
