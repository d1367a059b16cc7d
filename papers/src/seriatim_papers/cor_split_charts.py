"""The Cor-Split paper's figures redrawn with the methods that came later, each with a sentence about what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seriatim.knowledge.breach import breach_probability
from seriatim.model import Bars, Chart, ChartAxis, Line, Lines, Threshold
from seriatim.report.words import format_percent
from seriatim_papers.cor_split import SELECTIVITIES, ReleaseFigures
from seriatim_papers.cor_split_parts import COMPROMISED, CorSplitOutcome, DegreeSweep, cor_split_part_mean_error

LABELS = {
    "invariant": "m-invariance",
    "invariant, stable ties": "m-invariance, stable ties",
    "cor-split": "Cor-Split",
    "repaired": "repair",
    "repaired, sticky": "sticky repair",
}
LONGEST = 24
HIGHEST = 0.1


def cor_split_chart_label(method: str) -> str:
    """Return the name of a method on the page."""
    return LABELS.get(method, method)


def cor_split_closed_form_charts() -> dict[str, Chart]:
    """Chart figures 2(a), (b) and (c)."""
    releases = tuple(float(lifespan) for lifespan in range(1, LONGEST + 1))

    def curve(name: str, p: float, n: int, part: str) -> Line:
        return Line(name, releases, tuple(getattr(breach_probability(p, int(x), 6, n), part) for x in releases))

    def by_degree(part: str, highest: int) -> Lines:
        return Lines(tuple(curve(f"n = {n}", COMPROMISED, n, part) for n in range(1, highest + 1)))

    last = {n: breach_probability(COMPROMISED, LONGEST, 6, n) for n in (1, 2, 3)}
    x = ChartAxis("releases a person stays in")
    return {
        "2a": Chart(
            "Fig. 2(a): one value excluded by compromised people",
            Lines(tuple(curve(f"p = {p:g}", p, 1, "ct") for p in (0.01, 0.02, 0.04, 0.06, 0.08, 0.10))),
            x=x,
            y=ChartAxis("probability", "percent"),
            caption="p is the share of people whose value is known beforehand. At 4%, someone who stays for "
            f"{LONGEST} releases loses a given wrong value in {format_percent(last[1].ct)} of cases.",
        ),
        "2b": Chart(
            "Fig. 2(b): one value excluded by comparing releases",
            by_degree("hc", 4),
            x=x,
            y=ChartAxis("probability (logarithmic)", "percent", log=True),
            caption="m = 6, p = 0.04. Groups of different releases differ in n people or more: each person more makes "
            "it twenty to fifty times as rare "
            f"({', '.join(format_percent(last[n].hc) for n in (1, 2, 3))} at the end).",
        ),
        "2c": Chart(
            "Fig. 2(c): one person breached, every conclusion drawn once",
            by_degree("total", 3),
            x=x,
            y=ChartAxis("probability", "percent"),
            caption=f"m = 6, p = 0.04. After {LONGEST} releases {format_percent(last[1].total)} for n = 1, "
            f"{format_percent(last[2].total)} for n = 2 and {format_percent(last[3].total)} for n = 3, the paper's "
            "choice for "
            "h = 10%. Theorem 2 is garbled in print; this is the formula of Figure 3. An adversary who builds on each "
            "finding breaches far more people, as measured below.",
            threshold=Threshold(HIGHEST, "h = 10%", "at most"),
        ),
    }


def cor_split_headline_chart(outcomes: Sequence[CorSplitOutcome]) -> Chart:
    """Chart who is breached in the end, by method."""
    names = tuple(cor_split_chart_label(o.played.method) for o in outcomes)
    return Chart(
        "People breached at the fixed point",
        Bars(names, tuple(o.iterated.share for o in outcomes)),
        x=ChartAxis("method"),
        y=ChartAxis("share of people not compromised", "percent"),
        caption=_breached_words(outcomes),
        topic="attack",
    )


def cor_split_course_charts(outcomes: Sequence[CorSplitOutcome], n_queries: int) -> dict[str, Chart]:
    """Chart figures 7, 8 and 9; the counterfeits of cohorts separately, since there are far more."""
    paired = [o for o in outcomes if o.played.method != "cohort"]
    closed = [o for o in outcomes if o.played.method == "cohort"]
    found = {
        "unsafe": _course("Fig. 7: groups with historical correlations", paired, ChartAxis("groups"),
                          lambda f: f.unsafe, _unsafe_words(outcomes)),
        "counterfeits": _course("Fig. 8: counterfeits", paired, ChartAxis("rows"),
                                lambda f: f.counterfeits, _counterfeit_words(paired)),
        "error": _errors(outcomes, n_queries),
        "gcp": _course("How wide the boxes are", outcomes, ChartAxis("global certainty penalty", "percent"),
                       lambda f: f.gcp,
                       "Mean width of a published range as a share of its domain: 0% would be the exact value."),
    }  # fmt: skip
    if closed:
        size = closed[0].played
        found["places"] = _course(
            "What cohorts pay: counterfeits", closed, ChartAxis("share of the people present", "percent"),
            lambda f: f.counterfeits / max(size.present(f.release), 1),
            f"Slots of people who left, until newcomers take them: {format_percent(size.share('counterfeits'))} of all "
            f"person-releases, and {format_percent(size.share('withheld'))} of them withheld.",
        )  # fmt: skip
    return found


def cor_split_swept_charts(swept: Sequence[DegreeSweep]) -> dict[str, Chart]:
    """Chart the effect of m and n, for each figure and method."""
    figures = {
        "error": ("error of counts", ChartAxis("median relative error at 5%", "percent")),
        "counterfeits": ("counterfeits", ChartAxis("share of person-releases", "percent")),
        "breached": ("breached at the fixed point", ChartAxis("share of people", "percent")),
    }
    methods = list(dict.fromkeys(one.method for one in swept))
    degrees = sorted({one.n for one in swept})
    charts = {}
    for what, (title, axis) in figures.items():
        for method in methods:
            lines = []
            for n in degrees:
                own = [one for one in swept if (one.method, one.n) == (method, n) and one.n < one.m]
                if own:
                    x, y = tuple(float(o.m) for o in own), tuple(float(getattr(o, what)) for o in own)
                    lines.append(Line(f"n = {n}", x, y))
            name = f"{cor_split_chart_label(method)}: {title}"
            charts[f"{method} {what}"] = Chart(
                name, Lines(tuple(lines)), x=ChartAxis("m: values that stay possible"), y=axis
            )
    return charts


def _course(
    title: str,
    outcomes: Sequence[CorSplitOutcome],
    axis: ChartAxis,
    figure: Callable[[ReleaseFigures], float | None],
    caption: str,
) -> Chart:
    """Chart one line per method, release by release."""
    lines = []
    for outcome in outcomes:
        shown = [(f.release, figure(f)) for f in outcome.played.figures]
        points = [(float(release), float(y)) for release, y in shown if y is not None]
        if points:
            x, y = zip(*points, strict=True)
            lines.append(Line(cor_split_chart_label(outcome.played.method), x, y))
    return Chart(title, Lines(tuple(lines)), x=ChartAxis("release"), y=axis, caption=caption, topic="series")


def _errors(outcomes: Sequence[CorSplitOutcome], n_queries: int) -> Chart:
    lines = tuple(
        Line(
            cor_split_chart_label(o.played.method),
            SELECTIVITIES,
            tuple(cor_split_part_mean_error(o.played, share) for share in SELECTIVITIES),
        )
        for o in outcomes
    )
    at = 0.05
    first = cor_split_part_mean_error(outcomes[0].played, at)
    beside = ", ".join(
        f"{cor_split_chart_label(o.played.method)} {cor_split_part_mean_error(o.played, at) / first:.2f} times"
        for o in outcomes[1:]
        if first
    )
    return Chart(
        "Fig. 9: error of counts",
        Lines(lines),
        x=ChartAxis("share of the domain in the query", "percent"),
        y=ChartAxis("median relative error", "percent"),
        caption=f"{n_queries:,} range counts for each point and release. At {at:.0%}, beside {lines[0].name}'s "
        f"{format_percent(first)}: {beside}.",
        topic="usefulness",
    )


def _breached_words(outcomes: Sequence[CorSplitOutcome]) -> str:
    once = max(o.once.share for o in outcomes)
    return (
        f"Of the people who are not compromised. Drawing every conclusion once breaches at most "
        f"{format_percent(once)}; an "
        "adversary who builds on each finding gets this far."
    )


def _unsafe_words(outcomes: Sequence[CorSplitOutcome]) -> str:
    found = {
        o.played.method: [f.unsafe for f in o.played.figures if f.unsafe is not None]
        for o in outcomes
        if o.played.figures[0].unsafe is not None
    }
    told = [
        f"{cor_split_chart_label(method)} leaves {unsafe[1]:,} in the second release and {unsafe[-1]:,} in the last"
        for method, unsafe in found.items()
        if len(unsafe) > 1 and any(unsafe)
    ]
    none = [cor_split_chart_label(method) for method, unsafe in found.items() if not any(unsafe)]
    safe = f"None at all: {', '.join(none)}." if none else ""
    return " ".join(part for part in ("; ".join(told) + "." if told else "", safe) if part)


def _counterfeit_words(outcomes: Sequence[CorSplitOutcome]) -> str:
    told = []
    for o in outcomes:
        later = [f.counterfeits for f in o.played.figures[1:]]
        if any(later):
            told.append(f"{cor_split_chart_label(o.played.method)} {min(later):,} to {max(later):,}")
    rows = f"Rows a release after the first: {', '.join(told)}." if told else "Nobody needs any."
    return f"{rows} They come from the ends of small buckets, where there is nobody to swap with."
