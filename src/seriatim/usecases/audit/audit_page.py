"""Writes an audit as a page and as JSON. It has figures, column names and class numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.model import Finding, Measure
from seriatim.report import NO_ROWS, FiledReport, chart_views
from seriatim.report.page import Banner, Cell, Charts, Definitions, Grid, Note, Page, Prose, Section, Tile, Tiles
from seriatim.report.page import Block as PageBlock
from seriatim.report.words import format_bits, format_count, format_number, format_people, format_percent, format_plain
from seriatim.usecases.audit import audit_charts, audit_figures
from seriatim.usecases.audit import audit_words as words

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit, ColumnBlock

SCHEMA = "seriatim.audit/1"
WORST = 10


@dataclass(frozen=True, slots=True)
class TableReport(FiledReport):
    """The report of an audit. Equal tables and policies give equal bytes."""

    audit: Audit

    def record(self) -> dict[str, Any]:
        """Return everything the page shows; an infinite figure becomes "inf"."""
        audit = self.audit
        return {
            "schema": SCHEMA,
            "table": audit.audited.name,
            "original": audit.audited.original.name if audit.audited.original else None,
            "prior": audit.prior,
            "kept": audit.kept,
            "readings": audit.readings,
            "summary": format_plain(audit.summary),
            "findings": [format_plain(asdict(finding)) for finding in audit.findings],
            "measures": [format_plain(asdict(measure)) for measure in audit.measures],
            "worst_classes": {b.column: [format_plain(w) for w in _audit_worst_classes(b)] for b in audit.blocks},
            "charts": {name: chart_views.drawing(chart) for name, chart in audit.charts.items()},
            "notes": list(audit.notes),
        }

    def page(self) -> Page:
        audit = self.audit
        charts = audit.charts
        sections = [_overview(audit)]
        if audit.findings:
            sections.append(Section("Thresholds", (_thresholds(audit.findings),)))
        sections.append(_found_again(audit))
        for block in audit.blocks:
            own = {name: charts[name] for name in audit_charts.names_about(block.column)}
            lead = "The classes that move belief most, and why. Compare leakage with what chance would give."
            sections.append(Section(f"What is learnt about {block.column}", (_reasons(block), Charts(own)), lead))
        shared = {name: c for name, c in charts.items() if name.startswith("pairs_")}
        lead = "Both directions of every pair: what someone who knows the column learns about the row."
        sections.append(Section("What one column reveals about another", (Charts(shared),), lead))
        sections.append(_cost(audit))
        sections.append(Section("How to read the figures", (Definitions((*_readings(audit), *words.GLOSSARY)),)))
        return Page(
            title=audit.audited.name,
            sections=tuple(sections),
            kicker="Audit of a published table",
            subtitle=f"prior: {audit.prior}",
            banner=_banner(audit),
            footer=NO_ROWS,
        )


def _audit_worst_classes(block: ColumnBlock, n: int = WORST) -> list[dict[str, Any]]:
    """Return the classes that leak most, each with its reasons, in words without values."""
    leaks = np.nan_to_num(block.figures["l_d"])
    null, chance = audit_figures.by_luck(block)
    found = []
    for c in np.argsort(-leaks, kind="stable")[:n]:
        own = {name: float(figures[c]) for name, figures in block.figures.items()}
        why = _why(own, float(null[c]), float(chance[c]))
        entry = {name: own[name] for name in ("size", "l_d", "l_e", "tv", "max_p")}
        luck = {"by_chance": float(null[c]) ** 0.5, "p_value": float(chance[c])}
        found.append({"class": int(c), **entry, **luck, "why": why})
    return found


def _why(figures: dict[str, float], null: float, chance: float) -> str:
    reasons = []
    if figures["distinct_l"] == 1:
        reasons.append("all its records have the same value")
    elif figures["max_p"] >= 0.5:
        reasons.append(f"one value makes up {format_percent(figures['max_p'])}")
    if figures["n_missing"]:
        reasons.append(f"{_values(figures['n_missing'])} ruled out")
    if figures["n_exclusive"]:
        reasons.append(f"{_values(figures['n_exclusive'])} found nowhere else")
    if figures["beta"] > 1:
        reasons.append(f"a value is {format_number(figures['beta'] + 1)} times as likely as before")
    if chance == chance and chance > 0.05:
        reasons.append(f"a random class of this size leaks {format_number(null**0.5)}: within chance")
    return "; ".join(reasons) or "its shares are shifted throughout"


def _ruled_out(n: float) -> str:
    return f"some class rules out {format_people(int(n), 'value', 'values')}" if n else "no class rules out a value"


def _values(n: float) -> str:
    return "1 value is" if n == 1 else f"{int(n)} values are"


def _overview(audit: Audit) -> Section:
    tiles = (
        Tile("Records", format_count(len(audit.audited))),
        Tile(
            "Classes",
            format_count(len(audit.membership)),
            f"{format_number(audit.membership.sizes.mean())} records on average",
        ),
        Tile("Smallest class", format_people(int(audit.membership.sizes.min()))),
        Tile(
            "Best guess", format_percent(max(w["max_p"] for w in audit.summary.values())), "largest share of one value"
        ),
    )
    blocks: list[PageBlock] = [Prose((_story(audit),)), Tiles(tiles)]
    heads = ("figure", *audit.summary)
    rows: tuple[tuple[str | Cell, ...], ...] = tuple(
        (Cell(title, note=meaning), *(words.figure_told(name, worst[name]) for worst in audit.summary.values()))
        for name, (title, meaning) in words.FIGURES.items()
    )
    numeric = frozenset(range(1, len(audit.summary) + 1))
    blocks.append(Grid("The worst class of each figure, for every sensitive column", heads, rows, numeric))
    if audit.notes:
        blocks.append(Note("What to know", audit.notes, "warn"))
    return Section("In short", tuple(blocks))


def _story(audit: Audit) -> str:
    known = ", ".join(column.name for column in audit.audited.given)
    alike = (
        f"Someone who knows {known} finds a person among at least {format_people(int(audit.membership.sizes.min()))}."
    )
    learnt = (
        f"About {column}, the worst class moves belief by {format_number(worst['l_d'])} and certainty by "
        f"{format_bits(worst['l_e'])}; {_ruled_out(worst['n_missing'])}."
        for column, worst in audit.summary.items()
    )
    return " ".join((alike, *learnt))


def _thresholds(findings: tuple[Finding, ...]) -> Grid:
    rows = tuple(
        (
            Cell(f"{f.rule} of {f.column}" if f.column else f.rule, note=f.detail),
            format_number(f.threshold),
            format_number(f.worst),
            Cell("kept", "good") if f.kept else Cell("broken", "bad"),
            Cell("–") if f.kept else Cell(format_people(f.n_people), note=f"{_n_classes(f)}: {_named(f)}"),
            "–" if f.kept else f.remedy,
        )
        for f in findings
    )
    heads = ("promise", "required", "found", "result", "who", "smallest change that would pass")
    return Grid("Promises of the policy and what was found", heads, rows, frozenset({1, 2}))


def _found_again(audit: Audit) -> Section:
    """Return the section on chances of being found; with the original, also those of a masked table."""
    rows = tuple(
        (Cell(title, note=meaning), words.value_told(m), words.remark(m))
        for m, title, meaning in _worded(audit.measures, words.FOUND_AGAIN)
    )
    return Section(
        "Who can be found again", (Grid("Chances of a right match", ("who", "chance", ""), rows, frozenset({1})),)
    )


def _cost(audit: Audit) -> Section:
    """Return the section on how coarse the table is; with the original, also on how much was lost."""
    rows = tuple(
        (Cell(title, note=meaning), words.value_told(m), words.remark(m))
        for m, title, meaning in _worded(audit.measures, words.LOST)
    )
    total = Grid("The whole table", ("figure", "found", ""), rows, frozenset({1}))
    blocks = (total, _columns(audit), Charts({"class_sizes": audit.charts["class_sizes"]}))
    perfect = [m.detail["column"] for m in audit.measures if m.name == "perfect" and m.value]
    said = f"Nothing is learnt about {', '.join(perfect)}: every class equals the prior. " if perfect else ""
    against = audit.audited.original
    lead = f"Compared with {against.name}." if against else "An audit with the original also measures what was lost."
    return Section("What it cost", blocks, said + lead)


def _columns(audit: Audit) -> Grid:
    about: dict[str, dict[str, Measure]] = {}
    for m in audit.measures:
        if m.name in words.PER_COLUMN:
            about.setdefault(m.detail["column"], {})[m.name] = m
    shown = [name for name in words.PER_COLUMN if any(name in own for own in about.values())]
    rows = tuple((column, *(_column_cell(own.get(name)) for name in shown)) for column, own in about.items())
    heads = ("column", *(words.PER_COLUMN[name] for name in shown))
    return Grid("Column by column", heads, rows, frozenset(range(1, len(heads))))


def _column_cell(measure: Measure | None) -> str:
    if measure is None:
        return "–"
    if measure.name == "domain_size":
        after = format_number(measure.value)
        return f"{measure.detail['before']:,} → {after}" if "before" in measure.detail else after
    if measure.name == "non_uniform_entropy":
        return f"{format_number(measure.value)} of {format_number(measure.detail['of'])}"
    return format_percent(measure.value)


def _worded(measures: tuple[Measure, ...], titles: dict[str, tuple[str, str]]) -> list[tuple[Measure, str, str]]:
    return [(m, *titles[m.name]) for name in titles for m in measures if m.name == name]


def _readings(audit: Audit) -> tuple[tuple[str, str], ...]:
    return tuple((column, "; ".join(reading.values())) for column, reading in audit.readings.items())


def _reasons(block: ColumnBlock) -> Grid:
    rows = tuple(
        (
            f"class {w['class']}",
            format_count(int(w["size"])),
            format_number(w["l_d"]),
            format_number(w["by_chance"]),
            "–" if w["p_value"] != w["p_value"] else "< 0.001" if w["p_value"] < 0.001 else format_number(w["p_value"]),
            format_number(w["l_e"]),
            w["why"],
        )
        for w in _audit_worst_classes(block)
    )
    heads = ("class", "records", "leakage", "by chance", "p-value", "bits", "why")
    return Grid(f"Classes that reveal most about {block.column}", heads, rows, frozenset({1, 2, 3, 4, 5}))


def _banner(audit: Audit) -> Banner:
    broken = [f for f in audit.findings if not f.kept]
    if broken:
        lines = tuple(_audit_reason(f) for f in broken)
        return Banner("Promises broken", f"{len(broken)} of {len(audit.findings)} are broken.", "bad", lines)
    if audit.findings:
        return Banner("Promises kept", f"All {len(audit.findings)} are kept.", "good")
    return Banner("No promises", "The policy has no promise; judge by the figures.", "plain")


def _audit_reason(finding: Finding) -> str:
    """Write one line: the promise, what was found and how many people are affected."""
    where = f" of {finding.column}" if finding.column else ""
    text = f"{finding.rule}{where}: found {format_number(finding.worst)}, required {format_number(finding.threshold)}"
    return f"{text}; {format_people(finding.n_people)} in {_n_classes(finding)}"


def _n_classes(finding: Finding) -> str:
    return format_people(finding.n_classes, "class", "classes")


def _named(finding: Finding) -> str:
    """Name the worst classes by number, and how many more there are."""
    more = finding.n_classes - len(finding.classes)
    named = ", ".join(str(c) for c in finding.classes)
    return f"{named} and {more:,} more" if more and named else named or "not numbered"
