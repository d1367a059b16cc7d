"""A clause is a function that raises when its subject breaks it; its docstring says in one line what must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Subject = TypeVar("Subject")


class ContractBroken(AssertionError):  # noqa: N818 - as LedgerMoved, it says what happened
    """One line for each clause that is broken: its name, what must hold, what was found."""


def require_clause(kept: bool, found: str) -> None:
    """Raise with what was found unless it holds; unlike ``assert`` this stays when Python runs with -O."""
    if not kept:
        raise ContractBroken(found)


@contextmanager
def clause_refusal(error: type[Exception], of: str) -> Iterator[list[str]]:
    """Demand that what is done inside is refused with ``error``; the list holds its message afterwards."""
    said: list[str] = []
    try:
        yield said
    except error as raised:
        said.append(str(raised))
    if not said:
        raise ContractBroken(f"{of} was not refused ({error.__name__})")


def check_contract(clauses: Iterable[Callable[[Subject], None]], subject: Callable[[], Subject]) -> None:
    """Hold every clause against a subject of its own; raise once, with a line for each clause that is broken."""
    broken: list[str] = []
    first: BaseException | None = None
    for clause in clauses:
        try:
            clause(subject())
        except Exception as error:  # noqa: BLE001 - a clause that cannot be tried is a broken clause
            broken.append(f"{clause_name(clause)}: {_said(clause)} Found: {_found(error)}")
            first = first or error
    if broken:
        raise ContractBroken("\n".join(broken)) from first


def clause_name(clause: Callable[..., None]) -> str:
    """Return what a clause demands, in the words of its function's name."""
    return clause.__name__.removeprefix("_")


def _said(clause: Callable[..., None]) -> str:
    return (clause.__doc__ or "").strip().partition("\n")[0]


def _found(error: Exception) -> str:
    return str(error) if isinstance(error, ContractBroken) else f"{type(error).__name__}: {error}"
