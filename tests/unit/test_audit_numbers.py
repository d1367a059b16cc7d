"""What an audit says about numbers: hit chance, area, and the outlier that makes it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import seriatim as sr

NEAR_AND_FAR = [2000, 2010, 2020, 2030, 2015, 2005, 2025, 2035, 2040, 24000]
EVEN = [2000 + 300 * step for step in range(10)]
COLUMNS = {"age": {"role": "quasi"}, "income": {"role": "sensitive", "kind": "number"}, "ill": {"role": "sensitive"}}


def audited(*groups: list[int]) -> sr.audit:
    ages = [20 * i for i, group in enumerate(groups) for _ in group]
    incomes = [value for group in groups for value in group]
    table = pa.table({"age": ages, "income": incomes, "ill": ["xy"[i % 2] for i in range(len(ages))]})
    return sr.audit(table, sr.Policy.from_dict({"series": {"name": "s"}, "columns": COLUMNS}))


def test_figures_and_the_warning_of_an_outlier() -> None:
    found = audited(NEAR_AND_FAR, EVEN)
    measures = {m.name: m for m in found.measures if m.detail.get("column") == "income"}
    assert measures["hit_chance"].value == 0.9
    assert measures["hit_chance"].detail["mean"] == pytest.approx((0.9 + 0.2) / 2)
    assert measures["nothing_left"].value == 0
    assert measures["equivocation_area"].detail["outlier_classes"] == 1
    assert any("income: in 1 class one record carries more than 30% of the area" in note for note in found.notes)
    assert not any("carries more" in note for note in audited(EVEN, EVEN[::-1]).notes)
    assert "Best guess at a number comes near" in found.report.to_html()


def test_texts_have_no_such_figures() -> None:
    assert not any(m.name == "hit_chance" and m.detail["column"] == "ill" for m in audited(EVEN, EVEN).measures)


def test_what_is_left_by_what_is_known() -> None:
    """By hand: four people; nothing, one of two columns, or both are known."""
    table = pa.table({"age": [20, 20, 30, 30], "sex": ["f", "m", "f", "m"], "income": [100, 100, 200, 300]})
    columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "income": {"role": "sensitive", "kind": "number"}}
    audit = sr.audit(table, sr.Policy.from_dict({"series": {"name": "s"}, "columns": columns}))
    none, one, both = audit.equivocation_known("income").to_pylist()
    assert (none["known"], none["sets"], none["initial"], none["hit_chance"]) == (0, 1, 1.5, 0.5)
    assert one["sets"] == 2
    assert one["initial"] == pytest.approx((0 + 1 + 1 + 1) / 4)  # ages, then sexes
    assert one["area"] == pytest.approx((0 + 100 + 100 + 200) / 4)
    assert one["nothing_left"] == 0.25
    assert (one["worst_set"], one["worst_hit_chance"]) == ("age", 0.75)
    assert (both["initial"], both["hit_chance"], both["nothing_left"]) == (0, 1, 1)
    assert set(both["worst_set"].split(" + ")) == {"age", "sex"}
    with pytest.raises(sr.InputError, match="not a width"):
        audit.equivocation_known("income", "wide")


def test_combinations_and_records_have_averages_of_their_own() -> None:
    """A class of nine near incomes and one far away, and a class of one: means over classes, and over people."""
    known = audited(NEAR_AND_FAR, [5000]).equivocation_known("income").to_pylist()[1]
    assert known["hit_chance"] == pytest.approx((0.9 + 1) / 2)
    assert known["hit_chance_by_record"] == pytest.approx((10 * 0.9 + 1) / 11)


def test_a_row_per_record() -> None:
    table = audited(NEAR_AND_FAR, EVEN).equivocation("income")
    assert table.num_rows == 20
    rows = table.to_pylist()
    assert rows[0]["hit_chance"] == 0.9
    assert rows[0]["belief_in_truth"] == pytest.approx(0.9)
    assert rows[9]["belief_in_truth"] == pytest.approx(0.1), "the outlier itself is well hidden"
    assert rows[10]["initial"] == pytest.approx(3.3219, abs=1e-4)
    with pytest.raises(sr.InputError, match="not a sensitive column"):
        audited(EVEN, EVEN).equivocation("age")
