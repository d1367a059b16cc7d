"""A publisher that waits until another has judged against the same version, in a process of its own.

It lives here because a spawned process imports what it runs by name: a test module's name starts with ``tests``, and
other packages install one of that name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim import api
from seriatim.errors import LedgerMoved
from seriatim.testing.hospital import hospital


def publish_after_the_other_has_looked(folder: Path, barrier: Any, results: Any) -> None:
    ledger = api.open_ledger(folder / "ledger.db")
    policy = api.load_policy(folder / "policy.toml")

    def meet(step: str, share: float) -> None:
        if step == "writing":  # both have judged against the same version by now
            barrier.wait(120)

    try:
        made = api.publish(hospital(300), policy, ledger, out=folder / "out", progress=meet)
        results.put(("released", made.number))
    except LedgerMoved as moved:
        results.put(("moved", moved.exit_code))
