"""Pages to one HTML file that works offline: styles, charts and licences inlined, the network forbidden.

Every word of a user (names of columns and series, reasons) passes Jinja's escaping; numbers of charts travel in a
data block that cannot end its own element. Should something slip through all the same, the page's policy lets only
the one script run whose hash it names, and lets nothing be fetched or sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from seriatim.model.chart import Chart
from seriatim.report.chart_views import is_empty, picture_data, picture_sentence, picture_table
from seriatim.report.page import Block, Page, Pictures, Section

if TYPE_CHECKING:
    from jinja2 import Environment

LICENCES = ("d3", "plot", "interval-tree-1d", "binary-search-bounds", "isoformat")


def render_page(title: str, sections: Iterable[Section], footer: str = "") -> str:
    """A page of anything: an audit, a study. Reports of releases add a banner and go through ``render``."""
    return render(Page(title, tuple(sections), footer=footer))


def render(page: Page) -> str:
    """The whole file. Equal pages give equal bytes."""
    charts = [chart for section in page.sections for block in section.blocks for chart in _drawn(block)]
    numbers = {id(chart): position for position, chart in enumerate(charts)}
    script = drawing_script() if charts else ""
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            style=Markup(asset("templates/page.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own and vendored files
            script_hash=_hash(script) if script else "",
            charts=data_block([picture_data(chart) for chart in charts]),
            position=lambda chart: numbers.get(id(chart)),
        )
    )


def render_fragment(page: Page) -> str:
    """A compact piece for a notebook: no script, styles that touch nothing else."""
    style = Markup(asset("templates/notebook.css"))  # noqa: S704 - our own file
    return environment().get_template("notebook.html.j2").render(page=page, style=style)


def data_block(value: object) -> Markup:
    """JSON that is safe inside a script element: no way to end it, to open a comment or to break a line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)  # noqa: S704 - escaped just now


@cache
def environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # a start-up that JSON alone need not pay

    made = Environment(
        loader=PackageLoader("seriatim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(picture_sentence=picture_sentence, picture_table=picture_table, is_empty=is_empty)
    return made


@cache
def drawing_script() -> str:
    """The libraries under their licences, then the one function that draws every kind of chart."""
    notices = "\n\n".join(f"{name}\n{asset(f'vendor/{name}.LICENSE').strip()}" for name in LICENCES)
    parts = (f"/*!\n{notices}\n*/", asset("vendor/d3.min.js"), asset("vendor/plot.min.js"), asset("templates/draw.js"))
    return "\n".join(part.strip() for part in parts)


@cache
def asset(path: str) -> str:
    return files("seriatim.report").joinpath(path).read_text(encoding="utf-8")


def _drawn(block: Block) -> list[Chart]:
    return [chart for chart in block.charts.values() if not is_empty(chart)] if isinstance(block, Pictures) else []


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
