"""Runs the service until it is told to stop: uvicorn with one process, since a gate has one writer."""

from __future__ import annotations

import json
import logging
import sys
import time

from seriatim.journal.sql_journal import SqlJournal
from seriatim.web.opened_clerk import opening_clerk
from seriatim.web.settings import ServiceSettings

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """One JSON object per line. Only what was named goes in: no paths, bodies, values or ids of people."""

    def format(self, record: logging.LogRecord) -> str:
        told = {name: value for name, value in vars(record).items() if name not in _PLAIN}
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        kind = {"error": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        return json.dumps({"at": at, "level": record.levelname.lower(), "event": record.msg, **told, **kind})


def run_server(journal: SqlJournal, settings: ServiceSettings, quiet: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("seriatim.gate", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING if quiet else level)
    opened = opening_clerk(journal, settings)  # the journal is read while the libraries of the web are loaded
    import uvicorn

    from seriatim.web.service import open_service, service_app

    service = open_service(journal, settings, opened.result())
    logging.getLogger("seriatim.gate").info(
        "serving", extra={"host": settings.host, "port": settings.port, "entries": service.clerk.desk.n_entries}
    )
    uvicorn.run(
        service_app(service), host=settings.host, port=settings.port, log_config=None, access_log=False,
        server_header=False, timeout_keep_alive=60, timeout_graceful_shutdown=10,
    )  # fmt: skip
