"""Verdicts and releases to HTML and JSON. This room never sees a row: counts, figures and names of columns only."""

from seriatim.report.document import Report
from seriatim.report.facts import ColumnFacts, Facts, columns_of
from seriatim.report.filed import NO_ROWS, Filed
from seriatim.report.for_recipients import PublicReport, kept_promises
from seriatim.report.html import render_page
from seriatim.report.page import (
    Banner,
    Block,
    Cell,
    Definitions,
    Grid,
    Note,
    Page,
    Pictures,
    Points,
    Prose,
    Section,
    Tile,
    Tiles,
)

__all__ = [
    "NO_ROWS",
    "Banner",
    "Block",
    "Cell",
    "ColumnFacts",
    "Definitions",
    "Facts",
    "Filed",
    "Grid",
    "Note",
    "Page",
    "Pictures",
    "Points",
    "Prose",
    "PublicReport",
    "Report",
    "Section",
    "Tile",
    "Tiles",
    "columns_of",
    "kept_promises",
    "render_page",
]
