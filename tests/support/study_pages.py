"""What a study's page says about results: sentences that no run could have changed are found here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seriatim.report.page import Charts, Grid, Note, Page, Points, Prose

RESULT = re.compile(
    r"\b(falls?|fell|rises?|grows?|drops?|stays?|holds?|fails?|beats?|loses?|wins?|start|part|sharply|gently|alike|"
    r"always|never|nothing|none|nobody|everyone|cannot|hardly|close|near|higher|lower|more|less|fewer|than|most|least|"
    r"for ever|agree|disagree|differs?|better|worse|safe|protects?|above|below)\b"
)


def sentences(page: Page) -> Iterator[str]:
    """Yield every sentence of a page, with the titles and captions of its charts and tables."""
    for section in page.sections:
        texts = [section.lead]
        for block in section.blocks:
            if isinstance(block, Prose):
                texts += block.paragraphs
            elif isinstance(block, Points):
                texts += [f"{head} {rest}" for head, rest in block.items]
            elif isinstance(block, Note):
                texts += block.lines
            elif isinstance(block, Grid):
                texts.append(block.caption)
            elif isinstance(block, Charts):
                texts += [text for chart in block.charts.values() for text in (chart.title, chart.caption)]
        for text in texts:
            yield from (one.strip() for one in re.split(r"(?<=[.;])\s", text) if one.strip())


def constant_findings(page: Page, other: Page, said: tuple[str, ...] = ()) -> list[str]:
    """Return the sentences about results that both runs share, or that carry no figure.

    ``said`` starts sentences that are no results: definitions, and what the paper prints.
    """
    shared = set(sentences(other))
    return [
        one
        for one in sentences(page)
        if RESULT.search(one) and (one in shared or not re.search(r"\d", one)) and not one.startswith(said)
    ]
