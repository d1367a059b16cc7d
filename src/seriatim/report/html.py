"""Renders a page as one HTML file that works offline: styles, charts and licences inline, no network.

Jinja escapes every text that comes from a user (names of columns and series, reasons). The numbers of the charts go
into a data block that cannot end its own element. If something slips through all the same, the page's content security
policy runs only the one script whose hash it names, and blocks every request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seriatim.model.chart import Chart
from seriatim.report import chart_views
from seriatim.report.json_record import canonical_text
from seriatim.report.page import Block, Charts, Page, Section

if TYPE_CHECKING:
    from jinja2 import Environment


LICENCES = ("d3", "plot", "interval-tree-1d", "binary-search-bounds", "isoformat")


def rendered_page(title: str, sections: Iterable[Section], footer: str = "") -> str:
    """Render a title and sections, as a study has them. Reports of releases add a banner and use ``render``."""
    return rendered_file(Page(title, tuple(sections), footer=footer))


def rendered_file(page: Page) -> str:
    """Return the whole file. Equal pages give equal bytes."""
    charts = [chart for section in page.sections for block in section.blocks for chart in _drawn(block)]
    numbers = {id(chart): position for position, chart in enumerate(charts)}
    script, script_hash = _drawing_script() if charts else (Markup(), "")
    return (
        _html_environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            style=Markup(asset_text("templates/page.css")),  # noqa: S704 - our own file
            script=script,
            script_hash=script_hash,
            charts=data_block([chart_views.drawing(chart) for chart in charts]),
            position=lambda chart: numbers.get(id(chart)),
        )
    )


def notebook_fragment(page: Page) -> str:
    """Return a short version for a notebook: no script, and styles that apply to nothing else."""
    style = Markup(asset_text("templates/notebook.css"))  # noqa: S704 - our own file
    return _html_environment().get_template("notebook.html.j2").render(page=page, style=style)


def data_block(value: object) -> Markup:
    """Return JSON that is safe inside a script element: it cannot end it, open a comment or break a line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)  # noqa: S704 - escaped just now


@cache
def _html_environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to import, and JSON does not need it

    made = Environment(
        loader=PackageLoader("seriatim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(
        chart_sentence=chart_views.sentence, chart_table=chart_views.table, is_empty=chart_views.is_empty
    )
    return made


@cache
def _drawing_script() -> tuple[Markup, str]:
    """Return the libraries with their licences and the function that draws every kind of chart; and their hash."""
    notices = "\n\n".join(f"{name}\n{asset_text(f'vendor/{name}.LICENSE').strip()}" for name in LICENCES)
    parts = (
        f"/*!\n{notices}\n*/",
        asset_text("vendor/d3.min.js"),
        asset_text("vendor/plot.min.js"),
        asset_text("templates/draw.js"),
    )
    script = "\n".join(part.strip() for part in parts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Markup(script), f"sha256-{digest}"  # noqa: S704 - our own and vendored files


@cache
def asset_text(path: str) -> str:
    return files("seriatim.report").joinpath(path).read_text(encoding="utf-8")


def _drawn(block: Block) -> list[Chart]:
    return (
        [chart for chart in block.charts.values() if not chart_views.is_empty(chart)]
        if isinstance(block, Charts)
        else []
    )


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
