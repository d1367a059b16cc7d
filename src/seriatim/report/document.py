"""The report of one verdict: a page to file and a record to process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seriatim.model.chart import Bars, Chart, ChartAxis, Threshold
from seriatim.model.methods import method_named
from seriatim.model.policy import Policy, Role
from seriatim.model.verdict import Estimate, Measure, Verdict
from seriatim.report import outcome
from seriatim.report.html import NO_ROWS, FiledReport
from seriatim.report.json_record import canonical_dict
from seriatim.report.outcome import Facts
from seriatim.report.page import Block, Cell, Definitions, Grid, Page, Points, Prose, Section
from seriatim.report.words import (
    ATTACKS,
    FORMS,
    GLOSSARY,
    PUBLISHED,
    ROLES,
    format_count,
    format_number,
    format_percent,
    format_with_unit,
    titled_measure,
)


@dataclass(frozen=True, slots=True)
class Report(FiledReport):
    """What was promised, found and decided.

    It is made of a policy, a verdict and counts, and never sees a row.
    """

    policy: Policy
    verdict: Verdict
    facts: Facts

    def record(self) -> dict[str, Any]:
        return canonical_dict(self.policy, self.verdict, self.facts)

    def to_junit(self) -> str:
        """Return the promises as tests, in the XML that pipelines read."""
        from seriatim.report.pipeline_files import junit_file  # brings XML

        return junit_file(self.verdict, self.policy.series)

    def to_sarif(self, policy: str = "policy.toml") -> str:
        """Return what is not kept as results at the policy's file, in the JSON that code scanning reads."""
        from seriatim.report.pipeline_files import sarif_file

        return sarif_file(self.verdict, policy)

    def page(self) -> Page:
        policy, verdict, facts = self.policy, self.verdict, self.facts
        sections = (
            outcome.summary(policy, verdict, facts),
            outcome.promises(verdict),
            *_attacks(verdict),
            *_over_time(verdict),
            _usefulness(policy, verdict, facts),
            _limits(policy, verdict),
            _columns_published(facts),
            _method(policy, facts),
            _glossary(),
        )
        number = f"release {facts.number}" if facts.number is not None else "not released"
        return Page(
            title=facts.series,
            sections=sections,
            kicker="Release report",
            subtitle=f"{number}, epoch {facts.epoch}",
            banner=outcome.banner(verdict, facts),
            footer=NO_ROWS,
        )


def _usefulness(policy: Policy, verdict: Verdict, facts: Facts) -> Section:
    columns = ("Measure", "Figure", "What it means")
    rows = tuple(row for row in map(_measure_row, verdict.measures) if row[-1])  # a figure without meaning helps nobody
    grid: tuple[Block, ...] = (
        (Grid("Measures of how useful the table is", columns, rows, frozenset({1})),) if rows else ()
    )
    shown = outcome.charts_about(verdict, "usefulness", {"withheld": _withheld(policy, facts)})
    lead = "Protection costs detail. These measures say how much; none of them affects the verdict."
    return Section("How useful the table is", (*grid, *shown), lead)


def _over_time(verdict: Verdict) -> tuple[Section, ...]:
    shown = outcome.charts_about(verdict, "series")
    lead = "What all releases reveal together: months, refreshes, re-runs."
    return (Section("All releases so far, together", shown, lead),) if shown else ()


def _attacks(verdict: Verdict) -> tuple[Section, ...]:
    """Return the section on attacks, if any ran."""
    shown = outcome.charts_about(verdict, "attack")
    if not (verdict.estimates or shown):
        return ()
    columns = ("Attack", "People it succeeds on", "95% interval", "People tried", "Wrong inferences")
    rows = tuple(_estimate_row(estimate) for estimate in verdict.estimates)
    grid = (Grid("Attacks on the draft, compared with the truth", columns, rows, frozenset({1, 2, 3, 4})),)
    lead = "We attacked the draft and compared the findings with the truth, to see what an adversary could conclude."
    return (Section("Attacks we tried", (*(grid if rows else ()), *shown), lead),)


def _limits(policy: Policy, verdict: Verdict) -> Section:
    points = [_time_limit(policy), *(("Not judged.", note) for note in verdict.notes)]
    checked = {finding.column for finding in verdict.findings if finding.column}
    uncovered = [column.name for column in policy.sensitive if column.name not in checked]
    if uncovered:
        points.append(("No promise covers " + ", ".join(uncovered) + ".", "A class may reveal their values."))
    plain = [column.name for column in (*policy.with_role(Role.PLAIN), *policy.with_role(Role.WEIGHT))]
    if plain:
        points.append(
            (
                "Published as they are: " + ", ".join(plain) + ".",
                "Someone who knows them can use them to find a person.",
            )
        )
    points += [
        (
            "What others know.",
            "The roles in the policy decide which columns a neighbour could know. Someone may know more.",
        ),
        (
            "What is true of a whole class.",
            "A pattern that holds for many people can be learnt from this table; that is its purpose.",
        ),
        (
            "What is legal.",
            "This report states what was promised, found and decided. Whether that is enough is for people to judge.",
        ),
    ]
    return Section("What this report does not promise", (Points(tuple(points)),))


def _method(policy: Policy, facts: Facts) -> Section:
    entries: list[tuple[str, str]] = []
    if policy.defence:
        settings = policy.defence
        row = method_named(settings.method)
        entries.append(("Method", f"{row.name}: {row.summary}" if row else settings.method))
        entries.append(("May withhold", f"at most {format_percent(settings.allowed)} of the records"))
        given = {"Mode": settings.mode, "Form": settings.form and FORMS.get(settings.form, settings.form)}
        entries += [(name, text) for name, text in given.items() if text]
        entries += [(name.replace("_", " "), _option(value)) for name, value in sorted(settings.options.stated.items())]
    if facts.seed is not None:
        entries.append(("Seed of queries and attacks", f"{facts.seed} (anyone can repeat them)"))
    entries += [("Epoch", str(facts.epoch)), ("Policy fingerprint", facts.policy_digest)]
    how = Prose(
        (
            "Rows are shuffled with a secret of the series that stays in the ledger. The same input gives the same "
            "release, and nobody else can undo the shuffle.",
        )
    )
    return Section("How it was done", (Definitions(tuple(entries)), how))


def _columns_published(facts: Facts) -> Section:
    heads = ("Column", "Role", "Read as", "Generalised by", "Published as")
    rows = tuple(
        (
            column.name,
            Cell(column.role, note=ROLES.get(column.role, "")),
            " in ".join(filter(None, (column.kind, column.unit))) or "–",
            column.hierarchy or "–",
            FORMS.get(column.form, column.form) or PUBLISHED.get(column.role, "as it is"),
        )
        for column in facts.columns
    )
    return Section("Columns", (Grid("The columns and their roles in the policy", heads, rows),))


def _glossary() -> Section:
    return Section("Words", (Definitions(GLOSSARY),))


def _withheld(policy: Policy, facts: Facts) -> Chart:
    limit = policy.defence.allowed if policy.defence else None
    tables = facts.tables or (("withheld", facts),)
    out = f"{format_count(facts.n_suppressed)} of {format_count(facts.n_records)} records are withheld."
    return Chart(
        "Records withheld",
        Bars(tuple(name for name, _ in tables), tuple(own.suppressed_share for _, own in tables)),
        x=ChartAxis("table of" if facts.tables else "records"),
        y=ChartAxis("share of all records", "percent"),
        caption="Each sensitive column has a table of its own." if facts.tables else out,
        threshold=Threshold(limit, f"allowed: {format_percent(limit)}", "at most") if limit is not None else None,
        topic="usefulness",
    )


def _measure_row(measure: Measure) -> tuple[str | Cell, ...]:
    words = titled_measure(measure.name)
    title = words.title if words else measure.name.replace("_", " ")
    return (
        Cell(title, note=_details(measure.detail)),
        format_with_unit(measure.value, measure.unit),
        words.meaning if words else str(measure.detail.get("meaning", "")),
    )


def _estimate_row(estimate: Estimate) -> tuple[str | Cell, ...]:
    about = "; ".join(filter(None, (ATTACKS.get(estimate.attack, ""), _details(estimate.detail))))
    return (
        Cell(estimate.attack.replace("_", " "), note=about),
        format_percent(estimate.share),
        f"{format_percent(estimate.low)} to {format_percent(estimate.high)}",
        format_count(estimate.n_people),
        format_count(estimate.wrong),
    )


def _details(detail: Mapping[str, Any]) -> str:
    """Write the numbers and texts of a detail. Longer entries are in the JSON; the meaning has its own column."""
    known = {k: v for k, v in detail.items() if isinstance(v, (str, bool, int, float)) and k != "meaning"}
    written = {name: str(value) if name == "seed" else _scalar(value) for name, value in known.items()}
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in written.items())


def _option(value: object) -> str:
    """Write an option; noise by column, since its amount is not its spread."""
    if isinstance(value, Mapping):
        return ", ".join(f"{column}: at most {amount} either way" for column, amount in value.items())
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return format_number(value)
    if isinstance(value, (Mapping, tuple, list)):
        return f"set for {len(value)}"
    return value if isinstance(value, str) else "set"


def _time_limit(policy: Policy) -> tuple[str, str]:
    if outcome.is_serial(policy):
        return (
            "What comes later.",
            "The promises hold over all releases so far. The next release will be judged together with them.",
        )
    return (
        "Months together.",
        "This release was judged on its own. Someone who keeps this table and the previous one may learn from small "
        "changes between the two extracts. A promise over the whole series prevents that; this policy has none.",
    )
