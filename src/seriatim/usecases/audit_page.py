"""An audit as a page to file and a record to process. It holds figures, names of columns and numbers of classes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.model import Finding
from seriatim.report import NO_ROWS, Filed
from seriatim.report.figures import number, people, percent, plain
from seriatim.report.page import Banner, Cell, Definitions, Grid, Note, Page, Pictures, Points, Section, Tile, Tiles
from seriatim.report.page import Block as PageBlock
from seriatim.report.pictures import picture_data
from seriatim.usecases.audit_charts import charts_about
from seriatim.usecases.audit_figures import luck_of

if TYPE_CHECKING:
    from seriatim.usecases.auditing import Audit, Block

SCHEMA = "seriatim.audit/1"
WORST = 10


@dataclass(frozen=True, slots=True)
class AuditReport(Filed):
    """Equal tables and policies give equal bytes."""

    audit: Audit

    def record(self) -> dict[str, Any]:
        """Everything the page shows; infinite figures are the text "inf"."""
        audit = self.audit
        return {
            "schema": SCHEMA,
            "table": audit.audited.name,
            "prior": audit.prior,
            "kept": audit.kept,
            "readings": audit.readings,
            "summary": plain(audit.summary),
            "findings": [plain(asdict(finding)) for finding in audit.findings],
            "measures": [plain(asdict(measure)) for measure in audit.measures],
            "worst_classes": {b.column: [plain(w) for w in worst_classes(b)] for b in audit.blocks},
            "charts": {name: picture_data(chart) for name, chart in audit.charts.items()},
            "notes": list(audit.notes),
        }

    def page(self) -> Page:
        audit = self.audit
        charts = audit.charts
        sections = [_overview(audit)]
        if audit.findings:
            sections.append(Section("Thresholds", (_thresholds(audit.findings),)))
        for block in audit.blocks:
            own = {name: charts[name] for name in charts_about(block.column)}
            sections.append(Section(f"What is learnt about {block.column}", (_reasons(block), Pictures(own))))
        shared = {name: c for name, c in charts.items() if name.startswith("pairs_")}
        sections.append(Section("What one attribute tells about another", (Pictures(shared),)))
        sections.append(Section("Classes", (Pictures({"class_sizes": charts["class_sizes"]}),)))
        return Page(
            title=audit.audited.name,
            sections=tuple(sections),
            kicker="Audit of a published table",
            subtitle=f"prior: {audit.prior}",
            banner=_banner(audit),
            footer=NO_ROWS,
        )


def worst_classes(block: Block, n: int = WORST) -> list[dict[str, Any]]:
    """The classes that leak most, each with the reasons why, in words without values."""
    leaks = np.nan_to_num(block.figures["l_d"])
    null, chance = luck_of(block)
    found = []
    for c in np.argsort(-leaks, kind="stable")[:n]:
        own = {name: float(figures[c]) for name, figures in block.figures.items()}
        why = _why(own, float(null[c]), float(chance[c]))
        entry = {name: own[name] for name in ("size", "l_d", "l_e", "tv", "max_p")}
        found.append({"class": int(c), **entry, "p_value": float(chance[c]), "why": why})
    return found


def _why(figures: dict[str, float], null: float, chance: float) -> str:
    reasons = []
    if figures["distinct_l"] == 1:
        reasons.append("all its records have the same value")
    elif figures["max_p"] >= 0.5:
        reasons.append(f"one value makes up {percent(figures['max_p'])}")
    if figures["n_missing"]:
        reasons.append(f"{int(figures['n_missing'])} values are ruled out")
    if figures["n_exclusive"]:
        reasons.append(f"{int(figures['n_exclusive'])} values occur nowhere else")
    if figures["beta"] > 1:
        reasons.append(f"a value is {number(figures['beta'] + 1)} times as likely as before")
    if chance == chance and chance > 0.05:
        reasons.append(f"a random class of this size leaks {number(null**0.5)}: within chance (p = {number(chance)})")
    return "; ".join(reasons) or "its shares are shifted throughout"


def _overview(audit: Audit) -> Section:
    blocks: list[PageBlock] = []
    for column, worst in audit.summary.items():
        tiles = (
            Tile("smallest class", number(worst["size"]), "records"),
            Tile("fewest values", number(worst["distinct_l"]), f"of {column}"),
            Tile("distribution leakage", number(worst["l_d"]), "worst class"),
            Tile("entropy leakage", number(worst["l_e"]), "bits, worst class"),
            Tile("total variation", number(worst["tv"]), "worst class"),
        )
        blocks.append(Tiles(tiles))
    rows = tuple(
        (m.name, str(m.detail.get("column", "")), f"{number(m.value)} {m.unit}".strip()) for m in audit.measures
    )
    blocks.append(Grid("Figures of the whole table", ("figure", "column", "found"), rows, frozenset({2})))
    told = tuple((column, "; ".join(reading.values())) for column, reading in audit.readings.items())
    blocks.append(Definitions(told))
    if audit.notes:
        blocks.append(Note("To be known", audit.notes, "warn"))
    return Section("In short", tuple(blocks))


def _thresholds(findings: tuple[Finding, ...]) -> Grid:
    rows = tuple(
        (
            f"{f.rule} of {f.column}" if f.column else f.rule,
            Cell("kept", "good") if f.kept else Cell("broken", "bad", f.remedy),
            number(f.worst),
            number(f.threshold),
            "" if f.kept else f"{f.n_classes} classes, {people(f.n_people)}",
        )
        for f in findings
    )
    return Grid("What the policy asks and what was found", ("rule", "", "found", "asked", "breaks in"), rows)


def _reasons(block: Block) -> Points:
    items = tuple(
        (f"Class {w['class']} ({people(int(w['size']))}, leakage {number(w['l_d'])})", w["why"])
        for w in worst_classes(block)
    )
    return Points(items)


def _banner(audit: Audit) -> Banner:
    broken = [f for f in audit.findings if not f.kept]
    if broken:
        lines = tuple(reason(f) for f in broken)
        return Banner("Thresholds broken", f"{len(broken)} of {len(audit.findings)} do not hold.", "bad", lines)
    if audit.findings:
        return Banner("Thresholds kept", f"All {len(audit.findings)} hold.", "good")
    return Banner("No thresholds", "The policy asks for nothing; these are figures to judge by.", "plain")


def reason(finding: Finding) -> str:
    """One line: the rule, what was found, which classes by number, how many people, and what would pass."""
    where = f" of {finding.column}" if finding.column else ""
    named = ", ".join(str(c) for c in finding.classes)
    more = finding.n_classes - len(finding.classes)
    classes = f"classes {named}{f' and {more} more' if more and named else ''}" if named else f"{more} classes"
    text = f"{finding.rule}{where}: found {number(finding.worst)}, asked {number(finding.threshold)}"
    return f"{text}; {classes}, {people(finding.n_people)}; {finding.remedy}"
