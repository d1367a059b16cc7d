"""The base of all reports: HTML for people, JSON for programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from seriatim.report.html import notebook_fragment, rendered_file
from seriatim.report.json_record import canonical_text
from seriatim.report.page import Page

NO_ROWS = "This report has counts, figures and column names. It has no row and no value of a person."


class FiledReport(ABC):
    """A report as HTML and as JSON. Equal inputs give equal bytes: no time, version or chance goes in."""

    __slots__ = ()

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return everything the page shows, with all digits."""

    @abstractmethod
    def page(self) -> Page: ...

    def to_json(self) -> str:
        """Return the record as canonical JSON; an infinite figure becomes "inf"."""
        return canonical_text(self.record())

    def to_html(self) -> str:
        """Return the page as one HTML file that works offline."""
        return rendered_file(self.page())

    def _repr_html_(self) -> str:
        return notebook_fragment(self.page())
