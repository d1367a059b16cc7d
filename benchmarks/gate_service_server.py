"""A gate's service with one more route, which parses token and body and decides nothing.

python -m benchmarks.gate_service_server URL PORT
"""

from __future__ import annotations

import logging
import sys

import uvicorn
from fastapi import Request, Response

from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.web.answers import Accepted
from seriatim_gate.web.request_routes import accepted, wanted_by
from seriatim_gate.web.service import application, assembled
from seriatim_gate.web.settings import DAY, Settings


def main(url: str, port: int) -> None:
    logging.getLogger("seriatim.gate").setLevel(logging.WARNING)
    settings = Settings(gate="soldiers", expire=30 * DAY, port=port, rate=1e9)
    service = assembled(open_journal(url), settings)
    app = application(service)

    @app.post("/v1/parsed", status_code=202, response_model=Accepted)
    async def parse_only(request: Request) -> Response:
        return accepted((await wanted_by(service, request)).ask.id)

    uvicorn.run(app, host="127.0.0.1", port=port, log_config=None, access_log=False, server_header=False)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
