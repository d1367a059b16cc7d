"""A series of cohorts that an earlier version cut by values: the next release takes it over, with a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.old_cut import OldCut

import seriatim as sr
from seriatim.defences.series import shuffle
from seriatim.defences.series.cohort import newcomers
from seriatim.defences.series.cohort.memory import SlotsInUse
from seriatim.testing.hospital import hospital_months


def policy(**adversary: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "patient"},
            "columns": {
                "age": {"role": "quasi", "kind": "number"},
                "sex": {"role": "quasi"},
                "postcode": {"role": "drop"},
                "ward": {"role": "drop"},
                "disease": {"role": "sensitive"},
            },
            "promise": {"m": 3, "odds": 1.5},
            "defence": {"method": "cohort"},
            "adversary": {"compromised": 0.1, **adversary},
        }
    )


def old_cells(making: SlotsInUse, pool: Any, enters: Any, _: Any) -> list[Any]:
    party = pool[enters]
    value = making.view.sensitive[party].astype(np.int64)
    return [party[one] for one in OldCut.of("cohort", value, 3, 1.5).cells(making.place[party], value)]


def by_the_old_version(monkeypatch: pytest.MonkeyPatch, view: pa.Table, ledger: Any) -> Any:
    kept = shuffle._shuffled_groups
    with monkeypatch.context() as old:
        old.setattr(newcomers, "_cells", old_cells)
        old.setattr(shuffle, "_shuffled_groups", lambda *given: kept(*given).drop_columns(["blind"]))
        made = sr.publish(view, policy(), ledger)
    assert made.verdict.released, made.verdict.reasons
    return made


def test_the_next_release_takes_it_over_and_states_no_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    first, second = hospital_months(3_000, 2)
    by_the_old_version(monkeypatch, first, ledger)
    made = sr.publish(second, policy(), ledger)
    assert made.verdict.released, made.verdict.reasons
    assert any(note.startswith("taken over after release 1") for note in made.verdict.notes)
    (cells,) = [one for one in made.verdict.findings if one.rule == "fair_cells"]
    assert "belief about anyone" not in cells.detail
    assert "no bound on belief" in cells.detail
    assert any(note.startswith("1 of the releases before cut groups by values") for note in made.verdict.notes)
    found = sr.attack(ledger, {"compromised": 0.1}, "panel", view=first, policy=policy())
    assert found.method is not None
    assert found.method.iterated.share > 0.001


def test_a_series_that_no_value_cut_goes_on(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in hospital_months(1_500, 2):
        made = sr.publish(view, policy(breach_share=0.001), ledger)
        assert made.verdict.released, made.verdict.reasons
        assert not any(note.startswith("taken over") for note in made.verdict.notes)
    (cells,) = [one for one in made.verdict.findings if one.rule == "fair_cells"]
    assert "belief about anyone at most" in cells.detail
