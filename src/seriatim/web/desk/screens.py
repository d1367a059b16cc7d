"""What screens show, put together from the ledger, the desk's book and reports; none of it is a cell of a table."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse

from seriatim.report import outcome
from seriatim.report.json_record import FactsAndVerdict, read_back
from seriatim.report.page import Banner, Block, Cell, Grid, Note, Prose, Tile, Tiles, Tone
from seriatim.report.words import format_count, format_percent
from seriatim.web.desk import jobs, lines
from seriatim.web.desk.book import Job

if TYPE_CHECKING:
    from jinja2 import Environment

    from seriatim.ledger.sql_ledger import SqlLedger
    from seriatim.ports import DraftPeople, DraftRecord, ReleaseRecord

STYLE_OF_CHARTS = "'sha256-jSYQUrW7J0b3jPqhZP9C2Xh1PyJKHKXd4s0fpGGKrww='"
"""The style that Observable Plot writes into every chart, by its hash."""
COSTS = (
    ("gcp", "Certainty lost", "0% would be the table as it is"),
    ("relation_kept", "Relation kept", "0% would be margins only, 100% the table as it is"),
)
"""What protection cost: the loss in boxes never without the relation to values, which it does not see."""
OPEN = ("waiting", "moved")
"""States of a draft that somebody can still decide about."""


@cache
def environment() -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader(
            [PackageLoader("seriatim.web.desk"), PrefixLoader({"report": PackageLoader("seriatim.report")})]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(key=lambda: secrets.token_hex(16), titles=lines.TITLES, open_states=OPEN)
    made.filters.update(day=lambda text: text[:16].replace("T", " "), count=format_count)
    return made


def drawn(screen: str, /, **told: Any) -> str:
    """Return a page, or a part of one."""
    return environment().get_template(f"{screen}.html.j2").render(**told)


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on a screen: its outcome, and blocks as reports have them."""

    banner: Banner
    blocks: tuple[Block, ...]


def judged(record: Mapping[str, Any], published: str = "To be published") -> Judged:
    """Return the verdict that a report's record tells, and how much is or would be ``published``."""
    told: FactsAndVerdict = read_back(record)
    facts, verdict = told.facts, told.verdict
    promises = outcome.promises(verdict)
    measures = {one["name"]: one["value"] for one in record["measures"]}
    tiles = (
        Tile("Records in the view", format_count(facts.n_records)),
        Tile(published, format_count(facts.n_published), f"in {format_count(facts.n_groups)} groups"),
        Tile("Withheld", format_percent(facts.suppressed_share), f"{format_count(facts.n_suppressed)} records"),
        *(
            Tile(title, format_percent(max(measures[name], 0.0)), what)
            for name, title, what in COSTS
            if isinstance(measures.get(name), float)
        ),
    )
    remedies = (Note("What would pass", verdict.remedies),) if verdict.remedies and not verdict.released else ()
    notes = (Note("Also to know", verdict.notes),) if verdict.notes else ()
    return Judged(outcome.banner(verdict, facts), (Tiles(tiles), *remedies, *promises.blocks, *notes))


def waiting(record: Mapping[str, Any]) -> Judged:
    """Return the verdict on a draft that nobody has approved yet; its report speaks as if somebody had."""
    found = judged(record)
    promised, given = found.banner.sentence.partition(" Approved by")[0], record["approval"]
    if given is not None and given["override"]:
        promised = f"The verdict refuses it, and {given['by']} overrides that. Reason: “{given['override']}”."
    sentence = f"{promised} Nobody receives anything before it is approved."
    return replace(found, banner=replace(found.banner, word="Waits for approval", sentence=sentence))


def failed(told: Mapping[str, Any] | None) -> Sequence[str]:
    """Return the lines of an error that a command printed."""
    return tuple(map(str, (told or {}).get("error", {}).get("lines", ())))


def job_banner(job: Job, told: Mapping[str, Any] | None) -> Banner:
    """Say what became of a job that is over and has no verdict."""
    said = jobs.STATES[job.state]
    sentence = f"{said[0].upper()}{said[1:]}."
    if job.state == jobs.DONE and job.kind == lines.VERIFY:
        assert told is not None
        counts = [f"{told[name]:,}" for name in ("n_entries", "n_releases", "n_files")]
        figures = "{} entries, {} releases and {} files were compared.".format(*counts)
        return Banner("Sound", figures, "good", tuple(told["notes"]))
    if job.kind == lines.VERIFY and told is not None and told.get("faults"):
        return Banner("Damaged", "Restore a backup, and find out who changed what.", "bad", tuple(told["faults"]))
    if job.state == jobs.DONE and told is not None and job.kind in lines.REPORTING:
        return _attacked(told) if job.kind == lines.ATTACK else Banner("Forecast", str(told["advice"]), "plain")
    if job.state == jobs.DONE:
        return Banner("Done", sentence, "good")
    further: tuple[str, ...] = ()
    if job.kind == lines.PUBLISH and job.state in (jobs.CANCELLED, jobs.INTERRUPTED):
        further = ("if the ledger shows a release as reserved, seriatim ledger resume finishes it",)
    tone: Tone = "bad" if job.state in (jobs.FAILED, jobs.REFUSED) else "warn"
    return Banner(job.state.capitalize(), sentence, tone, (*failed(told), *further))


def _attacked(told: Mapping[str, Any]) -> Banner:
    """Say how many people are breached, by this series and by others of the ledger beside it."""
    found, beside = told["iterated"], told["beside"]
    share = max(found["share"], beside["iterated"]["share"] if beside else 0.0)
    known = found["detail"]["compromised"]
    who = f"knows the value of {format_percent(known)} of the people" if known else "knew nothing else"
    whom = f"{format_percent(found['share'])} of {format_count(told['people'])} people"
    sentence = f"{whom} are breached by someone who kept these releases and {who}."
    further: tuple[str, ...] = ()
    if beside:
        names = ", ".join(beside["names"])
        further = (f"together with {names}, about the same people: {format_percent(beside['iterated']['share'])}",)
    return Banner("Breached" if share else "Nobody breached", sentence, "bad" if share else "good", further)


def changes(people: DraftPeople, number: int) -> Tiles:
    """Say what changed since the newest release, in people."""
    if number == 1:
        return Tiles((Tile("People published", format_count(people.n_published), "the first release of the series"),))
    return Tiles(
        (
            Tile("People published", format_count(people.n_published)),
            Tile("Joined", format_count(people.n_joined), "published now, not in the newest release"),
            Tile("Left", format_count(people.n_left), "in the newest release, not published now"),
            Tile("New to the series", format_count(people.n_new), "no release has them yet"),
        )
    )


def already_in(ledger: SqlLedger, draft: DraftRecord, people: DraftPeople) -> tuple[Block, ...]:
    """Say what the people of a draft are in already: every series, its releases, and everyone who received one."""
    counts = {draft.series: people.n_published - people.n_new, **people.n_elsewhere}
    rows = []
    for series, n_people in counts.items():
        records = [one for one in ledger.records(series) if not one.recalled]
        if records and n_people:
            names = sorted({name for one in records for name in one.recipients})
            nobody = sum(not one.recipients for one in records)
            rows.append(
                (
                    Cell(series, note="this series" if series == draft.series else ""),
                    format_count(n_people),
                    Cell(str(len(records)), note=f"newest {records[-1].reserved_at[:10]}"),
                    Cell(
                        ", ".join(names) or "nobody on record",
                        note=f"{nobody} went to nobody on record: anyone may have them" if nobody and names else "",
                    ),
                )
            )
    if not rows:
        return (Prose(("No release of this ledger has any of these people.",)),)
    columns = ("Series", "Of these people", "Releases", "Received by")
    return (Grid("Everything that is out about these people", columns, tuple(rows), frozenset({1})),)


def held_after(records: Sequence[ReleaseRecord], draft: DraftRecord) -> Grid | None:
    """Say which releases of the series each recipient of a draft would hold together."""
    if not draft.recipients:
        return None
    counting = [one for one in records if not one.recalled]
    loose = [str(one.number) for one in counting if not one.recipients]
    note = f"and {', '.join(loose)}, which went to nobody on record: anyone may have them" if loose else ""
    rows = []
    for name in draft.recipients:
        held = [one.number for one in counting if name in one.recipients]
        rows.append((name, Cell(", ".join(map(str, [*held, draft.number])), note=note)))
    return Grid("What each recipient would hold of this series", ("Recipient", "Releases"), tuple(rows))


def filed(page: str) -> HTMLResponse:
    """Return a report as it is filed; its own styles and script may apply, by their hashes, and nothing else."""
    style, script = (_hash_of(tag, page) for tag in ("style", "script"))
    style = style if script == "'none'" else f"{style} {STYLE_OF_CHARTS}"
    policy = (
        f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


def _hash_of(tag: str, page: str) -> str:
    """Return what allows the content of a page's first element of this name that has no attributes."""
    found = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    if found is None:
        return "'none'"
    return f"'sha256-{base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()}'"
