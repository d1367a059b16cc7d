"""Numeric sensitive columns may leave in bands or rounded: nothing finer leaves, and everything judges the bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.tables.bands import band_labels

RNG = np.random.default_rng(7)
TABLE = pa.table(
    {
        "who": [f"p{row}" for row in range(400)],
        "age": RNG.integers(20, 70, 400),
        "income": np.round(RNG.lognormal(7.5, 0.8, 400), 2),
    }
)
EDGES = [1000, 2000.5, 4000]
LABELS = ("<1000", "[1000,2000.5)", "[2000.5,4000)", ">=4000")


def policy(column: dict[str, Any], **promise: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "pay", "respondent": "who"},
            "columns": {"age": {"role": "quasi"}, "income": {"role": "sensitive", "kind": "number", **column}},
            "promise": promise or {"k": 5, "l": 3, "t": 0.4, "t_distance": "ordered"},
            "defence": {"method": "median"},
        }
    )


def band(value: float) -> str:
    return LABELS[sum(value >= edge for edge in EDGES)]


@pytest.mark.parametrize("frame", [pa.table, pl.from_arrow, lambda t: t.to_pandas()])
def test_bands_leave_instead_of_numbers(frame: Any, tmp_path: Path) -> None:
    made = sr.publish(frame(TABLE), policy({"bands": EDGES}), sr.Ledger.open(tmp_path / "l.db"))
    assert made.verdict.released, made.verdict.reasons
    shown = list(made.table["income"].to_pylist() if isinstance(made.table, pa.Table) else made.table["income"])
    assert sorted(shown) == sorted(band(value) for value in TABLE["income"].to_pylist())


def test_a_csv_file_and_its_audit(tmp_path: Path) -> None:
    pd.DataFrame(TABLE.to_pydict()).to_csv(tmp_path / "pay.csv", index=False)
    made = sr.publish(tmp_path / "pay.csv", policy({"bands": EDGES}), sr.Ledger.open(tmp_path / "l.db"))
    found = sr.audit(made.table, policy({"bands": EDGES}))
    kept = {finding.rule: finding for finding in made.verdict.findings}
    again = {finding.rule: finding for finding in found.findings}
    assert again["t"].worst == pytest.approx(kept["t"].worst)
    assert again["l"].worst == kept["l"].worst <= len(LABELS)


def test_rounding_keeps_numbers(tmp_path: Path) -> None:
    made = sr.publish(TABLE, policy({"rounding": 100}, k=3), sr.Ledger.open(tmp_path / "l.db"))
    assert made.table.schema.field("income").type == pa.int64()
    assert sorted(made.table["income"].to_pylist()) == sorted(round(v / 100) * 100 for v in TABLE["income"].to_pylist())


def test_series_see_bands_too(tmp_path: Path) -> None:
    asked = {
        "series": {"name": "pay", "respondent": "who"},
        "columns": {"age": {"role": "quasi"}, "income": {"role": "sensitive", "bands": EDGES}},
        "promise": {"m": 2},
        "defence": {"method": "cohort", "suppress": 0.2},
    }
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for _ in range(2):
        made = sr.publish(TABLE.slice(_ * 20), sr.Policy.from_dict(asked), ledger)
        assert made.verdict.released, made.verdict.reasons
        assert set(made.table["income"].to_pylist()) <= set(LABELS)


def test_missing_cells_stay_missing(tmp_path: Path) -> None:
    holes = TABLE.set_column(2, "income", pa.array([None, *TABLE["income"].to_pylist()[1:]]))
    asked = policy({"bands": EDGES, "missing": "value"}, k=3)
    assert sr.publish(holes, asked, sr.Ledger.open(tmp_path / "l.db")).table["income"].null_count == 1


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        ({"bands": [2, 1]}, "numbers that rise"),
        ({"bands": []}, "numbers that rise"),
        ({"rounding": 0}, "above 0"),
        ({"bands": [1], "rounding": 10}, "one of them"),
        ({"bands": [1], "kind": "category"}, "sensitive columns of numbers"),
        ({"bands": [1], "role": "quasi"}, "sensitive columns of numbers"),
    ],
)
def test_bands_that_mean_nothing_are_faults(column: dict[str, Any], fault: str) -> None:
    with pytest.raises(sr.PolicyError, match=fault):
        policy(column)


def test_names_of_bands() -> None:
    assert band_labels((1000.0, 2000.5, 4000.0)) == LABELS


def test_values_that_occur_once_are_noted(tmp_path: Path) -> None:
    made = sr.publish(TABLE, policy({}, k=3), sr.Ledger.open(tmp_path / "l.db"), dry_run=True)
    assert any("occur only once" in note and "bands" in note for note in made.verdict.notes)
    banded = sr.publish(TABLE, policy({"bands": EDGES}, k=3), sr.Ledger.open(tmp_path / "m.db"), dry_run=True)
    assert not any("occur only once" in note for note in banded.verdict.notes)


def in_epoch(epoch: int, bands: list[float], **adversary: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "pay", "respondent": "who", "epoch": epoch},
            "columns": {"age": {"role": "quasi"}, "income": {"role": "sensitive", "bands": bands}},
            "promise": {"k": 5},
            "defence": {"method": "median"},
            "adversary": adversary,
        }
    )


def test_a_new_epoch_with_other_bands_is_judged_in_those_that_both_have(tmp_path: Path) -> None:
    """Everybody counted as changed, and nothing was judged."""
    ledger, bound = sr.Ledger.open(tmp_path / "l.db"), {"breach_share": 0.99}
    first = sr.publish(TABLE, in_epoch(1, EDGES, **bound), ledger).verdict
    assert first.released
    later = TABLE.slice(20)
    verdict = sr.publish(later, in_epoch(2, [2000.5, 3000, 4000], **bound), ledger).verdict
    (finding,) = [one for one in verdict.findings if one.rule == "breach_share"]
    assert (finding.result, finding.n_unjudged) == ("kept", 0)
    assert not any("changed" in note for note in verdict.notes)
    assert sr.attack(ledger, series="pay").sequence is None  # nobody's value changed
    alone = sr.publish(later, in_epoch(1, EDGES, **bound), sr.Ledger.open(tmp_path / "alone.db")).verdict
    (without,) = [one for one in alone.findings if one.rule == "breach_share"]
    assert finding.worst > without.worst  # the first release tells something


def test_values_that_changed_in_common_bands_are_counted(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    sr.publish(TABLE, in_epoch(1, EDGES, breach_share=0.99), ledger)
    raised = TABLE["income"].to_numpy().copy()
    raised[:40] += 5000
    n = int((TABLE["income"].to_numpy()[:40] < 4000).sum())
    view = TABLE.set_column(2, "income", pa.array(raised))
    verdict = sr.publish(view, in_epoch(2, [2000.5, 3000, 4000], breach_share=0.99), ledger).verdict
    (finding,) = [one for one in verdict.findings if one.rule == "breach_share"]
    assert (finding.result, finding.n_unjudged) == ("partly judged", n)


def test_beliefs_go_on_over_epochs_with_other_bands(tmp_path: Path) -> None:
    """Nobody's income changes, so the people inferred so far stay inferred, and more are added."""
    ledger, found = sr.Ledger.open(tmp_path / "l.db"), []
    for at in range(7):
        asked = in_epoch(1, EDGES, sure_share=1.0) if at < 4 else in_epoch(2, [2000.5, 3000, 4000], sure_share=1.0)
        age = TABLE["age"].to_numpy() + np.random.default_rng(at).integers(-6, 7, len(TABLE))
        verdict = sr.publish(TABLE.set_column(1, "age", pa.array(age)), asked, ledger).verdict
        (estimate,) = [one for one in verdict.estimates if one.attack == "sequence"]
        found.append((estimate.detail["people"], estimate.detail["changed"]))
    assert [changed for _, changed in found] == [0] * 7
    sure = [people for people, _ in found]
    assert sure == sorted(sure)
    assert sure[4] > sure[0]
