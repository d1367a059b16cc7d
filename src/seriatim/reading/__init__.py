"""For users of published tables: estimates that account for boxes and counterfeits."""

from seriatim.reading.boxes import Axis, read_boxes
from seriatim.reading.questions import PublishedRelease, open_release
from seriatim.reading.range_counts import Boxes, RangeQueries, count_in_ranges

__all__ = [
    "Axis",
    "Boxes",
    "PublishedRelease",
    "RangeQueries",
    "count_in_ranges",
    "open_release",
    "read_boxes",
]
