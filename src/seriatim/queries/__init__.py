"""Answers to questions about a table that is not published: what all answers together reveal, and when to refuse."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.queries.answering import Answer, Answering
    from seriatim.queries.query_bounds import Bounds, bounds
    from seriatim.queries.query_kinds import Query
    from seriatim.queries.sampled_refusals import SampledRefusals
    from seriatim.queries.spread_refusals import SpreadRefusals

# loaded when first asked for: linear programmes take a second to import
_HOMES = {
    "Answer": "answering",
    "Answering": "answering",
    "Bounds": "query_bounds",
    "Query": "query_kinds",
    "SampledRefusals": "sampled_refusals",
    "SpreadRefusals": "spread_refusals",
    "bounds": "query_bounds",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.queries' has no attribute {name!r}")
    value = getattr(import_module(f"seriatim.queries.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


__all__ = ["Answer", "Answering", "Bounds", "Query", "SampledRefusals", "SpreadRefusals", "bounds"]
