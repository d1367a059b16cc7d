"""The door of the desk: one address for one browser, then a cookie; and what every change must bring along.

A change needs a session, an Origin that is the desk's own, and a token that only its own pages know. The cookie goes to
nobody else (strict), and the names under which the desk may be called are fixed, so that no other site can be it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import FormData, UploadFile

from seriatim.web.desk.book import Book
from seriatim.web.desk.rights import EVERYBODY, RIGHTS, Role

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
MOST_FIELDS = 2_000
"""Of a form: a policy has a few for each column."""
LARGEST_TABLE = 1 << 30
"""Bytes of an upload; a larger table is named by its path."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer a browser sends no Origin along with a form
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, and what their forms must hold."""

    person: str
    roles: frozenset[Role]
    token: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that a visitor sent from one of the desk's own pages."""

    visitor: Visitor
    fields: FormData

    def text(self, name: str) -> str:
        found = self.fields.get(name, "")
        return found.strip() if isinstance(found, str) else ""

    def typed(self, name: str, most: int) -> str:
        """Return a text as it was typed, with all its blanks."""
        found = self.fields.get(name, "")
        if not isinstance(found, str) or len(found) > most:
            raise HTTPException(413, "this text is too long")
        return found

    def numbered(self, name: str) -> dict[int, str]:
        """Return the fields of one name that end in a number, by that number."""
        found = {key.removeprefix(f"{name}-"): text for key, text in self.fields.items() if isinstance(text, str)}
        return {int(at): text for at, text in found.items() if at.isdecimal() and len(at) < 7}

    def lines(self, name: str) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.text(name).splitlines() if line.strip())

    @property
    def key(self) -> str:
        """Return what tells a form from the same form sent again."""
        found = self.text("key")
        if not (16 <= len(found) <= 64 and found.isascii() and found.isalnum()):
            raise HTTPException(422, "this form is not one of the desk's; open the page again")
        return found

    @property
    def table(self) -> UploadFile | None:
        found = self.fields.get("upload")
        return found if isinstance(found, UploadFile) and found.filename else None


@dataclass(slots=True)
class Door:
    """Lets one person in, by an address that works once."""

    book: Book
    person: str
    cookie: str
    """Its name: other desks on this computer have other ones."""
    roles: frozenset[Role] = EVERYBODY
    """Those of the person: one person at their own computer has all."""
    _key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def path(self) -> str:
        """Return the path of the address that works once."""
        return f"/enter?key={self._key}"

    def open_with(self, key: str) -> str | None:
        """Return a new session's cookie for the key that was printed, the first time."""
        if not self._key or not hmac.compare_digest(key.encode(), self._key.encode()):
            return None
        self._key = ""
        return self.book.open_session(self.person)

    def visitor(self, request: Request) -> Visitor:
        """Return who asks, if they may use this route; note it in the trail."""
        _refuse_other_names(request)
        cookie = request.cookies.get(self.cookie, "")
        person = self.book.person_behind(cookie) if cookie else None
        if person is None:
            raise HTTPException(401, "you are not signed in")
        what, allowed = RIGHTS[request.scope["route"].name]
        if not self.roles & allowed:
            raise HTTPException(403, "your roles do not allow this")
        if not is_redrawn(request):
            about = " ".join(str(value)[:80] for value in request.path_params.values())
            self.book.note(person, what, about)
        token = hashlib.sha256(f"form {cookie}".encode()).hexdigest()
        return Visitor(person, self.roles, token)

    async def sent(self, request: Request) -> AsyncIterator[Sent]:
        """Yield a form once everything about it is right."""
        if request.headers.get("origin") != f"{request.url.scheme}://{request.headers.get('host', '')}":
            raise HTTPException(403, "this form was not sent by a page of the desk")
        visitor = self.visitor(request)
        async with request.form(max_files=1, max_fields=MOST_FIELDS) as fields:
            token = fields.get("token")
            if not isinstance(token, str) or not hmac.compare_digest(token.encode(), visitor.token.encode()):
                raise HTTPException(403, "this form was not sent by a page of the desk")
            yield Sent(visitor, fields)


def is_redrawn(request: Request) -> bool:
    """Return whether the page of a job only asks how far it is: that is no visit."""
    return request.scope["route"].name == "show_job" and "hx-request" in request.headers


def _refuse_other_names(request: Request) -> None:
    host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
    if host not in HOSTS:
        raise HTTPException(421, "the desk is not called by this name")


def at_door(request: Request) -> Visitor:
    """Return who asks; a dependency of routes."""
    return cast(Door, request.app.state.door).visitor(request)


async def with_form(request: Request) -> AsyncIterator[Sent]:
    """Yield the form that is sent; a dependency of routes."""
    async for one in cast(Door, request.app.state.door).sent(request):
        yield one


Asking = Annotated[Visitor, Depends(at_door)]
Sending = Annotated[Sent, Depends(with_form)]
