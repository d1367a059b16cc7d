"""Checks the caller's token and role."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import HTTPException, Request

from seriatim.ports.journal import JournalToken
from seriatim.web.answers import Gone
from seriatim.web.service import Service

ANY = ("requester", "officer", "auditor")
WATCHERS = ("officer", "auditor")
REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": Gone}, 403: {"model": Gone}, 413: {"model": Gone}, 422: {"model": Gone}, 429: {"model": Gone},
}  # fmt: skip
"""What every route may answer instead."""


def role_token(service: Service) -> Callable[..., Callable[[Request], Awaitable[JournalToken]]]:
    """Return a maker of checks: each takes a request and returns its token, or refuses it."""

    def for_roles(*roles: str) -> Callable[[Request], Awaitable[JournalToken]]:
        async def check(request: Request) -> JournalToken:
            return role_of_request(service, request, roles)

        return check

    return for_roles


def role_of_request(service: Service, request: Request, roles: tuple[str, ...]) -> JournalToken:
    """Return the token of a request, or refuse it: no token, another role, too many requests."""
    token = service.access.token_of(request.headers.get("authorization"))
    if token is None:
        raise HTTPException(401, "a valid token is required", {"WWW-Authenticate": "Bearer"})
    request.state.token = token.number
    if token.role not in roles:
        raise HTTPException(403, "not for this role")
    if not service.access.within_rate(token):
        raise HTTPException(429, "too many requests", {"Retry-After": "1"})
    return token
