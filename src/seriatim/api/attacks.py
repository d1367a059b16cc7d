"""Attack releases, and keep the list of exposed people private."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.api.ledgers import ledger_history, ledger_holdings
from seriatim.api.prepared import checked_as_policy, refuse_other_than_ledger
from seriatim.errors import Fault, InputError
from seriatim.model import History, Policy, View
from seriatim.model.recipients import Holder, Holdings
from seriatim.policies.column_words import SENSITIVE, matching_word
from seriatim.ports import Ledger, Progress, no_progress
from seriatim.storage.durable_files import refuse_private_list, write_private_list
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of

if TYPE_CHECKING:
    from seriatim.tables.folders import FolderTables
    from seriatim.usecases.attack.assembly import AssembledHistory
    from seriatim.usecases.attack.attack import AdversaryResult, KnownAlgorithm
    from seriatim.usecases.attack.attack_page import HistoryReport
    from seriatim.usecases.other_series import OtherSeries


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
    view: Any = None,
    policy: Policy | None = None,
) -> AdversaryResult:
    """Return what an adversary with every release concludes. ``target`` is a History, or a ledger with ``series``.

    ``view`` is a table that a release was made from, and ``policy`` says what its columns are: then the result also
    says what the method's own cuts reveal to someone who knows the algorithm (``method``).

    With ``recipient`` the adversary has what this recipient received, with ``collusion`` what the worst group of that
    many recipients hold together; with both, the recipient is one of them. ``sensitive`` is a column of the ledger.
    What other series of the ledger say about the same people is the figure ``beside`` of the result.
    ``private`` is a file for a list of the people who are breached, and by which releases; keep it secret.

    ``adversary`` is the ``[adversary]`` of a policy: ``compromised`` is the share of people whose value is known. It
    may also have ``least`` (people with fewer possible values are counted) and ``repetitions`` (seeded draws).
    Its ``collusion`` counts in a series with recipients on record. A warning names keys that no attack reads, since a
    file of an adversary may also hold the bounds of a policy; a key that no ``[adversary]`` has is an error.
    ``priors`` is a file or ``{id: values}``; a history has no other columns, so ``impossible`` is an error here.
    """
    from seriatim.policies.questions import stated_plan, warn_of_unread
    from seriatim.usecases.attack import attack as attack_case
    from seriatim.usecases.attack.attack import worst_holder_attacked
    from seriatim.usecases.attack.exposed import private_list

    stated = {"compromised": compromised, "least": least, "repetitions": repetitions}
    if isinstance(adversary, Mapping | None):
        adversary = {**(adversary or {}), **{key: value for key, value in stated.items() if value is not None}}
    plan, by_name = stated_plan(adversary), recipient is not None or collusion is not None
    declared = (adversary or {}).get("collusion")
    if private is not None:
        refuse_private_list(private)
    known = _known(view, policy)
    if isinstance(target, History):
        if by_name or sensitive is not None:
            found = "recipient, collusion or sensitive with a history"
            raise InputError(Fault("attack", found, "a ledger and its series, which know them", "pass the ledger"))
        if declared is not None:
            warn_of_unread("adversary", ["collusion"])
        history, result = target, attack_case.attack(target, plan, progress, known)
    else:
        refuse_other_than_ledger(target)
        if series is None:
            raise InputError(Fault("attack", "a ledger without a series", "series = its name", "name it"))
        history = ledger_history(target, series, sensitive).in_common_bands()
        holders: tuple[Holder, ...] = ()
        others = _others(target, series, sensitive, history)
        if by_name or (declared is not None and ledger_holdings(target, series).names):
            size = declared if collusion is None else collusion
            holders = _holders_in(ledger_holdings(target, series, others), recipient, size)
        result = worst_holder_attacked(history, plan, holders, progress, known, others)
    if private is not None:
        write_private_list(private_list(result.held_of(history), plan, known), private)
    return result


def _known(view: Any, policy: Policy | None) -> KnownAlgorithm | None:
    from seriatim.usecases.attack.attack import KnownAlgorithm

    if view is None:
        return None
    if policy is None:
        raise InputError(Fault("attack", "a view without its policy", "the policy it was published under", "add it"))
    chosen = checked_as_policy(policy)
    return KnownAlgorithm(view if isinstance(view, View) else view_of(read_table(view), chosen), chosen)


def _others(ledger: Ledger, series: str, sensitive: str | None, history: History) -> tuple[OtherSeries, ...]:
    """Return the other series of the ledger that say something about the same column of the same people."""
    from seriatim.model.policy_in_force import policy_in_force
    from seriatim.usecases.other_series import series_beside

    policy = policy_in_force(ledger.state(series).policy)
    column = sensitive if sensitive is not None else next(iter(policy.sensitive), None)
    return series_beside(ledger, series, policy.register, column, history.respondents)


def _holders_in(holdings: Holdings, recipient: str | None, collusion: int | None) -> tuple[Holder, ...]:
    from seriatim.model.doors import whole_argument
    from seriatim.usecases.attack.attack import chosen_recipients

    together = None if collusion is None else whole_argument("collusion", collusion)
    return chosen_recipients(holdings, recipient, together)


def attack_exposed_people(history: History, adversary: Mapping[str, Any] | None = None) -> Any:
    """Return who is breached by a history, since which release and by which groups, for the publisher's eyes only."""
    from seriatim.policies.questions import stated_plan
    from seriatim.usecases.attack.exposed import private_list as found

    return found(history, stated_plan(adversary))


def attack_report(
    result: AdversaryResult, title: str, files: AssembledHistory | None = None, register: Any = None
) -> HistoryReport:
    """Return the report of an attack; for a folder also how its files were read, and what a register of people adds."""
    from seriatim.attacks import presence
    from seriatim.usecases.attack import attack as attack_case
    from seriatim.usecases.attack.attack_page import HistoryReport

    if files is None:
        return HistoryReport(title, result)
    if register is None:
        return HistoryReport(title, result, files)
    listed = read_table(register).data
    by_register = attack_case.intersected_by_register(files, listed, result.least)
    return HistoryReport(title, result, files, by_register, presence(files.history, files.tables, listed))


def attack_history_of_folder(
    history: str | Path, respondents: Any, sensitive: str | None = None, quasi: Iterable[str] | None = None
) -> AssembledHistory:
    """Return a history of a folder of published tables and a table of who was in which row.

    Releases in two tables (buckets) are joined by their ``group``; the list of respondents then says who holds what.
    """
    from seriatim.tables.folders import read_folder
    from seriatim.usecases.attack.assembly import history_of_tables
    from seriatim.usecases.attack.bucket_tables import people_with_values

    besides = Path(respondents) if isinstance(respondents, str | Path) else None
    files = read_folder(Path(history), besides, sensitive)
    tables, listed = files.tables, read_table(respondents).data
    column = sensitive or _guessed_column(files)
    if files.values:
        tables, listed = people_with_values(tables, files.values, listed, column)
    chosen = None if quasi is None else tuple(quasi)
    return history_of_tables(tables, listed, column, chosen)


def _guessed_column(files: FolderTables) -> str:
    """Guess the sensitive column by its name; where a header line is missing, the names are cells of a record."""
    from seriatim.model.foreign_tables import COUNT
    from seriatim.model.table_faults import check_header

    for name, table in files.tables.items():
        check_header(name, table)
    for name, table in files.values.items():
        check_header(f"{name}-values", table, ("group",))
    names = files.column_names
    if files.values:
        shown = next(iter(files.values.values())).column_names
        names = [name for name in shown if name not in ("group", "count")] or names
    last = next((name for name in reversed(names) if name != COUNT), names[-1])
    return next((name for name in names if matching_word(name, SENSITIVE)), last)
