"""seriatim gate and seriatim study safe-release, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import Ran, seriatim
from support.gate_services import served_journal
from support.gates import GATE

from seriatim import api
from seriatim.errors import InputError
from seriatim_gate import api as gate_api
from seriatim_gate.engine.intake import decided
from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.usecases.serving import read_rules
from seriatim_gate.web.decision_loop import open_gate
from seriatim_gate.web.settings import DAY, Settings
from seriatim_papers.safe_release_counts import AGES, FIGURE_2, LOCATIONS


def run(arguments: list[str]) -> Ran:
    return seriatim(Path.cwd(), *arguments)


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    rng = np.random.default_rng(7)
    drawn, shoes = rng.permutation(np.repeat(np.arange(50), FIGURE_2.ravel())), rng.integers(38, 45, 10_000)
    lines = [f"{AGES[each // 5]},{LOCATIONS[each % 5]},{shoe}" for each, shoe in zip(drawn, shoes, strict=True)]
    path = tmp_path / "requests.csv"
    path.write_text("\n".join(["age,location,shoe", *lines]), encoding="utf-8")
    return path


def test_replay_says_what_leaves_and_keeps_its_baseline(requests: Path, tmp_path: Path) -> None:
    page, kept = tmp_path / "replay.html", tmp_path / "baseline.json"
    told = ["gate", "replay", str(requests), "--x", "age", "--y", "location"]
    first = run([*told, "--out", str(page)])
    assert first.code == 0, first.err
    counted = run(["gate", "baseline", *told[2:], "--out", str(kept)])
    assert counted.code == 0, counted.err
    assert "age ~> location: 10 values and 5 targets on 10,000 records" in counted.out
    assert "released 7," in first.out
    assert "REPLAY" in page.read_text(encoding="utf-8")
    again = run([*told, "--baseline", str(kept), "--json"])
    figures = json.loads(again.out)
    assert figures["released"] == json.loads(page.with_suffix(".json").read_text())["released"]
    assert 0.73 < figures["share_released"] < 0.76
    assert figures["targets_deviating"] == 5
    assert "most targets deviate" in figures["warning"]
    assert {"through the gate", "random sample as large", "targets shuffled"} == set(figures["observer"])
    often = {name: {one["statistic"]: one for one in found} for name, found in figures["observer"].items()}
    plain, through = (often[name]["mean score"] for name in ("random sample as large", "through the gate"))
    assert plain["runs"] == through["runs"] == 20
    assert plain["first"] == 1.0
    assert through["spearman"] < plain["spearman"]
    assert 0 <= through["first"] <= through["top_3"] <= 1
    assert all(age not in page.read_text(encoding="utf-8") for age in ("35-39", "45-49"))


@pytest.mark.parametrize(
    ("test", "reading", "told"),
    [("cst", "merge", "forward"), ("dqt", "distance", "pearson"), ("kld", "few", "asymptotic")],
)
def test_readings_of_a_test_are_chosen_stored_and_the_gates_own(
    requests: Path, tmp_path: Path, test: str, reading: str, told: str
) -> None:
    requests.write_text(
        "".join(requests.read_text(encoding="utf-8").splitlines(keepends=True)[:1_501]), encoding="utf-8"
    )
    tests = ("--test", test, *(("--test", "mis") if test == "dqt" else ()))
    journal = f"sqlite:///{tmp_path / 'j.db'}"
    asked = ["gate", "replay", str(requests), "--x", "age", "--y", "location", *tests, "--json"]
    out = tmp_path / "r.html"
    usual, ran = run(asked), run([*asked, f"--{reading}", told, "--journal", journal, "--gate", "g", "--out", str(out)])
    assert (usual.code, ran.code) == (0, 0), ran.err
    assert json.loads(ran.out)["question"][reading] == told
    assert f"{reading} {told}" in out.read_text(encoding="utf-8")
    given = gate_api.gate_requests(requests, ["age"], "location")
    names = tuple(one for one in tests if one != "--test")
    twin = gate_api.gate_replay(given, names, **{reading: told})
    rules = read_rules(open_journal(journal).baselines("g")[0]).rules
    assert getattr(rules[0], reading) == told
    left = int(twin.found.released.sum())
    assert left == json.loads(ran.out)["released"] == decided(rules, given.places)[0].counts.sum()
    if test != "kld":  # with ages so rare, the two readings of few records differ in little
        assert json.loads(usual.out)["released"] != left
    assert run([*asked, f"--{reading}", "nonsense"]).code == 2


def test_compare_puts_all_tests_side_by_side(requests: Path, tmp_path: Path) -> None:
    question = ("--dependency", "age ~> location", "--out", str(tmp_path / "tests.html"), "--json")
    ran = run(["study", "safe-release", str(requests), *question])
    assert ran.code == 0, ran.err
    found = {(each["test"], each["alpha"]): each for each in json.loads(ran.out)["tests"]}
    assert len(found) == 10
    assert found["kld", 0.2]["released"] < found["kld", 0.05]["released"]
    assert "kld" in found["kld", 0.2]["also_safe"]
    assert "wdt" in found["wdt", 0.2]["also_safe"]
    (requested,) = json.loads(ran.out)["requested_by_target"]
    assert requested == FIGURE_2.sum(axis=0).tolist()
    for one in found.values():
        (by_target,) = one["released_by_target"]
        assert sum(by_target) == one["released"]
        assert all(left <= asked for left, asked in zip(by_target, requested, strict=True))


def test_suggest_ranks_the_telling_pair_above_the_idle_one(requests: Path) -> None:
    ran = run(["gate", "suggest", str(requests), "--json"])
    assert ran.code == 0, ran.err
    pairs = [(each["x"], each["y"]) for each in json.loads(ran.out)["pairs"]]
    assert pairs.index(("age", "location")) < pairs.index(("age", "shoe"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--x", "nothing", "--y", "location"], "no column 'nothing'"),
        (["--x", "age", "--y", "age"], "not different columns"),
        (["--x", "age", "--y", "location", "--test", "xyz"], "--test: an unknown test"),
        (["--x", "age", "--y", "location", "--alpha", "2"], "--alpha: "),
        (["--x", "age", "--y", "location", "--baseline", "nowhere.json"], "no such baseline file"),
    ],
)
def test_bad_input_is_told_in_one_line(requests: Path, more: list[str], said: str) -> None:
    ran = run(["gate", "replay", str(requests), *more])
    assert ran.code == 2
    assert said in ran.err


def test_of_one_journal_one_gate_guards_a_dependency(requests: Path, tmp_path: Path) -> None:
    """Each gate stops at its critical value; four over the same records let out 2.4 times as much."""
    journal = tmp_path / "journal.db"

    def store(gate: str, *dependencies: str) -> Ran:
        told = [part for one in dependencies for part in ("--dependency", one)]
        return run(["gate", "replay", str(requests), *told, "--journal", str(journal), "--gate", gate])

    assert store("first", "age ~> location").code == 0
    assert store("first", "age ~> location").code == 0, "another version of the same gate"
    for gate, dependencies in (
        ("same", ["age ~> location"]),
        ("more", ["age, shoe ~> location"]),
        ("both", ["shoe ~> location", "age ~> location"]),
        ("turned", ["location ~> age"]),
    ):
        ran = store(gate, *dependencies)
        assert ran.code == 2, gate
        assert "gate 'first' of this journal" in ran.err.replace("\n", " ")
    assert store("other", "shoe ~> location").code == 0
    assert store("first", "age ~> location", "shoe ~> location").code == 2
    assert open_journal(journal).names() == ("first", "other")


def test_a_second_gate_of_a_journal_of_before_is_not_served(tmp_path: Path) -> None:
    journal = served_journal(tmp_path / "journal.db")
    first = journal.baselines(GATE)[0]
    journal.add_baseline("second", first.version, first.content, first.rules, first.report)
    open_gate(journal, Settings(gate=GATE, expire=DAY)).stop()
    with pytest.raises(InputError, match="the two would add up"):
        open_gate(journal, Settings(gate="second", expire=DAY))


def test_the_study_runs(tmp_path: Path) -> None:
    out = tmp_path / "study.html"
    ran = run(["study", "safe-release", "--sequences", "4", "--out", str(out), "--json"])
    assert ran.code == 0, ran.err
    study = json.loads(ran.out)
    assert all(abs(each["printed"] - each["found"]) < 4e-6 for each in study["examples"])
    assert len(study["figure_16"]) == 10
    assert study["figure_19"]["mis"][0] == 100
    page = out.read_text(encoding="utf-8")
    assert all(f"Figure {number}" in page for number in (2, 3, 4, 5, 7, 10, 16, 17, 18, 19))
    assert "Figures 6, 8, 9 and 11" in page
    assert "Figures 12 to 15" in page
    assert [(one["test"], one["location"]) for one in study["evolutions"]].count(("kld", "L2")) == 1
    for one in study["evolutions"]:
        assert all(a < b for a, b in zip(one["statistic"], one["critical"], strict=True))
    assert all(abs(one["above"] - 0.2) < 0.03 for one in study["figures_5_and_7"])


def test_suggestions_have_the_limits_of_the_command(requests: Path) -> None:
    for wrong in ({"most": 0}, {"most": -1}, {"bands": 1}, {"bands": 201}, {"most": True}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))}: .*a whole number"):
            api.gate_suggest(requests, **wrong)
    assert len(api.gate_suggest(requests, most=1).found) == 1
