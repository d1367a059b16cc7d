"""The report's text and JSON: escaped, deterministic, complete, small."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import reports as made_up

from seriatim.model import (
    Bars,
    Chart,
    ChartAxis,
    Finding,
    Heatmap,
    Histogram,
    Line,
    Lines,
    Measure,
    Policy,
    PromiseTerms,
    Verdict,
)
from seriatim.model.policy import SeriesTerms, Thresholds
from seriatim.report import Charts, Facts, Grid, Prose, Report, Section, chart_views, rendered_page
from seriatim.report.html import LICENCES, asset_text, data_block
from seriatim.report.words import format_number, format_percent, format_plain, format_with_unit

HOSTILE = "</script><script>x()</script><!--<b>&\"'\u2028\u2029"
CASES = {"released": made_up.released, "refused": made_up.refused, "overridden": made_up.overridden}


class Elements(HTMLParser):
    """The elements and the words of a page, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self._skipping = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        self._skipping = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._skipping = False

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.words += data


def empty_report(number: int | None = 1) -> Report:
    policy = Policy(series="s", columns={}, terms=PromiseTerms(), defence=None)
    return Report(
        policy,
        Verdict(findings=(), estimates=(), measures=(), reasons=()),
        Facts(
            series="s",
            number=number,
            epoch=1,
            policy_digest="d",
            n_records=0,
            n_published=0,
            n_suppressed=0,
            n_groups=0,
        ),
    )


@pytest.mark.parametrize("case", CASES)
def test_equal_inputs_give_equal_bytes(case: str) -> None:
    assert CASES[case]().to_html() == CASES[case]().to_html()
    assert CASES[case]().to_json() == CASES[case]().to_json()
    assert CASES[case]()._repr_html_() == CASES[case]()._repr_html_()


@pytest.mark.parametrize("case", CASES)
def test_a_report_is_small_and_whole(case: str) -> None:
    page = CASES[case]().to_html()

    assert len(page.encode()) < 700_000
    assert all(link.startswith("#") or link == "data:," for link in Elements(page).links)
    for words in ("Copyright 2010", "Observable, Inc.", "Mikola Lysenko"):
        assert words in page
    assert len(CASES[case]()._repr_html_().encode()) < 20_000


def test_each_outcome_says_its_name() -> None:
    assert ">Released<" in made_up.released().to_html()
    assert ">Refused<" in made_up.refused().to_html()
    rehearsed = replace(made_up.released(), facts=replace(made_up.released().facts, number=None))
    assert ">Would be released<" in rehearsed.to_html()
    overridden = Elements(made_up.overridden().to_html()).words
    assert "Released by override" in overridden
    assert "Dr. I. Okafor" in overridden
    assert "Outbreak team needs ward counts tonight" in overridden


def test_a_refusal_tells_what_broke_and_what_would_pass() -> None:
    words = Elements(made_up.refused().to_html()).words

    assert "broken in 41 classes (236 records)" in words
    assert "raise suppress to 0.11, or coarsen postcode to level 2" in words
    assert "What would pass" in words
    assert "the ledger is unchanged" in words
    assert words.count("broken") >= 2


def test_what_is_not_promised_depends_on_the_policy() -> None:
    report = made_up.released()
    assert "small changes between the two extracts" in " ".join(Elements(report.to_html()).words.split())

    serial = replace(report.policy, terms=replace(report.policy.terms, series=SeriesTerms(m=3)))
    assert "What comes later." in Elements(replace(report, policy=serial).to_html()).words

    uncovered = replace(report, verdict=replace(report.verdict, findings=report.verdict.findings[:3]))
    assert "No promise covers charge." in Elements(uncovered.to_html()).words


def test_an_empty_release_has_a_report() -> None:
    for case in (empty_report(), empty_report(None)):
        page = case.to_html()
        assert "The policy has no promise" in page
        assert json.loads(case.to_json())["counts"]["records"] == 0
        assert "The policy has no promise." in case._repr_html_()


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (
            Finding("l", True, 2.9, 2.5, column="d", detail="exp of the entropy"),
            "as varied as 2.5 equally likely values",
        ),
        (Finding("l", True, 4, 0, column="d", detail="recursive (c = 2, l = 3)"), "slack above 0"),
        (Finding("house-rule", True, 4, 2), "house-rule"),
        (Finding("k", True, math.inf, 5), "no class to judge"),
        (Finding("t", False, math.nan, 0.2, column="d"), "could not be measured"),
    ],
)
def test_promises_are_told_in_words(finding: Finding, words: str) -> None:
    report = replace(empty_report(), verdict=Verdict(findings=(finding,), estimates=(), measures=(), reasons=()))
    assert words in Elements(report.to_html()).words


def test_a_limit_on_withholding_is_no_promise_to_people() -> None:
    report = replace(
        empty_report(),
        verdict=Verdict(findings=(Finding("suppress", True, 0, 0.1),), estimates=(), measures=(), reasons=()),
    )
    words = Elements(report.to_html()).words
    assert "nothing protects this table" in words
    assert "The policy has no promise" in words


def test_json_holds_all_the_page_shows() -> None:
    report = made_up.overridden()
    record = json.loads(report.to_json())

    assert record["schema"] == "seriatim.report/1"
    assert record["outcome"] == "overridden"
    assert record["released"] is True
    assert record["approval"]["override"].startswith("Outbreak")
    assert [finding["rule"] for finding in record["findings"]] == ["k", "l", "t", "t", "suppress"]
    assert set(record["charts"]) == set(report.verdict.charts)
    assert record["charts"]["leakage"]["data"]["cells"][4][2] == "nan"
    assert record["policy"]["promise"]["columns"]["charge"]["t_distance"] == "ordered"
    assert list(record) == sorted(record)


@settings(max_examples=80, deadline=None)
@given(st.floats(), st.floats())
def test_figures_that_are_not_numbers_survive(worst: float, value: float) -> None:
    verdict = Verdict(
        findings=(Finding("k", False, worst, 5),),
        estimates=(),
        measures=(Measure("gcp", value, "share"),),
        reasons=("k",),
    )
    record = json.loads(replace(empty_report(None), verdict=verdict).to_json(), parse_constant=pytest.fail)

    for read, meant in ((record["findings"][0]["worst"], worst), (record["measures"][0]["value"], value)):
        assert math.isnan(float(read)) if math.isnan(meant) else float(read) == meant


def test_numpy_figures_are_written_too() -> None:
    assert format_plain({"a": np.float64("inf"), "b": np.int32(3), "c": np.array([1.5, np.nan])}) == {
        "a": "inf",
        "b": 3,
        "c": [1.5, "nan"],
    }
    with pytest.raises(TypeError, match="object"):
        format_plain(object())


def test_bounds_for_single_values_do_not_name_them() -> None:
    report = made_up.released()
    bounded = Thresholds(value_bounds={"CANARY": (0.0, 0.1)}, delta=0.5)
    terms = replace(report.policy.terms, per_column={"charge": bounded})
    told = replace(report, policy=replace(report.policy, terms=terms))

    assert "CANARY" not in told.to_json() + told.to_html() + told._repr_html_()
    assert json.loads(told.to_json())["policy"]["promise"]["columns"]["charge"]["further"] == {
        "value_bounds": {"n": 1},
        "delta": 0.5,
    }


def test_hostile_names_add_no_element() -> None:
    def pages(name: str) -> list[str]:
        asked = made_up.policy(name, name + "s", name + "q")
        verdict = replace(
            made_up.overridden().verdict,
            findings=made_up.broken(name + "s"),
            measures=(Measure(name, 1.0, name, {name: name}),),
            charts=made_up.class_charts(name + "s") | made_up.use_charts(name + "q"),
        )
        report = Report(asked, verdict, made_up.facts(asked))
        return [report.to_html(), report._repr_html_()]

    for tame, hostile in zip(pages("tame"), pages(HOSTILE), strict=True):
        assert Elements(tame).tags == Elements(hostile).tags
        assert HOSTILE in Elements(hostile).words


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.sampled_from("<>&/!-script\u2028\u2029\"'\\"), max_size=30))
def test_a_data_block_cannot_end_its_element(text: str) -> None:
    block = str(data_block({"a": text}))

    assert not set(block) & set("<>&\u2028\u2029")
    assert json.loads(block) == {"a": text}


def test_the_page_says_nothing_of_time_or_version() -> None:
    words = Elements(made_up.released().to_html()).words

    assert "0.1.0" not in words
    assert "2026" not in words.replace("20261", "")


def test_a_page_of_anything() -> None:
    grid = Grid("Results", ("method", "leak"), (("median", "3%"),), frozenset({1}))
    page = rendered_page("A study", [Section("Outcome", (Prose(("It was <fine>.",)), grid))])

    assert "It was &lt;fine&gt;." in page
    assert "script-src &#39;none&#39;" in page
    assert len(page) < 20_000  # no chart, no libraries


def test_every_kind_of_chart_has_a_table_and_a_sentence() -> None:
    x, y = ChartAxis("month"), ChartAxis("share", "percent")
    bins = Chart("Sizes", Histogram((5, 6, 8, math.inf), (3, 2, 1)), x=ChartAxis("size"), y=ChartAxis("classes"))
    assert chart_views.table(bins).rows == (("5", "3"), ("6 to 7", "2"), ("8 and more", "1"))
    assert "6 in all, most of them (3) at 5" in chart_views.sentence(bins)

    lines = Chart(
        "Growth",
        Lines((Line("a", (1, 2), (0.1, 0.2), low=(0.05, 0.1), high=(0.2, 0.3)), Line("b", (2,), (0.5,)))),
        x=x,
        y=y,
    )
    assert chart_views.table(lines).rows == (("1", "10% (5% to 20%)", ""), ("2", "20% (10% to 30%)", "50%"))
    assert "a goes from 10% to 20%" in chart_views.sentence(lines)

    cells = Chart("Heat", Heatmap(("r",), ("c", "d"), ((0.25, math.nan),)), x=x, y=ChartAxis("age"), value=y)
    assert chart_views.table(cells).rows == (("r", "25%", "could not be measured"),)
    assert "from 25% to 25%" in chart_views.sentence(cells)

    bars = Chart("Loss", Bars(("age",), (0.5,)), x=ChartAxis("column"), y=y)
    assert chart_views.table(bars).rows == (("age", "50%"),)
    assert chart_views.drawing(bars)["data"] == {"labels": ["age"], "values": [0.5]}

    for data in (Histogram((), ()), Bars((), ()), Lines(()), Heatmap((), (), ())):
        assert "nothing to show" in chart_views.sentence(Chart("t", data, x=x, y=y))
        assert "nothing to show" in rendered_page("t", [Section("s", (Charts({"c": Chart("t", data, x=x, y=y)}),))])


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.05, "5%"),
        (0.0086, "0.86%"),
        (0.00003, "below 0.01%"),
        (0.99996, "above 99.99%"),
        (0.173, "17.3%"),
        (0.996, "99.6%"),
        (1.5, "150%"),
        (math.nan, "could not be measured"),
    ],
)
def test_shares_are_never_rounded_to_nothing_or_all(share: float, text: str) -> None:
    assert format_percent(share) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5, "", "5"),
        (6.553, "records", "6.55 records"),
        (1_624_310.4, "", "1,624,310"),
        (0.02, "share", "2%"),
        (math.inf, "records", "unbounded"),
        (math.nan, "", "could not be measured"),
        (-math.inf, "", "minus unbounded"),
    ],
)
def test_figures_are_written_for_people(value: float, unit: str, text: str) -> None:
    assert format_with_unit(value, unit) == text
    assert format_number(12_408) == "12,408"


def test_the_libraries_are_what_their_list_says() -> None:
    listed = asset_text("vendor/README.md")
    for name in ("d3.min.js", "plot.min.js"):
        text = asset_text(f"vendor/{name}")
        assert hashlib.sha256(text.encode()).hexdigest() in listed
        assert "</script" not in text.lower()
        assert "<!--" not in text
        assert "\r" not in text
    for name in LICENCES:
        assert "*/" not in asset_text(f"vendor/{name}.LICENSE")
