"""For data users: estimates from published tables."""

from seriatim.reading.counting import Boxes, RangeQueries, count_in_ranges

__all__ = ["Boxes", "RangeQueries", "count_in_ranges"]
