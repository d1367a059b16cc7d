"""For data users: estimates from published tables."""

from seriatim.reading.boxes import Axis, read_boxes
from seriatim.reading.counting import Boxes, RangeQueries, count_in_ranges

__all__ = ["Axis", "Boxes", "RangeQueries", "count_in_ranges", "read_boxes"]
