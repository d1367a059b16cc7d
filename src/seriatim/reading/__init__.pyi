from seriatim.reading.published_boxes import Axis, Boxes, read_boxes
from seriatim.reading.published_release import PublishedRelease, RangeQueries, count_in_ranges, open_release
from seriatim.reading.relation import Estimated, Relation

__all__ = [
    "Axis",
    "Boxes",
    "Estimated",
    "PublishedRelease",
    "RangeQueries",
    "Relation",
    "count_in_ranges",
    "open_release",
    "read_boxes",
]
