"""Who may do what: bearer tokens, roles and rates. Tokens are read again every second, so revoking takes effect."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException, Request

from seriatim.errors import LedgerDamaged
from seriatim_gate.journal.tokens import token_digest
from seriatim_gate.ports import Journal, JournalToken
from seriatim_gate.web.answers import Gone

FRESH = 1.0
"""Seconds."""
BEARER = "bearer "
ANY = ("requester", "officer", "auditor")
WATCHERS = ("officer", "auditor")
REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": Gone}, 403: {"model": Gone}, 413: {"model": Gone}, 422: {"model": Gone}, 429: {"model": Gone},
}  # fmt: skip
"""What every route may answer instead."""
log = logging.getLogger("seriatim.gate")


@dataclass
class Access:
    """Tokens of one gate by their digest."""

    journal: Journal
    gate: str
    rate: float
    _tokens: dict[str, JournalToken] = field(default_factory=dict)
    _left: dict[int, tuple[float, float]] = field(default_factory=dict)

    def read_tokens(self) -> None:
        """Read the tokens again; while the database is out of reach, those that are known stay.

        Where somebody has changed one by hand, nobody gets in.
        """
        try:
            self._tokens = dict(self.journal.tokens(self.gate))
        except LedgerDamaged as error:
            self._tokens = {}
            log.error("tokens were changed by hand", extra={"said": str(error)})
        except Exception as error:  # noqa: BLE001 - whatever it is, they must be read again a second later
            log.warning("tokens could not be read", extra={"kind": type(error).__name__})

    def any_tokens(self) -> bool:
        """Return whether anybody has a token."""
        return any(token.revoked_at is None for token in self._tokens.values())

    def token_of(self, header: str | None) -> JournalToken | None:
        """Return the token of an Authorization header; None if there is none, or it is unknown or revoked."""
        if header is None or header[: len(BEARER)].lower() != BEARER:
            return None
        return self.token_named(header[len(BEARER) :].strip())

    def token_named(self, secret: str) -> JournalToken | None:
        found = self._tokens.get(token_digest(secret))
        return found if found is not None and found.revoked_at is None else None

    def within_rate(self, token: JournalToken) -> bool:
        """Take one request off what a token may ask now; at most two seconds' worth can be saved up."""
        now = time.monotonic()
        most = 2 * self.rate + 1
        left, since = self._left.get(token.number, (most, now))
        left = min(most, left + (now - since) * self.rate)
        allowed = left >= 1
        self._left[token.number] = (left - 1 if allowed else left, now)
        return allowed

    def check(self, *roles: str) -> Callable[[Request], Awaitable[JournalToken]]:
        """Return a check for routes: it takes a request and returns its token, or refuses it."""

        async def checked(request: Request) -> JournalToken:
            return self.token_for(request, roles)

        return checked

    def token_for(self, request: Request, roles: tuple[str, ...]) -> JournalToken:
        """Return the token of a request, or refuse it: no token, another role, too many requests."""
        token = self.token_of(request.headers.get("authorization"))
        if token is None:
            raise HTTPException(401, "a valid token is required", {"WWW-Authenticate": "Bearer"})
        request.state.token = token.number
        if token.role not in roles:
            raise HTTPException(403, "not for this role")
        if not self.within_rate(token):
            raise HTTPException(429, "too many requests", {"Retry-After": "1"})
        return token
