"""The first half of a report: what was decided, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from seriatim.model.chart import Chart, Topic
from seriatim.model.policy import Policy
from seriatim.model.promises import promise_keys_over_releases, promise_rules_for_users
from seriatim.model.verdict import Finding, Verdict
from seriatim.report.page import Banner, Block, Cell, Charts, Grid, Note, Prose, Section, Tile, Tiles, Tone
from seriatim.report.promise_words import PromiseWords, promise_words
from seriatim.report.words import format_count, format_number, format_people, format_percent

RESPONDENT = "respondent"


@dataclass(frozen=True, slots=True)
class ReportedColumn:
    """One column: what it is and how it is published."""

    name: str
    role: str
    _: KW_ONLY
    kind: str = ""
    hierarchy: str = ""
    """Where its hierarchy comes from: a file or a builder."""
    form: str = ""
    """How generalised values look: interval, set or node."""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """The counts of one table."""

    n_records: int
    n_published: int
    n_suppressed: int
    n_groups: int
    n_counterfeits: int = 0
    """Rows of the table that belong to nobody."""

    @property
    def suppressed_share(self) -> float:
        return self.n_suppressed / self.n_records if self.n_records else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(TableCounts):
    """The counts of a draft, and its number in the series."""

    series: str
    number: int | None
    """None for a dry run or a refusal, which take no number."""
    epoch: int
    policy_digest: str
    tables: tuple[tuple[str, TableCounts], ...] = ()
    """The counts by sensitive column, where each has a table of its own; the others are then of the first."""
    columns: tuple[ReportedColumn, ...] = ()
    seed: int | None = None
    """The seed of the queries and attacks, so that anyone can repeat them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningFacts:
    """What the page to sign has beside the report's own figures."""

    date: str
    version: str
    """The version of this software."""
    input_name: str
    input_sha256: str
    """Empty for a table that was never a file."""
    chain: str
    """The head of the ledger's chain, which the manifest carries."""
    recipients: tuple[str, ...] = ()


def reported_columns(policy: Policy, forms: Mapping[str, str] | None = None) -> tuple[ReportedColumn, ...]:
    """Return the columns of a policy, with the form in which each generalised one is published."""
    noise = policy.defence.noise if policy.defence is not None else {}
    known = {**(forms or {}), **{name: f"with noise, at most {amount} either way" for name, amount in noise.items()}}
    columns = [
        ReportedColumn(
            name=column.name,
            role=column.role.value,
            kind=column.kind.value if column.kind else "",
            hierarchy=column.hierarchy.source if column.hierarchy else "",
            form=known.get(column.name, ""),
            unit=column.unit or "",
        )
        for column in policy.columns.values()
    ]
    if policy.respondent and policy.respondent not in policy.columns:
        columns.insert(0, ReportedColumn(policy.respondent, RESPONDENT))
    return tuple(columns)


Outcome = Literal["released", "refused", "overridden", "would be released"]
NO_PROMISE = "Nothing in the policy protects the people in this table."


def word_of(verdict: Verdict, facts: Facts) -> Outcome:
    if verdict.overridden:
        return "overridden"
    if not verdict.released:
        return "refused"
    return "released" if facts.number is not None else "would be released"


def banner(verdict: Verdict, facts: Facts) -> Banner:
    match word_of(verdict, facts):
        case "refused":
            nothing = "This table cannot be released as it is. Nothing was published."
            return Banner("Refused", nothing, "bad", verdict.reasons)
        case "overridden":
            assert verdict.approval is not None
            by, why = verdict.approval.by, verdict.approval.override
            who = f"{by} released it despite the refusal. Reason: “{why}”"
            return Banner("Released by override", who, "warn", verdict.reasons)
        case "would be released":
            nothing = "Nothing was published."
            judged = promised(verdict) and not verdict.unjudged
            return Banner("Would be released", nothing, "good" if judged else "warn", _unjudged(verdict))
        case "released":
            by = f" Approved by {verdict.approval.by}." if verdict.approval else ""
            if not promised(verdict):
                return Banner("Released", f"The policy has no promise, so nothing protects this table.{by}", "warn")
            if verdict.unjudged:
                nobody = "No promise is broken, but not every one could be judged for everyone."
                return Banner("Released", f"{nobody}{by}", "warn", _unjudged(verdict))
            return Banner("Released", f"Every promise of the policy is kept.{by}", "good")


def _unjudged(verdict: Verdict) -> tuple[str, ...]:
    """Say which promises were not judged for everyone."""
    return tuple(
        f"{' of '.join(filter(None, (one.rule, one.column)))}: {one.result}; "
        f"{format_count(one.n_unjudged)} people were not judged"
        for one in verdict.unjudged
    )


def promised(verdict: Verdict) -> tuple[Finding, ...]:
    """Return the findings of promises to people. The limit on withheld records is a promise to users of the table."""
    return tuple(finding for finding in verdict.findings if finding.rule not in promise_rules_for_users())


def summary(policy: Policy, verdict: Verdict, facts: Facts) -> Section:
    blocks: list[Block] = [Prose((_story(policy, verdict, facts),))]
    blocks.append(_tables(facts) if facts.tables else _tiles(policy, facts))
    if verdict.remedies and not (verdict.released and not verdict.overridden):
        blocks.append(Note("What would pass", verdict.remedies, "plain"))
    return Section("In short", tuple(blocks))


def promises(verdict: Verdict) -> Section:
    nothing = () if promised(verdict) else (Note("The policy has no promise", (NO_PROMISE,), "warn"),)
    if not verdict.findings:
        return Section("Promises", (*nothing, *charts_about(verdict, "protection")))
    columns = ("Promise", "Required", "Found", "Result", "Records affected", "What would pass")
    rows = tuple(_finding_row(finding) for finding in verdict.findings)
    grid = Grid("Each promise of the policy and what was found", columns, rows, frozenset({4}))
    lead = "Checked on the finished table, by code that shares nothing with the method that made it."
    return Section("Promises", (*nothing, grid, *charts_about(verdict, "protection")), lead)


def charts_about(verdict: Verdict, topic: Topic, further: dict[str, Chart] | None = None) -> tuple[Charts, ...]:
    charts = {name: chart for name, chart in verdict.charts.items() if chart.topic == topic} | (further or {})
    return (Charts(charts),) if charts else ()


def is_serial(policy: Policy) -> bool:
    """Return whether any promise covers several releases."""
    bounded = policy.adversary.breach_share is not None or policy.adversary.sure_share is not None
    return bounded or any(name in promise_keys_over_releases() for name in policy.terms.series.stated)


def _story(policy: Policy, verdict: Verdict, facts: Facts) -> str:
    n_all, n_broken = len(verdict.findings), sum(not finding.kept for finding in verdict.findings)
    this = f"This is release {facts.number}" if facts.number is not None else "This would be a release"
    outcome = {
        "released": f"{this} of the series “{facts.series}”.",
        "overridden": f"{this} of the series “{facts.series}”, released despite a refusal.",
        "refused": f"This table was refused as a release of the series “{facts.series}”; the ledger is unchanged.",
        "would be released": f"This is no release of the series “{facts.series}” yet; the table could be released.",
    }[word_of(verdict, facts)]
    would = "would be" if facts.number is None else "are"
    counts = _told_tables(policy, facts, would) if facts.tables else _told_counts(policy, facts, would)
    kept = (
        f"Of {format_people(n_all, 'promise', 'promises')} {format_count(n_broken)} {would} broken."
        if n_broken
        else _all_kept(n_all if promised(verdict) else 0, len(verdict.unjudged))
    )
    return f"{outcome} {counts} {kept}"


def _told_counts(policy: Policy, facts: Facts, would: str) -> str:
    groups = format_people(facts.n_groups, "group", "groups")
    counts = (
        f"Of {format_people(facts.n_records)}, {format_count(facts.n_published)} {would} published in {groups}; "
        f"{format_count(facts.n_suppressed)} ({format_percent(facts.suppressed_share)}) {would} withheld"
        f"{_allowance(policy)}."
    )
    if facts.n_counterfeits:
        counts += f" {format_people(facts.n_counterfeits, 'row', 'rows')} of the table {would} counterfeit."
    return counts


def _told_tables(policy: Policy, facts: Facts, would: str) -> str:
    worst = max((own for _, own in facts.tables), key=lambda own: own.n_suppressed)
    return (
        f"Each of the {len(facts.tables)} sensitive columns has a table of its own, made and judged apart; nothing "
        f"links their rows. {format_count(worst.n_suppressed)} of {format_people(worst.n_records)} "
        f"({format_percent(worst.suppressed_share)}) {would} withheld from the one that withholds most"
        f"{_allowance(policy)}."
    )


def _tables(facts: Facts) -> Grid:
    """Return a row for each table."""
    columns = ("Table of", "People in the view", "Published", "Groups", "Withheld", "Counterfeit rows")
    rows = tuple(
        (
            name,
            format_count(own.n_records),
            format_count(own.n_published),
            format_count(own.n_groups),
            Cell(format_percent(own.suppressed_share), note=format_count(own.n_suppressed)),
            format_count(own.n_counterfeits),
        )
        for name, own in facts.tables
    )
    return Grid("One table per sensitive column", columns, rows, frozenset({1, 2, 3, 4, 5}))


def _allowance(policy: Policy) -> str:
    return f", and the policy allows {format_percent(policy.defence.allowed)}" if policy.defence else ""


def _all_kept(n_all: int, n_unjudged: int) -> str:
    if n_unjudged:
        return f"Of {n_all} promises none is broken; {n_unjudged} could not be judged for everyone."
    match n_all:
        case 0:
            return "The policy has no promise."
        case 1:
            return "The one promise of the policy is kept."
        case _:
            return f"All {n_all} promises of the policy are kept."


def _tiles(policy: Policy, facts: Facts) -> Tiles:
    limit = policy.defence.allowed if policy.defence else None
    mean = facts.n_published / facts.n_groups if facts.n_groups else 0.0
    return Tiles(
        (
            Tile("Records in the view", format_count(facts.n_records)),
            Tile("Published" if facts.number is not None else "To be published", format_count(facts.n_published)),
            Tile("Groups", format_count(facts.n_groups), f"{format_number(round(mean, 1))} records on average"),
            Tile(
                "Withheld",
                format_percent(facts.suppressed_share),
                f"{format_count(facts.n_suppressed)} records"
                + (f"; {format_percent(limit)} allowed" if limit is not None else ""),
                facts.suppressed_share,
                limit,
            ),
        )
    )


def _finding_row(finding: Finding) -> tuple[str | Cell, ...]:
    words = promise_words(finding.rule, finding.detail)
    title = words.title if words else finding.rule
    about = " of ".join(filter(None, (finding.rule if words else "", finding.column)))
    classes = f"in {format_people(finding.n_classes, 'class', 'classes')}" if finding.n_classes else ""
    return (
        Cell(title, note=about),
        words.required(finding.threshold) if words else format_number(finding.threshold),
        Cell(figure_found(finding, words), note=finding.detail or (words.found if words else "")),
        result_cell(finding),
        Cell(format_count(finding.n_people), note=classes),
        finding.remedy or ("–" if finding.kept else "not known"),
    )


def result_cell(finding: Finding) -> Cell:
    """Return what became of a promise, in its colour."""
    tone: dict[str, Tone] = {"kept": "good", "broken": "bad"}
    unjudged = f"{format_count(finding.n_unjudged)} people not judged" if finding.n_unjudged else ""
    return Cell(finding.result, tone.get(finding.result, "warn"), note=unjudged)


def figure_found(finding: Finding, words: PromiseWords | None) -> str:
    """Return the figure of a finding."""
    if finding.kept and math.isinf(finding.worst):
        return "no class to judge"
    if finding.result == "not judged":
        return "nobody to judge"
    return words.write(finding.worst) if words else format_number(finding.worst)
