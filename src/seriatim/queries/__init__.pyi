from seriatim.queries.answer_service import Answer, Answering, SpreadRefusals
from seriatim.queries.query_bounds import Bounds, bounds
from seriatim.queries.query_kinds import Query

__all__ = ["Answer", "Answering", "Bounds", "Query", "SpreadRefusals", "bounds"]
