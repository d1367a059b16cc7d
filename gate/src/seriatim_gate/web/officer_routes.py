"""What the officer uses: how exposed the releases are, what waits and why, and a brake. Auditors may look."""

from __future__ import annotations

import asyncio
import math
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Query

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.intake import Guard
from seriatim_gate.engine.results import drift, results
from seriatim_gate.engine.starvation import starved_cells
from seriatim_gate.ports import JournalEntry, JournalToken
from seriatim_gate.usecases.request_book import RequestBook
from seriatim_gate.usecases.serving import Served
from seriatim_gate.web.access import REFUSALS, WATCHERS
from seriatim_gate.web.answers import (
    BaselineBody,
    BaselineTaken,
    DriftFound,
    Explanation,
    Exposure,
    FreezeBody,
    Frozen,
    Gone,
    TestStanding,
    WaitingItem,
    WaitingPage,
)
from seriatim_gate.web.request_routes import Cursor, Limit, each_name_once
from seriatim_gate.web.service import Service

Most = Annotated[int, Query(ge=1, le=50)]


def routes(service: Service) -> APIRouter:
    """Return the routes under /v1/officer."""
    router, may = APIRouter(prefix="/v1/officer", tags=["officer"]), service.access.check
    officer, watcher, once = Depends(may("officer")), Depends(may(*WATCHERS)), Depends(each_name_once)
    gone = REFUSALS | {503: {"model": Gone}}

    @router.get("/exposure", response_model=Exposure, responses=gone, dependencies=[watcher])
    async def show_exposure() -> Exposure:
        """Return every statistic beside its critical value, and counts of requests by state."""
        found: Exposure = await service.look(lambda book: _exposure(service, book))
        return found

    @router.get("/queue", response_model=WaitingPage, responses=gone, dependencies=[watcher])
    async def list_waiting(after: Cursor = "", limit: Limit = 100) -> WaitingPage:
        """List waiting requests, oldest first. Do not tell anyone which records wait."""
        page: WaitingPage = await service.look(lambda book: _waiting(book, int(after or 0), limit))
        return page

    @router.get("/explain", response_model=list[Explanation], responses=gone, dependencies=[watcher])
    async def explain_waiting(most: Most = 10) -> list[Explanation]:
        """Say why the largest cells wait, by which test, and what would free one of their records."""
        guards: tuple[Guard, ...] = await service.look(lambda book: book.intake.guards)
        found = await asyncio.to_thread(
            lambda: [starved_cells(guard.counts, guard.waiting, guard.asked, most) for guard in guards]
        )
        return [
            Explanation(
                dependency=at, value=one.value, target=one.target, waiting=one.n_waiting, tests=list(one.tests),
                helper_value=one.helper_value, helpers=one.helpers,
            )
            for at, starved in enumerate(found)
            for one in starved
        ]  # fmt: skip

    @router.post("/freeze", response_model=Frozen, responses=gone)
    async def freeze_gate(body: FreezeBody, token: JournalToken = officer, _: None = once) -> Frozen:
        """Stop releases, or let them go on. Requesters notice nothing: requests are taken and wait."""

        def change(book: RequestBook, at: int) -> list[JournalEntry]:
            return book.freeze(at, token.number) if body.frozen else book.thaw(at, token.number)

        return Frozen(frozen=body.frozen, changed=await service.change(change))

    @router.post("/baseline", response_model=BaselineTaken, responses=gone | {409: {"model": Gone}})
    async def take_baseline(body: BaselineBody, token: JournalToken = officer, _: None = once) -> BaselineTaken:
        """Go on with a stored version of the baseline: stop the gate because of it, or judge again what waits.

        The answer says how far the version has drifted, and which tests what was released fails under it.
        """
        try:
            new = service.rules(body.number)
            if body.policy == "rejudge":
                await service.look(lambda book: book.may_take(new.rules))
            drifts = await _drifts(service, new)
        except InputError:
            raise HTTPException(409, "this version cannot replace the present one") from None

        def change(book: RequestBook, at: int) -> list[JournalEntry]:
            if body.policy == "freeze":
                return book.freeze(at, token.number, body.number)
            return book.rejudge(body.number, at, token.number)

        changed = await service.change(change)
        return BaselineTaken(frozen=await service.look(lambda book: book.frozen), changed=changed, drift=drifts)

    return router


async def _drifts(service: Service, new: Served) -> list[DriftFound]:
    """Compare a stored version with the present one, dependency by dependency."""
    number, guards = await service.look(lambda book: (book.baseline, book.intake.guards))
    old = service.rules(number).baseline
    if len(old.baselines) != len(new.rules):
        raise InputError(Fault("baseline", "other dependencies than before", "the same, recounted"))
    found = await asyncio.to_thread(
        lambda: [
            drift(*pair, guard.counts, asked.tests, asked.alpha, asked)
            for pair, guard, asked in zip(
                zip(old.baselines, new.baseline.baselines, strict=True), guards, new.rules, strict=True
            )
        ]
    )
    return [
        DriftFound(
            dependency=at, bits=_finite(one.bits), p_value=one.p_value, largest_change=one.largest_change,
            broken=list(one.broken), advice=one.advice,
        )
        for at, one in enumerate(found)
    ]  # fmt: skip


def _exposure(service: Service, book: RequestBook) -> Exposure:
    """Return how everything released fares. Dependencies and targets are numbered from 0."""
    states = by_state(book)
    standings = [one for at, guard in enumerate(book.intake.guards) for one in _standings(at, guard)]
    baseline = service.rules(book.baseline).baseline
    return Exposure(
        baseline=baseline.version, dependencies=list(baseline.names), frozen=book.frozen,
        frozen_for=book.frozen_for if book.frozen_for > 0 else None, baseline_number=book.baseline, requests=len(book),
        records_held=service.n_held, standings=standings, **states,
    )  # fmt: skip


def _standings(at: int, guard: Guard) -> list[TestStanding]:
    found = []
    for standing in results(guard.counts, guard.asked):
        one = standing.test in ("mis", "dqt")
        for target, (statistic, critical, broken) in enumerate(
            zip(standing.statistic.tolist(), standing.critical.tolist(), standing.broken.tolist(), strict=True)
        ):
            found.append(
                TestStanding(
                    dependency=at, test=standing.test, target=None if one else target, statistic=_finite(statistic),
                    critical=_finite(critical), safe=not broken,
                )
            )  # fmt: skip
    return found


def by_state(book: RequestBook) -> dict[str, int]:
    """Return how many requests are in each state."""
    from seriatim_gate.kernels.lines import GONE, WAITING

    statuses, expired = book.intake.statuses, len(book.expired)
    waiting, gone, left = int((statuses == WAITING).sum()), int((statuses == GONE).sum()), book.intake.n_out
    return {
        "released": left,
        "waiting": waiting,
        "withdrawn": gone - expired,
        "expired": expired,
        "refused": len(book) - len(book.repeats) - left - waiting - gone,
        "repeated": len(book.repeats),
    }


def _waiting(book: RequestBook, start: int, limit: int) -> WaitingPage:
    numbers = book.intake.waiting
    part = numbers[numbers >= start][:limit]
    places = book.intake.codes.unpack(book.intake.xs[part], book.intake.ys[part])
    cells = np.stack([np.stack(pair, axis=1) for pair in places], axis=1).tolist()
    items = [
        WaitingItem(id=name, value=own[0][0], target=own[0][1], cells=own, since=since)
        for name, own, since in zip(book.names(part), cells, book.rows["at"][part].tolist(), strict=True)
    ]
    return WaitingPage(items=items, next=str(int(part[-1]) + 1 if len(part) else start))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
