"""The equivocation study, small: limits that must hold, and the paper's qualitative claims."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.command_line import seriatim
from support.study_pages import constant_findings

from seriatim.errors import TableError
from seriatim.measures.leakage_given import KnownAttribute
from seriatim.measures.supplementary_knowledge import attribute_sets, supplementary_knowledge
from seriatim.model.classes import Classes
from seriatim_papers.claims import Spread
from seriatim_papers.equivocation import (
    FIGURES,
    TECHNIQUES,
    equivocation_runs,
    equivocation_technique_steps,
    study_equivocation,
)
from seriatim_papers.equivocation_claims import TABLE_2, run_claims, table_2
from seriatim_papers.worlds.pums import DOMAINS, PumsMicrodata, made_pums, pums_shipped, read_pums

DATA = made_pums(400)
UNIQUE = PumsMicrodata(
    "u", DATA.domain, DATA.confidential, (KnownAttribute("id", np.arange(400, dtype=np.int32), 400),), "K"
)


def test_the_table_has_the_domains_of_table_2() -> None:
    assert len(DATA.domain) == 25
    assert [a.name for a in DATA.attributes] == list(DOMAINS)
    assert [a.n_values for a in DATA.attributes] == [69, 2, 16, 18, 25, 177]
    assert all((a.codes >= 0).all() and (a.codes < a.n_values).all() for a in DATA.attributes)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_unique_keys_under_sampling(rate: float) -> None:
    """Full knowledge and unique keys leave (1 - s) log2 |D|."""
    known = equivocation_technique_steps(UNIQUE, "sampling", rate, "uniform", 1)[1]
    assert known.initial == pytest.approx((1 - rate) * math.log2(25))
    assert known.nothing_left == pytest.approx(rate)
    assert known.worst == ("id",)


def test_queries_of_two_disclose_everyone() -> None:
    known = equivocation_technique_steps(UNIQUE, "queries", 2, "uniform", 1)[1]
    assert known.initial < 0.2


@pytest.mark.parametrize(("technique", "parameter"), [("sampling", 0.5), ("queries", 8), ("noise", 0.3)])
@pytest.mark.parametrize("prior", ["uniform", "margin"])
def test_more_attributes_leave_less(technique: str, parameter: float, prior: str) -> None:
    found = equivocation_technique_steps(DATA, technique, parameter, prior, 1)
    assert [known.attributes for known in found] == list(range(7))
    areas = [known.area_by_record for known in found]
    assert all(later <= earlier * 1.02 for earlier, later in pairwise(areas))
    assert areas[6] < areas[0]


def test_sampling_falls_and_queries_stay_flat() -> None:
    falls = {}
    for technique, parameter in (("sampling", 0.5), ("queries", 8.0)):
        found = equivocation_technique_steps(DATA, technique, parameter, "uniform", 2)
        falls[technique] = found[6].initial / found[0].initial
    assert falls["sampling"] < 0.6 < falls["queries"]


@pytest.mark.parametrize("name", ["wine", "breast cancer"])
def test_the_claims_on_shipped_tables(name: str) -> None:
    """Sampling and noise lose to what is known; sums of 8 tell nothing about numbers spread over their domain."""
    pytest.importorskip("sklearn", reason="scikit-learn is not here (the extra models)")
    data = pums_shipped(name)
    falls = {}
    for technique, parameter in (("sampling", 0.5), ("queries", 8.0), ("noise", 0.1)):
        found = equivocation_technique_steps(data, technique, parameter, "margin", 1)
        falls[technique] = found[6].initial / found[0].initial
    assert falls["sampling"] < 0.6
    assert falls["noise"] < 0.5
    assert falls["queries"] > 0.99


def test_tables_left_out_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import seriatim_papers.equivocation as study

    monkeypatch.setattr(study, "find_spec", lambda _: None)
    monkeypatch.setattr(study, "equivocation_runs", lambda *_: equivocation_runs(UNIQUE, "queries", 2, 1))
    found = study_equivocation(replicates=1)
    assert "install the extra models" in found.left_out
    assert found.left_out in found.to_html()
    assert {step.data for step in found.steps} == {"made-up PUMS"}


def test_averages_by_combination_and_by_record_differ() -> None:
    attribute = KnownAttribute("a", np.array([0, 0, 0, 1], dtype=np.int32), 2)

    def believed(chosen: tuple[int, ...], classes: Classes) -> np.ndarray:
        return np.array([[0.5, 0.5], [1.0, 0.0]])[: len(classes)]

    known = supplementary_knowledge([attribute], np.array([0.0, 10.0]), believed)[1]
    assert (known.initial, known.initial_by_record) == (0.5, 0.75)
    assert (known.area, known.area_by_record, known.nothing_left) == (5.0, 7.5, 0.25)


def test_every_figure_has_its_spread_over_the_replicates() -> None:
    found = study_equivocation(records=60, replicates=4)
    runs = equivocation_runs(made_pums(60), "sampling", 0.5, 4)
    (step,) = (
        one
        for one in found.steps
        if (one.technique, one.parameter, one.prior, one.known.attributes) == ("sampling", 0.5, "margin", 6)
    )
    each = [one.initial for one in runs["margin"][6]]
    assert step.initial.numbers == tuple(each)
    half = 3.182 * float(np.std(each, ddof=1)) / 2  # Student's t with 3 degrees of freedom
    assert (step.initial.low, step.initial.high) == pytest.approx(
        (np.mean(each) - half, np.mean(each) + half), rel=1e-3
    )
    assert step.nothing_left.numbers == tuple(one.nothing_left for one in runs["margin"][6])
    page = found.to_html()
    assert all(str(getattr(step, name)) in page for name in FIGURES)


def test_table_2_is_shown_beside_what_a_table_has(tmp_path: Path) -> None:
    found = study_equivocation(records=60, replicates=1)
    described = {one.name: one for one in found.described}
    assert set(described) == set(TABLE_2)
    assert all(described[name].domain == n for name, (*_, n) in TABLE_2.items())
    grid = table_2("x", found.described)
    data = made_pums(60)
    ages = data.attributes[0].codes + 16
    assert grid.rows[1][5:] == (f"{ages.min()} to {ages.max()}", "69", str(len(set(ages.tolist()))))
    path = tmp_path / "pums.csv"
    path.write_text("salary," + ",".join(DOMAINS) + "\n40,30,1,2,3,4,15\n90,31,2,3,3,4,16\n")
    own = {one.name: one for one in read_pums(path).described}
    assert (own["salary"].low, own["salary"].high, own["age"].occur, own["industry"].occur) == (40, 90, 2, 1)


def test_figure_4_c_and_d_draw_noise_on_the_axis() -> None:
    found = study_equivocation(records=40, replicates=1)
    for figure in ("initial", "area"):
        chart = found.charts[f"fig4 made-up PUMS by noise {figure} uniform"]
        assert len(chart.data.lines) == 7  # type: ignore[union-attr]
        line = chart.data.lines[6]  # type: ignore[union-attr]
        assert line.x == tuple(float(10 * n) for n in range(1, 11))
        wanted = [
            getattr(one, figure).mean
            for one in found.steps
            if (one.technique, one.prior, one.known.attributes) == ("noise", "uniform", 6)
        ]
        assert line.y == tuple(wanted)


def test_conclusions_follow_the_run() -> None:
    one, other = study_equivocation(records=80, replicates=3), study_equivocation(records=90, replicates=2)
    assert constant_findings(one.page(), other.page()) == []
    assert all(re.search(r"\d", claim.found) for claim in one.claims)
    flat = {name: {by: [Spread((1.0, 1.0))] * 7 for by in TECHNIQUES[name][1]} for name in TECHNIQUES}
    judged = run_claims(flat, flat, 6)
    assert [claim.holds for claim in judged if "similar" not in claim.words] == [False] * 8
    rising = {name: {by: [Spread((n, n + 0.1)) for n in range(7)] for by in TECHNIQUES[name][1]} for name in TECHNIQUES}
    (queries,) = (
        claim for claim in run_claims(rising, rising, 6) if claim.words.startswith("queries: H(0) and area fall")
    )
    assert "60 the other way" in queries.found


def test_too_many_sets_are_sampled() -> None:
    assert len(attribute_sets(6, 3)) == 20
    drawn = attribute_sets(20, 8)
    assert len(drawn) == len(set(drawn)) == 70
    assert drawn == attribute_sets(20, 8)


def test_a_real_extract_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pums.csv"
    path.write_text("salary," + ",".join(DOMAINS) + "\n40,30,1,2,3,4,15\n90,31,2,3,3,4,16\n")
    assert read_pums(path).confidential.tolist() == [3, 8]
    path.write_text("salary,age\n40,30\n")
    with pytest.raises(TableError, match="no column sex"):
        read_pums(path)


def test_the_command(tmp_path: Path) -> None:
    done = seriatim(tmp_path, "study", "equivocation", "--quick", "--json", "--out", "s.html")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert {step["technique"] for step in record["steps"]} == {"sampling", "queries", "noise"}
    assert len(record["salary_levels"]) == 4
    assert "Fig. 1" in (tmp_path / "s.html").read_text()


@pytest.mark.parametrize("study", ["leakage", "equivocation", "safe-release"])
def test_a_table_that_is_not_there_ends_every_study_alike(tmp_path: Path, study: str) -> None:
    ended = seriatim(tmp_path, "study", study, "nope.csv")
    assert (ended.code, ended.err.count("error: nope.csv: ")) == (2, 1)
