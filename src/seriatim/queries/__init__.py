"""Answers to questions about a table that is not published: what all answers together reveal, and when to refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seriatim.lazy_names import public_names

if TYPE_CHECKING:
    from seriatim.queries.answer_service import Answer, Answering
    from seriatim.queries.query_bounds import Bounds, bounds
    from seriatim.queries.query_kinds import Query
    from seriatim.queries.spread_refusals import SpreadRefusals

# loaded when first asked for: linear programmes take a second to import
_HOMES = {
    "Answer": "seriatim.queries.answer_service",
    "Answering": "seriatim.queries.answer_service",
    "Bounds": "seriatim.queries.query_bounds",
    "Query": "seriatim.queries.query_kinds",
    "SpreadRefusals": "seriatim.queries.spread_refusals",
    "bounds": "seriatim.queries.query_bounds",
}


__getattr__ = public_names(__name__, _HOMES)

__all__ = ["Answer", "Answering", "Bounds", "Query", "SpreadRefusals", "bounds"]
