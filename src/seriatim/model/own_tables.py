"""A table of its own for every sensitive column: how a serial method publishes several of them.

Groups that keep the promises of one column say nothing about another, so each column is defended, judged and recorded
apart, as a series of this column alone would be: with groups, group ids and an order of rows of its own, all drawn from
a secret of its own. Nothing links the rows of two tables. Plain columns are with the first sensitive column only,
since a cell in two tables would link them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from seriatim.errors import Fault, TableError
from seriatim.model.policy import Policy, PromiseTerms, Role
from seriatim.model.view import View

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NUMBERED = re.compile(r"column-\d+", re.IGNORECASE)


def is_split_by_column(policy: Policy) -> bool:
    """Return whether each sensitive column is published in a table of its own."""
    return policy.defence is not None and policy.defence.serial and len(policy.sensitive) > 1


def policy_of_column(policy: Policy, column: str) -> Policy:
    """Return what the policy says of one sensitive column's table: the other sensitive columns are not in it."""
    plain = Role.PLAIN if column == policy.sensitive[0].name else Role.DROP
    roles = {Role.SENSITIVE: Role.DROP, Role.PLAIN: plain, Role.WEIGHT: plain}
    columns = {
        name: rule if name == column else replace(rule, role=roles.get(rule.role, rule.role))
        for name, rule in policy.columns.items()
    }
    kept = {name: own for name, own in policy.terms.per_column.items() if name == column}
    terms = PromiseTerms(k=policy.terms.k, per_column=MappingProxyType(kept), series=policy.terms.series_of(column))
    return replace(policy, columns=MappingProxyType(columns), terms=terms)


def view_of_column(view: View, policy: Policy) -> View:
    """Return the view of one sensitive column's table; ``policy`` is that of the table.

    Who is suppressed for an empty cell of another sensitive column is in it.
    """
    (rule,) = policy.sensitive
    return replace(
        view,
        sensitive=tuple(column for column in view.sensitive if column.name == rule.name),
        plain=tuple(name for name in view.plain if policy.columns[name].role is Role.PLAIN),
        suppressed=_suppressed(view, rule.name),
    )


def _suppressed(view: View, column: str) -> np.ndarray:
    others = {each.name for each in view.sensitive if each.name != column}
    if not others & view.suppressed_by.keys():
        return view.suppressed
    own = [flags for name, flags in view.suppressed_by.items() if name not in others]
    return np.logical_or.reduce(own) if own else np.zeros(len(view), dtype=np.bool_)


def secret_of_column(secret: bytes, column: str) -> bytes:
    """Return the secret of one sensitive column's table: what is drawn for it says nothing about the others."""
    return hashlib.blake2b(f"sensitive column {column}".encode(), key=secret, digest_size=32).digest()


def folders_by_column(columns: Sequence[str]) -> dict[str, str]:
    """Return the folder of each column's files: the column's name, or its number if no folder can have that name."""
    found: dict[str, str] = {}
    for number, column in enumerate(columns, start=1):
        alike = [other for other in columns if other.casefold() == column.casefold()]
        safe = _SAFE.fullmatch(column) is not None and len(alike) == 1 and not _NUMBERED.fullmatch(column)
        found[column] = column if safe else f"column-{number}"
    return found


def folder_of_column(codebook: bytes, where: str, sensitive: str | None) -> str:
    """Return the folder of a column's own table beside a codebook; nothing if there is one table of all columns."""
    told = json.loads(codebook)
    folders = {str(one["sensitive"]): str(one["folder"]) for one in told.get("tables", ())}
    if not folders:
        return ""
    if sensitive not in folders:
        found = "each sensitive column has a table of its own"
        raise TableError(Fault(where, found, ", ".join(folders), "say which, by the name of the sensitive column"))
    return folders[sensitive]
