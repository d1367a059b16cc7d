"""The study of leakage: corrected examples always, the Adult section where the file is at hand."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from seriatim.errors import TableError
from seriatim_papers.adult import Adult, read_adult
from seriatim_papers.leakage import study_leakage
from seriatim_papers.leakage_adult import LeakageTerms, adult_minimal_tables, adult_published_growth
from seriatim_papers.leakage_examples import DISEASE_TREE, LUNG, STOMACH, TABLE_II, disease_distance, example_rows
from seriatim_papers.leakage_metrics import (
    FAMILIES,
    METRICS,
    metric_hellinger,
    metric_js,
    metric_kl,
    metric_l1,
    metric_ordered_emd,
)

ADULT = Path(os.environ.get("SERIATIM_ADULT", Path(__file__).parents[2].parent / "shared" / "data" / "adult.csv"))
needs_adult = pytest.mark.skipif(not ADULT.is_file(), reason="no Adult file: set SERIATIM_ADULT to its path")


@pytest.fixture(scope="module")
def adult() -> Adult:
    return read_adult(ADULT)


def test_every_printed_figure_is_found_or_its_slip_is_named():
    for row in example_rows():
        agrees = abs(abs(row.found) - row.printed) < 0.011
        assert agrees or row.remark, row
    by_name = {(r.example, r.group, r.figure): r.found for r in example_rows()}
    assert by_name["1", "C3", "L_D"] == pytest.approx(0.4714, abs=5e-5)
    assert by_name["3", "C3", "total variation"] == pytest.approx(1 / 3)
    assert by_name["4", "7K, 7K, 7K", "L_D"] == pytest.approx(0.9428, abs=5e-5)
    assert by_name["4", "3K, 4K, 5K", "L_E"] == pytest.approx(1.585, abs=5e-4)
    assert by_name["4", "7K, 7K, 7K", "L_E"] == pytest.approx(3.170, abs=5e-4)


def test_the_metrics_of_fig_1():
    a, x = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    assert (metric_l1(a, x), metric_ordered_emd(a, x), metric_kl(a, x)) == (1.0, 0.5, 1.0)
    assert metric_js(a, x) == pytest.approx(0.311278, abs=1e-6)
    assert metric_hellinger(a, x) == pytest.approx(0.541196, abs=1e-6)
    assert metric_kl(x, a) == np.inf
    for prior, _ in FAMILIES.values():
        assert all(metric(prior, prior) == pytest.approx(0.0, abs=1e-12) for metric in METRICS.values())


def test_along_the_reverse_only_entropy_comes_back_to_nothing():
    prior, end = FAMILIES["towards the reverse"]
    assert METRICS["entropy distance"](prior, end) == pytest.approx(0.0, abs=1e-12)
    assert all(metric(prior, end) > 0.1 for name, metric in METRICS.items() if name != "entropy distance")


def test_without_the_file_there_are_examples_and_fig_1():
    found = study_leakage()
    assert found.tables == ()
    assert set(found.charts) == {"fig1_towards_one_value", "fig1_towards_an_even_spread", "fig1_towards_the_reverse"}
    assert json.loads(found.to_json())["tables"] == []
    assert "Example 1, C3" in found.to_html()


@needs_adult
def test_6_6_5_has_one_minimal_node_and_the_old_in_government_leak_most(adult: Adult):
    assert adult.n_records == 30_162
    (table,) = adult_minimal_tables(adult, (1, 2), LeakageTerms(6, 6, 0.5))
    assert len(table.sizes) == 8
    assert table.labels[table.worst] == (3, 0)  # [75,100) and government
    assert table.n_missing[table.worst] == 8
    assert np.abs(table.l_e).argmax() == table.worst


@needs_adult
def test_13_13_1_has_two_classes_and_still_rules_a_value_out(adult: Adult):
    (table,) = adult_minimal_tables(adult, (1, 2), LeakageTerms(13, 13, 0.1))
    assert table.sizes == (23_895, 6_267)
    assert table.l_d.tolist() == pytest.approx([0.0134, 0.0510], abs=5e-5)
    assert table.n_missing.tolist() == [0, 1]


@needs_adult
@pytest.mark.parametrize(("chosen", "n_classes"), [((1, 2), 8), ((2, 3), 4), ((2, 4), 4), ((3, 4), 8)])
def test_classes_of_the_four_choices(adult: Adult, chosen: tuple[int, int], n_classes: int):
    assert len(adult_minimal_tables(adult, chosen, LeakageTerms(6, 6, 0.5))[0].sizes) == n_classes


@needs_adult
def test_growth_and_the_whole_study(adult: Adult):
    grown = adult_published_growth(adult, LeakageTerms(6, 6, 0.5), up_to=4)
    assert [len(t.sizes) for t in grown] == [4, 8, 16, 16]
    found = study_leakage(ADULT)
    assert len(found.growth) == 7
    names = {"fig1_rank_correlations", "fig2a", "fig2b", "fig3a", "fig3b", "fig4_distribution", "fig4_entropy"}
    assert names <= set(found.charts)
    correlations = np.array(found.charts["fig1_rank_correlations"].data.cells)  # type: ignore[union-attr]
    apart = list(METRICS).index("entropy distance")
    assert np.diag(correlations) == pytest.approx(np.ones(len(METRICS)))
    others = np.delete(np.delete(correlations, apart, 0), apart, 1)
    assert correlations[apart].min() < others.min()
    assert len(json.loads(found.to_json())["qid_choices"]) == 4
    assert "Fig. 4" in found.to_html()


def test_files_that_are_not_adult(tmp_path: Path):
    wrong = tmp_path / "x.csv"
    wrong.write_text("age,colour\n3,red\n")
    with pytest.raises(TableError, match="columns are missing"):
        read_adult(wrong)
    with pytest.raises(TableError, match="cannot be read"):
        read_adult(tmp_path / "none.csv")


def test_the_file_without_header_and_with_missing_values(tmp_path: Path):
    line = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, {}, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K\n"
    )
    path = tmp_path / "adult.data"
    path.write_text(line.format("Sales") + line.format("?") + line.format("Tech-support"))
    found = read_adult(path)
    assert found.n_records == 2
    assert found.occupation.n_values == 2
    assert found.quasi[1].levels[0].n_values == 1


def test_diseases_of_table_two_are_as_far_as_a_transport_says() -> None:
    """The earth mover's distance over the tree, as a linear programme of what moves where."""
    names = (*STOMACH, *LUNG)
    costs = np.array(
        [[0 if a == b else 1 / DISEASE_TREE if (a in LUNG) == (b in LUNG) else 1 for b in names] for a in names]
    )
    everyone = [disease for one in TABLE_II for disease in one]
    for members in TABLE_II:
        shares = [np.array([part.count(name) / len(part) for name in names]) for part in (members, tuple(everyone))]
        rows = [np.kron(np.eye(6)[i], np.ones(6)) for i in range(6)] + [
            np.kron(np.ones(6), np.eye(6)[i]) for i in range(6)
        ]
        solved = linprog(costs.ravel(), A_eq=np.array(rows), b_eq=np.concatenate(shares))
        assert disease_distance(members) == pytest.approx(solved.fun)
    assert max(disease_distance(members) for members in TABLE_II) == pytest.approx(5 / 18)
