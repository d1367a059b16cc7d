"""What Python prints of a verdict or a history is short, and ids keep their type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.histories import grouped, history_of

import seriatim as sr
from seriatim.testing.hospital import SERIES, hospital_months


def test_a_history_is_one_line() -> None:
    history = history_of(grouped({"a": "1", "b": "2"}, "ab"))
    assert repr(history) == "History(1 releases, 2 people, 2 values)"


@pytest.mark.parametrize("k", [2, 99])
def test_a_verdict_is_a_few_lines(tmp_path: Path, k: int) -> None:
    frame = pd.DataFrame({"age": np.arange(40), "ill": ["flu", "gout"] * 20})
    shape = {
        "series": {"name": "s"},
        "columns": {"age": {"role": "quasi", "kind": "number"}, "ill": {"role": "sensitive"}},
        "promise": {"k": k},
        "defence": {"method": "median"},
    }
    verdict = sr.publish(frame, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "l.db")).verdict
    told = str(verdict)
    assert told == repr(verdict)
    assert len(told.splitlines()) <= 6
    assert len(told) < 600
    assert ("refused" in told, "because k: found 40, required 99" in told) == (k == 99, k == 99)


def test_whole_ids_stay_whole_beside_counterfeits(tmp_path: Path) -> None:
    """People of cohorts leave, and counterfeits stand in for them: their respondent is empty, the others' whole."""
    ledger, policy = sr.Ledger.open(tmp_path / "l.db"), tmp_path / "policy.toml"
    policy.write_text(SERIES)
    for view in hospital_months(400, 2, churn=0.02):
        frame = view.to_pandas()
        frame["patient"] = frame["patient"].str.extract(r"(\d+)", expand=False).astype("int64")
        made = sr.publish(frame, sr.Policy.load(policy), ledger)
        assert made.verdict.released
    groups = made.groups
    assert groups["counterfeit"].any()
    assert pd.api.types.is_integer_dtype(groups["respondent"])
    assert groups.loc[groups["counterfeit"], "respondent"].isna().all()
    real = groups.loc[~groups["counterfeit"], "respondent"]
    assert set(real.astype("int64")) == set(frame["patient"])
