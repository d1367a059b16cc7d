"""A law is a function that raises when its subject breaks it; its docstring says in one line what must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Subject = TypeVar("Subject")


class LawBroken(AssertionError):  # noqa: N818 - as LedgerMoved, it says what happened
    """One line for each law that is broken: its name, what must hold, what was found."""


def require_law(kept: bool, found: str) -> None:
    """Raise with what was found unless it holds; unlike ``assert`` this stays when Python runs with -O."""
    if not kept:
        raise LawBroken(found)


@contextmanager
def law_refusal(error: type[Exception], of: str) -> Iterator[list[str]]:
    """Demand that what is done inside is refused with ``error``; the list holds its message afterwards."""
    said: list[str] = []
    try:
        yield said
    except error as raised:
        said.append(str(raised))
    if not said:
        raise LawBroken(f"{of} was not refused ({error.__name__})")


def check_laws(laws: Iterable[Callable[[Subject], None]], subject: Callable[[], Subject]) -> None:
    """Hold every law against a subject of its own; raise once, with a line for each law that is broken."""
    broken: list[str] = []
    first: BaseException | None = None
    for law in laws:
        try:
            law(subject())
        except Exception as error:  # noqa: BLE001 - a law that cannot be tried is a broken law
            broken.append(f"{law.__name__}: {_said(law)} Found: {_found(error)}")
            first = first or error
    if broken:
        raise LawBroken("\n".join(broken)) from first


def _said(law: Callable[..., None]) -> str:
    return (law.__doc__ or "").strip().partition("\n")[0]


def _found(error: Exception) -> str:
    return str(error) if isinstance(error, LawBroken) else f"{type(error).__name__}: {error}"
