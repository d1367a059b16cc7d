"""The study of leakage: corrected examples always, the Adult section where the file is at hand."""

import json
import os
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import spearmanr
from support.command_line import seriatim
from support.study_pages import constant_findings

from seriatim.errors import TableError
from seriatim_papers.adult import Adult, read_adult
from seriatim_papers.leakage import study_leakage
from seriatim_papers.leakage_adult import LeakageTerms, adult_minimal_tables, adult_published_growth
from seriatim_papers.leakage_claims import PRINTED, TABLE_IV, example_claims, table_iv
from seriatim_papers.leakage_examples import (
    DISEASE_TREE,
    IN_TABLE_I,
    IN_TABLE_II,
    LUNG,
    PATIENTS,
    STOMACH,
    TABLE_II,
    disease_distance,
    example_rows,
    table_grids,
)
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
    assert found.adult is None
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
def test_growth_and_the_whole_study(adult: Adult, tmp_path: Path):
    grown = adult_published_growth(adult, LeakageTerms(6, 6, 0.5), up_to=4)
    assert [len(t.sizes) for t in grown] == [4, 8, 16, 16]
    found = study_leakage(ADULT)
    assert found.adult is not None
    assert len(found.adult.growth) == 7
    names = {"fig1_ranks_0", "fig2a", "fig2b", "fig3a", "fig3b", "fig4_distribution", "fig4_entropy"}
    assert names <= set(found.charts)
    correlations = np.array(found.charts["fig1_ranks_0"].data.cells)  # type: ignore[union-attr]
    apart = list(METRICS).index("entropy distance")
    assert np.diag(correlations) == pytest.approx(np.ones(len(METRICS)))
    others = np.delete(np.delete(correlations, apart, 0), apart, 1)
    assert correlations[apart].min() < others.min()
    record = json.loads(found.to_json())
    assert len(record["qid_choices"]) == 4
    assert set(record["printed"]) == set(PRINTED)
    for name, figure in found.adult.printed.items():  # what is drawn again lies about what the file gives
        assert figure.low - 0.02 <= figure.found <= figure.high + 0.02, name
        assert figure.low < figure.high
    assert found.adult.printed["(13, 13, 0.1), L_D of C2"].found == pytest.approx(0.0510, abs=5e-5)
    judged = {claim.words: claim.holds for claim in found.claims}
    assert [judged[f"Fig. 4: classes at QID = {chosen}"] for chosen in ((1, 2), (2, 4), (3, 4))] == [True] * 3
    assert "Fig. 4" in found.to_html()
    half = tmp_path / "half.csv"
    half.write_text("".join(ADULT.read_text().splitlines(keepends=True)[:15_000]))
    assert constant_findings(found.page(), study_leakage(half).page(), NOT_RESULTS) == []


NOT_RESULTS = ("Table II: printed", "Growth: leakage of the original table as more")


@needs_adult
def test_trees_are_as_high_as_table_iv_says(adult: Adult):
    assert [len(levels.levels) - 1 for levels in adult.quasi] == [height for _, height in TABLE_IV]
    assert [levels.levels[0].n_values for levels in adult.quasi[1:]] == [size for size, _ in TABLE_IV[1:]]
    assert (adult.ages[1] - adult.ages[0] + 1, adult.salaries, adult.occupation.n_values) == (74, 2, 14)
    for levels in adult.quasi:  # each level follows from the one before
        for fine, coarse in pairwise(levels.levels):
            assert len(set(zip(fine.codes.tolist(), coarse.codes.tolist(), strict=True))) == fine.n_values
    assert table_iv(adult).rows[0][3] == "72 of the 74 whole numbers from 17 to 90"


def test_tables_one_and_two_and_what_their_classes_keep():
    of_i, of_ii = (
        next(grid for grid in table_grids() if grid.caption.startswith(name)) for name in ("Table I(b)", "Table II:")
    )
    assert [row[4] for row in of_i.rows] == ["3", "3", "3"]
    assert max(float(str(row[5])) for row in of_ii.rows) == pytest.approx(0.167, abs=5e-4)
    assert max(float(str(row[6])) for row in of_ii.rows) == pytest.approx(0.278, abs=5e-4)
    assert [row[5] for row in of_ii.rows] == ["0.167", "0.167", "0.083"]
    for classes in (IN_TABLE_I, IN_TABLE_II):  # each patient is in one class, under a label that fits them
        assert sorted(i for _, members in classes for i in members) == list(range(9))
        for (zip_, _), members in classes:
            assert all(PATIENTS[i][0].startswith(zip_.rstrip("*")) for i in members)


def test_a_claim_that_fails_is_listed_first_and_a_conclusion_follows_the_figures():
    claims = {claim.words: claim for claim in study_leakage().claims}
    (quick,) = (claim for words, claim in claims.items() if "most sensitive" in words)
    assert not quick.holds  # entropy moves further
    assert all(re.search(r"\d", claim.found) for claim in claims.values())
    rows = [replace(row, found=1.0) if row.figure in ("L_D", "L_E") else row for row in example_rows()]
    of_others = example_claims(rows)
    assert [claim.holds for claim in of_others[1:3]] == [False, False]
    assert all("1.000" in claim.found for claim in of_others[:3])
    page = study_leakage().to_html()
    assert page.index(">fails<") < page.index(">holds<")


def test_distances_over_the_classes_of_a_table_of_ones_own(tmp_path: Path):
    chance = np.random.default_rng(3)
    town, value = chance.integers(0, 12, 900), chance.integers(0, 4, 900)
    value[town < 6] = chance.integers(0, 2, int((town < 6).sum()))
    rows = "".join(f"{t},{'abcd'[v]}\n" for t, v in zip(town, value, strict=True))
    (tmp_path / "own.csv").write_text("town,illness\n" + rows)
    (tmp_path / "p.toml").write_text(
        '[series]\nname = "own"\n[columns.town]\nrole = "quasi"\n[columns.illness]\nrole = "sensitive"\n'
    )
    done = seriatim(
        tmp_path, "study", "leakage", "--table", "own.csv", "--policy", "p.toml", "--out", "s.html", "--json"
    )
    assert done.code == 0, done.err
    told = json.loads(done.out)
    (claim,) = (claim for claim in told["claims"] if "own, illness" in claim["words"])
    assert "12 classes" in claim["words"]
    cells = told["charts"]["fig1_ranks_0"]
    assert "own, illness" in json.dumps(cells)
    counts = np.zeros((12, 4))
    np.add.at(counts, (town, value), 1)
    shares, margin = counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / counts.sum()
    l1, entropy = ([METRICS[name](margin, x) for x in shares] for name in ("L1", "entropy distance"))
    assert f"L1 {spearmanr(l1, entropy)[0]:.2f} (" in claim["found"]
    assert seriatim(tmp_path, "study", "leakage", "--table", "own.csv").code == 2


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
