"""Techniques on one map of risk against usefulness."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim import api
from seriatim.model.noise_bell import SPREAD
from seriatim.usecases.compare import map_statistics
from seriatim.usecases.compare.risk_map import MapWish, TriedTechnique, mark_unbeaten

POLICY: dict[str, Any] = {
    "series": {"name": "wages"},
    "columns": {
        "age": {"role": "quasi", "kind": "number", "hierarchy": {"interval": [10, 20, 40]}},
        "hours": {"role": "quasi", "kind": "number"},
        "wage": {"role": "sensitive", "kind": "number"},
    },
    "promise": {"k": 4},
    "defence": {"method": "median"},
}


def wages(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 70, n)
    wage = np.exp(rng.normal(2.5 + age / 100, 0.4)).round(1)
    return pd.DataFrame({"age": age, "hours": rng.integers(10, 60, n), "wage": wage})


@pytest.fixture(scope="module")
def found() -> Any:
    return api.compare_on_map(wages(), sr.Policy.from_dict(POLICY))


def of(found: Any, technique: str) -> list[TriedTechnique]:
    return [point for point in found.points if point.technique == technique]


def test_every_technique_is_on_it(found: Any) -> None:
    names = {point.technique for point in found.points}
    assert {"policy", "median", "curve", "lattice", "sample", "noise", "queries"} <= names
    assert [point.of_policy for point in found.points].count(True) == 1
    unusable = [point for point in found.points if point.why]
    assert {point.technique for point in unusable} <= {"lattice", "sequence"}
    assert {point.technique for point in of(found, "median")} == {"median"}
    assert not any(point.why for point in of(found, "median"))


def test_more_protection_costs_more(found: Any) -> None:
    """By larger groups, smaller samples and more noise."""
    for technique in ("median", "noise"):
        first, last = of(found, technique)[0], of(found, technique)[-1]
        assert last.risk < first.risk
        assert last.cost > first.cost
    few, many = of(found, "sample")[0], of(found, "sample")[-1]
    assert few.risk < many.risk
    assert of(found, "queries")[0].risk > of(found, "queries")[-1].risk


def test_users_of_a_sample_count_for_all() -> None:
    """Counts from a tenth of the records are multiplied by ten: they are off by chance, not by nine tenths."""
    counted = api.compare_on_map(wages(2000), sr.Policy.from_dict(POLICY), MapWish(cost="query_error"))
    assert max(point.cost for point in of(counted, "sample")) < 0.5


def test_the_policy_lies_on_top_of_the_chart(found: Any) -> None:
    assert found.chart.data.lines[-1].name == "policy"
    assert found.wish.near == "±5%"


def test_the_page_names_the_policys_point_and_what_is_near(found: Any) -> None:
    page = found.to_html()
    assert "Near is ±5%." in page
    assert (
        "The policy&#39;s own point, marked: median, risk" in page or "The policy's own point, marked: median" in page
    )
    unusable = TriedTechnique(technique="policy", parameter="median", of_policy=True, why="nothing fits")
    told = replace(found, points=(unusable, *found.points[1:]), wish=MapWish(risk="area")).to_html()
    assert "median cannot be used here: nothing fits" in told
    assert "Near is" not in told


def test_many_numbers_have_an_area_in_no_time() -> None:
    """Areas are over bands of numbers: near to those of 400 values, which took minutes for a few thousand records."""
    frame = wages(600)
    mapped = api.compare_on_map(frame, sr.Policy.from_dict(POLICY), MapWish(risk="area"))
    rough = {(p.technique, p.parameter): p.risk for p in mapped.points if p.technique in ("median", "sample")}
    assert frame.wage.nunique() > 64
    assert rough["median", "k = 2"] > rough["median", "k = 50"] > 0
    assert 0 < rough["sample", "5%"] < rough["sample", "50%"]


def test_the_front_is_beaten_by_nobody(found: Any) -> None:
    assert found.front
    for point in found.front:
        assert not any(o.risk < point.risk and o.cost < point.cost for o in found.points)
    a, b, c = (
        TriedTechnique(technique="t", parameter=str(i), risk=r, cost=s)
        for i, (r, s) in enumerate([(1, 1), (2, 2), (0, 3)])
    )
    assert [point.on_front for point in mark_unbeaten([a, b, c])] == [True, False, True]


def test_the_same_seed_gives_the_same_map(found: Any) -> None:
    again = api.compare_on_map(wages(), sr.Policy.from_dict(POLICY))
    assert again.to_json() == found.to_json()
    assert "Pareto front" in found.to_html()


@pytest.mark.parametrize("risk", ["area", "leakage", "gain"])
@pytest.mark.parametrize("cost", ["loss", "query_error"])
def test_other_axes(risk: str, cost: str) -> None:
    wish = MapWish(risk=risk, cost=cost, seed=2)
    points = api.compare_on_map(wages(120), sr.Policy.from_dict(POLICY), wish).points
    assert any(point.on_front for point in points)
    median = [point for point in points if point.technique == "median"]
    assert median[0].risk >= median[-1].risk - 1e-9
    assert median[0].cost <= median[-1].cost + 0.05


def test_noise_loses_detail() -> None:
    """Two standard deviations of the noise against the width from the 1 % to the 99 % quantile: no noise is free."""
    frame = wages(200)
    found = of(api.compare_on_map(frame, sr.Policy.from_dict(POLICY), MapWish(cost="loss")), "noise")
    width = np.diff(np.quantile(frame.wage, (0.01, 0.99)))[0]
    assert found[0].cost == pytest.approx((2 * SPREAD * 0.1 * frame.wage / width).mean())
    costs = [point.cost for point in found]
    assert costs == sorted(costs)
    assert costs[-1] > 0.3


def test_the_map_is_about_the_column_that_is_asked_for() -> None:
    frame = wages(120).assign(bonus=lambda f: f.hours * 10)
    shape = {**POLICY, "columns": {**POLICY["columns"], "bonus": {"role": "sensitive", "kind": "number"}}}
    first, second = (
        api.compare_on_map(frame, sr.Policy.from_dict(shape), MapWish(column=name)) for name in (None, "bonus")
    )
    assert (first.record()["column"], second.record()["column"]) == ("wage", "bonus")
    assert first.record()["points"] != second.record()["points"]
    with pytest.raises(sr.InputError, match="column: not a sensitive column; allowed: wage, bonus"):
        api.compare_on_map(frame, sr.Policy.from_dict(shape), MapWish(column="age"))


DATES = {**POLICY, "columns": {**POLICY["columns"], "wage": {"role": "sensitive", "kind": "date"}}}


def test_dates_have_noise_in_days_and_cost_what_it_moves() -> None:
    """Days count from the first date: relative to 1970 every error would be small."""
    first = datetime.date(2024, 1, 1)
    frame = wages(120).assign(wage=lambda f: [first + datetime.timedelta(days=int(n)) for n in f.wage * 3])
    mapped = api.compare_on_map(frame, sr.Policy.from_dict(DATES))
    noise = of(mapped, "noise")
    assert [point.parameter for point in noise][:2] == [
        "at most 7 days, spread 0.86 days",
        "at most 30 days, spread 3.7 days",
    ]
    assert not any(point.why for point in noise)
    assert noise[0].risk > noise[-1].risk
    assert noise[0].cost < 0.02 < 0.1 < noise[-1].cost
    assert mapped.wish.near == "±15"


@pytest.mark.parametrize("risk", ["hit_chance", "area"])
def test_missing_numbers_leave_every_point_its_figures(risk: str) -> None:
    frame = wages(90)
    frame.loc[::6, "wage"] = np.nan
    shape = {**POLICY, "columns": {**POLICY["columns"], "wage": {**POLICY["columns"]["wage"], "missing": "value"}}}
    points = api.compare_on_map(frame, sr.Policy.from_dict(shape), MapWish(risk=risk)).points
    usable = [point for point in points if not point.why]
    assert len(usable) > 25
    assert all(np.isfinite([point.risk, point.worst, point.cost]).all() for point in usable)


def test_a_category_behind_noise_is_believed_by_bayes_rule() -> None:
    """Three values, noise of 100 %: one trial in four moves a value down, one up, and the ends reflect."""
    rng = np.random.default_rng(5)
    frame = wages(400).assign(wage=rng.choice(["a", "b", "c"], 400, p=[0.5, 0.3, 0.2]))
    columns = {**POLICY["columns"], "wage": {"role": "sensitive"}}
    shape = {
        **POLICY,
        "columns": columns,
        "promise": {"k": 1},
        "defence": {"method": "noise", "noise": {"wage": "100%"}},
    }
    point = api.compare_on_map(frame, sr.Policy.from_dict(shape)).points[0]
    moves = np.array([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]])
    joint = frame.wage.value_counts(normalize=True).sort_index().to_numpy()[:, None] * moves
    assert point.risk == pytest.approx(joint.max(axis=0).sum(), abs=0.03)


def own_point(**defence: Any) -> TriedTechnique:
    columns = {**POLICY["columns"], "bonus": {"role": "sensitive", "kind": "number"}}
    frame = wages(150).assign(bonus=lambda f: f.hours * 10)
    shape = {**POLICY, "columns": columns, "promise": {"k": 1}, "defence": defence}
    return api.compare_on_map(frame, sr.Policy.from_dict(shape)).points[0]


def test_the_policys_noise_in_units_is_in_units() -> None:
    """Wages are about 20: noise of up to 2,000 leaves what the population tells, noise of .1 leaves nothing."""
    assert own_point(method="noise", noise={"wage": "2000"}).risk < 0.2
    assert own_point(method="noise", noise={"wage": "0.1"}).risk > 0.99


@pytest.mark.parametrize("column", ["hours", "bonus"])
def test_the_policys_noise_may_be_on_other_columns(column: str) -> None:
    assert own_point(method="noise", noise={column: "5"}).risk > 0.8, "the wage is published as it is"


def test_beliefs_after_a_sample_are_the_papers() -> None:
    """f / |Mo| + (|Mo| - |Ms|) / |Mo| x prior, for everyone: two who are alike, of whom one is sampled, and others."""
    frame = pd.DataFrame({"age": [30, 30, 40, 50], "wage": [10, 20, 30, 40]})
    columns = {"age": {"role": "quasi", "kind": "number"}, "wage": {"role": "sensitive", "kind": "number"}}
    shape = {"series": {"name": "s"}, "columns": columns, "promise": {"k": 1}}
    policy = sr.Policy.from_dict({**shape, "defence": {"method": "sample", "rate": 0.5}})
    point = api.compare_on_map(frame, policy, MapWish(near="0")).points[0]
    # whoever is unique and sampled is known; unsampled ones keep the prior of 1/4; one of the pair: 1/2 + 1/2 x 1/4
    both_alone, one_of_pair, pair = (1 + 1 + 0.25 * 2) / 4, (1 + 0.25 + 2 * 0.625) / 4, (0.25 * 2 + 2 * 0.5) / 4
    assert any(point.risk == pytest.approx(risk) for risk in (both_alone, one_of_pair, pair))


def test_withheld_records_do_not_shift_the_others() -> None:
    frame = wages(200)
    gaps = frame.assign(wage=frame.wage.where(frame.index % 3 > 0))
    columns = {**POLICY["columns"], "wage": {"role": "sensitive", "kind": "number", "missing": "suppress"}}
    policy = sr.Policy.from_dict({**POLICY, "columns": columns})
    told = [
        [(p.parameter, p.risk, p.cost) for p in of(api.compare_on_map(table, policy), "queries")]
        for table in (gaps, gaps.dropna())
    ]
    assert told[0] == told[1]


def test_sums_tell_no_counts() -> None:
    found = api.compare_on_map(wages(60), sr.Policy.from_dict(POLICY), MapWish(cost="query_error"))
    assert all("needs counts of people" in point.why for point in of(found, "queries"))


def test_statistics_of_ones_own() -> None:
    own = {"share above 20": lambda columns: float((columns["wage"] > 20).mean())}
    found = api.compare_on_map(wages(150), sr.Policy.from_dict(POLICY), MapWish(statistics=own))
    grouped = [point for point in found.points if point.technique == "median"]
    assert all(point.cost == 0 for point in grouped), "wages are published as they are"
    assert any(point.cost > 0 for point in found.points if point.technique == "noise")


def test_statistics_by_name() -> None:
    own = ("share:wage:20", "mean:wage", "quantile:wage:0.9", "correlation:age:wage", "slope:age:wage")
    found = api.compare_on_map(wages(150), sr.Policy.from_dict(POLICY), MapWish(statistics=own[:3]))
    assert all(point.cost == 0 for point in found.points if point.technique == "median")
    assert json.loads(found.to_json())["statistics"] == list(own[:3])
    columns = {name: wages(150)[name].to_numpy(dtype=float) for name in ("age", "hours", "wage")}
    told = map_statistics.asked_for(own, columns)
    assert told["share:wage:20"](columns) == (columns["wage"] >= 20).mean()
    assert told["slope:age:wage"](columns) == pytest.approx(np.polyfit(columns["age"], columns["wage"], 1)[0])


@pytest.mark.parametrize(
    "wrong", ["mode:wage", "mean", "mean:wage:3", "mean:height", "quantile:wage:2", "share:wage:x"]
)
def test_a_statistic_that_nobody_knows(wrong: str) -> None:
    with pytest.raises(sr.InputError, match="statistic"):
        api.compare_on_map(wages(60), sr.Policy.from_dict(POLICY), MapWish(statistics=(wrong,)))


def test_models_learn_less_from_larger_groups() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not here (the extra models)")
    found = api.compare_on_map(wages(), sr.Policy.from_dict(POLICY), MapWish(cost="models"))
    median = of(found, "median")
    assert median[0].cost < median[-1].cost <= 1
    assert of(found, "queries")[-1].cost > 0.5, "means of sixteen people teach little"


def test_models_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seriatim.usecases.compare.map_statistics.find_spec", lambda _: None)
    with pytest.raises(sr.InputError, match="install the extra models"):
        api.compare_on_map(wages(60), sr.Policy.from_dict(POLICY), MapWish(cost="models"))


def test_a_statistic_that_cannot_be_told_is_wholly_wrong() -> None:
    truth = {"a": np.array([1.0, 2, 3])}
    assert map_statistics.each_error(truth, {}, "a")["mean of a"] == 1.0
    assert map_statistics.each_error(truth, {"a": np.array([1.0, 2, 4.5])}, "a")["mean of a"] == pytest.approx(0.25)


@pytest.mark.parametrize("wrong", [{"risk": "luck"}, {"cost": "money"}, {"near": "wide"}])
def test_unknown_axes(wrong: dict[str, str]) -> None:
    with pytest.raises(sr.InputError, match=r"unknown|not a width"):
        MapWish(**wrong)


def test_the_command(tmp_path: Path) -> None:
    wages(120).to_csv(tmp_path / "wages.csv", index=False, sep="~")  # which nothing would detect
    lines = ['[series]\nname = "wages"', '[columns.age]\nrole = "quasi"\nkind = "number"']
    lines += ['[columns.hours]\nrole = "quasi"\nkind = "number"', '[columns.wage]\nrole = "sensitive"\nkind = "number"']
    (tmp_path / "policy.toml").write_text("\n".join([*lines, "[promise]\nk = 4", '[defence]\nmethod = "median"']))
    asked = ("compare", "wages.csv", "--policy", "policy.toml", "--csv", "~")
    done = seriatim(tmp_path, *asked, "--risk", "hit_chance", "--out", "map.html")
    assert done.code == 0, done.err
    assert "front" in done.out
    assert json.loads((tmp_path / "map.json").read_text())["risk"] == "hit_chance"
    assert "Which technique suits this table" in (tmp_path / "map.html").read_text()
    assert seriatim(tmp_path, *asked, "--risk", "luck").code == 2
    done = seriatim(tmp_path, *asked, "--risk", 'risk = "hit_chance", statistics = ["mean:wage"]', "--json")
    assert json.loads(done.out)["statistics"] == ["mean:wage"]
    done = seriatim(tmp_path, *asked, "--risk", 'risk = "hit_chance", near = "±10"', "--json")
    assert json.loads(done.out)["near"] == "±10"
    for more in (("--method", "median"), ("wages.csv",)):
        assert seriatim(tmp_path, *asked, "--risk", "hit_chance", *more).code == 2
    for wish, told in (
        ('near = "wide"', "not a width"),
        ('cost = "luck"', "statistics, loss"),
        ("near = 5", "near of another type"),
        ('seed = "x"', "seed of another type"),
        ("luck = 1", "unknown: luck; allowed: risk, cost, column, near, seed, statistics"),
        ("near = ", "cannot be read"),
    ):
        refused = seriatim(tmp_path, *asked, "--risk", wish)
        assert (refused.code, told in refused.err) == (2, True), refused.err
