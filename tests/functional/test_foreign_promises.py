"""A promise that another package brings, registered as packages are: by an entry point of an installed distribution."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.publication import made_policy

import seriatim as sr

MODULE = """
from dataclasses import dataclass
from seriatim.model import Finding

@dataclass(frozen=True)
class FewRows:
    column: str | None
    most: int
    rule: str = "few_rows"

    def check(self, draft, history):
        rows = draft.table.num_rows
        return Finding(self.rule, rows <= self.most, float(rows), float(self.most), column=self.column)

def few_rows(column, value):
    if not isinstance(value, int):
        raise TypeError("a whole number")
    return FewRows(column, value)
"""
POINTS = "[seriatim.promises]\nfew_rows = other_promises:few_rows\nlost = other_promises:nowhere\n"
TABLE = pa.table({"age": [1, 1, 2, 2], "ill": list("xyxy")})
COLUMNS: dict[str, Any] = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = tmp_path / "other_promises-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-promises\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "other_promises.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("other_promises", None)


def made(folder: Path, **promise: Any) -> Any:
    policy = sr.Policy.from_dict(made_policy(COLUMNS, promise=promise))
    return sr.publish(TABLE, policy, sr.Ledger.open(folder / "ledger.db"))


@pytest.mark.usefixtures("installed")
def test_a_policy_names_it_and_publish_keeps_it(tmp_path: Path) -> None:
    kept = made(tmp_path, few_rows=4)
    assert [(f.rule, f.column, f.kept) for f in kept.verdict.findings if f.rule == "few_rows"] == [
        ("few_rows", None, True)
    ]
    assert "few_rows" in kept.report.to_html()


@pytest.mark.usefixtures("installed")
def test_it_refuses_and_may_be_about_one_column(tmp_path: Path) -> None:
    refused = made(tmp_path, ill={"few_rows": 3})
    assert not refused.verdict.released
    assert refused.verdict.reasons == ("few_rows of 'ill': found 4, asked 3",)
    one, other = (sr.Policy.from_dict(made_policy(COLUMNS, promise={"few_rows": n})).digest for n in (3, 4))
    assert one != other


@pytest.mark.usefixtures("installed")
def test_what_it_cannot_use_is_a_fault(tmp_path: Path) -> None:
    for promise, told in (
        ({"few_rows": "many"}, "its own package refuses the value"),
        ({"lost": 1}, "cannot be loaded"),
        ({"few_rows": float("nan")}, "promise.few_rows is NaN"),
        ({"few_row": 3}, "did you mean few_rows?"),
        ({"ill": {"few_rowz": 3}}, "did you mean few_rows?"),
    ):
        with pytest.raises(sr.PolicyError, match=told) as caught:
            made(tmp_path, **promise)
        assert len(caught.value.faults) == 1


def test_a_name_that_nobody_registered_lists_those_known() -> None:
    with pytest.raises(sr.PolicyError, match=r"unknown key promise.few_rows; allowed: l, l_kind, .*, k, m, n"):
        sr.Policy.from_dict(made_policy(COLUMNS, promise={"few_rows": 3}))
