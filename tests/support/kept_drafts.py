"""Keeps, approves and declines drafts, in processes that end by a kill at a step that is said beforehand."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import event
from support.fork import forked
from support.ledgers import SECRET, made_groups, made_policy

from seriatim.ledger.sql_ledger import SqlLedger
from seriatim.model import Approval, Policy, SeriesState
from seriatim.ports import DraftRecord, Reservation

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "shutil.rmtree"}


def keep(
    ledger: SqlLedger,
    respondents: Sequence[Any] = ("ann", "bob"),
    destination: Path | None = None,
    *,
    author: str = "A. Ortiz",
    policy: Policy | None = None,
    state: SeriesState | None = None,
    approval: Approval | None = None,
    head: Path | None = None,
) -> DraftRecord:
    """Stage a file for recipients and one for the publisher, and keep them as a draft."""
    policy = policy or made_policy()
    state = state or ledger.state(policy.series, destination)
    with ledger.stage() as folder:
        for part in ("public", "private"):
            (folder / part).mkdir()
            (folder / part / "table.csv").write_text(f"age,disease\n{part},flu\n" * len(respondents))
        asked = Reservation(
            state=state,
            secret=state.secret or SECRET,
            policy=policy,
            staged=folder,
            groups=made_groups(respondents),
            n_published=len(respondents),
            source="visits.csv",
            input_name="visits.csv",
            input_sha256="ab" * 32,
            destination=destination,
            head=head,
            recipients=("office",),
            approval=approval,
        )
        return ledger.keep(asked, author, ("k: found 1, required 2",) if approval else ())


def killed_at_steps(
    begin: Callable[[int], Callable[[], None]], look: Callable[[int], None], first: int = 0, every: int = 1
) -> int:
    """Kill what ``begin`` returns before its first, second, ... change of a file or commit; return how many there are.

    ``begin`` makes a new place for each kill, whose step it is handed; ``look`` checks what the kill left there.
    """
    step = first
    while True:
        work = begin(step)
        child = forked(lambda work=work, step=step: _dying(work, step))  # type: ignore[misc]
        status = os.waitpid(child, 0)[1]
        look(step)
        if not os.WIFSIGNALED(status):
            assert status == 0
            return step
        step += every


def _dying(work: Callable[[], None], left: int) -> None:
    remaining = left

    def step(*_: Any) -> None:
        nonlocal remaining
        if remaining == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        remaining -= 1

    def seen(name: str, told: tuple[Any, ...]) -> None:
        writes = name == "open" and isinstance(told[2], int) and bool(told[2] & (os.O_WRONLY | os.O_RDWR))
        if name in CHANGES or writes:
            step()

    from sqlalchemy.engine import Engine

    sys.addaudithook(seen)
    event.listen(Engine, "commit", step)
    work()
