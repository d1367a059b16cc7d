"""The public functions of the package, and the faces of policies, ledgers and histories."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.csv as pacsv

from seriatim import __version__, wiring
from seriatim.errors import Fault, InputError, PolicyError
from seriatim.ledger.rehearsal import NoLedger
from seriatim.model import Approval, History, Policy, Refusal, Release, Role, Verdict, View
from seriatim.model.face import Face
from seriatim.model.holdings import Holder, Holdings, holdings_of
from seriatim.policies import (
    guess_policy,
    load_adversary,
    load_policy,
    policy_from_dict,
    sketch_columns,
)
from seriatim.policies.column_words import SENSITIVE, matching_column_word
from seriatim.ports import Ledger, Progress, ReleaseRecord, no_progress
from seriatim.report import Report, Signed, SignOff
from seriatim.storage.durable import write_durably
from seriatim.tables.histories import table_history
from seriatim.tables.reader import read_table
from seriatim.tables.source_files import SourceFile, source_file_of
from seriatim.tables.views import view_of
from seriatim.tables.writer import writer_like_source
from seriatim.wiring import wired_rehearsal

if TYPE_CHECKING:
    from seriatim.gate.baseline import Baseline
    from seriatim.ledger import SqlLedger
    from seriatim.usecases.attack.assembly import Assembled
    from seriatim.usecases.attack.attack import AttackResult
    from seriatim.usecases.attack.attack_page import AttackReport
    from seriatim.usecases.audit.audit import Audit, PriorKind
    from seriatim.usecases.compare.compare_page import Comparison
    from seriatim.usecases.compare.map_page import RiskMap
    from seriatim.usecases.compare.risk_map import MapWish
    from seriatim.usecases.forecast.as_now import Now
    from seriatim.usecases.forecast.forecast import Forecast
    from seriatim.usecases.forecast.forecast_page import ForecastReport
    from seriatim.usecases.gate.compare import GateComparison
    from seriatim.usecases.gate.replay_page import ReplayReport
    from seriatim.usecases.gate.requests import Requests
    from seriatim.usecases.gate.suggest import Suggestions
    from seriatim.usecases.knowledge.knowledge_account import KnowledgeAccount
    from seriatim.usecases.publish.corrections import Corrections
    from seriatim.usecases.publish.publish import Plan

# each function loads its own use case: nobody waits for what they did not ask for


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What ``publish`` returns: a release, or a refusal whose ``table`` is None."""

    release: Release | Refusal
    policy: Policy
    view: View
    signed: Signed | None = None
    """What the page to sign says beside the report; None unless something was released."""
    papers: tuple[Path, ...] = ()
    """The publisher's own files beside the release: the page to sign, or the report of a refusal."""

    @cached_property
    def table(self) -> Any:
        """Return the published table as the kind of frame that came in; None if refused, and after a dry run."""
        if self.release.table is None or self.number is None:
            return None
        return writer_like_source(self.release.table, self.view.table, (*self.view.plain, *self._sensitive))

    @cached_property
    def groups(self) -> Any:
        """Return who is in which group, for the publisher's eyes only."""
        return writer_like_source(self.release.draft.groups_by_source, self.view.table, self._sensitive)

    @property
    def verdict(self) -> Verdict:
        return self.release.verdict

    @property
    def manifest(self) -> Mapping[str, Any] | None:
        return self.release.manifest

    @property
    def codebook(self) -> Mapping[str, Any] | None:
        return self.release.codebook

    @property
    def number(self) -> int | None:
        return self.release.number

    @property
    def report(self) -> Report:
        from seriatim.usecases.publish import publish as publish_case

        return publish_case.publish_report(self.policy, self.release.draft, self.verdict, self.number)

    @property
    def sign_off(self) -> SignOff | None:
        """Return the page to sign, with places for two signatures; None unless something was released."""
        return None if self.signed is None else SignOff(self.report, self.signed)

    @property
    def _sensitive(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.view.sensitive)

    def __repr__(self) -> str:
        word = "released" if self.verdict.released else "refused"
        return f"Published({self.policy.series!r}, release {self.number}, {word}, {self.release.draft!r})"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prepared:
    """A view and the plan to publish it under, both checked: :func:`publish` takes it instead of a table."""

    view: View
    plan: Plan
    source: SourceFile = field(default_factory=SourceFile)

    def begin(self) -> None:
        """Raise the errors of a first release before a ledger is made for it."""
        from seriatim.usecases.publish import publish as publish_case

        publish_case.check_first_publish(self.view, self.plan)


def prepare(source: Any, policy: Policy, separator: str | None = None, encoding: str | None = None) -> Prepared:
    """Check a policy and read a table under it: all bad input shows here, before any ledger is opened."""
    from seriatim.usecases.publish import publish as publish_case

    plan = publish_case.plan_to_publish(must_be_policy(policy))
    view = source if isinstance(source, View) else view_of(read_table(source, separator, encoding), policy)
    return Prepared(view, plan, source_file_of(source))


def must_be_policy(policy: Any) -> Policy:
    if isinstance(policy, Policy):
        return policy
    found = f"a {type(policy).__name__}"
    raise PolicyError(Fault("policy", found, "a policy", "sr.Policy.load(path) or sr.Policy.from_dict(mapping)"))


def must_be_ledger(ledger: Any) -> None:
    if not hasattr(ledger, "records") or not hasattr(ledger, "state"):
        raise InputError(Fault("ledger", f"a {type(ledger).__name__}", "a ledger", "open one with sr.Ledger.open"))


def publish(
    view: Any,
    policy: Policy,
    ledger: Ledger,
    *,
    out: str | Path | None = None,
    recipients: Iterable[str] = (),
    approval: Approval | None = None,
    dry_run: bool = False,
    again: bool = False,
    corrections: Any = None,
    suggest: bool = False,
    empty: bool = False,
    private: str | Path | None = None,
    to: Iterable[str] = (),
    approved_by: str | None = None,
    override: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    progress: Progress = no_progress,
) -> Published:
    """Publish a table (a path, or pandas, polars, Arrow) under a policy; a refusal raises nothing.

    With ``out`` the release's files go to a folder of their own below it; without, they stay on the ledger's shelf.
    A view that a release was made from already is refused unless ``again``, and so is an older file after a newer one.
    ``corrections`` is a table of values that were published wrongly (respondent, column, old, new): whoever is in it
    counts as a newcomer, and the change of their value is none.
    With ``suggest`` a refusal also tries changes of the policy and says which would pass, and at what cost. A view
    without records goes into a running series of a serial method only with ``empty``: it says that everyone has left.
    Beside a release in ``out`` lies a page to sign; a refusal leaves its report in ``out/refused`` and never a table.
    ``private`` is a file for a list of the people who are exposed, and why; only its owner may read it. ``to`` is the
    same as ``recipients``, ``approved_by`` with ``override`` the same as ``approval``, as on the command line.
    """
    from seriatim.usecases.publish import publish as publish_case

    progress("reading", 0.0)
    must_be_ledger(ledger)
    if private is not None:
        _private_file(private)
    if approval is not None and not isinstance(approval, Approval):
        raise InputError(Fault("approval", f"a {type(approval).__name__}", "sr.Approval(by, override)", "make one"))
    if override is not None and approved_by is None:
        raise InputError(Fault("override", "needs approved_by"))
    if approved_by is not None:
        approval = Approval(approved_by, override)
    ready = view if isinstance(view, Prepared) else prepare(view, policy, separator, encoding)
    destination = Path(out) if out is not None else None
    whom = tuple(name for names in (recipients, to) for name in ((names,) if isinstance(names, str) else names))
    order = publish_case.Order(
        ready.view,
        ready.plan,
        destination,
        whom,
        approval,
        dry_run,
        again=again,
        corrections=None if corrections is None else _corrections(corrections, policy),
        empty=empty,
    )
    parts = wiring.wired_publishing(ledger, ready.view.table, progress)
    made = publish_case.publish(order, parts)
    if suggest and isinstance(made, Refusal) and not all(finding.kept for finding in made.verdict.findings):
        from seriatim.usecases.publish.suggestions import with_suggestions

        made = with_suggestions(made, replace(order, again=True), parts)
    if private is not None:
        from seriatim.usecases.publish.exposed_by_draft import exposed_by_draft

        write_private(exposed_by_draft(made, ready.plan, ledger), private)
    published = Published(made, policy, ready.view, _signed(made, ready, ledger))
    return published if destination is None or dry_run else _with_papers(published, destination, ledger)


def _signed(made: Release | Refusal, ready: Prepared, ledger: Ledger) -> Signed | None:
    """Return what the page to sign says; it may hold the time, since it is made after the release."""
    if made.number is None or made.manifest is None:
        return None
    (record,) = [one for one in ledger.records(ready.plan.policy.series) if one.number == made.number]
    return Signed(
        date=f"{record.reserved_at[:16].replace('T', ' ')} UTC",
        version=__version__,
        input_name=ready.source.name,
        input_sha256=ready.source.sha256,
        chain=str(made.manifest["chain"]),
        recipients=record.recipients,
    )


def _with_papers(published: Published, out: Path, ledger: Ledger) -> Published:
    """Write the page to sign, or the report of a refusal. What has happened stands, if no paper can be written."""
    from seriatim.ledger.papers import write_paper_to_sign, write_refused_papers

    series, page = published.policy.series, published.sign_off
    with suppress(OSError):
        if page is not None and published.number is not None:
            return replace(published, papers=(write_paper_to_sign(out, series, published.number, page.to_html()),))
        number, report = len(ledger.records(series)) + 1, published.report
        return replace(published, papers=write_refused_papers(out, series, number, report.to_html(), report.to_json()))
    return published


def lattice_nodes(view: Any, policy: Policy) -> tuple[dict[str, int], ...]:
    """Return every minimal node of the method ``lattice``: the height of each quasi-identifier, 0 for the value."""
    from seriatim.usecases.publish import lattice_nodes as nodes_case

    ready = view if isinstance(view, Prepared) else prepare(view, policy)
    return nodes_case.lattice_nodes(ready.view, ready.plan, wiring.wired_workers())


def _corrections(source: Any, policy: Policy) -> Corrections:
    from seriatim.usecases.publish.corrections import corrections_of

    return corrections_of(read_table(source).data, policy)


def ledger_to_publish(
    url: str | Path, shelf: str | Path | None, ready: Prepared, out: Path | None = None, dry_run: bool = False
) -> Ledger:
    """Open the ledger to publish with, once. Make a new one last, for a release that may start a series."""
    found = wired_rehearsal(url, shelf)
    if not isinstance(found, NoLedger):
        return found
    found.state(ready.plan.policy.series, out)  # a ledger that is behind must not be made
    ready.begin()
    return found if dry_run else open_ledger(url, shelf)


def open_ledger(url: str | Path, shelf: str | Path | None = None, create: bool = True) -> SqlLedger:
    """Open a ledger, or make one."""
    from seriatim.ledger import open_ledger as opened

    return opened(url, shelf, create)


def read_pasts(path: str | Path, policy: Policy) -> Any:
    """Read a long table of releases made before the ledger, and check it before any ledger is opened."""
    from seriatim.ledger.imports import imported_releases

    pasts = read_table(path).data
    imported_releases(pasts, tuple(rule.name for rule in policy.sensitive))
    return pasts


def pasts_of_folder(folder: str | Path, respondents: Any, policy: Policy) -> tuple[Any, tuple[str, ...]]:
    """Return a folder of published tables as a long table to import, and how its files were read.

    Rows are one group if they are equal in the policy's quasi-identifiers, or in ``group`` if every table has it.
    """
    from seriatim.ledger.folder_imports import imports_of_folder
    from seriatim.ledger.imports import imported_releases
    from seriatim.tables.folders import read_folder
    from seriatim.usecases.attack.assembly import assembly_of

    sensitive = tuple(rule.name for rule in policy.sensitive)
    if not sensitive:
        raise PolicyError(Fault("[columns]", "no sensitive column", "at least one, to follow it", "declare it"))
    tables = read_folder(Path(folder), Path(respondents) if isinstance(respondents, str | Path) else None)
    grouped = all("group" in table.column_names for table in tables.values())
    quasi = [rule.name for rule in policy.columns.values() if rule.role is Role.QUASI]
    known = None if grouped or not quasi else quasi
    files = assembly_of(tables, read_table(respondents).data, sensitive[0], known)
    pasts = imports_of_folder(files, sensitive)
    imported_releases(pasts, sensitive)
    return pasts, files.notes


def audit(
    table: Any,
    policy: Policy,
    *,
    prior: PriorKind = "published",
    beside: Any = None,
    original: Any = None,
    aligned: bool = False,
    sampled: float | None = None,
    weights: Any = None,
    separator: str | None = None,
    encoding: str | None = None,
    private: str | Path | None = None,
) -> Audit:
    """Audit a published table of any tool; the policy needs only roles.

    ``prior`` is what the adversary believed before; ``margin`` and ``conditional`` are those of ``beside``, or of the
    original. ``original`` is the table that this one was made from: with it, the audit says what was lost and, if rows
    are matched (``aligned``: row i was made from row i; or both have the respondent), how many records lead back to it.
    ``sampled`` is the share of the population in the table, if it is a sample; ``weights`` are Truta's, masked class
    size by original class size. ``separator`` and ``encoding`` are those of CSV files (detected if omitted).
    ``private`` is a file for a list of the records that are exposed, and why; only its owner may read it.
    """
    from seriatim.measures.exposure import exposure_truta_weights
    from seriatim.tables.auditable import auditable, read_auditable
    from seriatim.tables.originals import Source
    from seriatim.usecases.audit import audit as audit_case

    must_be_policy(policy)
    published = read_auditable(table, separator, encoding)
    source = None if original is None else Source(read_auditable(original, separator, encoding), aligned)
    if aligned and source is None:
        raise InputError(Fault("aligned", "needs the original table"))
    if beside is None and source is not None and prior in ("margin", "conditional"):
        beside = source.table
    other = None if beside is None else read_auditable(beside, separator, encoding)
    coded = auditable(published, policy, other, source)
    heavy = None if weights is None else exposure_truta_weights(weights)
    question = audit_case.Question(prior, sampled, heavy)
    if private is not None:
        _private_file(private)
    found = audit_case.audit(coded, policy, question, lambda arrow: writer_like_source(arrow, published, ()))
    if private is not None:
        from seriatim.usecases.audit.audit_exposed import audit_exposed

        write_private(audit_exposed(coded, policy, found.membership), private)
    return found


def attack(
    target: Any,
    adversary: Mapping[str, Any] | None = None,
    series: str | None = None,
    progress: Progress = no_progress,
    *,
    sensitive: str | None = None,
    recipient: str | None = None,
    collusion: int | None = None,
    compromised: float | None = None,
    least: int | None = None,
    repetitions: int | None = None,
    private: str | Path | None = None,
) -> AttackResult:
    """Return what an adversary with every release concludes. ``target`` is a History, or a ledger with ``series``.

    With ``recipient`` the adversary has what this recipient received, with ``collusion`` what the worst of any so many
    recipients received together; with both, the recipient is one of them. ``sensitive`` is a column of the ledger.
    ``private`` is a file for a list of the people who are breached, and by which releases; keep it secret.

    ``adversary`` is the ``[adversary]`` of a policy: ``compromised`` is the share of people whose value is known. It
    may also have ``least`` (people with fewer possible values are exposed) and ``repetitions`` (seeded draws).
    ``priors`` is a file or ``{id: values}``; a history has no other columns, so ``impossible`` is an error here.
    """
    from seriatim.policies.questions import attack_question
    from seriatim.usecases.attack import attack as attack_case
    from seriatim.usecases.attack.recipients import attack_recipients

    stated = {"compromised": compromised, "least": least, "repetitions": repetitions}
    if isinstance(adversary, Mapping | None):
        adversary = {**(adversary or {}), **{key: value for key, value in stated.items() if value is not None}}
    plan, by_name = attack_question(adversary), recipient is not None or collusion is not None
    if private is not None:
        _private_file(private)
    if isinstance(target, History):
        if by_name or sensitive is not None:
            found = "recipient, collusion or sensitive with a history"
            raise InputError(Fault("attack", found, "a ledger and its series, which know them", "pass the ledger"))
        history, result = target, attack_case.attack(target, plan, progress)
    else:
        must_be_ledger(target)
        if series is None:
            raise InputError(Fault("attack", "a ledger without a series", "series = its name", "name it"))
        history = history_in(target, series, sensitive)
        holders = _holders_in(target, series, recipient, collusion) if by_name else ()
        result = attack_recipients(history, plan, holders, progress)
    if private is not None:
        write_private(exposed_people(result.held_of(history), adversary), private)
    return result


def _holders_in(ledger: Ledger, series: str, recipient: str | None, collusion: int | None) -> tuple[Holder, ...]:
    from seriatim.model.arguments import whole_argument
    from seriatim.usecases.attack.recipients import chosen_recipients

    together = None if collusion is None else whole_argument("collusion", collusion)
    return chosen_recipients(holdings_in(ledger, series), recipient, together)


def holdings_in(ledger: Ledger, series: str) -> Holdings:
    """Return who received which release of a series."""
    return holdings_of((one.number, one.recipients) for one in records_in(ledger, series) if not one.recalled)


def exposed_people(history: History, adversary: Mapping[str, Any] | None = None) -> Any:
    """Return who is breached by a history, since which release and by which groups, for the publisher's eyes only."""
    from seriatim.policies.questions import attack_question
    from seriatim.usecases.attack.exposed import exposed_people as found

    return found(history, attack_question(adversary))


def _private_file(path: str | Path) -> None:
    """Refuse a private list that could not be written, before anything happens."""
    folder = Path(path).absolute().parent
    if not folder.is_dir() or Path(path).is_dir():
        raise InputError(Fault("--private", "not a file in a folder that exists", "a new file", "check the path"))


def write_private(table: Any, path: str | Path) -> None:
    """Write a private list as CSV that only its owner may read."""
    buffer = pa.BufferOutputStream()
    pacsv.write_csv(table, buffer)
    write_durably(Path(path), buffer.getvalue().to_pybytes())


def compare(
    view: Any,
    policy: Policy,
    methods: Iterable[str] | None = None,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare several methods on the same view, in dry runs of a first release.

    ``view`` may be a list of views of a series, in order: each method then publishes all of them into a temporary
    ledger, is judged by its own promises, and faces the same attack. By default every method of the policy's family is
    tried. Nothing is recorded; the same input gives the same figures.
    """
    from seriatim.usecases.compare import compare as compare_case
    from seriatim.usecases.compare.compare_page import Comparison
    from seriatim.usecases.publish import publish as publish_case

    views = view if isinstance(view, list | tuple) else [view]
    if not views:
        raise InputError(Fault("compare", "no view", "one or more", "name a table"))
    ready = [one if isinstance(one, Prepared) else prepare(one, policy, separator, encoding) for one in views]
    chosen = (methods,) if isinstance(methods, str) else None if methods is None else tuple(methods)
    parts = wiring.wired_publishing(wiring.wired_without_ledger(), ready[0].view.table, progress)
    orders = [publish_case.Order(one.view, one.plan, again=True) for one in ready]
    found = compare_case.compare(orders, parts, wiring.wired_scratch_ledger, chosen)
    return Comparison(policy.series, found, len(orders))


def compare_on_map(
    view: Any, policy: Policy, wish: MapWish | None = None, *, progress: Progress = no_progress
) -> RiskMap:
    """Put techniques and their parameters on one map of risk against usefulness.

    ``seriatim.usecases.compare.risk_map.MapWish`` chooses the axes and may bring the user's own statistics: a name, and
    a function from columns of numbers to a number. Nothing is published or recorded.
    """
    from seriatim.usecases.compare.map_page import RiskMap
    from seriatim.usecases.compare.risk_map import MapWish, risk_map

    ready = view if isinstance(view, Prepared) else prepare(view, policy)
    asked = wish or MapWish()
    parts = wiring.wired_publishing(wiring.wired_without_ledger(), ready.view.table, progress)
    return RiskMap(policy.series, risk_map(ready.view, policy, parts.workers, asked, progress), asked)


def history_in(ledger: Ledger, series: str, sensitive: str | None = None) -> History:
    """Return a ledger's history of a series, or raise an error: a misspelt name must not look like a safe series."""
    records_in(ledger, series)
    return ledger.history(series, sensitive)


def records_in(ledger: Ledger, series: str | None) -> Sequence[ReleaseRecord]:
    """Return the releases of a series, which must exist, or of all."""
    found = ledger.records(series)
    if series is not None and not found:
        known = sorted({record.series for record in ledger.records()})
        raise InputError(Fault(f"series {series!r}", "not in this ledger", ", ".join(known), "check the name"))
    return found


def attack_report(
    result: AttackResult, title: str, files: Assembled | None = None, register: Any = None
) -> AttackReport:
    """Return the report of an attack; for a folder also how its files were read, and what a register of people adds."""
    from seriatim.usecases.attack import attack as attack_case
    from seriatim.usecases.attack.attack_page import AttackReport

    if files is None:
        return AttackReport(title, result)
    by_register = (
        () if register is None else attack_case.attack_by_register(files, read_table(register).data, result.least)
    )
    return AttackReport(title, result, files, by_register)


def history_of_folder(
    history: str | Path, respondents: Any, sensitive: str | None = None, quasi: Iterable[str] | None = None
) -> Assembled:
    """Return a history of a folder of published tables and a table of who was in which row."""
    from seriatim.tables.folders import read_folder
    from seriatim.usecases.attack.assembly import assembly_of

    tables = read_folder(Path(history), Path(respondents) if isinstance(respondents, str | Path) else None)
    names = list(dict.fromkeys(name for table in tables.values() for name in table.column_names))
    column = sensitive or next((name for name in names if matching_column_word(name, SENSITIVE)), names[-1])
    chosen = None if quasi is None else tuple(quasi)
    return assembly_of(tables, read_table(respondents).data, column, chosen)


def forecast(
    ledger: Ledger,
    series: str,
    releases: int,
    rules: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    *,
    m: int | None = None,
    n: int | None = None,
    compromised: float | None = None,
    adversary: Mapping[str, Any] | None = None,
) -> Forecast:
    """Forecast the next releases of a series with its observed churn; ``rules`` may have m, n, compromised and priors.

    ``m``, ``n`` and ``compromised`` may also stand alone; ``adversary`` is an ``[adversary]`` of which they are read.
    If a method would breach someone, the forecast also tries what lasts longer: publishing half as often, a larger m or
    n.
    """
    from seriatim.policies.questions import forecast_question
    from seriatim.usecases.forecast import forecast as forecast_case

    must_be_ledger(ledger)
    declared = {key: (adversary or {}).get(key) for key in ("compromised", "priors", "impossible")}
    named = {"m": m, "n": n, "compromised": compromised}
    asked = declared | dict(rules or {}) | {key: value for key, value in named.items() if value is not None}
    outlook = replace(forecast_question(releases, asked), now=_published_now(ledger, series))
    return forecast_case.forecast(history_in(ledger, series), outlook, wiring.wired_workers(), progress)


def _published_now(ledger: Ledger, series: str) -> Now:
    """Return the method of a series' policy, with its m and n; nothing is known of imported releases."""
    from seriatim.usecases.forecast.as_now import Now

    policy = json.loads(ledger.state(series).policy or "{}")
    method, stated = (policy.get("defence") or {}).get("method"), (policy.get("promise") or {}).get("further") or {}
    degree = stated.get("n")
    return Now(method, stated.get("m"), degree if isinstance(degree, int) else None)


def forecast_report(found: Forecast, title: str) -> ForecastReport:
    from seriatim.usecases.forecast.forecast_page import ForecastReport

    return ForecastReport(title, found)


def mine_knowledge(source: Any, out: str | Path | None = None, **words: Any) -> KnowledgeAccount:
    """Mine how values follow each other from a History, or a long table; write it to ``out`` (TOML) if given.

    ``words`` are the fields of ``KnowledgePlan``: the columns ``respondent``, ``time``, ``value`` and ``cls``, and
    ``order``, ``unseen`` and ``denominators``.
    """
    from seriatim.knowledge.knowledge_files import write_knowledge_file
    from seriatim.usecases.knowledge.knowledge_account import (
        KnowledgeAccount,
        KnowledgePlan,
        mined_knowledge,
        mined_knowledge_of_history,
    )

    plan = KnowledgePlan(**words)
    if isinstance(source, History):
        account = KnowledgeAccount(mined_knowledge_of_history(source, plan))
    else:
        account = KnowledgeAccount(mined_knowledge(read_table(source).data, plan))
    if out is not None:
        write_knowledge_file(account.model, Path(out))
    return account


def show_knowledge(path: str | Path) -> KnowledgeAccount:
    """Read a knowledge file and say what it holds."""
    from seriatim.knowledge.knowledge_files import read_knowledge_file
    from seriatim.usecases.knowledge.knowledge_account import KnowledgeAccount

    return KnowledgeAccount(read_knowledge_file(Path(path)))


def gate_requests(
    source: Any,
    x: str | Sequence[str],
    y: str,
    bands: int = 10,
    baseline: Baseline | str | Path | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> Requests:
    """Read requests for single records; ``x`` names what is released, ``y`` the targets to protect."""
    from seriatim.gate.baseline import baseline_from_json
    from seriatim.tables.columns import columns_of
    from seriatim.usecases.gate.requests import requests_of

    if isinstance(baseline, str | Path):
        path = Path(baseline)
        if not path.is_file():
            raise InputError(Fault(str(path), "does not exist", "a baseline file", "check the path"))
        baseline = baseline_from_json(path.read_text(encoding="utf-8"))
    columns = columns_of(read_table(source, separator, encoding))
    return requests_of(columns, (x,) if isinstance(x, str) else tuple(x), y, bands, baseline)


def gate_replay(
    requests: Requests, tests: str | Sequence[str] = ("kld",), alpha: float = 0.2, *, title: str = "requests"
) -> ReplayReport:
    """Say what a gate would have released of these requests, and what an observer would learn from it."""
    from seriatim.usecases.gate.replay import replay_requests
    from seriatim.usecases.gate.replay_page import ReplayReport
    from seriatim.usecases.gate.requests import Question

    chosen = (tests,) if isinstance(tests, str) else tuple(tests)
    return ReplayReport(title, replay_requests(requests, Question(chosen, alpha)))


def gate_store(report: ReplayReport, requests: Requests, journal: str | Path, gate: str) -> int:
    """Store a baseline with its replay in a gate's journal, as the next version; return the version's number."""
    from seriatim.journal import open_journal
    from seriatim.usecases.gate.serving_rules import serving_rules_json

    baseline = requests.baseline
    rules = serving_rules_json(baseline, report.found.question)
    stored = open_journal(journal, create=True).add_baseline(
        gate, baseline.version, baseline.to_json(), rules, report.to_json()
    )
    return stored.number


def gate_hold(
    source: Any,
    respondent: str,
    journal: str | Path,
    gate: str,
    separator: str | None = None,
    encoding: str | None = None,
) -> int:
    """Hold a table's records in a gate's journal, so that requesters name the person only; return how many."""
    from seriatim.journal import open_journal
    from seriatim.tables.columns import columns_of
    from seriatim.usecases.gate.held_records import held_records
    from seriatim.usecases.gate.serving_rules import read_serving_rules

    book = open_journal(journal)
    stored = book.baselines(gate)
    if not stored:
        raise InputError(Fault("--gate", "the journal has no such gate", "", "store a replay first"))
    columns = columns_of(read_table(source, separator, encoding))
    return book.hold_records(gate, held_records(columns, respondent, read_serving_rules(stored[0])[0]))


def gate_compare(requests: Requests, *, title: str = "requests", progress: Progress = no_progress) -> GateComparison:
    """Put all tests at 20% and 5% side by side on the same requests."""
    from seriatim.usecases.gate.compare import compare_tests

    return compare_tests(requests, title=title, progress=progress)


def gate_suggest(
    source: Any, bands: int = 10, most: int = 20, separator: str | None = None, encoding: str | None = None
) -> Suggestions:
    """Rank pairs of columns by how much releasing one tells about the other."""
    from seriatim.tables.columns import columns_of
    from seriatim.usecases.gate.suggest import suggest_pairs

    table = read_table(source, separator, encoding)
    return suggest_pairs(columns_of(table), table.name, bands, most)


class PolicyFace(Policy, metaclass=Face):
    """``seriatim.Policy``: a policy, and how to load one."""

    __slots__ = ()

    @staticmethod
    def load(path: str | os.PathLike[str]) -> PolicyFace:
        """Read a policy from a TOML file. Raises one PolicyError with every fault."""
        return cast(PolicyFace, load_policy(path))

    @staticmethod
    def from_dict(mapping: Mapping[str, Any], base: str | os.PathLike[str] | None = None) -> PolicyFace:
        """Read a policy from a mapping; ``base`` is the folder of hierarchy files."""
        return cast(PolicyFace, policy_from_dict(mapping, base))


class HistoryFace(History, metaclass=Face):
    """``seriatim.History``: a history, and how to read anyone's releases."""

    __slots__ = ()

    @staticmethod
    def from_frame(frame: Any) -> HistoryFace:
        """Read a long frame with the columns release, respondent (null: a counterfeit), group and sensitive."""
        return cast(HistoryFace, table_history(frame))


__all__ = [
    "HistoryFace",
    "PolicyFace",
    "Prepared",
    "Published",
    "attack",
    "attack_report",
    "audit",
    "compare",
    "exposed_people",
    "forecast",
    "forecast_report",
    "gate_compare",
    "gate_hold",
    "gate_replay",
    "gate_requests",
    "gate_store",
    "gate_suggest",
    "guess_policy",
    "history_in",
    "history_of_folder",
    "holdings_in",
    "lattice_nodes",
    "ledger_to_publish",
    "load_adversary",
    "load_policy",
    "mine_knowledge",
    "open_ledger",
    "pasts_of_folder",
    "policy_from_dict",
    "prepare",
    "publish",
    "read_pasts",
    "read_table",
    "records_in",
    "show_knowledge",
    "sketch_columns",
    "view_of",
    "wired_rehearsal",
    "write_private",
]
