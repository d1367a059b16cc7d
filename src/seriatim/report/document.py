"""The report of one verdict: a page to file and a record to process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seriatim.model.policy import Policy
from seriatim.model.verdict import Verdict
from seriatim.report import background, outcome
from seriatim.report.facts import Facts
from seriatim.report.filed_report import NO_ROWS, FiledReport
from seriatim.report.json_record import record_of
from seriatim.report.page import Page


@dataclass(frozen=True, slots=True)
class Report(FiledReport):
    """What was promised, found and decided.

    It is made of a policy, a verdict and counts, and never sees a row.
    """

    policy: Policy
    verdict: Verdict
    facts: Facts

    def record(self) -> dict[str, Any]:
        return record_of(self.policy, self.verdict, self.facts)

    def page(self) -> Page:
        policy, verdict, facts = self.policy, self.verdict, self.facts
        sections = (
            outcome.outcome_summary(policy, verdict, facts),
            outcome.outcome_promises(verdict),
            *background.background_attacks(verdict),
            *background.background_over_time(verdict),
            background.background_usefulness(policy, verdict, facts),
            background.background_limits(policy, verdict),
            background.background_columns(facts),
            background.background_method(policy, facts),
            background.background_glossary(),
        )
        number = f"release {facts.number}" if facts.number is not None else "not released"
        return Page(
            title=facts.series,
            sections=sections,
            kicker="Release report",
            subtitle=f"{number}, epoch {facts.epoch}",
            banner=outcome.outcome_banner(verdict, facts),
            footer=NO_ROWS,
        )
