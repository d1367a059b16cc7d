"""What every report is, whatever it is about: a page to file and a record to process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from seriatim.report.html import render, render_fragment
from seriatim.report.json_record import canonical
from seriatim.report.page import Page

NO_ROWS = "This report holds counts, figures and names of columns. It holds no row and no value of a person."


class Filed(ABC):
    """Equal inputs give equal bytes: no time, no version, no chance."""

    __slots__ = ()

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Everything the page shows, and the full figures behind it."""

    @abstractmethod
    def page(self) -> Page: ...

    def to_json(self) -> str:
        """One canonical text; infinite figures are the text "inf"."""
        return canonical(self.record())

    def to_html(self) -> str:
        """One file that works offline."""
        return render(self.page())

    def _repr_html_(self) -> str:
        return render_fragment(self.page())
