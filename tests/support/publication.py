"""One call from a table to a release with a ledger of its own, for tests of tables, leaks and frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import seriatim as sr

QUASI: dict[str, Any] = {"role": "quasi"}
SENSITIVE: dict[str, Any] = {"role": "sensitive"}
PLAIN: dict[str, Any] = {"role": "plain"}
DROP: dict[str, Any] = {"role": "drop"}


def made_policy(columns: dict[str, Any], k: int = 2, **sections: Any) -> dict[str, Any]:
    """``promise``, ``series`` and ``defence`` add to what stands here."""
    return {
        "series": {"name": "made", **sections.get("series", {})},
        "columns": columns,
        "promise": {"k": k, **sections.get("promise", {})},
        "defence": {"method": "median", "suppress": 0.5, **sections.get("defence", {})},
    }


def publish(
    table: Any, columns: dict[str, Any], folder: Path, k: int = 2, *, empty: bool = False, **sections: Any
) -> Any:
    """A release of ``table``, its ledger and files below ``folder``."""
    policy = sr.Policy.from_dict(made_policy(columns, k, **sections))
    ledger = sr.Ledger.open(folder / "ledger.db")
    return sr.publish(table, policy, ledger, out=folder / "out", empty=empty)


def published_file(folder: Path, name: str = "table") -> Path:
    (found,) = (folder / "out").glob(f"*/public/{name}.*")
    return found
