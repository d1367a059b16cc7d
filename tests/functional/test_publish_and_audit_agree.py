"""What publish says of a release, an audit of the same table against its original says too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.policies import policy_from_dict

N = 240


def people(seed: int = 3) -> pa.Table:
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "age": chance.integers(18, 90, N),
            "town": chance.choice([f"t{i}" for i in range(12)], N, p=np.arange(1, 13) / 78),
            "zip": [f"{10000 + int(z)}" for z in chance.integers(0, 40, N)],
            "ill": chance.choice(["flu", "gout", "cold", "ache"], N),
        }
    )


def rules(method: str) -> Any:
    return policy_from_dict(
        {
            "series": {"name": "agree"},
            "columns": {
                "age": {"role": "quasi", "kind": "number"},
                "town": {"role": "quasi"},
                "zip": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 0]}},
                "ill": {"role": "sensitive"},
            },
            "promise": {"k": 5},
            "defence": {"method": method, "suppress": 0.1},
        }
    )


@pytest.mark.parametrize("method", ["median", "curve", "lattice"])
def test_bits_lost_and_query_errors_mean_one_thing(tmp_path: Path, method: str) -> None:
    view, policy = people(), rules(method)
    made = sr.publish(view, policy, sr.Ledger.open(tmp_path / "ledger.db"))
    assert made.verdict.released
    audited = sr.audit(made.table, policy, original=view)
    for column in ("age", "town", "zip"):
        said, found = (
            next(m for m in measures if m.name == "non_uniform_entropy" and m.detail["column"] == column)
            for measures in (made.verdict.measures, audited.measures)
        )
        assert said.value == pytest.approx(found.value), column
    if method == "lattice":  # other methods publish sets, which an audit reads as they are and publish as ranges
        for share in ("1%", "5%", "10%"):
            said, found = (
                next(m for m in measures if m.name == f"query_error_{share}")
                for measures in (made.verdict.measures, audited.measures)
            )
            assert said.value == pytest.approx(found.value), share


def test_a_marketer_looks_into_the_same_population_as_a_journalist() -> None:
    table = pa.table({"age": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "b"]})
    whole = pa.table({"age": ["1"] * 4 + ["2"] * 8, "ill": ["a", "b"] * 6})
    policy = policy_from_dict(
        {"series": {"name": "s"}, "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}}
    )
    alone, beside = sr.audit(table, policy), sr.audit(table, policy, beside=whole, prior="margin")
    marketer = [next(m for m in found.measures if m.name == "marketer_risk") for found in (alone, beside)]
    assert marketer[0].value == pytest.approx(0.5)
    assert marketer[1].value == pytest.approx((2 / 4 + 2 / 8) / 4)
    assert marketer[1].detail["population"] == "the other table"


def test_scores_of_special_uniques_can_be_had_record_by_record() -> None:
    view, policy = people(), rules("median")
    found = sr.audit(view, policy)
    scores = found.special_uniques
    assert scores.column_names == ["row", "n_sets", "smallest", "log_score"]
    assert scores.num_rows == N
    told = next(m for m in found.measures if m.name == "special_uniques")
    assert told.value == sum(n > 0 for n in scores["n_sets"].to_pylist())
    assert told.detail["log_scores"]["highest"] == pytest.approx(max(scores["log_score"].to_pylist()))


def test_groups_that_are_published_alike_are_measured_as_one(tmp_path: Path) -> None:
    table = pa.table({"age": [20 + i % 12 for i in range(24)], "zip": [f"{10100 + i % 7}" for i in range(24)]})
    view = table.append_column("town", pa.array(["t"] * 24)).append_column("ill", pa.array(["flu", "gout", "cold"] * 8))
    for method in ("median", "curve", "lattice"):
        folder = tmp_path / method
        folder.mkdir()
        made = sr.publish(view, rules(method), sr.Ledger.open(folder / "ledger.db"))
        assert any(m.name == "non_uniform_entropy" for m in made.verdict.measures)
