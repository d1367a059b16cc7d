"""The page to sign: what was released, from which input, to whom, and places for two signatures.

It is made after the release is in the ledger, so it may hold the date and the head of the chain. It is for the
publisher's files: no manifest lists it.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from seriatim.model.verdict import Verdict
from seriatim.report import outcome
from seriatim.report.html import FiledReport, rendered_file
from seriatim.report.outcome import Facts, SigningFacts, TableCounts, word_of
from seriatim.report.page import Cell, Definitions, Grid, Page, Section, Signatures
from seriatim.report.promise_words import promise_words
from seriatim.report.words import format_count, format_number, format_percent

SCHEMA = "seriatim.sign-off/1"
MARK = "\n<!-- SHA-256 of the page above: "
SIGNERS = ("Prepared by", "Approved by")
_FOOTER = "For the publisher's files. This page has counts, figures and column names: no row and no value of a person."


class ReleaseToSign(Protocol):
    """What the page takes from a report: that of a draft, or one read back from its record."""

    @property
    def facts(self) -> Facts: ...

    @property
    def verdict(self) -> Verdict: ...


def is_changed(file: bytes) -> bool:
    """Return whether a page is not as it was written; nothing is known of one without its digest."""
    page, mark, digest = file.rpartition(MARK.encode())
    return bool(mark) and digest != f"{sha256(page).hexdigest()} -->\n".encode()


@dataclass(frozen=True, slots=True)
class SignOff(FiledReport):
    """A release on one page, to be read, printed and signed."""

    report: ReleaseToSign
    signed: SigningFacts

    def record(self) -> dict[str, Any]:
        facts, signed = self.report.facts, self.signed
        return {
            "schema": SCHEMA,
            "series": facts.series,
            "release": facts.number,
            "outcome": word_of(self.report.verdict, facts),
            "date": signed.date,
            "version": signed.version,
            "recipients": list(signed.recipients),
            "input": {"name": signed.input_name, "sha256": signed.input_sha256},
            "policy_digest": facts.policy_digest,
            "chain": signed.chain,
        }

    def to_html(self) -> str:
        """Return the page with its own digest at the end, by which a changed copy is found."""
        page = rendered_file(self.page())
        return page + MARK + sha256(page.encode()).hexdigest() + " -->\n"

    def page(self) -> Page:
        facts = self.report.facts
        return Page(
            title=facts.series,
            sections=(
                Section("What was released", (Definitions(self._entries()),)),
                Section("Promises", (self._promises(),)),
                Section("Signatures", (Signatures(SIGNERS),)),
            ),
            kicker="Release to sign",
            subtitle=f"release {facts.number}, epoch {facts.epoch}",
            banner=outcome.banner(self.report.verdict, facts),
            footer=_FOOTER,
        )

    def _entries(self) -> tuple[tuple[str, str], ...]:
        facts, signed, approval = self.report.facts, self.signed, self.report.verdict.approval
        published = [(f"Published, table of {name}", _published(own)) for name, own in facts.tables]
        return (
            ("Date", signed.date),
            ("Received by", ", ".join(signed.recipients) or "nobody on record"),
            ("Approved by", approval.by if approval else "nobody on record"),
            *(published or [("Published", _published(facts))]),
            ("Input", signed.input_name),
            ("SHA-256 of the input", signed.input_sha256 or "not a file: a table in memory"),
            ("Policy fingerprint", facts.policy_digest),
            ("Head of the ledger's chain", signed.chain),
            ("Software", f"seriatim {signed.version}"),
        )

    def _promises(self) -> Grid:
        rows = []
        for finding in self.report.verdict.findings:
            words = promise_words(finding.rule, finding.detail)
            about = " of ".join(filter(None, (finding.rule, finding.column)))
            rows.append(
                (
                    Cell(words.title if words else finding.rule, note=about),
                    words.required(finding.threshold) if words else format_number(finding.threshold),
                    outcome.figure_found(finding, words),
                    outcome.result_cell(finding),
                )
            )
        return Grid("Each promise and what was found", ("Promise", "Required", "Found", "Result"), tuple(rows))


def _published(table: TableCounts) -> str:
    published = f"{format_count(table.n_published)} of {format_count(table.n_records)} records"
    withheld = f"{format_count(table.n_suppressed)} withheld ({format_percent(table.suppressed_share)})"
    return f"{published} in {format_count(table.n_groups)} groups; {withheld}"
