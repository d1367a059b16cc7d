from seriatim.report.document import Report
from seriatim.report.for_recipients import PublicReport, promise_told, promises_told
from seriatim.report.html import NO_ROWS, FiledReport, rendered_page
from seriatim.report.json_record import read_back
from seriatim.report.outcome import Facts, ReportedColumn, SigningFacts, TableCounts, reported_columns
from seriatim.report.page import (
    Banner,
    Block,
    Cell,
    Charts,
    Definitions,
    Grid,
    Note,
    Page,
    Points,
    Prose,
    Section,
    Signatures,
    Tile,
    Tiles,
)
from seriatim.report.sign_off import SignOff

__all__ = [
    "NO_ROWS",
    "Banner",
    "Block",
    "Cell",
    "Charts",
    "Definitions",
    "Facts",
    "FiledReport",
    "Grid",
    "Note",
    "Page",
    "Points",
    "Prose",
    "PublicReport",
    "Report",
    "ReportedColumn",
    "Section",
    "SignOff",
    "Signatures",
    "SigningFacts",
    "TableCounts",
    "Tile",
    "Tiles",
    "promise_told",
    "promises_told",
    "read_back",
    "rendered_page",
    "reported_columns",
]
