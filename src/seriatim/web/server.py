"""Runs an application until it is told to stop: uvicorn on a socket of its own, bounded connections, a log in JSON."""

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

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp

    from seriatim.web.connections import Connections

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


def run(application: ASGIApp, heard: socket.socket, connections: Connections, farewell: int) -> None:
    """Serve until SIGTERM or Ctrl-C, then let requests end for ``farewell`` seconds."""
    import uvicorn

    from seriatim.web.connections import Connection

    config = uvicorn.Config(
        application, http=cast("type[asyncio.Protocol]", partial(Connection, connections)), log_config=None,
        access_log=False, server_header=False, timeout_keep_alive=60, timeout_graceful_shutdown=farewell,
    )  # fmt: skip
    server = uvicorn.Server(config)
    server.run([heard])
    if not server.started:
        raise SeriatimError("the service could not start; its log says why")
