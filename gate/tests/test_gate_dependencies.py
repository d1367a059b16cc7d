"""Several dependencies in one gate: one by one, replayed, at the book and over HTTP the same records leave."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_line import seriatim
from support.gate_services import Running, serving
from support.gates import AT, GATE, ask, same_state

import seriatim as sr
from seriatim import api
from seriatim_gate import Gate, JointGate
from seriatim_gate.engine.attribute import Attribute
from seriatim_gate.engine.baseline import baseline_from
from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.engine.intake import decided
from seriatim_gate.engine.results import results
from seriatim_gate.journal.sql_journal import SqlJournal, open_journal
from seriatim_gate.ports import StoredBaseline
from seriatim_gate.usecases.officer_view import drawn_page, officer_view
from seriatim_gate.usecases.request_book import RequestBook
from seriatim_gate.usecases.requests import Question
from seriatim_gate.usecases.serving import read_rules, rules_json

N = 1_200
WARDS, TOWNS = ("north", "south", "west"), ("7", "12", "Zürich")


@cache
def people(seed: int = 1, n: int = N) -> dict[str, list[Any]]:
    """Young people in the west, women in one town: two dependencies, each with a target that stands out."""
    rng = np.random.default_rng(seed)
    ward, town = rng.choice(WARDS, n), rng.choice(TOWNS, n)
    age = np.where(ward == "west", rng.integers(20, 50, n), rng.integers(20, 80, n))
    sex = np.where((town == "7") & (rng.random(n) < 0.4), "f", rng.choice(["f", "m"], n))
    return {"id": [f"p{i}" for i in range(n)], "age": age.tolist(), "sex": sex.tolist(), "ward": ward.tolist(),
            "town": town.tolist()}  # fmt: skip


def baselines(seed: int = 1) -> Dependencies:
    table = people(seed)
    age = Attribute("age", edges=(-np.inf, 30.0, 40.0, 50.0, 60.0, 70.0, np.inf))
    sex = Attribute("sex", ("f", "m"))
    return Dependencies((
        baseline_from(table, [age], "ward", table["ward"], WARDS),
        baseline_from(table, [sex, age], "town", table["town"], TOWNS),
    ))  # fmt: skip


@cache
def stored(number: int = 1, tests: tuple[str, ...] = ("kld",)) -> StoredBaseline:
    made = baselines(number)
    rules = rules_json(made, Question(tests))
    report = json.dumps({"schema": "seriatim.gate.replay/1", "baseline": made.version})
    return StoredBaseline(number, made.version, made.to_json(), rules, report)


def rules(number: int = 1) -> Any:
    return read_rules(stored(number)).rules


def served(url: str | Path, versions: int = 1) -> SqlJournal:
    journal = open_journal(url, create=True)
    for number in range(1, versions + 1):
        one = stored(number)
        journal.add_baseline(GATE, one.version, one.content, one.rules, one.report)
    return journal


def test_a_file_holds_several_baselines_and_notices_changes() -> None:
    made = baselines()
    again = Dependencies.from_json(made.to_json())
    assert (again.version, again.names) == (made.version, ("age ~> ward", "sex, age ~> town"))
    assert again.columns == ("age", "ward", "sex", "town")
    single = Dependencies(made.baselines[:1])
    assert single.to_json() == made.baselines[0].to_json()
    assert Dependencies.from_json(single.to_json()).version == single.version != made.version
    changed = json.loads(made.to_json())
    changed["baselines"].reverse()
    for bad in (json.dumps(changed), json.dumps({"schema": changed["schema"]}), "[]", "{}", "no"):
        with pytest.raises(Exception, match="baseline"):
            Dependencies.from_json(bad)


@pytest.mark.parametrize("tests", [("kld",), ("mis", "cst"), ("wdt",), ("kld", "wdt", "dqt")])
def test_one_by_one_a_replay_and_a_desk_decide_alike(tests: tuple[str, ...]) -> None:
    made, table = baselines(), people(2)
    places = made.places(table)
    asked = Question(tests).rules(made)
    outcomes = decided(asked, places)
    joint = JointGate([Gate(one, None, tests) for one in made.baselines], sets="wdt" in tests)
    for i in range(N):
        joint.request(_raw(table, i), i)
    assert joint.released == tuple(outcomes[0].released.tolist())
    assert joint.waiting == tuple(outcomes[0].waiting.tolist())
    book = RequestBook(lambda _: asked)
    xs, ys = made.cells(table)
    for first in range(0, N, 70):
        book.ask([ask(i, xs[i], ys[i]) for i in range(first, min(N, first + 70))], AT)
    assert book.intake.left().tolist() == outcomes[0].released.tolist()
    assert 50 < len(outcomes[0].released) < N - 50
    for guard, outcome in zip(book.intake.guards, outcomes, strict=True):
        assert (guard.counts == outcome.counts).all()
        assert all(one.safe for one in results(guard.counts, guard.asked))
        assert guard.counts.sum() + guard.waiting.sum() == N


def _raw(table: dict[str, list[Any]], i: int) -> list[tuple[Any, Any]]:
    return [(table["age"][i], table["ward"][i]), ((table["sex"][i], table["age"][i]), table["town"][i])]


def test_everything_that_can_happen_is_repeated_bit_for_bit(ledger_url: str) -> None:
    journal, rng = served(ledger_url, versions=3), np.random.default_rng(5)
    xs, ys = baselines().cells(people(3))
    writer, book = journal.writer(GATE), RequestBook(rules)
    for i in range(0, 900, 3):
        at, chance = AT + 1_000 * i, rng.random()
        happened = book.ask([ask(j, xs[j], ys[j]) for j in range(i, i + 3)], at)[1]
        if chance < 0.1:
            happened += book.withdraw(int(rng.integers(len(book))), at, 1)
        elif chance < 0.2:
            happened += book.expire(at, 300_000)
        elif chance < 0.3:
            happened += book.freeze(at, 2, int(rng.integers(1, 4))) if not book.frozen else book.thaw(at, 2)
        elif i in (300, 600):
            happened += book.rejudge(i // 300 + 1, at, 2)
        writer.append(happened)
    assert {book.state(number) for number in range(900)} == {"released", "waiting", "withdrawn", "expired"}
    other = RequestBook(rules)
    other.load(writer.past())
    same_state(book, other)
    writer.close()


def test_the_officer_sees_every_dependency() -> None:
    book, made = RequestBook(rules), baselines()
    xs, ys = made.cells(people(2))
    book.ask([ask(i, xs[i], ys[i]) for i in range(N)], AT)
    titles = [one.heading for one in drawn_page(officer_view(book, GATE, "v", AT, 1_000, made.names)).sections]
    assert len(titles) == 7
    assert "age ~> ward: By target" in titles
    assert "sex, age ~> town: Why records wait" in titles


def test_the_service_decides_as_a_replay_does(tmp_path: Path) -> None:
    url, made, table, n = f"sqlite:///{tmp_path / 'journal.db'}", baselines(), people(2), 200
    served(url)
    outcome = decided(rules(), [(x[:n], y[:n]) for x, y in made.places(table)])[0]

    def send(running: Running, i: int, **more: Any) -> tuple[int, Any]:
        values = {name: table[name][i] for name in made.columns} | more
        return running.send("POST", "/v1/requests", "requester", {"respondent": f"p{i}", "values": values}, f"k{i}")

    with serving(url, tmp_path) as running:
        names = [send(running, i)[1]["id"] for i in range(n)]
        shown = running.send("GET", "/v1/released?limit=1000", "officer")[1]["items"]
        assert [one["id"] for one in shown] == [names[i] for i in outcome.released]
        first = int(outcome.released[0])
        assert shown[0]["values"] == {name: table[name][first] for name in made.columns}
        queue = running.send("GET", "/v1/officer/queue?limit=1000", "officer")[1]["items"]
        assert [one["id"] for one in queue] == [names[i] for i in outcome.waiting]
        places = made.places(table)
        assert [one["cells"] for one in queue] == [[[int(x[i]), int(y[i])] for x, y in places] for i in outcome.waiting]
        exposure = running.send("GET", "/v1/officer/exposure", "auditor")[1]
        assert exposure["dependencies"] == list(made.names)
        assert {one["dependency"] for one in exposure["standings"]} == {0, 1}
        assert all(one["safe"] for one in exposure["standings"])
        explained = running.send("GET", "/v1/officer/explain?most=50", "officer")[1]
        assert {one["dependency"] for one in explained} == {0, 1}
        assert any(one["tests"] for one in explained)
        odd = send(running, n, ward="nowhere")[1]["id"]
        assert running.send("GET", f"/v1/requests/{odd}", "requester")[1]["reason"] == "the target is not known"
        odd = send(running, n + 1, sex="x")[1]["id"]
        assert running.send("GET", f"/v1/requests/{odd}", "requester")[1]["reason"] == (
            "the value is not in the baseline"
        )
        assert send(running, n + 2, more=1)[0] == 422
        wrong = {"respondent": "p", "x": [30], "y": "north"}
        assert running.send("POST", "/v1/requests", "requester", wrong, "w")[0] == 422


def test_the_commands_take_several_dependencies(tmp_path: Path) -> None:
    table = people(4, 2_000)
    rows = ["\t".join(str(table[name][i]) for name in table) for i in range(2_000)]
    (tmp_path / "people.tsv").write_text("\n".join(["\t".join(table), *rows]), encoding="utf-8")
    two = ("--dependency", "age ~> ward", "--dependency", "sex, age ~> town")
    kept = ("--journal", "j.db", "--gate", "g")
    first = seriatim(tmp_path, "gate", "replay", "people.tsv", *two, "--json", "--out", "r.html", *kept)
    assert first.code == 0, first.err
    told = json.loads(first.out)
    parts = told["dependencies"]
    assert [one["dependency"] for one in parts] == ["age ~> ward", "sex, age ~> town"]
    assert all(sum(one["released_by_target"]) == told["released"] for one in parts)
    assert "sex, age ~&gt; town: By target" in (tmp_path / "r.html").read_text(encoding="utf-8")
    again = seriatim(tmp_path, "gate", "replay", "people.tsv", "--x", "age", "--y", "ward", *two[2:], "--json")
    assert json.loads(again.out)["released"] == told["released"]
    counted = seriatim(tmp_path, "gate", "baseline", "people.tsv", *two, "--out", "b.json", "--json")
    assert counted.code == 0, counted.err
    assert json.loads(counted.out) == json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    from_file = seriatim(tmp_path, "gate", "replay", "people.tsv", "--baseline", "b.json", "--json")
    assert json.loads(from_file.out)["released"] == told["released"]
    compared = seriatim(tmp_path, "study", "safe-release", "people.tsv", "--baseline", "b.json", "--json")
    found = {(one["test"], one["alpha"]): one["released"] for one in json.loads(compared.out)["tests"]}
    assert found["kld", 0.2] == told["released"]
    held = seriatim(tmp_path, "gate", "hold", "people.tsv", "--respondent", "id", "--gate", "g", "--journal", "j.db")
    assert held.code == 0, held.err
    for bad in (("--dependency", "age"), (*two, *two[:2]), ("--x", "age"), ()):
        assert seriatim(tmp_path, "gate", "replay", "people.tsv", *bad).code == 2


def test_targets_of_several_columns_are_their_combinations(tmp_path: Path) -> None:
    """As if the table had one column of them; a value with a slash stands for no other combination."""
    rng = np.random.default_rng(8)
    ages, wards = rng.integers(0, 4, 900), rng.integers(0, 2, 900)
    names = [(("north", "a / b")[w], ("c", "b / c")[s]) for w, s in zip(wards, rng.integers(0, 2, 900), strict=True)]
    rows = [f"p{i},{ages[i]},{ward},{site},{ward}+{site}" for i, (ward, site) in enumerate(names)]
    text = "\n".join(["id,age,ward,site,both", *rows, "gap,1,north,,"])
    (tmp_path / "people.csv").write_text(text + "\n", encoding="utf-8")
    table = tmp_path / "people.csv"
    alone, pair = (api.gate_baseline(table, dependencies=[f"age ~> {y}"]) for y in ("both", "ward, site"))
    assert pair.names == ("age ~> ward, site",)
    assert pair.columns == ("age", "ward", "site")
    assert len(pair.baselines[0].targets) == 4
    assert sorted(pair.baselines[0].target_shares) == sorted(alone.baselines[0].target_shares)
    assert Dependencies.from_json(pair.to_json()).version == pair.version
    asked = api.gate_requests(table, dependencies=["age ~> ward, site"])
    found, expected = (api.gate_replay(one).found for one in (asked, api.gate_requests(table, "age", "both")))
    assert sorted(found.released) == sorted(expected.released)
    assert found.n_refused == expected.n_refused == 1, "a missing site is no target"
    x, y = asked.places[0]
    for row in (0, 1, 2):
        values = {"age": str(ages[row]), "ward": names[row][0], "site": names[row][1]}
        assert pair.cell_of(values) == (x[row], y[row])
    again = api.gate_baseline(table, baseline=pair)
    assert again.baselines[0].targets == pair.baselines[0].targets
    with pytest.raises(sr.InputError, match="not different columns"):
        api.gate_baseline(table, dependencies=["age ~> ward, age"])
