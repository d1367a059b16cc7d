"""The Cor-Split paper's figures redrawn with the methods that came later, each with a sentence about what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seriatim.model import Bars, Chart, ChartAxis, Line, Lines, Threshold
from seriatim.report.words import format_percent
from seriatim_papers.claims import Spread, shown_percent
from seriatim_papers.cor_split import SELECTIVITIES, ReleaseFigures
from seriatim_papers.cor_split_parts import COMPROMISED, CorSplitRuns, DegreeSweep
from seriatim_papers.degree import breach_probability

LABELS = {
    "invariant": "m-invariance",
    "as printed": "Cor-Split as printed",
    "invariant, stable ties": "m-invariance, stable ties",
    "cor-split": "Cor-Split, check mended",
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
            caption="m = 6, p = 0.04. Groups of different releases differ in n people or more; at the end "
            f"({', '.join(format_percent(last[n].hc) for n in (1, 2, 3))} for n = 1, 2 and 3).",
        ),
        "2c": Chart(
            "Fig. 2(c): one person breached, every conclusion drawn once",
            by_degree("total", 3),
            x=x,
            y=ChartAxis("probability", "percent"),
            caption=f"m = 6, p = 0.04. After {LONGEST} releases {format_percent(last[1].total)} for n = 1, "
            f"{format_percent(last[2].total)} for n = 2 and {format_percent(last[3].total)} for n = 3, the paper's "
            "choice for h = 10%. Theorem 2 is garbled in print; this is the formula of Figure 3.",
            threshold=Threshold(HIGHEST, "h = 10%", "at most"),
        ),
    }


def cor_split_headline_chart(runs: Sequence[CorSplitRuns]) -> Chart:
    """Chart who is breached in the end, by method."""
    names = tuple(cor_split_chart_label(one.method) for one in runs)
    once = max(one.once.mean for one in runs)
    return Chart(
        "People breached at the fixed point",
        Bars(names, tuple(one.breached.mean for one in runs)),
        x=ChartAxis("method"),
        y=ChartAxis("share of people not compromised", "percent"),
        caption="Of the people who are not compromised. Drawing every conclusion once breaches at most "
        f"{format_percent(once)}; an adversary who builds on each finding gets this far.",
        topic="attack",
    )


def cor_split_course_charts(runs: Sequence[CorSplitRuns], n_queries: int) -> dict[str, Chart]:
    """Chart figures 7, 8 and 9; the counterfeits of cohorts separately, since there are far more."""
    paired = [one for one in runs if one.method != "cohort"]
    closed = [one for one in runs if one.method == "cohort"]
    found = {
        "unsafe": _course("Fig. 7: groups with historical correlations", paired, ChartAxis("groups"),
                          lambda f: f.unsafe, _unsafe_words(paired)),
        "counterfeits": _course("Fig. 8: counterfeits", paired, ChartAxis("rows"),
                                lambda f: f.counterfeits, _counterfeit_words(paired)),
        "error": _errors(runs, n_queries),
        "gcp": _course("How wide the boxes are", runs, ChartAxis("global certainty penalty", "percent"),
                       lambda f: f.gcp,
                       "Mean width of a published range as a share of its domain: 0% would be the exact value."),
    }  # fmt: skip
    for one in closed:
        fakes = one.spread(lambda o: o.played.share("counterfeits"))
        out = one.spread(lambda o: o.played.share("withheld"))
        found["places"] = _course(
            "What cohorts pay: counterfeits", closed, ChartAxis("share of the people present", "percent"),
            lambda f: f.counterfeits / max(f.present, 1),
            f"Slots of people who left, until newcomers take them: {shown_percent(fakes)} of all person-releases, and "
            f"{shown_percent(out)} of them withheld.",
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
                curve = [
                    (float(m), Spread(tuple(float(getattr(o, what)) for o in own if o.m == m)))
                    for m in sorted({one.m for one in own})
                ]
                if curve:
                    lines.append(_line(f"n = {n}", curve))
            name = f"{cor_split_chart_label(method)}: {title}"
            charts[f"{method} {what}"] = Chart(
                name, Lines(tuple(lines)), x=ChartAxis("m: values that stay possible"), y=axis
            )
    return charts


def _course(
    title: str,
    runs: Sequence[CorSplitRuns],
    axis: ChartAxis,
    figure: Callable[[ReleaseFigures], float | None],
    caption: str,
) -> Chart:
    """Chart one line per method, release by release, with its interval over seeds."""
    curves = {cor_split_chart_label(one.method): one.curve(figure) for one in runs}
    lines = tuple(_line(name, curve) for name, curve in curves.items() if curve)
    return Chart(title, Lines(lines), x=ChartAxis("release"), y=axis, caption=caption, topic="series")


def _line(name: str, curve: Sequence[tuple[float, Spread]]) -> Line:
    x, spreads = tuple(at for at, _ in curve), [spread for _, spread in curve]
    told = len(spreads[0].numbers) > 1
    low, high = (tuple(getattr(one, end) for one in spreads) if told else () for end in ("low", "high"))
    return Line(name, x, tuple(one.mean for one in spreads), low=low, high=high)


def _errors(runs: Sequence[CorSplitRuns], n_queries: int) -> Chart:
    curves = {cor_split_chart_label(one.method): [(share, one.error(share)) for share in SELECTIVITIES] for one in runs}
    at, (name, *others) = 0.05, curves
    error = {one: dict(curve)[at].mean for one, curve in curves.items()}
    beside = ", ".join(f"{one} {error[one] / error[name]:.2f} times" for one in others if error[name])
    return Chart(
        "Fig. 9: error of counts",
        Lines(tuple(_line(one, curve) for one, curve in curves.items())),
        x=ChartAxis("share of the domain in the query", "percent"),
        y=ChartAxis("median relative error", "percent"),
        caption=f"{n_queries:,} range counts for each point and release. At {at:.0%}, beside {name}'s "
        f"{format_percent(error[name])}: {beside}.",
        topic="usefulness",
    )


def _unsafe_words(runs: Sequence[CorSplitRuns]) -> str:
    found = {cor_split_chart_label(one.method): [unsafe.mean for _, unsafe in one.curve(lambda f: f.unsafe)]
             for one in runs}  # fmt: skip
    told = [
        f"{name} leaves {unsafe[1]:,.0f} in the second release and {unsafe[-1]:,.0f} in the last"
        for name, unsafe in found.items()
        if len(unsafe) > 1 and any(unsafe)
    ]
    none = [name for name, unsafe in found.items() if not any(unsafe)]
    safe = f"None at all: {', '.join(none)}." if none else ""
    return " ".join(part for part in ("; ".join(told) + "." if told else "", safe) if part)


def _counterfeit_words(runs: Sequence[CorSplitRuns]) -> str:
    told = []
    for one in runs:
        later = [fakes.mean for _, fakes in one.curve(lambda f: f.counterfeits)[1:]]
        if any(later):
            told.append(f"{cor_split_chart_label(one.method)} {min(later):,.0f} to {max(later):,.0f}")
    return f"Rows a release after the first: {', '.join(told)}." if told else "Nobody needs any."
