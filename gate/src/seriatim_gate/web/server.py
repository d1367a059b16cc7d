"""Runs the service until it is told to stop: in one process, since a gate has one writer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from seriatim.web.server import listening, log_lines
from seriatim_gate.journal.sql_journal import SqlJournal
from seriatim_gate.web.decision_loop import opening_gate
from seriatim_gate.web.settings import Settings

if TYPE_CHECKING:
    from seriatim_gate.web.service import Service


def serve(journal: SqlJournal, settings: Settings, quiet: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C. Raise SeriatimError if nobody can be heard at this address."""
    log_lines({"seriatim.gate": logging.WARNING if quiet else logging.INFO})
    opened = opening_gate(journal, settings)  # the journal is read while the libraries of the web are loaded
    from seriatim.web.connections import Connections, most_open
    from seriatim.web.server import run
    from seriatim_gate.web.service import application, assembled

    service = assembled(journal, settings, opened.result())
    with listening(settings.host, settings.port) as door:
        _tell_of_service(service, door.getsockname()[1])
        run(application(service), door, Connections(settings.largest_body, most_open()), farewell=10)


def _tell_of_service(service: Service, port: int) -> None:
    """Log where it listens, and what an officer should know about that."""
    settings, log = service.settings, logging.getLogger("seriatim.gate")
    told = {"host": settings.host, "port": port, "entries": service.decisions.book.n_entries}
    log.info("serving", extra=told | {"records_held": service.n_held})
    if not service.access.any_tokens():
        log.warning("no tokens yet; create one with 'seriatim gate token make'")
    if not _is_loopback(settings.host):
        log.warning("others can reach this address: put a TLS proxy in front of it")


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")
