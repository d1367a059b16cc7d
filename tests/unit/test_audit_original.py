"""An audit with the original at hand: what was lost, what is untrue, what leads back to a record."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.errors import InputError, TableError
from seriatim.model import Measure, scale_of
from seriatim.model.scale import Scale
from seriatim.reading.label_cover import covers

ROLES = {
    "series": {"name": "ward"},
    "columns": {
        "age": {"role": "quasi", "kind": "number"},
        "zip": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [3, 2]}},
        "disease": {"role": "sensitive"},
    },
}
BEFORE = {
    "age": [20, 21, 30, 38, 40, 60],
    "zip": ["48101", "48102", "48201", "48202", "49001", "49002"],
    "disease": ["flu", "flu", "cold", "flu", "cold", "angina"],
}
AFTER = {
    "age": ["[20, 30[", "[20, 30[", "30-38", "30-38", ">=40"],
    "zip": ["481**", "481**", "482**", "482**", "*"],
    "disease": ["flu", "flu", "cold", "flu", "cold"],
}


def measures(after: dict[str, list], **more: object) -> dict[tuple[str, str], Measure]:
    more = {"original": pa.table(BEFORE)} | more
    found = sr.audit(pa.table(after), sr.Policy.from_dict(ROLES), **more)  # type: ignore[arg-type]
    return {(m.name, str(m.detail.get("column", ""))): m for m in found.measures}


def test_what_labels_of_any_tool_cost():
    found = measures(AFTER)
    assert found["suppressed_share", ""].value == pytest.approx(1 / 6)
    # widths over 40 years: [20,30[ reaches 20 and 21, 30-38 eight years, >=40 twenty; the one left out counts 1
    assert found["ncp", "age"].value == pytest.approx((2 * 1 / 40 + 2 * 8 / 40 + 20 / 40 + 1) / 6)
    assert found["precision", "age"].value == pytest.approx(1 - found["ncp", "age"].value)
    assert "no hierarchy" in found["precision", "age"].detail["by"]
    # the hierarchy has three levels: 481** and 482** stand at the first, '*' at the top
    assert found["precision", "zip"].value == pytest.approx(1 - (4 * 1 / 3 + 1 + 1) / 6)
    assert found["ncp", "zip"].value == pytest.approx((4 * 1 / 5 + 1 + 1) / 6)
    assert found["gcp", ""].value == pytest.approx((found["ncp", "age"].value + found["ncp", "zip"].value) / 2)
    assert found["domain_size", "zip"].value == 2  # '*' is not a value
    assert found["domain_size", "zip"].detail["before"] == 6
    everything = math.log2(6)
    assert found["non_uniform_entropy", "zip"].value == pytest.approx((4 * 1 + 2 * everything) / 6)
    assert found["discernibility", ""].value == 4 + 4 + 1 + 6
    assert {name for name, _ in found} >= {"query_error_1%", "query_error_5%", "query_error_10%", "withheld_l_d"}
    assert ("distance_linkage", "") not in found


def test_records_are_matched_by_row_when_that_is_said():
    after = {name: [*cells, cells[-1]] for name, cells in AFTER.items()}
    found = measures(after, aligned=True)
    assert found["untrue_share", "age"].value == 0.0
    with pytest.raises(TableError, match="5 records beside 6"):
        measures(AFTER, aligned=True)
    with pytest.raises(InputError, match="needs the original table"):
        measures(AFTER, aligned=True, original=None)


def test_records_are_matched_by_the_respondent_in_any_order():
    roles = {**ROLES, "series": {"name": "ward", "respondent": "id"}}
    before = pa.table({**BEFORE, "id": list("uvwxyz")})
    after = pa.table({**BEFORE, "id": list("uvwxyz")}).take([5, 3, 1, 0, 2])
    found = {m.name: m for m in sr.audit(after, sr.Policy.from_dict(roles), original=before).measures}
    assert found["distance_linkage"].value == pytest.approx(1.0)
    assert found["untrue_share"].value == 0.0
    twice = before.set_column(3, "id", pa.array(list("uuwxyz")))
    with pytest.raises(TableError, match="1 respondents occur more than once"):
        sr.audit(after, sr.Policy.from_dict(roles), original=twice)


def perturbed(noise: float, n: int = 400) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(5)
    before = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.normal(3000, 800, n).round(2),
            "disease": rng.choice(list("abc"), n),
        }
    )
    after = before.assign(
        age=(before["age"] + rng.normal(0, noise * before["age"].std(), n)).round(1),
        income=(before["income"] + rng.normal(0, noise * before["income"].std(), n)).round(2),
    )
    return before, after


def test_a_perturbed_table_leads_back_less_the_more_noise_it_has():
    roles = {
        "series": {"name": "survey"},
        "columns": {
            "age": {"role": "quasi", "kind": "number"},
            "income": {"role": "quasi", "kind": "number"},
            "disease": {"role": "sensitive"},
        },
    }
    linked = []
    for noise in (0.0, 0.05, 1.0):
        before, after = perturbed(noise)
        audit = sr.audit(after, sr.Policy.from_dict(roles), original=before, aligned=True)
        found = {m.name: m for m in audit.measures}
        linked.append(found["distance_linkage"].value)
        assert found["distance_linkage"].detail["tried"] == 400
        assert found["distance_linkage"].detail["by_luck"] == 1 / 400
    assert linked[0] == 1.0
    assert 0.1 < linked[1] < 1.0
    assert linked[2] < 0.05
    assert any("cover no value of the original" in note for note in audit.notes)
    page = audit.report.to_html()
    assert "Nearest record is the right one" in page


def test_a_label_is_untrue_when_it_does_not_cover_what_it_stands_for():
    roles = {"series": {"name": "x"}, "columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive"}}}
    before = pa.table({"q": list("abcda"), "s": list("xyxyx")})
    after = pa.table({"q": ["{a,c}", "{a,c}", "{a,c}", "d", "b"], "s": list("xyxyx")})
    found = sr.audit(after, sr.Policy.from_dict(roles), original=before, aligned=True).measures
    assert next(m.value for m in found if m.name == "untrue_share") == pytest.approx(2 / 5)


def test_an_original_that_cannot_be_compared():
    with pytest.raises(TableError, match="column 'zip': not in the original"):
        measures(AFTER, original=pa.table(BEFORE).drop(["zip"]))
    with pytest.raises(TableError, match="no records"):
        measures(AFTER, original=pa.table(BEFORE).slice(0, 0))


def test_the_original_is_the_prior_when_one_is_asked_for():
    found = sr.audit(pa.table(AFTER), sr.Policy.from_dict(ROLES), original=pa.table(BEFORE), prior="margin")
    assert found.prior == "margin of table"


def test_the_original_does_not_change_the_figures_of_the_published_margin():
    alone = sr.audit(pa.table(AFTER), sr.Policy.from_dict(ROLES))
    beside = sr.audit(pa.table(AFTER), sr.Policy.from_dict(ROLES), original=pa.table(BEFORE))
    assert alone.classes.equals(beside.classes)


@pytest.mark.parametrize(
    ("frame", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.table, pa.Table)]
)
def test_tables_come_out_as_the_kind_that_went_in(frame, kind):
    audit = sr.audit(frame(AFTER), sr.Policy.from_dict(ROLES))
    assert isinstance(audit.classes, kind)
    assert isinstance(audit.records, kind)
    assert isinstance(audit.worst_sets("disease"), kind)
    assert list(audit.classes["size"].to_pylist() if kind is pa.Table else audit.classes["size"]) == [2, 2, 1]
    with pytest.raises(InputError, match="not a sensitive column"):
        audit.worst_sets("zip")


def test_an_audit_tells_itself_in_a_few_lines():
    audit = sr.audit(pa.table(AFTER), sr.Policy.from_dict({**ROLES, "promise": {"k": 3}}))
    lines = repr(audit).splitlines()
    assert lines[0] == "Audit of 'table': 5 records in 3 classes; prior: published margin; broken: k"
    assert lines[1].startswith("  disease, worst class: size 1, distinct_l 1,")
    assert len(repr(audit)) < 400
    assert "flu" not in repr(audit)
    assert "Promises broken" in audit._repr_html_()


@pytest.mark.parametrize("share", [0.0, 1.5, float("nan")])
def test_a_sample_is_a_share(share: float):
    with pytest.raises(InputError, match="above 0 and up to 1"):
        measures(AFTER, sampled=share)


def test_a_known_sampling_fraction_takes_the_place_of_supposed_ones():
    assert set(measures(AFTER, sampled=0.5)["correct_given_unique", ""].detail) == {"sampled", "error"}
    assert measures(AFTER)["correct_given_unique", ""].detail["supposed"] == 0.1


def numbers() -> Scale:
    return scale_of("interval", pa.array([str(n) for n in (1, 2, 5, 10, 20)]), np.array([1.0, 2.0, 5.0, 10.0, 20.0]))


@pytest.mark.parametrize(
    ("label", "codes"),
    [
        ("*", [0, 1, 2, 3, 4]), ("5", [2]), ("[2,10]", [1, 2, 3]), ("[2, 10[", [1, 2]), ("(2,10]", [2, 3]),
        ("]2,10]", [2, 3]),
        ("[2;10)", [1, 2]), ("2-10", [1, 2, 3]), ("2 – 10", [1, 2, 3]), ("2 to 10", [1, 2, 3]), ("<5", [0, 1]),
        ("<=5", [0, 1, 2]), (">5", [3, 4]), ("≥5", [2, 3, 4]), ("10+", [3, 4]), ("{1,20}", [0, 4]), ("2*", [4]),
        ("1*", [3]),
        ("5.0", [2]), ("[3,4]", None), ("7.5", None), ("young", None), ("{1,7}", None), ("-5 - -1", None),
    ],
)  # fmt: skip
def test_labels_of_numbers_are_read(label: str, codes: list[int] | None):
    found = covers([label], numbers())[0]
    assert (None if found is None else found.tolist()) == codes


def test_labels_of_texts_are_read():
    scale = scale_of("set", pa.array(["4810", "48101", "48102", "49001", 'a,"b']), np.arange(5.0))
    found = covers(["481**", "48*", "*", '{48101,"a,""b"}', "4*1", "xyzzy", None], scale)
    assert [None if codes is None else codes.tolist() for codes in found] == [
        [1, 2], [0, 1, 2], [0, 1, 2, 3, 4], [1, 4], None, None, [0, 1, 2, 3, 4],
    ]  # fmt: skip


def test_no_value_of_the_original_stands_in_the_report_or_an_error():
    before = {**BEFORE, "zip": ["xyzzy1", *BEFORE["zip"][1:]], "disease": ["plugh", *BEFORE["disease"][1:]]}
    after = {name: [*cells, cells[-1]] for name, cells in AFTER.items()}
    after["zip"][0] = "grault"
    found = sr.audit(pa.table(after), sr.Policy.from_dict(ROLES), original=pa.table(before), aligned=True)
    told = found.report.to_html() + found.report.to_json() + repr(found) + found._repr_html_()
    assert "1 published labels cover no value" in told
    assert not any(word in told for word in ("xyzzy", "plugh", "grault"))
    missing = pa.table({**before, "age": ["xyzzy", None, None, None, None, None]})
    with pytest.raises(InputError) as caught:
        sr.audit(pa.table(after), sr.Policy.from_dict(ROLES), original=missing, aligned=True)
    assert "xyzzy" not in str(caught.value)
