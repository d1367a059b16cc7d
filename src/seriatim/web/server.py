"""Runs the service until it is told to stop: uvicorn with one process, since a gate has one writer."""

from __future__ import annotations

import json
import logging
import socket
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from seriatim.errors import SeriatimError
from seriatim.journal.sql_journal import SqlJournal
from seriatim.web.decision_loop import opening_gate
from seriatim.web.settings import Settings

if TYPE_CHECKING:
    import asyncio

    from seriatim.web.service import Service

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """One JSON object per line. Only what was named goes in: no paths, bodies, values or ids of people."""

    def format(self, record: logging.LogRecord) -> str:
        told = {name: value for name, value in vars(record).items() if name not in _PLAIN}
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        kind = {"error": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        event = record.msg if isinstance(record.msg, str) else type(record.msg).__name__  # uvicorn logs exceptions
        return json.dumps({"at": at, "level": record.levelname.lower(), "event": event, **told, **kind}, default=_kind)


def _kind(found: object) -> str:
    return type(found).__name__


def log_lines(levels: Mapping[str, int]) -> None:
    """Log to standard error what these loggers say from a level on, and what the server warns of."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in {**levels, "uvicorn.error": logging.WARNING}.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def serve(journal: SqlJournal, settings: Settings, quiet: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C. Raise SeriatimError if nobody can be heard at this address."""
    log_lines({"seriatim.gate": logging.WARNING if quiet else logging.INFO})
    opened = opening_gate(journal, settings)  # the journal is read while the libraries of the web are loaded
    import uvicorn

    from seriatim.web.connections import Connection, Connections, most_open
    from seriatim.web.service import application, assembled

    service = assembled(journal, settings, opened.result())
    with listening(settings.host, settings.port) as door:
        _tell_of_service(service, door.getsockname()[1])
        counted = partial(Connection, Connections(settings.largest_body, most_open()))
        config = uvicorn.Config(
            application(service), http=cast("type[asyncio.Protocol]", counted), log_config=None, access_log=False,
            server_header=False, timeout_keep_alive=60, timeout_graceful_shutdown=10,
        )  # fmt: skip
        server = uvicorn.Server(config)
        server.run([door])
    if not server.started:
        raise SeriatimError("the service could not start; its log says why")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket at an address; only after a gate is open, since a standby may share its port."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        door = socket.create_server((host, port), family=family, backlog=2_048)
    except (OSError, UnicodeError) as error:
        why = (getattr(error, "strerror", None) or type(error).__name__).lower()
        address = f"{host}:{port}"
        raise SeriatimError(
            f"cannot listen on {address}: {why}; choose another address (host) or number (port)"
        ) from None
    door.set_inheritable(False)
    return door


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
