from seriatim.queries.answer_service import Answer, Answering
from seriatim.queries.query_bounds import Bounds, bounds
from seriatim.queries.query_kinds import Query
from seriatim.queries.spread_refusals import SpreadRefusals

__all__ = ["Answer", "Answering", "Bounds", "Query", "SpreadRefusals", "bounds"]
