"""The study of the record gate: print beside found, critical values as printed, and claims that follow the run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2
from support.command_line import seriatim
from support.study_pages import constant_findings

from seriatim_papers.claims import Spread
from seriatim_papers.safe_release import (
    TESTS,
    plain_tables,
    safe_release_examples,
    safe_release_rules,
    stopped_runs,
)
from seriatim_papers.safe_release_claims import safe_release_claims
from seriatim_papers.safe_release_counts import BASELINE, FIGURE_2, FIGURE_8, PRINTED_SHARES, SAFE_TABLES
from seriatim_papers.safe_release_figures import shares_of
from seriatim_papers.safe_release_page import SafeReleaseStudy, study_safe_release_page
from seriatim_papers.study_run import StudyRun


@pytest.fixture(scope="module")
def study() -> SafeReleaseStudy:
    return study_safe_release_page(4)


def test_the_eleven_critical_values_of_the_whole_table_are_in_the_study() -> None:
    rows = [row for row in safe_release_examples() if "of T at 5 %" in row.name]
    assert len(rows) == 11
    for row in rows:
        assert row.found == pytest.approx(row.printed, abs=6e-7), row.name
    (first,) = (row for row in rows if row.name.startswith("5.4"))
    assert first.found == pytest.approx(chi2.ppf(0.95, 45) / (20_000 * np.log(2)))


def test_parts_b_and_c_of_the_figures_are_the_shares_of_their_counts(study: SafeReleaseStudy) -> None:
    wrong = 0
    for number, (printed, places) in PRINTED_SHARES.items():
        counts = FIGURE_2 if number == 2 else SAFE_TABLES[number][1]
        found, of_place = shares_of(counts)
        assert found.shape == printed.shape == (10, 6)
        assert np.abs(100 * found - printed).max() < 0.06
        wrong += int((np.abs(100 * found - printed) > 0.00501).sum())
        wrong += int((np.abs(100 * of_place - places) > 0.00501).sum())
    assert wrong == 23
    told = study.to_html()
    assert all(f"Figure {number} ({part})" in told for number in (6, 8, 9, 11) for part in "abc")
    assert "23 of 325 percentages" in told


def test_the_limit_of_figure_8_is_said_beside_the_printed_one(study: SafeReleaseStudy) -> None:
    assert "0.026821 where 0.026599 is printed" in study.to_html()
    plain = plain_tables(BASELINE, np.full(5, 0.2), 0.2, ("kld",))["kld"]
    n = len(plain) - 1
    assert plain[-1] == pytest.approx(chi2.ppf(0.8, 9) / (2 * n * np.log(2)))
    assert n == 101  # the first number of records beyond the simulation
    asked = safe_release_rules(("kld",), 0.2, plain=True)
    assert (np.diff(2 * np.arange(1, 102) * np.log(2) * asked.tables["kld"][1:])[-1]) < 0
    assert FIGURE_8.sum(axis=0)[0] == 332


def test_values_as_printed_stop_sequences_on_equal_bands_and_ours_none() -> None:
    found = {(one.table, one.test, one.plain): one.stopped for one in stopped_runs(6)}
    assert found["ten bands of equal share", "mis", True] > 0
    assert not any(stopped for (_, _, plain), stopped in found.items() if not plain)


def test_claims_follow_the_figures(study: SafeReleaseStudy) -> None:
    assert all(re.search(r"\d", claim.found) for claim in study.claims)
    other = study_safe_release_page(3)
    assert constant_findings(study.page(), other.page(), (*DEFINITIONS, *OF_PRINT, *OF_ONE_SEED)) == []
    released = [replace(one, left=tuple(Spread((1.0, 2.0)) for _ in range(5))) for one in study.released]
    also = dict.fromkeys(study.also_safe, (100.0,) * 4)
    judged = safe_release_claims(released, also, study.evolutions, study.approximations, study.stopped)
    for before, after in zip(study.claims, judged, strict=True):
        if before.words.startswith(("Fig. 16", "Fig. 19", "5 %", "tests release")):
            assert (after.holds, after.found) != (True, before.found)
            assert not after.holds


DEFINITIONS = ("ours are corrected", "Of 100 releases, safe")
OF_PRINT = ("Figures 2, 6", "Section 7.2 by")
"""Made from printed figures alone, so every run shares them."""
OF_ONE_SEED = ("all locations: 45", "L1: 9", "L2: 9", "L3: 9", "L4: 9", "L5: 9")


def test_the_switch_to_chi_square_is_judged_on_the_scale_of_the_statistic(study: SafeReleaseStudy) -> None:
    (mis,) = (claim for claim in study.claims if claim.words.startswith("the switch of mis"))
    before, after = map(float, re.findall(r"(\d+\.\d\d) at 10[01]", mis.found.replace(" records", "")))
    assert after == pytest.approx(chi2.ppf(0.8, 45), abs=6e-3)
    assert mis.holds == (abs(after / before - 1) <= 0.05)


def test_a_killed_study_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import seriatim_papers.safe_release_page as page

    asked: list[str] = []
    slow = page.safe_release_figure_16

    def counted(test: str, *rest: object) -> object:
        asked.append(test)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return slow(test, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(page, "safe_release_figure_16", counted)
    run = StudyRun(tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        study_safe_release_page(2, run)
    study_safe_release_page(2, run)
    assert len(asked) == 2 * len(TESTS) + 1


def test_requests_of_ones_own_with_values_as_printed_are_warned_about(tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    rows = "".join(
        f"{a},{w},{s}\n"
        for a, w, s in zip(
            chance.integers(0, 8, 900), chance.choice(["n", "s"], 900), chance.integers(0, 2, 900), strict=True
        )
    )
    (tmp_path / "r.csv").write_text("age,ward,site\n" + rows)
    asked = ("study", "safe-release", "r.csv", "--dependency", "age ~> ward, site", "--out", "s.html")
    done = seriatim(tmp_path, *asked, "--plain", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["dependencies"] == ["age ~> ward, site"]
    assert len(told["requested_by_target"][0]) == 4
    assert [one["test"] for one in told["tests"] if one["plain"]] == ["mis", "kld"] * 2
    page = (tmp_path / "s.html").read_text()
    assert "can stop for ever" in page
    seriatim(tmp_path, *asked)
    assert "can stop for ever" not in (tmp_path / "s.html").read_text()
    assert seriatim(tmp_path, "study", "safe-release", "--plain").code == 2
