"""The report of one verdict: a page to file and a record to process."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.model.policy import Policy
from seriatim.model.verdict import Verdict
from seriatim.report import background, outcome, record
from seriatim.report.facts import Facts
from seriatim.report.page import Page
from seriatim.report.rendering import render, render_fragment


@dataclass(frozen=True, slots=True)
class Report:
    """What was asked, what was found, what was decided. Equal inputs give equal bytes: no time, no version, no chance.

    It never sees a row: a policy, a verdict and counts go in.
    """

    policy: Policy
    verdict: Verdict
    facts: Facts

    def to_json(self) -> str:
        return record.canonical(record.record_of(self.policy, self.verdict, self.facts))

    def to_html(self) -> str:
        """One file that works offline."""
        return render(self.page())

    def _repr_html_(self) -> str:
        return render_fragment(self.page())

    def page(self) -> Page:
        policy, verdict, facts = self.policy, self.verdict, self.facts
        sections = (
            outcome.summary(policy, verdict, facts),
            outcome.promises(verdict),
            *background.attempts(verdict),
            *background.over_time(verdict),
            background.usefulness(policy, verdict, facts),
            background.limits(policy, verdict),
            background.columns(facts),
            background.method(policy, facts),
            background.glossary(),
        )
        number = f"release {facts.number}" if facts.number is not None else "not released"
        return Page(
            title=facts.series,
            sections=sections,
            kicker="Release report",
            subtitle=f"{number}, epoch {facts.epoch}",
            banner=outcome.banner(verdict, facts),
            footer="This report holds counts, figures and names of columns. It holds no row and no value of a person.",
        )
