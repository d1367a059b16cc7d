"""For users of published tables: estimates that account for boxes and counterfeits."""

from typing import TYPE_CHECKING

from seriatim.lazy_names import lazy_names_by_home

if TYPE_CHECKING:
    from seriatim.reading.published_boxes import Axis, read_boxes
    from seriatim.reading.published_release import PublishedRelease, open_release
    from seriatim.reading.range_counts import Boxes, RangeQueries, count_in_ranges
    from seriatim.reading.relation import Estimated, Relation

_HOMES = {
    "seriatim.reading.published_boxes": ("Axis", "read_boxes"),
    "seriatim.reading.published_release": ("PublishedRelease", "open_release"),
    "seriatim.reading.relation": ("Estimated", "Relation"),
    "seriatim.reading.range_counts": ("Boxes", "RangeQueries", "count_in_ranges"),
}
__getattr__ = lazy_names_by_home(__name__, _HOMES)

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
