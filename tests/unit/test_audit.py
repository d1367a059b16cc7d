"""An audit of small tables, by whatever tool they were made."""

import json
import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seriatim.errors import TableError
from seriatim.model import (
    ColumnRule,
    DefenceSettings,
    Kind,
    Missing,
    Policy,
    PromiseTerms,
    Role,
    SeriesTerms,
    Table,
    Thresholds,
)
from seriatim.tables.auditable import auditable, read_auditable
from seriatim.usecases.audit.audit import AdversaryQuestion, Audit, audit

NAMES = (
    "class", "size", "distinct_l", "entropy_l", "tv", "emd", "l_d", "l_e", "kl", "beta", "delta", "max_p", "n_missing",
    "n_exclusive",
)  # fmt: skip


def policy(
    quasi: str = "zip age", sensitive: str = "disease", terms: PromiseTerms | None = None, **rules: ColumnRule
) -> Policy:
    columns = {name: ColumnRule(name, Role.QUASI) for name in quasi.split()}
    columns |= {name: ColumnRule(name, Role.SENSITIVE) for name in sensitive.split()}
    return Policy(series="ward", columns=columns | rules, terms=terms or PromiseTerms(), defence=None)


def inpatients() -> Table:
    """Table IIIb of Ren and Li."""
    disease = ["flu", "flu", "flu", "heart", "flu", "flu", "flu", "heart", "flu", "heart", "cancer", "cancer"]
    zips, ages = ["4901*"] * 4 + ["4997*"] * 4 + ["4882*"] * 4, ["2*"] * 4 + ["3*"] * 4 + ["4*"] * 4
    return Table(pa.table({"zip": zips, "age": ages, "disease": disease}), name="inpatients")


def audited(table: Table, asked: Policy, **prior: object) -> Audit:
    beside = prior.pop("beside", None)
    return audit(auditable(table, asked, beside), asked, AdversaryQuestion(**prior))  # type: ignore[arg-type]


def test_classes_records_and_summary_have_the_promised_columns():
    found = audited(inpatients(), policy())
    assert tuple(found.classes.column_names[: len(NAMES)]) == NAMES
    assert found.records.column_names[:2] == ["row", "class"]
    assert found.records.column_names[1:] == found.classes.column_names
    assert found.records.num_rows == 12
    assert found.records["row"].to_pylist() == list(range(12))
    assert found.records["class"].to_pylist() == [0] * 4 + [1] * 4 + [2] * 4
    worst = found.summary["disease"]
    assert set(NAMES[1:]) <= set(worst)
    assert (worst["n_classes"], worst["n_records"], worst["size"], worst["distinct_l"]) == (3, 12, 4, 2)
    assert worst["l_d"] == pytest.approx(math.sqrt(32) / 12)
    assert worst["l_e"] == pytest.approx(0.573, abs=5e-4)
    assert worst["tv"] == pytest.approx(1 / 3)
    assert worst["delta"] == math.inf
    assert found.kept
    assert found.findings == ()


def test_one_block_for_each_sensitive_column():
    table = inpatients()
    doubled = Table(table.data.append_column("ward", pa.array(["a", "b"] * 6)), name="t")
    found = audited(doubled, policy(sensitive="disease ward"))
    assert list(found.summary) == ["disease", "ward"]
    assert found.summary["ward"]["l_d"] == 0.0
    assert found.classes.num_rows == 6
    assert found.classes["sensitive"].to_pylist() == ["disease"] * 3 + ["ward"] * 3
    assert found.records.num_rows == 24
    by_row = found.records.filter(pa.compute.equal(found.records["sensitive"], "ward"))
    assert by_row["tv"].to_pylist() == pytest.approx([0.0] * 12)
    assert [m.value for m in found.measures if m.name == "perfect"] == [0.0, 1.0]


def test_thresholds_that_fail_name_classes_people_and_what_would_pass():
    asked = Thresholds(l=3, t=0.2, alpha_k=0.6, delta=2.0, distribution_leakage=0.3, beta=1.0)
    found = audited(inpatients(), policy(terms=PromiseTerms(k=5, per_column={"disease": asked})))
    assert not found.kept
    by_rule = {f.rule: f for f in found.findings}
    assert set(by_rule) == {"k", "l", "t", "alpha_k", "delta", "distribution_leakage", "beta"}
    assert (by_rule["k"].worst, by_rule["k"].classes, by_rule["k"].n_people) == (4, (0, 1, 2), 12)
    assert (by_rule["l"].classes, by_rule["l"].n_people) == ((0, 1), 8)
    # withholding both classes would leave one, and nothing to compare it with
    assert by_rule["l"].remedy == "l = 2 would pass; cannot be fixed by withholding: only one class would remain"
    assert by_rule["t"].classes == (2,)
    assert (by_rule["alpha_k"].worst, by_rule["alpha_k"].classes) == (0.75, (0, 1))
    assert by_rule["delta"].worst == math.inf
    assert by_rule["distribution_leakage"].classes == (2,)
    assert "withholding 1 class with 4 records would pass" in by_rule["distribution_leakage"].remedy
    assert by_rule["beta"].worst == pytest.approx(2.0)  # cancer: 2/4 against 2/12
    record = json.loads(found.report.to_json())
    assert record["summary"]["disease"]["delta"] == "inf"
    assert float(record["summary"]["disease"]["delta"]) == math.inf
    assert record["kept"] is False
    assert record["readings"]["disease"] == {
        "tv": "equal distance",
        "emd": "ordered distance, values in alphabetical order",
    }


def test_the_report_is_a_page_with_every_picture():
    found = audited(inpatients(), policy(terms=PromiseTerms(k=5)))
    page = found.report.to_html()
    assert "Promises broken" in page
    assert "k: found 4, required 5; 12 records in 3 classes" in page
    assert "3 classes: 0, 1, 2" in page
    assert set(found.charts) == {
        "class_sizes", "worst_classes_disease", "growth_disease", "combinations_disease", "pairs_entropy",
        "pairs_distribution",
    }  # fmt: skip
    heat = found.charts["pairs_entropy"].data
    assert heat.rows == ("zip", "age", "disease")  # type: ignore[union-attr]
    assert math.isnan(heat.cells[0][0])  # type: ignore[union-attr]
    # zip and age say the same, so each tells all about the other
    assert heat.cells[0][1] == pytest.approx(math.log2(3))  # type: ignore[union-attr]


def test_no_value_of_a_person_stands_in_report_or_error():
    canary = "xyzzy-canary"
    table = inpatients().data
    cells = table["disease"].to_pylist()
    cells[0] = canary
    zips = [cell.replace("4901", canary) for cell in table["zip"].to_pylist()]
    planted = Table(pa.table({"zip": zips, "age": table["age"], "disease": cells}), name="t")
    asked = PromiseTerms(k=5, per_column={"disease": Thresholds(l=3, entropy_leakage=0.1)})
    found = audited(planted, policy(terms=asked))
    assert canary not in found.report.to_html()
    assert canary not in found.report.to_json()
    assert canary not in repr(found.findings)


@pytest.mark.parametrize(
    ("change", "asked", "message"),
    [
        (lambda t: t.slice(0, 0), policy(), "no records, so there are no classes"),
        (lambda t: t, policy(quasi="", zip=ColumnRule("zip", Role.PLAIN), age=ColumnRule("age", Role.DROP)),
         "no quasi-identifier is declared"),
        (lambda t: t.slice(0, 4), policy(), "one class"),
        (lambda t: t.set_column(2, "disease", pa.array(["flu"] * 12)), policy(), "one value throughout"),
        (lambda t: t.set_column(2, "disease", pa.array(["*"] * 12)), policy(), "no value at all|at least two values"),
        (lambda t: t.drop(["age"]), policy(), "column 'age': declared in the policy but not in the table"),
        (lambda t: t.append_column("name", pa.array(["x"] * 12)), policy(), "column 'name': not declared"),
        (lambda t: t, policy(sensitive="", disease=ColumnRule("disease", Role.PLAIN)), "no sensitive column"),
        (lambda t: t.set_column(2, "disease", pa.array(["flu", None] * 6)), policy(), "6 missing cells"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_audited(change: object, asked: Policy, message: str):
    table = Table(change(inpatients().data), name="inpatients")  # type: ignore[operator]
    with pytest.raises(TableError, match=message):
        audited(table, asked)


def test_one_class_can_be_compared_with_the_uniform_prior():
    found = audited(Table(inpatients().data.slice(0, 4), name="one"), policy(), prior="uniform")
    assert found.classes["size"].to_pylist() == [4]
    assert found.classes["l_d"].to_pylist() == pytest.approx([math.sqrt(2) / 4])  # (3/4, 1/4) against (1/2, 1/2)


def test_a_star_is_no_value_but_its_record_counts_for_the_class():
    table = inpatients().data
    cells = table["disease"].to_pylist()
    cells[3] = "*"
    found = audited(Table(table.set_column(2, "disease", pa.array(cells)), name="t"), policy(terms=PromiseTerms(k=4)))
    assert found.kept
    assert found.classes["size"].to_pylist() == [4, 4, 4]
    assert found.classes["distinct_l"].to_pylist() == [1, 2, 3]
    assert found.classes["max_p"].to_pylist()[0] == 1.0


def test_classes_are_numbered_among_all_records_even_when_some_say_nothing():
    cells = ["*"] * 4 + ["a", "b", "a", "b"] + ["a"] * 4
    table = Table(inpatients().data.set_column(2, "disease", pa.array(cells)), name="t")
    asked = Thresholds(l=2, t=0.3, alpha_k=0.6, distribution_leakage=0.4)
    found = audited(table, policy(terms=PromiseTerms(per_column={"disease": asked})))
    broken = {f.rule: f.classes for f in found.findings if not f.kept}
    assert broken == {"l": (2,), "alpha_k": (2,)}


def test_a_class_of_stars_alone_has_no_figures():
    cells = ["*"] * 4 + ["a", "b"] * 4
    table = Table(inpatients().data.set_column(2, "disease", pa.array(cells)), name="t")
    found = audited(table, policy(terms=PromiseTerms(per_column={"disease": Thresholds(l=2)})))
    assert found.classes["l_d"].to_pylist() == [None, 0.0, 0.0]
    assert found.classes["p_value"].to_pylist()[0] is None
    assert found.kept


def test_missing_cells_follow_the_policy():
    table = inpatients().data.set_column(2, "disease", pa.array(["flu", None, "heart"] * 4))
    as_value = ColumnRule("disease", Role.SENSITIVE, missing=Missing.VALUE)
    left_out = ColumnRule("disease", Role.SENSITIVE, missing=Missing.SUPPRESS)
    assert audited(Table(table), policy(disease=as_value)).summary["disease"]["distinct_l"] == 3
    assert audited(Table(table), policy(disease=left_out)).summary["disease"]["distinct_l"] == 2


def test_missing_quasi_values_are_a_label_of_their_own():
    table = inpatients().data.set_column(1, "age", pa.array([None] * 4 + ["3*"] * 4 + ["4*"] * 2 + [None] * 2))
    assert audited(Table(table), policy()).classes["size"].to_pylist() == [4, 4, 2, 2]


def test_numbers_are_ordered_as_numbers():
    values = [9, 10, 100, 9, 10, 10]
    table = pa.table({"zip": list("aaabbb"), "pay": values})
    as_text = pa.table({"zip": list("aaabbb"), "pay": [str(v) for v in values]})
    rule = ColumnRule("pay", Role.SENSITIVE, kind=Kind.NUMBER)
    expected = audited(Table(table), policy("zip", "pay")).classes["emd"].to_pylist()
    assert audited(Table(as_text), policy("zip", "pay", pay=rule)).classes["emd"].to_pylist() == expected
    # shares: a 1/3 1/3 1/3, margin 1/3 1/2 1/6: moves 1/6 over one step of two
    assert expected == pytest.approx([1 / 12, 1 / 12])


def test_dictionaries_parquet_and_texts_give_the_same(tmp_path):
    table = inpatients().data
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=5)
    read = read_auditable(path)
    assert pa.types.is_dictionary(read.data.schema.field("zip").type)
    expected = audited(inpatients(), policy()).classes
    assert audited(read, policy()).classes.equals(expected)
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1] * 3, pa.int8()), pa.array(["x", "x"]))
    assert audited(Table(table.set_column(1, "age", twice)), policy()).classes.equals(expected)


def test_a_parquet_file_that_cannot_be_audited(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"no such thing")
    with pytest.raises(TableError, match="cannot be read as Parquet"):
        read_auditable(path)


def test_odd_types_make_classes_too():
    table = pa.table({"zip": pa.array([0.5, 0.5, 7.0]), "age": [True, True, False], "disease": [1.0, 2.5, 2.5]})
    assert audited(Table(table), policy()).classes["size"].to_pylist() == [2, 1]


def test_a_published_group_is_the_class_of_a_serial_method_only():
    table = Table(pa.table({"group": [7, 7, 3, 3], "zip": ["a", "b", "c", "d"], "disease": ["x", "y", "x", "x"]}))
    serial = replace(policy("zip"), defence=DefenceSettings("cohort"))
    assert audited(table, serial).classes["size"].to_pylist() == [2, 2]
    for other in (policy("zip"), replace(policy("zip"), defence=DefenceSettings("median"))):
        with pytest.raises(TableError, match="column 'group': not declared"):
            audited(table, other)
    declared = policy("zip", group=ColumnRule("group", Role.DROP))
    assert audited(table, declared).classes["size"].to_pylist() == [1] * 4


def test_joined_rows_are_spread_by_their_count():
    whole = inpatients().data
    joined = whole.group_by(["zip", "age", "disease"], use_threads=False).aggregate([([], "count_all")])
    joined = joined.rename_columns(["count" if name == "count_all" else name for name in joined.column_names])
    asked = policy(terms=PromiseTerms(k=4))
    found = audited(Table(joined, name="joined"), asked)
    assert joined.num_rows < len(found.audited) == 12
    assert found.kept
    assert sorted(found.classes["size"].to_pylist()) == [4, 4, 4]
    assert any("7 rows with a column count stand for 12 records" in note for note in found.notes)
    assert found.summary["disease"]["l_d"] == pytest.approx(audited(inpatients(), asked).summary["disease"]["l_d"])


def test_a_count_below_one_is_a_fault_and_a_declared_one_is_a_column():
    table = inpatients().data
    with pytest.raises(TableError, match="counts below 1"):
        audited(Table(table.append_column("count", pa.array([0] + [1] * 11))), policy())
    dropped = policy(count=ColumnRule("count", Role.DROP))
    assert len(audited(Table(table.append_column("count", pa.array([5] * 12))), dropped).audited) == 12


@pytest.mark.parametrize("first", ["", "Unnamed: 0", "rownames"])
def test_row_numbers_are_no_column(tmp_path, first):
    table = inpatients().data
    lines = [",".join([f'"{first}"', *table.column_names])]
    lines += [f'"{n}",' + ",".join(row.values()) for n, row in enumerate(table.to_pylist(), 1)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    if first == "rownames":
        with pytest.raises(TableError, match="not declared"):
            audited(read_auditable(path), policy())
    else:
        assert audited(read_auditable(path), policy()).classes["size"].to_pylist() == [4, 4, 4]


def test_a_number_written_in_several_ways_is_one_value():
    table = Table(
        pa.table({"zip": ["0", "0.0", "1", "1.00"], "age": ["2", "2", "2,0", "2.0"], "disease": ["3", "4", "3.0", "4"]})
    )
    found = audited(table, policy(terms=PromiseTerms(k=2)))
    assert found.classes["size"].to_pylist() == [2, 2]
    assert found.kept
    assert [m.value for m in found.measures if m.name == "perfect"] == [1.0]
    other = Table(pa.table({"zip": [0, 0, 1, 1], "age": [2.0] * 4, "disease": ["3.0", "4.0", "3", "4"]}), name="o")
    beside = audited(table, policy(), beside=other, prior="conditional")
    assert beside.classes["l_d"].to_pylist() == pytest.approx([0.0, 0.0])
    codes = Table(pa.table({"zip": ["007", "7", "07", "7"], "age": ["2"] * 4, "disease": ["a", "b", "a", "b"]}))
    assert audited(codes, policy()).classes["size"].to_pylist() == [1, 2, 1]


def original() -> Table:
    table = inpatients().data
    more = pa.table({"zip": ["4882*"] * 3, "age": ["4*"] * 3, "disease": ["plague", "cancer", "cancer"]})
    return Table(pa.concat_tables([table, more]), name="original")


def test_the_margin_of_another_table_as_prior_and_what_was_withheld():
    found = audited(inpatients(), policy(), beside=original(), prior="margin")
    assert found.prior == "margin of original"
    prior = np.array([4, 7, 3, 1]) / 15  # cancer, flu, heart, plague
    first = np.array([0, 3, 1, 0]) / 4
    assert found.classes["l_d"].to_pylist()[0] == pytest.approx(float(np.linalg.norm(prior - first)))
    assert found.classes["n_missing"].to_pylist() == [2, 2, 1]
    assert found.classes["p_value"].null_count == 3
    withheld = next(m for m in found.measures if m.name == "withheld_l_d")
    assert withheld.detail == {"column": "disease", "records": 3, "values": 2}
    assert withheld.value == pytest.approx(float(np.linalg.norm(np.array([2, 0, 0, 1]) / 3 - prior)))


def test_a_conditional_prior_is_what_definition_2_asks_for():
    found = audited(inpatients(), policy(), beside=original(), prior="conditional")
    third = np.linalg.norm(np.array([2, 1, 1, 0]) / 4 - np.array([4, 1, 1, 1]) / 7)
    assert found.classes["l_d"].to_pylist() == pytest.approx([0.0, 0.0, float(third)])


def test_uniform_prior():
    found = audited(inpatients(), policy(), prior="uniform")
    assert found.prior == "uniform"
    assert found.classes["l_e"].to_pylist()[0] == pytest.approx(math.log2(3) - 0.811278, abs=1e-5)


def test_priors_that_miss_something():
    smaller = Table(inpatients().data.slice(0, 8), name="smaller")
    with pytest.raises(TableError, match="misses 1 published value"):
        audited(inpatients(), policy(), beside=smaller, prior="margin")
    with pytest.raises(TableError, match="no record in 1 of 3 classes"):
        audited(inpatients(), policy(), beside=smaller, prior="conditional")
    with pytest.raises(TableError, match="no table to take it from"):
        audited(inpatients(), policy(), prior="margin")
    margin_only = Table(inpatients().data.select(["disease"]), name="margin")
    assert audited(inpatients(), policy(), beside=margin_only, prior="margin").kept
    with pytest.raises(TableError, match="lacks quasi-identifiers"):
        audited(inpatients(), policy(), beside=margin_only, prior="conditional")


def test_the_other_table_is_the_population_of_the_journalist():
    found = {m.name: m for m in audited(inpatients(), policy(), beside=original(), prior="margin").measures}
    assert (found["prosecutor_risk"].value, found["journalist_risk"].value) == (0.25, 0.25)
    assert found["journalist_risk"].detail["mean"] == pytest.approx((4 / 4 + 4 / 4 + 4 / 7) / 12)
    alone = {m.name: m for m in audited(inpatients(), policy()).measures}
    assert "upper bound" in alone["journalist_risk"].detail["population"]
    assert alone["uniques"].value == 0
    assert "correct_given_unique" not in alone
    assert [m.value for m in audited(inpatients(), policy()).measures if m.name == "domain_size"] == [3, 3]


def test_the_worst_set_of_each_record():
    found = audited(inpatients(), policy()).worst_sets("disease")
    assert found.column_names == ["row", "given", "l_d"]
    assert found["given"].to_pylist() == ["zip"] * 12  # age tells no more, both together neither


def test_a_respondent_column_is_pointed_out():
    with_ids = Table(inpatients().data.append_column("patient", pa.array(range(12))), name="t")
    asked = policy()
    found = audited(
        with_ids, Policy(series="ward", columns=asked.columns, terms=asked.terms, defence=None, respondent="patient")
    )
    assert any("patient" in note for note in found.notes)


def test_promises_about_a_series_are_named_as_not_judged():
    found = audited(inpatients(), policy(terms=PromiseTerms(series=SeriesTerms(m=3))))
    assert json.loads(found.report.to_json())["notes"] == ["m: a promise about a series, not judged on a single table"]
