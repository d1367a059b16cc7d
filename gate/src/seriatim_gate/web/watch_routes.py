"""For those who run the service: is it alive, is it ready, and how is it doing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from seriatim_gate.web.access import REFUSALS, WATCHERS
from seriatim_gate.web.answers import Gone
from seriatim_gate.web.officer_routes import by_state
from seriatim_gate.web.service import Service


def routes(service: Service) -> APIRouter:
    """Return /healthz and /readyz for anyone, /metrics for officer and auditor."""
    router, may = APIRouter(tags=["watch"]), service.access.check
    watcher = Depends(may(*WATCHERS))

    @router.get("/healthz")
    async def is_alive() -> dict[str, str]:
        """Say that the process answers."""
        return {"status": "alive"}

    @router.get("/readyz", responses={503: {"model": Gone}})
    async def is_ready() -> Response:
        """Say whether decisions can be put on the disk now."""
        ready = service.decisions.ready
        return JSONResponse({"detail": "ready" if ready else "not ready"}, 200 if ready else 503)

    shown: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}, 503: {"model": Gone}}

    @router.get("/metrics", responses=REFUSALS | shown, dependencies=[watcher], response_model=None)
    async def show_metrics() -> PlainTextResponse:
        """Return counts and times in the text format of Prometheus."""
        decisions = service.decisions
        lines = service.counters.counter_lines()
        lines.append("# TYPE seriatim_gate_requests gauge")
        if decisions.ready:
            counts = await service.look(by_state)
            lines += [f'seriatim_gate_requests{{state="{state}"}} {n}' for state, n in counts.items()]
        for name, kind, value in (
            ("ready", "gauge", int(decisions.ready)),
            ("commits_total", "counter", decisions.n_commits),
            ("journal_failures_total", "counter", decisions.n_failures),
            ("journal_entries", "gauge", decisions.book.n_entries),
            ("records_held", "gauge", service.n_held),
        ):
            lines += [f"# TYPE seriatim_gate_{name} {kind}", f"seriatim_gate_{name} {value}"]
        return PlainTextResponse("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")

    return router
