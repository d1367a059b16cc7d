"""A sensitive column that is text in one month and numbers in the next: a letter that nobody has any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import seriatim as sr

METHODS = [{"method": "invariant"}, {"method": "historical"}, {"method": "cohort"}]


def policy(method: dict[str, str]) -> Any:
    return sr.Policy.from_dict(
        {
            "series": {"name": "codes", "respondent": "id"},
            "columns": {"q": {"role": "quasi"}, "code": {"role": "sensitive"}},
            "promise": {"m": 2, **({"n": 1} if method["method"] == "historical" else {})},
            "defence": method,
        }
    )


def month(codes: list[Any], first: int = 0) -> pd.DataFrame:
    return pd.DataFrame(
        {"id": range(first, first + len(codes)), "q": [i * 7 % 31 for i in range(len(codes))], "code": codes}
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method["method"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv", "parquet"])
def test_a_letter_that_nobody_has_any_more(tmp_path: Path, method: dict[str, str], kind: str) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    before = month(["SECRET", *(str(i % 4) for i in range(39))])
    after = month([int(cell) for cell in before["code"][1:]], first=1)
    after["q"] = before["q"][1:].to_numpy()
    releases = [sr.publish(handed(view, kind, tmp_path), policy(method), ledger) for view in (before, after)]
    for view, release in zip((before, after), releases, strict=True):
        assert release.verdict.released
        known = dict(zip(view["id"], view["code"].astype(str), strict=True))
        groups = pa.table(release.groups) if not isinstance(release.groups, pa.Table) else release.groups
        for row in groups.to_pylist():
            assert row["counterfeit"] or str(row["code"]) == known[row["respondent"]]
        # the leaver's code lives on as a counterfeit where the method says so: the column can only be text then
        table = release.table if isinstance(release.table, pa.Table) else pa.table(release.table)
        assert {str(cell) for cell in table.column("code").to_pylist()} <= {"SECRET", "0", "1", "2", "3"}


def handed(view: pd.DataFrame, kind: str, folder: Path) -> Any:
    if kind in ("pandas", "arrow", "polars"):
        return {"pandas": lambda: view, "polars": lambda: pl.from_pandas(view), "arrow": lambda: pa.table(view)}[kind]()
    path = folder / f"{len(view)}.{kind}"
    view.to_csv(path, index=False) if kind == "csv" else view.to_parquet(path, index=False)
    return path


def test_values_written_in_another_way_are_told_without_a_cell(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    first, second = month([f"{i % 4}.0" for i in range(40)]), month([i % 4 for i in range(40)])
    assert sr.publish(first, policy(METHODS[1]), ledger).verdict.released
    with pytest.raises(sr.TableError, match="value of 40 people has changed") as caught:
        sr.publish(second, policy(METHODS[1]), ledger)
    assert ".0" not in str(caught.value)
    assert len(ledger.records()) == 1
