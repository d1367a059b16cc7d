"""The report of one verdict: a page to file and a record to process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seriatim.model.policy import Policy
from seriatim.model.verdict import Verdict
from seriatim.report import background, outcome
from seriatim.report.html import NO_ROWS, FiledReport
from seriatim.report.json_record import canonical_dict
from seriatim.report.outcome import Facts
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
            *background.attacks(verdict),
            *background.over_time(verdict),
            background.usefulness(policy, verdict, facts),
            background.limits(policy, verdict),
            background.columns_published(facts),
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
            footer=NO_ROWS,
        )
