"""Small policies, groups and releases for tests of the ledger."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from seriatim.ledger.sql_ledger import SqlLedger
from seriatim.model import Approval, ColumnRule, Policy, PromiseTerms, Role, SeriesState
from seriatim.ports import ReleaseRecord, Reservation

SECRET = bytes(range(32))

PASTS = pa.table(
    {
        "release": [3, 3, 5, 5, 5],
        "respondent": ["ann", "bob", "bob", None, "cid"],
        "group": ["g", "h", "h", "h", "g"],
        "disease": ["flu", "flu", "gout", "flu", None],
    }
)
"""Two releases made before the ledger was."""


def made_policy(series: str = "ward", epoch: int = 1, k: int = 2, sensitive: Sequence[str] = ("disease",)) -> Policy:
    columns = {name: ColumnRule(name, Role.SENSITIVE) for name in sensitive}
    shape = {
        "series": {"name": series, "epoch": epoch},
        "promise": {"k": k},
        "columns": {name: {"role": "sensitive"} for name in sensitive},
    }
    text = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    return Policy(
        series=series,
        columns=columns,
        terms=PromiseTerms(k=k),
        defence=None,
        respondent="patient",
        epoch=epoch,
        canonical=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


def made_groups(respondents: Sequence[Any], values: Sequence[Any] | None = None) -> pa.Table:
    n = len(respondents)
    return pa.table(
        {
            "respondent": pa.array(respondents, pa.string() if not n else None),
            "group": pa.array([row // 2 for row in range(n)], pa.int32()),
            "disease": pa.array(values if values is not None else ["flu", "gout"] * n, pa.string())[:n],
            "counterfeit": pa.array([one is None for one in respondents], pa.bool_()),
            "suppressed": pa.array([False] * n, pa.bool_()),
        }
    )


def reserve(
    ledger: SqlLedger,
    respondents: Sequence[Any] = ("ann", "bob"),
    destination: Path | None = None,
    policy: Policy | None = None,
    state: SeriesState | None = None,
    recipients: tuple[str, ...] = ("office",),
) -> ReleaseRecord:
    """Stage one small file and reserve it."""
    policy = policy or made_policy()
    state = state or ledger.state(policy.series, destination)
    groups = made_groups(respondents)
    with ledger.stage() as folder:
        (folder / "table.csv").write_bytes(b"age,disease\n" + b"[30-40],flu\n" * len(respondents))
        (folder / "deep").mkdir()
        (folder / "deep" / "codebook.json").write_text("{}")
        asked = Reservation(
            state=state,
            secret=state.secret or SECRET,
            policy=policy,
            staged=folder,
            groups=groups,
            n_published=len(respondents),
            destination=destination,
            recipients=recipients,
            approval=Approval("Dr Who", "needed"),
        )
        return ledger.reserve(asked)


def publish(ledger: SqlLedger, respondents: Sequence[Any] = ("ann", "bob"), **how: Any) -> ReleaseRecord:
    record = reserve(ledger, respondents, **how)
    return ledger.seal(record.series, record.number)
