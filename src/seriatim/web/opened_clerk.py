"""Opens a gate for serving: its stored rules, its journal read again, its kernels loaded.

Knows nothing of HTTP, so that a service can load the libraries it answers with at the same time.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from functools import lru_cache

from seriatim.errors import Fault, InputError
from seriatim.gate.dependencies import dependencies_from_json
from seriatim.journal.sql_journal import SqlJournal
from seriatim.usecases.gate.desk import DeskRequest, GateDesk
from seriatim.usecases.gate.serving_rules import ServingRules, read_serving_rules, serving_rules_alone
from seriatim.web.clerk import Clerk
from seriatim.web.settings import ServiceSettings


def open_clerk(journal: SqlJournal, settings: ServiceSettings) -> Clerk:
    """Open a gate's desk. Raise JournalHeld if another service has the gate.

    Raise InputError without a stored replay, and where what leaves would add to what an earlier gate lets out.
    """
    stored = journal.baselines(settings.gate)
    if not stored or not _was_replayed(stored[-1].report, stored[-1].version):
        remedy = "run seriatim gate replay with --journal and --gate first"
        raise InputError(Fault("gate", "no replay is stored for this gate", "a replay before it serves", remedy))

    names = journal.names()
    earlier = {name: journal.baselines(name)[-1].content for name in names[: names.index(settings.gate)]}
    known = {name: dependencies_from_json(text) for name, text in earlier.items()}
    serving_rules_alone(settings.gate, dependencies_from_json(stored[-1].content), known)

    def make_desk() -> GateDesk:
        return GateDesk(lambda number: clerk_rules(journal, settings.gate, number).rules, settings.batch > 0)

    clerk = Clerk(journal, make_desk, settings)
    clerk.open()
    rehearse_clerk(make_desk())
    return clerk


def opening_clerk(journal: SqlJournal, settings: ServiceSettings) -> Future[Clerk]:
    """Open a gate in a thread of its own, which ends with the process: Ctrl-C need not wait for another service."""
    opened: Future[Clerk] = Future()

    def work() -> None:
        try:
            opened.set_result(open_clerk(journal, settings))
        except BaseException as error:  # noqa: BLE001 - anyone who waits for the clerk gets it
            opened.set_exception(error)

    threading.Thread(target=work, name="gate opening", daemon=True).start()
    return opened


def rehearse_clerk(desk: GateDesk) -> None:
    """Ask a desk that is thrown away, so that the first requester does not wait for a compiler."""
    desk.ask([DeskRequest("0" * 32, 0, 0, 0, 0)], 0)
    desk.freeze(0, 0)
    desk.ask([DeskRequest("1" * 32, 0, 0, 0, 0)], 0)
    desk.withdraw(1, 0, 0)
    desk.thaw(0, 0)


@lru_cache(maxsize=16)
def clerk_rules(journal: SqlJournal, gate: str, number: int) -> ServingRules:
    """Return a stored version of a gate's baseline and the rules that judge by it."""
    for stored in journal.baselines(gate):
        if stored.number == number:
            return read_serving_rules(stored)
    raise InputError(Fault("baseline", "no such version", "a stored one"))


def _was_replayed(report: str, version: str) -> bool:
    try:
        told = json.loads(report)
        return bool(told["schema"] == "seriatim.gate.replay/1" and told["baseline"] == version)
    except (KeyError, TypeError, ValueError):
        return False
