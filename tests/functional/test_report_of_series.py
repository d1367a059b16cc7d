"""The report of a serial method: shuffled values, counterfeits and figures with a meaning."""

from __future__ import annotations

import re
from pathlib import Path

import seriatim as sr
from seriatim.report import Grid
from seriatim.testing.hospital import SERIES, hospital_months


def test_the_report_of_a_series(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(SERIES)
    policy, ledger = sr.Policy.load(tmp_path / "policy.toml"), sr.Ledger.open(tmp_path / "l.db")
    for view in hospital_months(400, 2, churn=0.02):
        made = sr.publish(view, policy, ledger)
    page = made.report.page()
    sections = {section.heading: section for section in page.sections}
    (columns,) = [block for block in sections["Columns"].blocks if isinstance(block, Grid)]
    published = {str(row[0]): row[-1] for row in columns.rows}
    assert published["disease"] == "the values of its group, in another order"
    assert published["ward"] == "as it is"
    n_counterfeits = sum(made.groups["counterfeit"].to_pylist())
    assert n_counterfeits > 0
    assert made.report.record()["counts"]["counterfeits"] == n_counterfeits
    (story,) = sections["In short"].blocks[0].paragraphs  # type: ignore[union-attr]
    assert re.search(rf"\b{n_counterfeits:,} rows? of the table are counterfeit", story), story
    (measures,) = [block for block in sections["How useful the table is"].blocks if isinstance(block, Grid)]
    assert len(measures.rows) >= 4
    assert all(row[-1] for row in measures.rows)
    words = dict(page.sections[-1].blocks[0].entries)  # type: ignore[union-attr]
    assert len({words[name] for name in ("Group", "Class", "Box")}) == 3
