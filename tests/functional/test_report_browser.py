"""The report in a real browser: it draws, it stays offline, it fits a phone and paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from support import reports as made_up
from support.browsers import ARGUMENTS, CHROMIUM, picture

from seriatim.model import Bars, Chart, ChartAxis, Heatmap, Line, Lines, Threshold, histogram_of
from seriatim.report import Charts, Report, Section, SigningFacts, SignOff, rendered_page
from seriatim.usecases.compare.compare import ComparedMethod
from seriatim.usecases.compare.compare_page import Comparison

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; ./dev system installs it"),
]
HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1"><!--\u2028'
CASES = {"released": made_up.released, "refused": made_up.refused, "overridden": made_up.overridden}


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=60_000)
        yield running
        running.close()


class Visit:
    """One opened page, and everything it said or asked for."""

    def __init__(self, browser, path: Path, width: int = 1280, scheme: str = "light") -> None:
        self.url = path.as_uri()
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.url, timeout=30_000)
        self.page.wait_for_load_state("load")

    def overflow(self) -> int:
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def written(report: Report, folder: Path) -> Path:
    path = folder / "report.html"
    path.write_text(report.to_html(), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("case", CASES)
def test_it_draws_everything_and_asks_for_nothing(browser, tmp_path, case: str, width: int) -> None:
    report = CASES[case]()
    visit = Visit(browser, written(report, tmp_path), width)

    light = picture(visit.page, path=str(tmp_path / "light.png"))
    visit.page.emulate_media(color_scheme="dark")
    dark = picture(visit.page, path=str(tmp_path / "dark.png"))

    assert visit.said == []
    assert visit.asked == [visit.url]
    assert visit.overflow() == 0
    assert min(len(light), len(dark)) > 25_000
    assert light != dark
    places = visit.page.locator(".plot")
    assert places.count() == len(report.verdict.charts) + 1  # and the share withheld
    for place in places.all():
        drawn = place.locator("> svg")
        assert drawn.count() == 1
        assert drawn.locator("rect, path, circle").count() >= 1
        assert "NaN" not in drawn.evaluate("node => node.outerHTML")
        assert drawn.bounding_box()["width"] <= width
        assert place.get_attribute("aria-label")
    visit.page.close()


def test_ink_stands_out_from_paper(browser, tmp_path) -> None:
    """WCAG AA for every piece of text, in both schemes: 4.5 to 1, or 3 to 1 for large type."""
    script = """() => {
      const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
      const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return text.startsWith('color(srgb')
        ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]; };
      const light = (rgb) => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
      const ground = (node) => { for (; node; node = node.parentElement) {
        const c = parse(getComputedStyle(node).backgroundColor);
        if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
      const faint = [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const node = walk.currentNode.parentElement;
        if (!walk.currentNode.textContent.trim() || node.closest('script, style, svg, .hidden, .skip')) continue;
        const style = getComputedStyle(node);
        const [a, b] = [light(parse(style.color)), light(ground(node))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        const large = parseFloat(style.fontSize) >= 24;
        const words = walk.currentNode.textContent.trim();
        if (ratio < (large ? 3 : 4.5)) faint.push([ratio.toFixed(2), node.className, words]);
      }
      return faint;
    }"""
    for case in CASES.values():
        visit = Visit(browser, written(case(), tmp_path))
        for scheme in ("light", "dark"):
            visit.page.emulate_media(color_scheme=scheme)
            assert visit.page.evaluate(script) == []
        visit.page.close()


def test_headings_descend_and_tables_have_heads(browser, tmp_path) -> None:
    visit = Visit(browser, written(made_up.overridden(), tmp_path))

    levels = visit.page.eval_on_selector_all("h1, h2, h3, h4", "nodes => nodes.map(n => Number(n.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    headed = visit.page.locator("table:has(caption):has(thead th[scope=col])")
    assert visit.page.locator("table").count() == headed.count()
    assert visit.page.locator(".plot:not([role=img])").count() == 0
    visit.page.close()


@pytest.mark.parametrize("case", CASES)
def test_it_goes_on_paper(browser, tmp_path, case: str) -> None:
    visit = Visit(browser, written(CASES[case](), tmp_path), scheme="dark")

    paper = visit.page.pdf(prefer_css_page_size=True)
    visit.page.emulate_media(media="print")

    assert paper.startswith(b"%PDF")
    assert 2 <= paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") <= 8
    assert visit.page.evaluate("getComputedStyle(document.querySelector('main')).color") == "rgb(26, 34, 48)"
    assert not visit.page.locator("nav").is_visible()
    assert visit.said == []
    visit.page.close()


def to_sign(recipients: tuple[str, ...] = ("Dr Weber",)) -> SignOff:
    signed = SigningFacts(
        date="2026-11-16 13:20 UTC",
        version="0.1.0",
        input_name="visits-2026-10.csv",
        input_sha256="5f" * 32,
        chain="ab" * 32,
        recipients=recipients,
    )
    return SignOff(made_up.released(), signed)


def test_the_page_to_sign_is_one_page_of_paper(browser, tmp_path) -> None:
    path = tmp_path / "to-sign.html"
    path.write_text(to_sign(("Dr Weber", "Ms Ortiz", HOSTILE)).to_html(), encoding="utf-8")
    visit = Visit(browser, path, scheme="dark")

    paper = visit.page.pdf(prefer_css_page_size=True)
    visit.page.emulate_media(media="print")

    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") == 1
    assert re.search(rb"/MediaBox \[0 0 59[45][.\d]* 84[12][.\d]*\]", paper), "A4"
    lines = visit.page.locator(".signature dd")
    assert lines.count() == 6
    for at in range(6):
        box = lines.nth(at).bounding_box()
        assert box is not None
        assert box["width"] > 120  # room to write
    assert visit.page.evaluate("window.hacked") is None
    assert visit.said == []
    assert visit.asked == [visit.url]
    visit.page.close()


def test_a_hostile_name_stays_a_name(browser, tmp_path) -> None:
    asked = made_up.policy(HOSTILE, sensitive=HOSTILE + "s", quasi=HOSTILE + "q")
    verdict = replace(
        made_up.overridden().verdict,
        findings=made_up.broken(HOSTILE + "s"),
        reasons=(HOSTILE,),
        remedies=(HOSTILE,),
        charts={**made_up.class_charts(HOSTILE + "s"), **made_up.use_charts(HOSTILE + "q"), **made_up.series_charts()},
    )
    for width in (1280, 360):
        visit = Visit(browser, written(Report(asked, verdict, made_up.facts(asked)), tmp_path), width)

        assert visit.page.evaluate("window.hacked") is None
        assert visit.page.locator("img").count() == 0
        assert visit.page.locator("h1").text_content() == HOSTILE
        assert visit.said == []
        assert visit.asked == [visit.url]
        assert visit.overflow() == 0
        visit.page.close()


def test_the_page_itself_forbids_what_slips_through(browser, tmp_path) -> None:
    """Were a name ever written unescaped, the page's own policy would still not run it, nor fetch anything."""
    path = written(made_up.released(), tmp_path)
    slipped = "<script>window.hacked=1</script><img src='https://example.invalid/x.png'>"
    path.write_text(path.read_text(encoding="utf-8").replace("<footer>", slipped + "<footer>"), encoding="utf-8")
    visit = Visit(browser, path)

    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.locator(".plot > svg").count() == 7
    assert sum("Content Security Policy" in line for line in visit.said) == 2
    visit.page.close()


def test_odd_numbers_and_long_names_are_drawn_and_fit_a_phone(browser, tmp_path) -> None:
    inf, nan = float("inf"), float("nan")
    labels = tuple(f"a_rather_long_name_of_a_column_that_nobody_would_choose_{i}" for i in range(30))
    share, plain, log = ChartAxis("share", "percent"), ChartAxis("figure"), ChartAxis("figure", log=True)
    far = Threshold(10_000, "far away", "at least")
    data = [
        (Bars(labels, tuple(i / 30 for i in range(30))), share, None),
        (Bars(("x", "y"), (inf, nan)), plain, Threshold(inf, "no limit", "at most")),
        (Bars(("x", "y"), (1.0, 1000.0)), log, None),
        (Bars(("x", "y"), (-0.5, 0.5)), plain, None),
        (histogram_of([7]), plain, far),
        (histogram_of([0.1, 0.1]), plain, None),
        (histogram_of([5] * 90 + [6] * 9 + [100_000]), plain, Threshold(5, "required: 5 or more", "at least")),
        (histogram_of(range(0, 5000, 7)), plain, Threshold(60, "at most 60", "at most")),
        (Lines((Line("a", (1.0, 2.0, 3.0), (nan, inf, 0.5)), Line("", (), ()))), plain, far),
        (Lines((Line("one point", (1.0,), (0.0,), low=(0.0,), high=(inf,)),)), log, None),
        (Heatmap(labels, labels, tuple(tuple(float(i * j) for i in range(30)) for j in range(30))), plain, None),
        (Heatmap(("r",), ("c",), ((nan,),)), plain, None),
        (Heatmap(("r",), ("c", "d"), ((inf, 0.0),)), plain, None),
    ]
    charts = {str(i): Chart("w" * 90, d, x=plain, y=y, threshold=t, value=share) for i, (d, y, t) in enumerate(data)}
    path = tmp_path / "page.html"
    path.write_text(rendered_page("w" * 300, [Section("v" * 300, (Charts(charts),))]), "utf-8")
    for width in (360, 1280):
        visit = Visit(browser, path, width)

        assert visit.said == []
        assert visit.overflow() == 0
        assert visit.page.locator(".plot > svg").count() == len(charts)
        for drawn in visit.page.locator(".plot > svg").all():
            assert not {"NaN", "Infinity", "undefined"} & set(re.findall(r"\w+", drawn.evaluate("n => n.outerHTML")))
        visit.page.close()


def test_dense_lines_have_no_dots_and_a_logarithmic_axis_names_powers_of_ten(browser, tmp_path) -> None:
    def line(n: int) -> Lines:
        return Lines(
            (Line("a", tuple(float(i) for i in range(n)), tuple(10.0 ** (-6 * i / (n - 1)) for i in range(n))),)
        )

    share = ChartAxis("share", "percent", log=True)
    charts = {str(n): Chart(f"{n} points", line(n), x=ChartAxis("release"), y=share) for n in (4, 100)}
    path = tmp_path / "page.html"
    path.write_text(rendered_page("page", [Section("lines", (Charts(charts),))]), "utf-8")
    visit = Visit(browser, path)
    plots = visit.page.locator(".plot > svg")

    assert [plots.nth(i).locator("circle").count() for i in range(2)] == [4, 0]
    for i in range(2):
        named = plots.nth(i).locator("[aria-label='y-axis tick label'] text").all_text_contents()
        assert sorted(named) == sorted(["100%", "1%", "0.01%", "0.0001%"])
    visit.page.close()


def test_the_notebook_piece_stands_alone(browser, tmp_path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><p id=other>x</p>{made_up.refused()._repr_html_()}", "utf-8")
    visit = Visit(browser, path, 700)

    assert visit.said == []
    assert visit.overflow() == 0
    assert visit.page.get_by_text("Refused").first.is_visible()
    assert visit.page.locator("script").count() == 0
    assert (
        visit.page.evaluate("getComputedStyle(document.querySelector('#other')).fontFamily") != "system-ui, sans-serif"
    )
    visit.page.close()


def ticks(plot, axis: str) -> list[str]:
    return plot.locator(f"[aria-label='{axis}-axis tick label'] text").all_text_contents()


def test_ticks_differ_and_counts_have_whole_ones(browser, tmp_path) -> None:
    people, size = ChartAxis("people"), ChartAxis("size")
    cases = [
        ("y", Chart("one class", histogram_of([3]), x=size, y=people)),
        ("y", Chart("two classes", histogram_of([3, 4, 4]), x=size, y=people)),
        ("x", Chart("wide bins", histogram_of([3, 4, 6, 7], bins=2), x=size, y=people)),
        ("x", Chart("alike sizes", histogram_of([100_001, 100_002, 100_003]), x=size, y=people)),
        ("x", Chart("few people", Bars(("a", "b"), (1.0, 0.0)), x=size, y=people)),
        ("x", Chart("nobody", Bars(("a", "b"), (0.0, 0.0)), x=size, y=people)),
        ("y", Chart("one more", Lines((Line("n", (1.0, 2.0), (0.0, 1.0)),)), x=size, y=people)),
        ("y", Chart("many", Lines((Line("n", (1.0, 2.0), (0.0, 2e6)),)), x=size, y=people)),
        ("x", Chart("long", Lines((Line("n", tuple(map(float, range(90))), (1.0,) * 90),)), x=size, y=people)),
    ]
    path = tmp_path / "charts.html"
    path.write_text(rendered_page("charts", [Section("all", (Charts({str(i): c for i, (_, c) in enumerate(cases)}),))]))
    for width in (360, 1280):
        visit = Visit(browser, path, width)
        for at, (axis, chart) in enumerate(cases):
            told = ticks(visit.page.locator(".plot").nth(at), axis)
            assert len(told) >= 2, (chart.title, told)
            assert len(set(told)) == len(told), (chart.title, told)
            assert not [text for text in told if "." in text], (chart.title, told)
        assert visit.said == []
        visit.page.close()


def test_a_line_of_zeros_lies_on_the_axis(browser, tmp_path) -> None:
    zeros = Lines((Line("nobody", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),))
    forms = (ChartAxis("share", "percent"), ChartAxis("people"))
    charts = {form.label: Chart("zeros", zeros, x=ChartAxis("release"), y=form) for form in forms}
    path = tmp_path / "charts.html"
    path.write_text(rendered_page("charts", [Section("all", (Charts(charts),))]))
    visit = Visit(browser, path)

    for at in range(len(charts)):
        plot = visit.page.locator(".plot > svg").nth(at)
        dots = plot.locator("circle").evaluate_all("nodes => nodes.map((n) => n.getBoundingClientRect())")
        heights = [dot["y"] + dot["height"] / 2 for dot in dots]
        frame = plot.bounding_box()
        lowest = plot.locator("[aria-label='y-axis tick label'] text").first.bounding_box()
        assert len(heights) == 3
        assert max(abs(height - lowest["y"] - lowest["height"] / 2) for height in heights) < 2, "at the tick 0"
        assert min(heights) > frame["y"] + 0.7 * frame["height"], "at the foot of the chart"
    assert visit.said == []
    visit.page.close()


@pytest.mark.parametrize("width", [1400, 1000, 720])
def test_a_comparison_of_several_tables_stays_on_its_card(browser, tmp_path, width: int) -> None:
    why = "release 2: the value of 2,548 people has changed since an earlier release; allowed: values that stay"
    rows = [
        ComparedMethod(
            method=name, released=name == "median", kept=6, asked=6, promises="k = 5, max_hit_chance_at ±5% = 0.5",
            releases=2, breached=0.0043, gcp=0.234, class_size=1484.2, suppressed=0.021, query_error=0.058,
            seconds=12.34, stopped=name != "median", why="" if name == "median" else why,
        )
        for name in ("median", "historical", "cohort")
    ]  # fmt: skip
    path = tmp_path / "comparison.html"
    path.write_text(Comparison("income", tuple(rows), 3).to_html(), encoding="utf-8")
    visit = Visit(browser, path, width)
    card = visit.page.locator("main > section").first.bounding_box()
    table = visit.page.locator("table.grid").first.bounding_box()
    assert visit.overflow() == 0
    assert width < 1000 or table["x"] + table["width"] <= card["x"] + card["width"], "a narrow card scrolls by itself"
    assert visit.page.get_by_text("cannot go on").count() == 2
    lines = visit.page.locator("td.num > div").evaluate_all(
        "cells => cells.map(cell => cell.getClientRects()[0].height)"
    )
    assert width < 1000 or max(lines) < 30, "no number is broken in two"
    visit.page.close()


def test_dots_of_a_map_say_what_they_are(browser, tmp_path) -> None:
    methods = tuple(
        ComparedMethod(method=name, released=True, gcp=gcp, relation=0.8, class_size=9.0)
        for name, gcp in (("median", 0.2), ("curve", 0.3), ("cohort", None))
    )
    path = tmp_path / "map.html"
    path.write_text(Comparison("income", methods).to_html(), encoding="utf-8")
    visit = Visit(browser, path, 1000)
    titles = visit.page.locator(".plot svg title").all_text_contents()
    assert {"median", "curve"} <= set(titles)
    assert "cohort" not in titles, "what made no draft is nowhere on the map"
    assert visit.overflow() == 0
    visit.page.close()
