from seriatim.report.document import Report
from seriatim.report.facts import ColumnFacts, Facts, TableCounts, column_facts
from seriatim.report.filed_report import NO_ROWS, FiledReport
from seriatim.report.for_recipients import PublicReport, promises_for_recipients
from seriatim.report.html import html_page
from seriatim.report.json_record import report_read_back
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
from seriatim.report.sign_off import SignOff, SignOffFacts

__all__ = [
    "NO_ROWS",
    "Banner",
    "Block",
    "Cell",
    "Charts",
    "ColumnFacts",
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
    "Section",
    "SignOff",
    "SignOffFacts",
    "Signatures",
    "TableCounts",
    "Tile",
    "Tiles",
    "column_facts",
    "html_page",
    "promises_for_recipients",
    "report_read_back",
]
