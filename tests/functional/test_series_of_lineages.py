"""A series that the method lineage made: it stays readable, and cohort takes it over."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import seriatim as sr
from seriatim.model.candidate_values import candidates_remembered
from seriatim.testing.hospital import hospital_months

KEPT = Path(__file__).parent.parent / "kept" / "cut-by-values"
SERIES = "lineage"


def policy(method: str, epoch: int = 2, **defence: Any) -> dict[str, Any]:
    return {
        "series": {"name": SERIES, "respondent": "patient", "epoch": epoch},
        "columns": {
            "age": {"role": "quasi", "kind": "number"},
            "sex": {"role": "quasi"},
            "postcode": {"role": "drop"},
            "ward": {"role": "drop"},
            "disease": {"role": "sensitive"},
        },
        "promise": {"m": 3, "odds": 2},
        "defence": {"method": method, **defence},
    }


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    shutil.copytree(KEPT, tmp_path / "kept")
    return sr.Ledger.open(tmp_path / "kept" / "ledger.db", create=False)


def only_published_files_miss(ledger: Any) -> bool:
    """Return whether the ledger verifies: of this one, the published files were not kept."""
    return all("/published/" in fault and fault.endswith(": missing") for fault in ledger.verify().faults)


def test_cohort_takes_it_over(ledger: Any) -> None:
    assert [past.method for past in ledger.history(SERIES)] == ["lineage", "lineage"]
    first, second = hospital_months(2_200, 2)
    left = first.filter(pc.invert(pc.is_in(first["patient"], value_set=second["patient"])))
    months = [pa.concat_tables([second.slice(150), left.slice(0, 100)]), second.slice(0, 2_100)]
    made = [sr.publish(month, sr.Policy.from_dict(policy("cohort")), ledger) for month in months]
    for one in made:
        assert one.verdict.released, one.verdict.reasons
        assert any(note.startswith("taken over after release 2") for note in one.verdict.notes)
        assert {finding.rule for finding in one.verdict.findings} >= {"fair_cells", "possible_values"}
    assert candidates_remembered(ledger.memory(SERIES)["candidates"]).until == 2
    (now,) = [course for course in sr.forecast(ledger, SERIES, releases=1).courses if course.way.now]
    assert (now.method, now.numbers, now.way.anew) == ("cohort", (5,), False)
    assert only_published_files_miss(ledger)


def test_it_stays_readable(ledger: Any) -> None:
    assert only_published_files_miss(ledger)
    found = sr.forecast(ledger, SERIES, releases=2)
    assert {course.method for course in found.courses} >= {"cohort", "historical", "invariant"}
    (cohort,) = [course for course in found.courses if course.method == "cohort"]
    assert cohort.way.anew
    assert sr.attack(ledger, {"compromised": 0.04}, SERIES).iterated.wrong == 0
    assert ledger.deliver(SERIES, 2, ["Dr Weber"]).recipients == ("Dr Weber",)
    somebody = ledger.history(SERIES).respondents[0].as_py()
    ledger.erase(SERIES, somebody)
    assert somebody not in ledger.history(SERIES).respondents.to_pylist()
    assert only_published_files_miss(ledger)


def test_the_method_itself_makes_nothing_any_more(ledger: Any) -> None:
    (month,) = hospital_months(300, 1)
    old = sr.Policy.from_dict(policy("lineage", epoch=1))  # still reads and attacks the series
    with pytest.raises(sr.PolicyError, match=r"lineage was withdrawn: .* cohort takes the series over") as caught:
        sr.publish(month, old, ledger)
    assert "lineage" not in caught.value.faults[0].allowed
    assert not [course for course in sr.forecast(ledger, SERIES, releases=1).courses if course.way.now]
