"""The paper's experiment at reduced size: who is safe, what it costs, and that everything adds up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from support.command_line import seriatim
from support.random_series import OneWorker, unsafe_pairs

from seriatim.attacks.exclusion_rules import prepare
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView
from seriatim.kernels.deduce.one_round import narrow_by_compromised, narrow_by_correlations
from seriatim.model import Estimate
from seriatim_papers.cor_split import (
    METHODS,
    SELECTIVITIES,
    CorSplitSetting,
    PlayedSeries,
    cor_split_penalty,
    cor_split_scales,
    play_cor_split,
)
from seriatim_papers.cor_split_page import CorSplitStudy, study_cor_split_page
from seriatim_papers.cor_split_parts import cor_split_part_degrees
from seriatim_papers.cor_split_reasons import STABLE, reasons, reasons_repeated
from seriatim_papers.memory import GroupMemory
from seriatim_papers.queries import QueryWorkload, draw_queries, queries_anywhere, queries_by_share
from seriatim_papers.stable_cuts import cut_stably
from seriatim_papers.study_run import StudyRun
from seriatim_papers.worlds.census import DOMAINS, FAST_CHURN, N_INCOMES, SLOW_CHURN, CensusChurn, census
from seriatim_papers.worlds.own_table import census_from_table, churn_of_table

SETTING = CorSplitSetting(CensusChurn(3_000, 0.33, 5), n_queries=300, query_every=2)


@pytest.fixture(scope="module")
def played() -> dict[str, PlayedSeries]:
    return {method.name: play_cor_split(method, SETTING, OneWorker()) for method in METHODS}


def test_m_invariance_leaves_unsafe_groups_and_the_others_none(played: dict[str, PlayedSeries]):
    assert sum(f.unsafe for f in played["invariant"].figures) > 0
    for name in ("cor-split", "repaired", "repaired, sticky"):
        assert all(f.unsafe == 0 for f in played[name].figures)


def test_the_count_of_unsafe_groups_is_that_of_the_definition(played: dict[str, PlayedSeries]):
    history = list(played["invariant"].published[:3])
    plain = unsafe_pairs(history, SETTING.n)
    assert plain >= played["invariant"].figures[2].unsafe > 0


def test_costs(played: dict[str, PlayedSeries]):
    def error(name: str) -> float:
        asked = [f.errors for f in played[name].figures if f.errors]
        return float(np.mean([e[s] for e in asked for s in SELECTIVITIES]))

    assert error("repaired") < 1.15 * error("invariant")
    assert error("repaired, sticky") < 1.15 * error("invariant")
    assert error("cohort") < error("invariant") < error("cor-split")
    assert played["cohort"].share("counterfeits") < 0.1
    for name, one in played.items():
        assert one.share("withheld") < 0.01, name


def test_everyone_is_accounted_for(played: dict[str, PlayedSeries]):
    for one in played.values():
        for figures, rows in zip(one.figures, one.published, strict=True):
            assert (rows.person >= 0).sum() + figures.withheld == SETTING.churn.size
            assert (rows.person < 0).sum() == figures.counterfeits


def test_history_for_attacks(played: dict[str, PlayedSeries]):
    history = played["cohort"].history()
    told = played["cohort"].history_with_leavers()
    assert len(history) == len(told) == SETTING.churn.releases
    assert (history.releases[-1].person < 0).sum() == played["cohort"].figures[-1].counterfeits
    assert (told.releases[-1].person < 0).sum() == 0


def test_the_certainty_penalty_is_the_mean_width_of_boxes():
    people = census(300, 3)
    view = SerialView(
        quasi=people.quasi,
        scales=cor_split_scales(),
        sensitive=people.income,
        n_values=N_INCOMES,
        person=np.arange(300),
    )
    made = METHODS[0].group(view, SerialRules(4), GroupMemory.of([], view.person), SerialDraw(b"s", 1), OneWorker())
    widths = []
    for record in np.flatnonzero(made.box >= 0):
        own = people.quasi[made.box == made.box[record]]
        widths += [(own[:, d].max() - own[:, d].min()) / (size - 1) for d, size in enumerate(DOMAINS)]
    assert cor_split_penalty(view, made) == pytest.approx(float(np.mean(widths)))


def test_a_workload_counts_what_stands_in_the_boxes():
    codes = census(200, 4).quasi
    box = (np.arange(200) // 8).astype(np.int32)
    queries = draw_queries(codes, DOMAINS, 0.05, 40, 7)
    errors = []
    for low, high in zip(queries.from_, queries.to, strict=True):
        truth = ((codes >= low) & (codes <= high)).all(axis=1).sum()
        found = 0.0
        for b in range(25):
            own = codes[box == b]
            first, last = own.min(axis=0), own.max(axis=0)
            inside = np.minimum(last, high) - np.maximum(first, low) + 1
            found += len(own) * float(np.prod(np.maximum(inside, 0) / (last - first + 1)))
        errors.append(abs(found - truth) / truth)
    workload = QueryWorkload(DOMAINS, 40, 7)
    for _ in range(2):  # the second time the truth is known
        assert workload.errors(1, codes, box, (0.05,)) == {0.05: pytest.approx(float(np.median(errors)))}


def test_queries_are_of_the_volume_or_the_share_they_promise():
    codes = census(20_000, 4).quasi
    inside = {}
    for draw in (draw_queries, queries_anywhere, queries_by_share):
        queries = draw(codes, DOMAINS, 0.05, 300, 7)
        assert (queries.from_ >= 0).all()
        assert (queries.from_ <= queries.to).all()
        assert (queries.to < np.array(DOMAINS)).all()
        inside[draw] = [
            ((codes >= low) & (codes <= high)).all(axis=1).mean()
            for low, high in zip(queries.from_, queries.to, strict=True)
        ]
    assert min(inside[draw_queries]) > 0
    volume = np.prod(
        queries_anywhere(codes, DOMAINS, 0.05, 300, 7).to[0]
        - queries_anywhere(codes, DOMAINS, 0.05, 300, 7).from_[0]
        + 1
    )
    assert volume / np.prod(DOMAINS) == pytest.approx(0.05, rel=0.35)
    assert np.mean(inside[draw_queries]) > 2 * np.mean(inside[queries_anywhere])
    assert np.mean(inside[queries_by_share]) >= 0.05


def test_neighbours_by_id_meet_again_and_again():
    slow = replace(SETTING, churn=CensusChurn(3_000, 0.1, 6), query_every=9)
    unsafe = {
        order: sum(f.unsafe for f in play_cor_split(METHODS[0], replace(slow, order=order), OneWorker()).figures)
        for order in ("shuffled", "by id", "as they came")
    }
    assert min(unsafe["by id"], unsafe["as they came"]) > 1.2 * unsafe["shuffled"]


def test_each_reading_of_the_attack_goes_further():
    orders = ("shuffled", "by id", "as they came")
    found = reasons([(CensusChurn(800, 0.2, 5), orders)], seeds=(1, 2))
    assert [(one.order, one.method) for one in found] == [
        (order, method) for order in orders for method in ("invariant", "invariant, stable ties", "cor-split")
    ]
    for one in found:
        assert 0 <= one.side_by_side <= one.one_after_the_other <= one.printed_rules <= one.all_rules[0] < 1
    assert any(one.all_rules[0] > one.printed_rules for one in found)


def test_the_printed_rules_repeated_are_the_plain_loop():
    played = play_cor_split(METHODS[0], replace(SETTING, churn=CensusChurn(900, 0.1, 6), query_every=9), OneWorker())
    ground = prepare(played.history())
    known = ground.compromise_once(ground.draw(0.1, 1)).words
    first = narrow_by_correlations(ground.board, *ground.meetings, narrow_by_compromised(ground.board, known))
    words, rounds = first, 0
    while not np.array_equal(words, known):
        known, words = (
            words,
            narrow_by_correlations(ground.board, *ground.meetings, narrow_by_compromised(ground.board, words)),
        )
        rounds += 1
    assert rounds > 2
    known = ground.compromise_once(ground.draw(0.1, 1)).words
    looked = narrow_by_compromised(ground.board, known)
    assert np.array_equal(reasons_repeated(ground.board, *ground.meetings, looked, first), words)


def test_ties_in_a_lasting_order_leave_more_groups_open():
    slow = replace(SETTING, churn=CensusChurn(40_000, 0.1, 2), query_every=9)
    plain, stable = play_cor_split(METHODS[0], slow, OneWorker()), play_cor_split(STABLE, slow, OneWorker())
    assert sum(f.unsafe for f in stable.figures) > 1.5 * sum(f.unsafe for f in plain.figures) > 0
    for before, after in zip(plain.published, stable.published, strict=True):
        assert np.array_equal(np.sort(before.person), np.sort(after.person))
    rows = stable.published[-1]
    for group in range(rows.n_groups):  # still m-invariance: every group its values once, m of them or more
        values = rows.value[rows.group == group]
        assert len(values) == len(set(values.tolist())) >= slow.m


def test_ties_stand_as_the_cut_before_left_them():
    place = np.array([[0.0, 0.9], [0.0, 0.1], [0.0, 0.8], [0.0, 0.2], [1.0, 0.5], [1.0, 0.4]], dtype=np.float32)
    block = np.array([[5, 0, 3, 2, 1, 4]], dtype=np.int32)
    cut_stably(block, place)
    # halves {0, 3, 2} and {1, 5, 4}: the ties in the first dimension stay in the order in which they stood
    assert set(block[0, :3].tolist()) == {0, 3, 2}
    assert block[0].tolist() == [3, 2, 0, 1, 5, 4]


def test_the_sweep_is_safe_everywhere():
    pairs = [(4, 1), (4, 3), (6, 3), (6, 5)]
    found = [one for m, n in pairs for one in cor_split_part_degrees(600, m, n, 100, 1)]
    assert [(one.m, one.n) for one in found if one.method == "repaired"] == pairs
    assert all(one.unsafe == 0 for one in found if one.n > 1)
    assert all(0 < one.error < 2 for one in found)


@pytest.fixture(scope="module")
def study() -> CorSplitStudy:
    return study_cor_split_page(scale=0.002, n_queries=50)


def test_the_page_redraws_the_papers_figures(study: CorSplitStudy):
    page = study.to_html()
    for figure in ("Fig. 2(a)", "Fig. 2(b)", "Fig. 2(c)", "Fig. 7", "Fig. 8", "Fig. 9", "Example 1", "word by word"):
        assert figure in page
    assert "200 people, 33% churn, 24 releases" in page
    assert "3 series each (seeds 1, 2, 3)" in page
    assert "What moves the figures" in page
    record = json.loads(study.to_json())
    for outcomes in record["scenarios"].values():
        assert [(one["method"], one["seed"]) for one in outcomes] == [
            (method.name, seed) for method in METHODS for seed in (1, 2, 3)
        ]
        assert all(one["wrong"] == 0 for one in outcomes)
        assert outcomes[-1]["breached"] <= outcomes[0]["breached"]
    assert len(record["sweep"]) == 2 * 8 * 3
    assert len(record["reasons"]) == 15
    assert len(record["asked"]) == 2 * 3 * 3
    assert len(record["printed"]) == 4 * 2 * 2 * 3


def test_a_sentence_about_results_carries_the_figures_of_its_run(study: CorSplitStudy):
    """Other people must make every sentence that depends on them say something else."""
    other, words = study_cor_split_page(("fast",), 0.004, 60), study_cor_split_page(("printed",), 0.05, 60)
    assert all(any(letter.isdigit() for letter in one.found) for one in study.claims())
    fast = [one for one in other.claims() if "240 people" in one.words]
    mine = [one for one in study.claims() if "200 people, 33%" in one.words]
    same = [one.words for one, two in zip(fast, mine, strict=True) if one.found == two.found]
    assert [words for words in same if "releases none" not in words and "below h" not in words] == []
    told = {one.words: one.found for one in study.claims()}
    moved = words.claims()
    assert len(moved) == 2
    assert all(told[one.words] != one.found for one in moved)


def test_claims_follow_from_the_run(study: CorSplitStudy):
    claims = {one.words: one for one in study.claims()}
    (carl,) = [one for words, one in claims.items() if "Erica has AIDS" in words]
    assert (carl.holds, carl.found.startswith("Carl known: 1 of 7: Erica")) == (True, True)
    (both,) = [one for words, one in claims.items() if "Erica is known as well" in words]
    assert both.found.startswith("Carl and Erica known: 0 of 6;")
    (choice,) = [one for words, one in claims.items() if "n-Choose" in words]
    assert (choice.holds, choice.found) == (False, "2 and 3")
    (printed,) = [one for words, one in claims.items() if "hcSafe" in words]
    assert printed.holds == all(one.unsafe == 0 for one in study.printed if (one.method, one.n) == ("as printed", 3))
    for run in next(iter(study.scenarios.values())):
        assert run.breached.numbers == tuple(one.iterated.share for one in run.seeds)


def test_a_single_person_given_away_is_told_by_count(study: CorSplitStudy):
    name, runs = next(iter(study.scenarios.items()))
    few = Estimate(
        "exclusion", 1e-6, 0.0, 2e-6, n_people=500_000, wrong=0, detail={"breached": [0, 0, 1], "narrowed": 3}
    )
    seeds = tuple(replace(one, iterated=few) for one in runs[-1].seeds)
    page = replace(study, scenarios={name: (*runs[:-1], replace(runs[-1], seeds=seeds))}).to_html()
    assert "3 in 9 draws together" in page
    assert "Nobody under" not in page


def test_the_census_may_be_ones_own(tmp_path: Path):
    rng = np.random.default_rng(4)
    n = 2_400
    table = pa.table({
        "years": rng.integers(20, 60, n), "home": rng.choice(list("abcdef"), n), "note": rng.integers(0, 9, n),
        "pay": pa.array([None, *rng.integers(0, 90_000, n - 1).tolist()]),
    })  # fmt: skip
    pacsv.write_csv(table, tmp_path / "people.csv")
    people = census_from_table(tmp_path / "people.csv", "years, home ~> pay")
    assert (len(people), people.domains, people.n_values) == (n - 1, (40, 6), 50)
    pay = np.array(table["pay"].to_pylist()[1:])
    for one in range(49):  # classes are in order of pay, and about equally large
        assert pay[people.income == one].max() <= pay[people.income == one + 1].min()
    assert np.bincount(people.income).max() <= 52
    assert [sorted(set(table["home"].to_pylist()))[code] for code in people.quasi[:, 1]] == table["home"].to_pylist()[
        1:
    ]
    for churn in (FAST_CHURN, SLOW_CHURN):
        own = churn_of_table(people, churn)
        assert 0 <= len(people) - own.n_people < 1 / churn.share + churn.releases
    command = ("study", "cor-split", "--data", "people.csv", "--part", "slow", "--quick")
    ran = seriatim(tmp_path, *command, "--scale", "1", "--columns", "years, home ~> pay", "--json")
    assert ran.code == 0, ran.err
    record = json.loads(ran.out)
    assert record["people"] == "the table people.csv"
    (name,) = record["scenarios"]
    assert name.endswith("10% churn, 21 releases")
    assert {one["n_people"] for one in record["scenarios"][name]} == {n - 1}
    for wrong in ("years ~> wage", "years, pay", "pay ~> pay"):
        told = seriatim(tmp_path, *command, "--columns", wrong)
        assert (told.code, "--columns" in told.err) == (2, True), told.err


def test_a_killed_study_goes_on_with_what_it_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def study() -> CorSplitStudy:
        run = StudyRun.beside(tmp_path / "page.html", "test", lambda *_: None)
        return study_cor_split_page(("fast", "sweep", "printed"), 0.002, 40, run)

    made = study()

    def fails(*_: object) -> None:
        raise AssertionError("this part was kept")

    for name in ("cor_split_part_outcome", "cor_split_part_degrees", "cor_split_printed"):
        monkeypatch.setattr(f"seriatim_papers.cor_split_page.{name}", fails)
    assert study().to_json() == made.to_json()


def test_each_part_runs_alone(tmp_path: Path):
    ran = seriatim(tmp_path, "study", "cor-split", "--part", "closed-form", "--out", "page.html")
    assert ran.code == 0, ran.err
    page = (tmp_path / "page.html").read_text()
    assert "Fig. 2(c)" in page
    assert "Fig. 7" not in page
    wrong = seriatim(tmp_path, "study", "cor-split", "--part", "slo")
    assert wrong.code == 2
    assert "closed-form, printed, fast, slow, sweep, reasons" in wrong.err
