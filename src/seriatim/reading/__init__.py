"""For users of published tables: estimates that account for boxes and counterfeits."""

from typing import TYPE_CHECKING

from seriatim.lazy_names import public_names

if TYPE_CHECKING:
    from seriatim.reading.published_boxes import Axis, read_boxes
    from seriatim.reading.published_release import PublishedRelease, open_release
    from seriatim.reading.range_counts import Boxes, RangeQueries, count_in_ranges
    from seriatim.reading.relation import Estimated, Relation

_HOMES = {
    "Axis": "seriatim.reading.published_boxes",
    "Boxes": "seriatim.reading.range_counts",
    "Estimated": "seriatim.reading.relation",
    "PublishedRelease": "seriatim.reading.published_release",
    "RangeQueries": "seriatim.reading.range_counts",
    "Relation": "seriatim.reading.relation",
    "count_in_ranges": "seriatim.reading.range_counts",
    "open_release": "seriatim.reading.published_release",
    "read_boxes": "seriatim.reading.published_boxes",
}
__getattr__ = public_names(__name__, _HOMES)

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
