"""What requesters use: ask for a record, look, take back, and read what was released."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from pydantic import ValidationError

from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.ports import JournalToken
from seriatim_gate.usecases.request_book import Ask, RequestBook
from seriatim_gate.web.access import ANY, REFUSALS
from seriatim_gate.web.answers import Accepted, Gone, ReleasedItem, ReleasedPage, RequestAnswer, RequestBody
from seriatim_gate.web.decision_loop import NOT_HELD, OVER_QUOTA, Wanted, Work
from seriatim_gate.web.service import NOT_VALID, Service

NO_KEY = "the header Idempotency-Key must have 1 to 200 visible characters"
NO_JSON = "the header Content-Type must be application/json"
BY_PERSON, BY_VALUES = (
    "the body must name the respondent and nothing else",
    "the body must hold every column of X and Y",
)
NO_RECORD, NO_REQUEST, USED = "no such record", "no such request", "the key was used for another request"
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_ASKING: dict[str, Any] = {
    "parameters": [
        {
            "name": "Idempotency-Key", "in": "header", "required": True,
            "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[\x21-\x7e]+$"},
        },
    ],
    "requestBody": {"required": True, "content": {"application/json": {"schema": RequestBody.model_json_schema()}}},
}  # fmt: skip
RequestId = Annotated[str, Path(min_length=32, max_length=32, pattern="^[0-9a-f]{32}$")]
Cursor = Annotated[str, Query(max_length=20, pattern="^[0-9]{0,18}$")]
Limit = Annotated[int, Query(ge=1, le=1000)]


def routes(service: Service) -> APIRouter:
    """Return the routes under /v1 for requesters."""
    router, may = APIRouter(prefix="/v1", tags=["requests"]), service.access.check
    requester, anyone = Depends(may("requester")), Depends(may(*ANY))
    gone: dict[int | str, dict[str, Any]] = {404: {"model": Gone}, 503: {"model": Gone}}

    @router.post(
        "/requests",
        status_code=202,
        response_model=Accepted,
        responses=REFUSALS | gone | {409: {"model": Gone}},
        openapi_extra=_ASKING,
    )
    async def ask_for_record(request: Request) -> Response:
        """Ask for one record. The same key asks once, however often it is sent. The answer hides the decision."""
        wanted = await wanted_by(service, request)
        answered = await service.decisions.hand(Work(asyncio.get_running_loop().create_future(), wanted=wanted))
        if answered is NOT_HELD:
            raise HTTPException(404, NO_RECORD)
        if answered is OVER_QUOTA:
            raise HTTPException(429, "the quota is used up")
        if answered.number is None:
            raise HTTPException(409, USED)
        return accepted(wanted.ask.id)

    @router.get("/requests/{id}", response_model=RequestAnswer, responses=REFUSALS | gone)
    async def look_at_request(id: RequestId, token: JournalToken = requester) -> RequestAnswer:  # noqa: A002
        """Say what became of a request: pending, released or withdrawn. An expired one looks like a pending one."""
        number, state, place, reason = await service.look(lambda book: _seen(book, id, token, service.by_respondent))
        if number is None:
            raise HTTPException(404, NO_REQUEST)
        values = None
        if state == "released":
            found = await asyncio.to_thread(service.journal.bodies, service.settings.gate, [place])
            values = json.loads(found[place][1])
        return RequestAnswer(id=id, state=state, values=values, reason=reason)

    @router.delete("/requests/{id}", status_code=202, response_model=Accepted, responses=REFUSALS | gone)
    async def withdraw_request(id: RequestId, token: JournalToken = requester) -> Response:  # noqa: A002
        """Take a request back. What was released stays released."""
        number, *_ = await service.look(lambda book: _seen(book, id, token, service.by_respondent))
        if number is None:
            raise HTTPException(404, NO_REQUEST)
        await service.change(lambda book, at: book.withdraw(number, at, token.number))
        return accepted(id)

    @router.get("/released", response_model=ReleasedPage, responses=REFUSALS | gone)
    async def list_released(after: Cursor = "", limit: Limit = 100, token: JournalToken = anyone) -> ReleasedPage:
        """List released records in the order in which they were shown; a token bound to people sees its own."""
        start = int(after or 0)
        page, seen_at = await service.look(lambda book: (_page(service, book, token, start, limit), book.seen_at))
        gate, places = service.settings.gate, [place for place, _ in page]
        found = await asyncio.to_thread(service.journal.bodies, gate, places)
        head = "" if token.respondents is not None else await asyncio.to_thread(service.journal.head, gate, seen_at)
        items = [ReleasedItem(id=name, values=json.loads(found[place][1])) for place, name in page]
        return ReleasedPage(items=items, next=str(start + len(items)), head=head)

    return router


async def wanted_by(service: Service, request: Request) -> Wanted:
    """Return what a request asks for. Read by hand: the framework's own reading takes longer than the decision."""
    token = service.access.token_for(request, ("requester",))
    key = request.headers.get("idempotency-key", "")
    try:
        if not _KEY.fullmatch(key):
            raise HTTPException(422, NO_KEY)
        if not _is_json(request.headers.get("content-type", "")):
            raise HTTPException(422, NO_JSON)
        body = RequestBody.model_validate(_json_of(await request.body()))
    except (ValidationError, ValueError, RecursionError):
        raise HTTPException(422, NOT_VALID) from None
    return _request_route_record(service, token, body, key)


async def each_name_once(request: Request) -> None:
    """Refuse a body in which a name occurs twice: another reader may see another request there."""
    try:
        _json_of(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(422, NOT_VALID) from None


def _json_of(text: bytes) -> Any:
    return json.loads(text.decode(), object_pairs_hook=_object_of)


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError
    return made


def _is_json(kind: str) -> bool:
    name = kind.partition(";")[0].strip().lower()
    return name == "application/json" or (name.startswith("application/") and name.endswith("+json"))


def _request_route_record(service: Service, token: JournalToken, body: RequestBody, key: str) -> Wanted:
    """Return what a request asks for; raise 404 for a person the token may not ask for, 422 for a wrong shape."""
    allowed = token.respondents is None or body.respondent in token.respondents
    name = hashlib.sha256(f"{token.number}\0{key}".encode()).hexdigest()[:32]
    if service.by_respondent:
        if body.x is not None or body.y is not None or body.values is not None:
            raise HTTPException(422, BY_PERSON)
        ask = Ask(name, -1, y=-1, token=token.number, mark=_mark(body.respondent), respondent=body.respondent)
        return Wanted(ask, True, allowed, token.quota)
    baseline = service.rules(1).baseline
    given = _given_values(baseline, body)
    if not allowed:
        raise HTTPException(404, NO_RECORD)
    x, y = baseline.cell_of(given)
    values = json.dumps(given)
    ask = Ask(
        name,
        x,
        y=y,
        token=token.number,
        mark=_mark(body.respondent + "\0" + values),
        respondent=body.respondent,
        body=values,
    )
    return Wanted(ask, False, True, token.quota)


def _given_values(baseline: Dependencies, body: RequestBody) -> dict[str, Any]:
    """Return a record's values by column; raise 422 if there are others than the dependencies need."""
    given, columns = body.values, baseline.columns
    if given is None and body.x is not None and body.y is not None and len(baseline.baselines) == 1:
        given = dict(zip(columns, [*body.x, body.y], strict=False)) if len(body.x) == len(columns) - 1 else None
    elif body.x is not None or body.y is not None:
        given = None
    if given is None or set(given) != set(columns):
        raise HTTPException(422, BY_VALUES)
    return {name: given[name] for name in columns}


def accepted(name: str) -> Response:
    """Return the one answer to everything that was taken."""
    return Response(f'{{"id":"{name}","state":"accepted"}}', 202, media_type="application/json")


def _mark(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def _seen(book: RequestBook, name: str, token: JournalToken, held: bool) -> tuple[int | None, str, int, str]:
    """Return number, visible state, place in the journal and reason of a token's own request; None for any other."""
    number = book.numbers.number_of(bytes.fromhex(name))
    if number is None or int(book.rows["token"][number]) != token.number:
        return None, "", -1, ""
    state, reason = book.visible(number), ""
    if not held and book.state(number) == "refused":  # they brought the values themselves
        state, reason = "refused", book.intake.reason(number)
    return number, state, int(book.rows["place"][book.first_of(number)]), reason


def _page(
    service: Service, book: RequestBook, token: JournalToken, start: int, limit: int
) -> list[tuple[int, str | None]]:
    shown, repeated = service.order(book), book.repeats.repeats_of_token(token.number)

    def is_own(numbers: Any) -> Any:
        own = book.rows["token"][numbers] == token.number
        return own | np.isin(numbers, np.array(list(repeated), np.int64)) if repeated else own

    if token.respondents is not None:
        shown = shown[is_own(shown)]
    part = shown[start : start + limit]
    asked = book.rows["token"][part] == token.number
    pairs = zip(part.tolist(), asked, strict=True)
    named = [number if first else repeated.get(number, number) for number, first in pairs]
    names, mine = book.names(np.array(named, np.int64)), is_own(part) | (token.role != "requester")
    return [
        (int(place), name if own else None)
        for place, name, own in zip(book.rows["place"][part], names, mine, strict=True)
    ]
