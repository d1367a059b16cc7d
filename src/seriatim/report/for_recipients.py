"""The report that goes with the table: what was promised and kept, and how to read the table.

Nothing in it was measured against the truth, and nothing says who was withheld or who approved the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from math import ceil
from typing import Any

from seriatim.model.verdict import Finding, Verdict
from seriatim.report import outcome
from seriatim.report.html import FiledReport
from seriatim.report.outcome import RESPONDENT, Facts
from seriatim.report.page import Cell, Definitions, Grid, Note, Page, Prose, Section, Tone
from seriatim.report.promise_words import promise_words
from seriatim.report.words import FORMS, format_number, format_percent, format_plain

SCHEMA = "seriatim.public-report/1"
_CAPPED = frozenset({"fair_cells"})
"""Promises whose threshold is the cap of a value, which depends on the view where values may exceed one m-th."""
_NOT_SHOWN = frozenset({RESPONDENT, "drop"})
_ROLES = {
    "quasi": "made coarser where needed",
    "sensitive": "protected by the promises",
    "plain": "published as it is",
    "weight": "the people a record stands for: multiply by it",
}
_ORIGIN = {"publisher": "Publisher", "period": "Reference period", "date": "Published", "people": "People"}
_ASKED = {"count": "how many have each value of {}", "mean": "the mean of {}"}
_UNITS = {"count": "{} of a count", "mean": "{} of the standard deviation"}
_GOOD, _ROUGH = 0.05, 0.2
"""Mean standard errors up to which an answer is good, and rough."""
_ESTIMATED = (
    "The standard errors below come from the release alone, as a reader who joins all of it estimates them "
    "(seriatim.reading.open_release, or open_release of the R package): about 95 of 100 answers are within two of "
    "them. They are about the people in the table, and nobody else.",
    "How many people have each value of a single column is shown by the table itself.",
)
_FOOTER = "This report says what was promised and how to read the table. It holds no row, and no figure that it hides."


def promises_told(verdict: Verdict) -> tuple[Finding, ...]:
    """Return the promises to people that this release keeps for everyone, or for those who could be judged."""
    told = [finding for finding in outcome.promised(verdict) if finding.result in ("kept", "partly judged")]
    return tuple(_in_round_numbers(finding) for finding in told)


def promise_told(finding: Finding) -> dict[str, Any]:
    """Return a promise for programs; one that was judged for some people only says so."""
    judged = {} if finding.result == "kept" else {"judged": "for some people only"}
    return {"promise": finding.rule, "column": finding.column, "asked": format_plain(finding.threshold), **judged}


def _in_round_numbers(finding: Finding) -> Finding:
    """Return a promise with its cap in whole percent, rounded up, unless the cap is 1/m.

    The cap of a common value follows from its share of the view. In millionths that share, beside the rows of the
    table, would reveal how many of the people withheld hold the value.
    """
    cap = finding.threshold
    if finding.rule not in _CAPPED or not 0 < cap < 1 or abs(1 / cap - round(1 / cap)) < 1e-9:
        return finding
    return replace(finding, threshold=ceil(100 * cap - 1e-9) / 100)


@dataclass(frozen=True, slots=True)
class PublicReport(FiledReport):
    """What recipients may know about a release besides its table."""

    facts: Facts
    promises: tuple[Finding, ...]
    rows: str
    """What a row of the table is."""
    notation: Mapping[str, str]
    _: KW_ONLY
    odds: float | None = None
    """How much the odds of a frequent value grow in a group, at most; the table shows it."""
    codebook: Mapping[str, Any] = field(default_factory=dict)
    """What programs are told; the page says the same of where the table is from and how well it answers."""

    def record(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "series": self.facts.series,
            "release": self.facts.number,
            "promises": [promise_told(one) for one in self.promises],
            "rows": self.rows,
            "notation": dict(self.notation),
            **({} if self.odds is None else {"odds_in_group": format_plain(round(self.odds, 2))}),
        }

    def page(self) -> Page:
        return Page(
            title=self.facts.series,
            sections=(*self._origin(), self._kept(), self._reading(), self._columns(), *self._quality(), _files()),
            kicker="For recipients",
            subtitle=f"release {self.facts.number}",
            footer=_FOOTER,
        )

    def _origin(self) -> tuple[Section, ...]:
        told = [(title, str(self.codebook[key])) for key, title in _ORIGIN.items() if key in self.codebook]
        return (Section("What it is", (Definitions(tuple(told)),)),) if told else ()

    def _quality(self) -> tuple[Section, ...]:
        measured: Mapping[str, Any] = self.codebook.get("quality", {})
        rows = tuple(
            (column, sensitive, _ASKED[one["of"]].format(sensitive), _well(one["of"], error))
            for sensitive, one in measured.items()
            for column, error in one["errors"].items()
        )
        if not rows:
            return ()
        heads = ("By", "Of", "What is asked", "How well it is answered")
        grid = Grid("Tables and means that the release answers", heads, rows)
        return (Section("What can be estimated, and how well", (Prose(_ESTIMATED), grid)),)

    def _kept(self) -> Section:
        heading = "What was promised and kept"
        if not self.promises:
            return Section(heading, (Note("No promise", ("This table carries no promise about its people.",), "warn"),))
        heads = ("Promise", "What it means", "Asked", "Kept")
        rows = tuple(_promise_row(finding) for finding in self.promises)
        grid = Grid("The promises that this release keeps", heads, rows)
        return Section(heading, (grid,) if self.odds is None else (grid, Prose((_odds_told(self.odds),))))

    def _reading(self) -> Section:
        lead = Prose((f"{self.rows[:1].upper()}{self.rows[1:]}.",))
        return Section("How to read the table", (lead, Definitions(tuple(self.notation.items()))))

    def _columns(self) -> Section:
        rows = tuple(
            (
                column.name,
                _ROLES.get(column.role, ""),
                column.unit or "–",
                FORMS.get(column.form, column.form) or "as it is",
            )
            for column in self.facts.columns
            if column.role not in _NOT_SHOWN
        )
        grid = Grid("The columns of the table", ("Column", "What was done", "Unit", "Written as"), rows)
        return Section("Columns", (grid,))


def _well(of: str, error: float) -> Cell:
    """Return how well a question is answered, by its mean standard error."""
    tone: Tone = "good" if error <= _GOOD else "warn" if error <= _ROUGH else "bad"
    words = {"good": "well", "warn": "roughly", "bad": "hardly: use the margins"}[tone]
    return Cell(words, tone, f"± {_UNITS[of].format(format_percent(error))}")


def _promise_row(finding: Finding) -> tuple[str | Cell, ...]:
    words = promise_words(finding.rule, finding.detail)
    about = " of ".join(filter(None, (finding.rule, finding.column)))
    if words is None:
        return Cell(finding.rule, note=finding.column or ""), "–", format_number(finding.threshold), _kept(finding)
    return Cell(words.title, note=about), words.meaning, words.required(finding.threshold), _kept(finding)


def _kept(finding: Finding) -> Cell:
    return Cell("for everyone", "good") if finding.result == "kept" else Cell("judged for some people only", "warn")


def _odds_told(odds: float) -> str:
    return (
        f"Read alone, no group raises the odds of a value that 5% of the rows or more hold beyond {odds:.2f} times. "
        "What all groups together show about people who are alike is shown on purpose and may say more."
    )


def _files() -> Section:
    said = (
        "manifest.json names every file that came with this table and its SHA-256: a file that differs from it was "
        "changed. codebook.json says the same as this page to programs.",
        "Keep the table to yourself unless you were told otherwise: anyone who holds several releases can infer more.",
    )
    return Section("What comes with it", (Prose(said),))
