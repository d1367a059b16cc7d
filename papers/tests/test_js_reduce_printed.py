"""JS-reduce as printed: the observer against the product's own attack, and claims that are judged, not written."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.command_line import seriatim

from seriatim_papers.claims import Claim, Spread, claims_grid
from seriatim_papers.js_reduce import JS_REDUCE_METHODS, js_reduce_gains, js_reduce_run
from seriatim_papers.js_reduce_printed import KNOWLEDGE, OURS, PLAIN, PRINTED, printed_findings
from seriatim_papers.js_reduce_printed_page import PrintedStudy
from seriatim_papers.observers import AS_PRINTED, attacked
from seriatim_papers.worlds.patients import patients_knowledge_of_one_step, patients_weeks


def test_an_observer_without_memory_beyond_a_step_gains_what_the_attack_gains() -> None:
    """With one step the product of marginals and the filter are the same: two ways of our own agree."""
    weeks, exact = patients_weeks("A", 4, 400)
    one = patients_knowledge_of_one_step(exact)
    run = js_reduce_run(JS_REDUCE_METHODS["Mondrian l = 2"], weeks, one)
    assert attacked(run, one, AS_PRINTED).gain == pytest.approx(js_reduce_gains(run, one, "omega").gain, abs=1e-6)


def test_in_world_m_longer_memory_tells_more() -> None:
    _, exact = patients_weeks("M", 1, 10)
    names = exact.values
    stays = [exact.steps[1][0, state, 0] for state in (0, len(names), 2 * len(names))]
    assert stays == pytest.approx([0.9 * 0.95, 0.9 * 0.5, 0.9 * 0.05], abs=0.01)


@pytest.fixture(scope="module")
def found() -> PrintedStudy:
    return PrintedStudy(printed_findings(5, 500, (1, 2, 3)))


def test_every_claim_follows_from_the_figures_of_the_run(found: PrintedStudy) -> None:
    record = json.loads(found.to_json())
    assert len(record["claims"]) == len(found.found.claims())
    three, two = (found.found.gain(PLAIN, AS_PRINTED, kind) for kind in ("3 steps", "2 steps"))
    assert three.mean > two.mean > found.found.gain(PLAIN, AS_PRINTED, "1 step").mean
    out = record["dropped"][PRINTED]
    (claim,) = [one for one in record["claims"] if "suppressed" in one["words"]]
    assert claim["holds"] == (max(out) <= 12)
    assert f"most {max(out)} of 500" in claim["found"]
    assert max(record["dropped"][OURS]) <= max(out)
    assert len(record["gains"][0]["seeds"]) == 3
    assert "Claims" in found.to_html()
    assert "a chance of 5%, 50%, 95% after one, two, and three weeks" in found.to_html()
    lines = found.page().sections[1].blocks[0].charts["omega, product-0"].data.lines
    assert all(len(line.low) == len(line.high) == 5 for line in lines)
    assert all(low <= y <= high for line in lines for low, y, high in zip(line.low, line.y, line.high, strict=True))
    assert set(KNOWLEDGE) == {one["knowledge"] for one in record["gains"]}


def test_no_sentence_about_results_is_constant_text(found: PrintedStudy) -> None:
    """Another run must say something else in every claim: a sentence that does not change was not made from figures."""
    other = PrintedStudy(printed_findings(3, 300, (4, 5, 6)))
    for one, another in zip(found.found.claims(), other.found.claims(), strict=True):
        assert one.words == another.words
        assert one.found != another.found, one.words


def test_an_interval_is_students() -> None:
    spread = Spread((0.1, 0.2, 0.4))
    low, high = stats.t.interval(0.95, 2, loc=np.mean(spread.numbers), scale=stats.sem(spread.numbers))
    assert (spread.low, spread.high) == (pytest.approx(low), pytest.approx(high))
    assert math.isinf(Spread((0.3,)).half)
    rows = claims_grid((Claim("a", "1", "1", True), Claim("b", "2", "3", False))).rows
    assert [row[0] for row in rows] == ["b", "a"]


def test_the_command(tmp_path: Path) -> None:
    ran = seriatim(tmp_path, "study", "js-reduce", "--help")
    assert "--as-printed" in ran.out
