"""What the officer uses: how exposed the releases are, what waits and why, and a brake. Auditors may look."""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query

from seriatim.errors import InputError
from seriatim.gate.standing import standing_of
from seriatim.gate.starvation import starvation_of
from seriatim.ports.journal import Entry, Token
from seriatim.usecases.gate.desk import Desk
from seriatim.web.answers import (
    BaselineBody,
    Explanation,
    Exposure,
    FreezeBody,
    Frozen,
    Gone,
    TestStanding,
    WaitingItem,
    WaitingPage,
)
from seriatim.web.request_routes import Cursor, Limit
from seriatim.web.roles import REFUSALS, WATCHERS, role_token
from seriatim.web.service import Service

Most = Annotated[int, Query(ge=1, le=50)]


def officer_router(service: Service) -> APIRouter:
    """Return the routes under /v1/officer."""
    router, may = APIRouter(prefix="/v1/officer", tags=["officer"]), role_token(service)
    officer, watcher = Depends(may("officer")), Depends(may(*WATCHERS))
    gone = REFUSALS | {503: {"model": Gone}}

    @router.get("/exposure", response_model=Exposure, responses=gone, dependencies=[watcher])
    async def show_exposure() -> Exposure:
        """Return every statistic beside its critical value, and counts of requests by state."""
        found: Exposure = await service.look(lambda desk: exposure_of(service, desk))
        return found

    @router.get("/queue", response_model=WaitingPage, responses=gone, dependencies=[watcher])
    async def list_waiting(after: Cursor = "", limit: Limit = 100) -> WaitingPage:
        """List waiting requests, oldest first. Do not tell anyone which records wait."""
        page: WaitingPage = await service.look(lambda desk: _waiting(desk, int(after or 0), limit))
        return page

    @router.get("/explain", response_model=list[Explanation], responses=gone, dependencies=[watcher])
    async def explain_waiting(most: Most = 10) -> list[Explanation]:
        """Say why the largest cells wait, by which test, and what would free one of their records."""
        counts, waiting, asked = await service.look(_tables)
        found = starvation_of(counts, waiting, asked, most)
        return [
            Explanation(
                value=one.value, target=one.target, waiting=one.n_waiting, tests=list(one.tests),
                helper_value=one.helper_value, helpers=one.helpers,
            )
            for one in found
        ]  # fmt: skip

    @router.post("/freeze", response_model=Frozen, responses=gone)
    async def freeze_gate(body: FreezeBody, token: Token = officer) -> Frozen:
        """Stop releases, or let them go on. Requesters notice nothing: requests are taken and wait."""

        def change(desk: Desk, at: int) -> list[Entry]:
            return desk.freeze(at, token.number) if body.frozen else desk.thaw(at, token.number)

        return Frozen(frozen=body.frozen, changed=await service.change(change))

    @router.post("/baseline", response_model=Frozen, responses=gone | {409: {"model": Gone}})
    async def take_baseline(body: BaselineBody, token: Token = officer) -> Frozen:
        """Go on with a stored version of the baseline: stop the gate, or judge what waits anew."""
        try:
            asked = service.rules(body.number)[2]
            await service.look(lambda desk: desk.may_take(asked))
        except InputError:
            raise HTTPException(409, "this version cannot replace the present one") from None

        def change(desk: Desk, at: int) -> list[Entry]:
            if body.policy == "freeze":
                return desk.freeze(at, token.number)
            return desk.rejudge(body.number, at, token.number)

        return Frozen(frozen=body.policy == "freeze", changed=await service.change(change))

    return router


def exposure_of(service: Service, desk: Desk) -> Exposure:
    """Return how everything released stands. Targets are numbered from 0."""
    states = officer_state_counts(desk)
    standings = []
    for standing in standing_of(desk.intake.counts, desk.intake.asked):
        one = len(standing.statistic) == 1 and desk.intake.asked.n_targets > 1
        for target, (statistic, critical, broken) in enumerate(
            zip(standing.statistic.tolist(), standing.critical.tolist(), standing.broken.tolist(), strict=True)
        ):
            standings.append(
                TestStanding(
                    test=standing.test, target=None if one else target, statistic=_finite(statistic),
                    critical=_finite(critical), safe=not broken,
                )
            )  # fmt: skip
    version = service.rules(desk.baseline)[0].version
    return Exposure(
        baseline=version, frozen=desk.frozen, requests=len(desk), records_held=service.n_held, standings=standings,
        **states,
    )  # fmt: skip


def officer_state_counts(desk: Desk) -> dict[str, int]:
    """Return how many requests are in each state."""
    from seriatim.kernels.gate.board import GONE, WAITING

    statuses, expired = desk.intake.statuses, len(desk.expired)
    waiting, gone, left = int((statuses == WAITING).sum()), int((statuses == GONE).sum()), desk.intake.n_out
    return {
        "released": left,
        "waiting": waiting,
        "withdrawn": gone - expired,
        "expired": expired,
        "refused": len(desk) - left - waiting - gone,
    }


def _tables(desk: Desk) -> tuple[Any, Any, Any]:
    return desk.intake.counts, desk.intake.waiting_counts, desk.intake.asked


def _waiting(desk: Desk, start: int, limit: int) -> WaitingPage:
    numbers = desk.intake.waiting
    part = numbers[numbers >= start][:limit]
    items = [
        WaitingItem(id=name, value=x, target=y, since=since)
        for name, x, y, since in zip(
            desk.names(part),
            desk.intake.xs[part].tolist(),
            desk.intake.ys[part].tolist(),
            desk.book["at"][part].tolist(),
            strict=True,
        )
    ]
    return WaitingPage(items=items, next=str(int(part[-1]) + 1 if len(part) else start))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
