"""A small series to try a ledger with: a policy, a few people, one file per release."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from seriatim.model import Policy, SeriesState
from seriatim.policies import policy_from_dict
from seriatim.ports import DraftRecord, Ledger, ReleaseRecord, Reservation
from seriatim.testing.clauses import check_contract

SERIES, DISEASE = "ward", "disease"
SECRET = bytes(range(32))
TABLE = "table.csv"
AUTHOR = "A. Ortiz"
Taken = TypeVar("Taken")
People = Sequence[str | None]
"""The respondents of a release, row by row; None is a counterfeit. Rows 0 and 1 are a group, 2 and 3 the next."""


def check_ledger(open_ledger: Callable[[Path], Ledger]) -> None:
    """Raise ``ContractBroken`` with a line for each clause of ``ports.Ledger`` that the ledger breaks.

    ``open_ledger`` takes a folder that exists. A new folder stands for a new ledger; a folder that was opened before
    stands for the same ledger, opened once more.
    """
    from seriatim.testing.ledger_contract import LEDGER_CONTRACT

    with tempfile.TemporaryDirectory(prefix="seriatim-contract-") as folder:
        numbers = count(1)
        check_contract(LEDGER_CONTRACT, lambda: Site(open_ledger, Path(folder) / str(next(numbers))))


@dataclass(frozen=True, slots=True)
class Site:
    """What one clause works with: a ledger of its own, and a folder to publish into."""

    open_ledger: Callable[[Path], Ledger]
    folder: Path

    def ledger(self, name: str = "house") -> Ledger:
        """Open a ledger by its name: the same name is the same ledger."""
        home = self.folder / name
        home.mkdir(parents=True, exist_ok=True)
        return self.open_ledger(home)

    @property
    def out(self) -> Path:
        return self.folder / "out"


def ward_policy(
    series: str = SERIES, k: int = 2, epoch: int = 1, columns: Mapping[str, object] | None = None
) -> Policy:
    return policy_from_dict(
        {
            "series": {"name": series, "respondent": "patient", "epoch": epoch},
            "columns": columns or {DISEASE: {"role": "sensitive"}},
            "promise": {"k": k},
            "defence": {"method": "median"},
        }
    )


def ward_groups(people: People) -> pa.Table:
    """release.groups of these people: flu and gout in turns."""
    rows = range(len(people))
    return pa.table(
        {
            "respondent": pa.array(people, pa.string()),
            "group": pa.array([row // 2 for row in rows], pa.int32()),
            DISEASE: pa.array([("flu", "gout")[row % 2] for row in rows], pa.string()),
            "counterfeit": pa.array([person is None for person in people], pa.bool_()),
            "suppressed": pa.array([False for _ in rows], pa.bool_()),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One release as a clause wants it; what is not said is the ward's."""

    people: People = ("ann", "bob")
    destination: Path | None = None
    policy: Policy | None = None
    state: SeriesState | None = None
    groups: pa.Table | None = None
    memory: Mapping[str, pa.Table] | None = None
    stage: Callable[[Path], None] | None = None
    """Puts more into the staged folder than the table."""
    write: Callable[[Path], None] | None = None
    """Writes into the staged folder when the ledger asks for it."""


def reserve_wish(ledger: Ledger, wish: Wish | None = None) -> ReleaseRecord:
    """Stage one file and reserve it."""
    return _staged(ledger, wish or Wish(), ledger.reserve)


def keep_wish(ledger: Ledger, wish: Wish | None = None) -> DraftRecord:
    """Stage one file and keep it as a draft of ``AUTHOR``."""
    return _staged(ledger, wish or Wish(), lambda reservation: ledger.keep(reservation, AUTHOR))


def _staged(ledger: Ledger, wish: Wish, take: Callable[[Reservation], Taken]) -> Taken:
    policy = wish.policy or ward_policy()
    state = wish.state or ledger.state(policy.series)
    groups = ward_groups(wish.people) if wish.groups is None else wish.groups
    with ledger.stage() as folder:
        (folder / TABLE).write_text("disease\n" + "flu\n" * len(groups), encoding="utf-8")
        if wish.stage is not None:
            wish.stage(folder)
        return take(
            Reservation(
                state=state,
                secret=state.secret or SECRET,
                policy=policy,
                staged=folder,
                write=partial(wish.write, folder) if wish.write is not None else None,
                groups=groups,
                n_published=len(groups),
                destination=wish.destination,
                memory=wish.memory or {},
            )
        )


def publish_wish(ledger: Ledger, wish: Wish | None = None) -> ReleaseRecord:
    """Reserve and seal."""
    record = reserve_wish(ledger, wish)
    return ledger.seal(record.series, record.number)
