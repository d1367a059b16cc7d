"""The desk as an application, and how it is served: on this computer only, for whoever has the address it prints."""

from __future__ import annotations

import getpass
import hashlib
import logging
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import python_multipart  # noqa: F401 - FastAPI would miss it only at the first form
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from seriatim.errors import InputError, SeriatimError
from seriatim.model.names import visible_text
from seriatim.report.html import asset_text
from seriatim.web.connections import Connections, most_open
from seriatim.web.desk import screens
from seriatim.web.desk.book import HOURS, Book
from seriatim.web.desk.door import HEADERS, LARGEST_TABLE, Door
from seriatim.web.desk.jobs import Jobs
from seriatim.web.desk.routes import Desk, routes
from seriatim.web.guard import Guard
from seriatim.web.server import listening, log_lines, run

if TYPE_CHECKING:
    from seriatim.ledger.sql_ledger import SqlLedger

PATIENCE = 600.0
"""Seconds in which an uploaded table must arrive."""
log = logging.getLogger("seriatim.desk")


def application(ledger: SqlLedger, address: str, person: str, folder: Path) -> tuple[ASGIApp, Door]:
    """Return the desk of one person over a ledger, and its door; policies and releases are in ``folder``."""
    visible_text("user", person)
    place = _own_folder(ledger)
    book = Book.opened(place)
    desk = Desk(ledger, address, folder=folder, book=book, jobs=Jobs(place / "jobs", book, address))
    desk.jobs.clear_old_uploads()
    app = FastAPI(title="Seriatim desk", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.door = door = Door(book, person, f"seriatim_desk_{hashlib.sha256(str(place).encode()).hexdigest()[:8]}")
    _open_routes(app)
    app.include_router(routes(desk))
    app.add_exception_handler(HTTPException, _plainly)
    app.add_exception_handler(RequestValidationError, _not_here)
    app.add_exception_handler(SeriatimError, _faults)
    app.add_exception_handler(Exception, _bug)
    return Guard(app, LARGEST_TABLE, HEADERS, log), door


def _own_folder(ledger: SqlLedger) -> Path:
    """Return the desk's folder beside the ledger's files, which nobody else may enter."""
    shelf = ledger.shelf.root
    place = shelf.with_name(f"{shelf.name.removesuffix('.shelf')}.desk")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _open_routes(app: FastAPI) -> None:
    """Add what needs no session: the door, and files that are the same for everyone."""

    @app.get("/enter")
    def enter(request: Request, key: str = "") -> Response:
        door: Door = request.app.state.door
        cookie = door.open_with(key)
        if cookie is None:
            return _error_page(401, "Not signed in", "This address works once, and was used or is not the desk's.")
        answer = HTMLResponse(screens.drawn("enter"))  # no redirect: a strict cookie does not go along with one
        secure = request.url.scheme == "https"
        answer.set_cookie(door.cookie, cookie, HOURS * 3600, secure=secure, httponly=True, samesite="strict")
        return answer

    @app.get("/own/{name}")
    def own_file(name: str) -> Response:
        found = _own_files().get(name)
        return Response(status_code=404) if found is None else Response(found[1](), media_type=found[0])


@cache
def _own_files() -> dict[str, tuple[str, Callable[[], str]]]:
    here = files("seriatim.web.desk")
    return {
        "desk.css": (
            "text/css",
            lambda: asset_text("templates/page.css") + here.joinpath("templates/desk.css").read_text("utf-8"),
        ),
        "htmx.js": ("text/javascript", lambda: here.joinpath("vendor/htmx.min.js").read_text("utf-8")),
    }


def _error_page(status: int, title: str, *told: str) -> HTMLResponse:
    return HTMLResponse(screens.drawn("error", title=title, told=told), status)


async def _plainly(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = [f"{str(error.detail)[:1].upper()}{str(error.detail)[1:]}."]
    if error.status_code == 401:
        told.append("Open the address that `seriatim desk` printed; if it was used, stop the desk and start it again.")
    return _error_page(error.status_code, "Not signed in" if error.status_code == 401 else "Not done", *told)


async def _not_here(_: Request, __: Exception) -> Response:
    return _error_page(422, "Not done", "There is no such page.")


async def _faults(_: Request, error: Exception) -> Response:
    told = [str(one) for one in error.faults] if isinstance(error, InputError) else [str(error)]
    return _error_page(422 if isinstance(error, InputError) else 409, "Not done", *told)


async def _bug(_: Request, error: Exception) -> Response:
    log.error("unexpected", extra={"kind": type(error).__name__})  # its message may quote a cell
    return _error_page(500, "Not done", f"Something unexpected happened: {type(error).__name__}. Please report it.")


def serve(ledger: SqlLedger, address: str, told: Callable[[str], None], user: str | None = None, port: int = 0) -> None:
    """Serve until SIGTERM or Ctrl-C; ``told`` gets the address that opens the desk."""
    log_lines({"seriatim.desk": logging.WARNING})
    app, door = application(ledger, address, getpass.getuser() if user is None else user, Path.cwd())
    with listening("127.0.0.1", port) as heard:
        told(f"http://127.0.0.1:{heard.getsockname()[1]}{door.path}")
        run(app, heard, Connections(LARGEST_TABLE, most_open(), PATIENCE), farewell=3)
