"""The gate's service over HTTP: the same decisions as a replay, the right roles, answers of one shape."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim
from support.gate_services import Running, served_journal, serving, start_service, until
from support.gates import GATE, drawn, past_of, stored

from seriatim_gate import replay
from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.ports import FREEZE, JournalRecord
from seriatim_papers.safe_release_counts import AGES, BASELINE, LOCATIONS


def ask(running: Running, number: int, x: int, y: int, token: str = "requester") -> tuple[int, Any]:
    body = {"respondent": f"person {number}", "x": [AGES[x]], "y": LOCATIONS[y]}
    return running.send("POST", "/v1/requests", token, body, key=f"k{number}")


def released(running: Running, token: str = "officer") -> list[Any]:
    found, after = [], ""
    while True:
        status, page = running.send("GET", f"/v1/released?limit=70&after={after}", token)
        assert status == 200, page
        if not page["items"]:
            return found
        found += page["items"]
        after = page["next"]


def test_the_service_decides_as_a_replay_does(ledger_url: str, tmp_path: Path) -> None:
    served_journal(ledger_url)
    xs, ys = drawn(250, 3)
    outcome = replay(xs, ys, BASELINE, 5, ["kld"], 0.2)
    with serving(ledger_url, tmp_path) as running:
        names = []
        for i in range(250):
            status, answer = ask(running, i, xs[i], ys[i])
            assert (status, answer["state"], set(answer)) == (202, "accepted", {"id", "state"})
            names.append(answer["id"])
        assert ask(running, 3, xs[3], ys[3]) == (202, {"id": names[3], "state": "accepted"})
        assert ask(running, 3, (xs[3] + 1) % 10, ys[3])[0] == 409
        assert [one["id"] for one in released(running)] == [names[i] for i in outcome.released]
        assert [one["values"] for one in released(running, "requester")] == [
            {"age": AGES[xs[i]], "location": LOCATIONS[ys[i]]} for i in outcome.released
        ]
        for i in (int(outcome.released[0]), int(outcome.waiting[0])):
            status, seen = running.send("GET", f"/v1/requests/{names[i]}", "requester")
            assert set(seen) == {"id", "state", "values", "reason"}
            assert seen["state"] == ("released" if i in outcome.released else "pending")
        queue = running.send("GET", "/v1/officer/queue?limit=1000", "officer")[1]["items"]
        assert [one["id"] for one in queue] == [names[i] for i in outcome.waiting]
        gone = names[int(outcome.waiting[0])]
        assert running.send("DELETE", f"/v1/requests/{gone}", "requester") == (202, {"id": gone, "state": "accepted"})
        assert running.send("GET", f"/v1/requests/{gone}", "requester")[1]["state"] == "withdrawn"
        exposure = running.send("GET", "/v1/officer/exposure", "auditor")[1]
        assert (exposure["released"], exposure["withdrawn"]) == (len(outcome.released), 1)
        assert all(one["safe"] and one["statistic"] < one["critical"] for one in exposure["standings"])
        assert len(running.send("GET", "/v1/officer/explain", "officer")[1]) > 0
        metrics = running.send("GET", "/metrics", "auditor")[1]
        assert f'seriatim_gate_requests{{state="released"}} {len(outcome.released)}' in metrics
        assert 'route="/v1/requests"' in metrics
        assert running.kill(15) in (0, -15)
        said = running.log.read_text()
        assert all(json.loads(line)["event"] for line in said.splitlines())
        assert not any(word in said for word in (*AGES, *LOCATIONS, "person", names[0], running.tokens["officer"]))
    again = start_service(ledger_url, tmp_path)
    again.tokens = running.tokens
    try:
        assert [one["id"] for one in released(again)] == [names[i] for i in outcome.released]
    finally:
        again.kill()


def test_only_the_right_role_gets_in(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    with serving(url, tmp_path) as running:
        name = ask(running, 1, 2, 3)[1]["id"]
        doors = {
            ("POST", "/v1/requests"): {"requester"},
            ("GET", f"/v1/requests/{name}"): {"requester"},
            ("DELETE", f"/v1/requests/{name}"): {"requester"},
            ("GET", "/v1/released"): {"requester", "officer", "auditor"},
            ("GET", "/v1/officer/exposure"): {"officer", "auditor"},
            ("GET", "/v1/officer/queue"): {"officer", "auditor"},
            ("GET", "/v1/officer/explain"): {"officer", "auditor"},
            ("POST", "/v1/officer/freeze"): {"officer"},
            ("POST", "/v1/officer/baseline"): {"officer"},
            ("GET", "/metrics"): {"officer", "auditor"},
        }
        known = {(method.upper(), path) for path, route in running.send("GET", "/openapi.json")[1]["paths"].items()
                 for method in route}  # fmt: skip
        open_to_all = {("GET", "/healthz"), ("GET", "/readyz")}
        assert {(method, path.replace(name, "{id}")) for method, path in doors} == known - open_to_all
        for (method, path), roles in doors.items():
            for who in (None, "nobody", "requester", "officer", "auditor"):
                status, answer = running.send(method, path, who, {"no": 1}, key="k")
                if who is None or who == "nobody":
                    assert (status, answer) == (401, {"detail": "a valid token is required"})
                else:
                    assert (status == 403) == (who not in roles), (method, path, who, status)
                assert status < 500
                assert running.send(method, path, who, raw=b"{not json", key="k")[0] in (200, 202, 401, 403, 422)
        book = open_journal(url).token_book
        book.revoke_token(GATE, 1)
        turned = book.rotate_token(GATE, 2)
        until(lambda: ask(running, 2, 2, 3)[0] == 401, 5)
        assert running.send("GET", "/v1/officer/queue", "officer")[0] == 401
        assert running.send("GET", "/v1/officer/queue", turned)[0] == 200


def test_held_records_are_asked_for_by_person(ledger_url: str, tmp_path: Path) -> None:
    journal = served_journal(ledger_url)
    people = [(f"p{i}", JournalRecord(i % 10, i % 5, json.dumps({"age": AGES[i % 10], "i": i}))) for i in range(300)]
    journal.hold_records(GATE, [*people, ("odd", JournalRecord(-1, 0, "{}"))])
    bound = journal.token_book.make_token(GATE, "requester", respondents=frozenset({"p1", "p2", "odd", "lost"}))[1]
    few = journal.token_book.make_token(GATE, "requester", quota=2)[1]
    with serving(ledger_url, tmp_path) as running:

        def wants(who: str, token: str = "requester") -> tuple[int, Any]:
            return running.send("POST", "/v1/requests", token, {"respondent": who}, key=f"for {who}".replace(" ", "-"))

        own = wants("p2", bound)
        assert own[0] == 202
        assert (
            wants("p7", bound) == wants("lost", bound) == wants("nobody", bound) == (404, {"detail": "no such record"})
        )
        assert wants("p7")[0] == 202
        assert wants("nobody")[0] == 404
        odd = wants("odd", bound)[1]["id"]
        assert running.send("GET", f"/v1/requests/{odd}", bound)[1] == {
            "id": odd, "state": "pending", "values": None, "reason": "",
        }  # fmt: skip
        other = wants("p7")[1]["id"]
        unknown = running.send("GET", f"/v1/requests/{'0' * 32}", bound)
        assert running.send("GET", f"/v1/requests/{other}", bound) == unknown == (404, {"detail": "no such request"})
        assert running.send("DELETE", f"/v1/requests/{other}", bound)[0] == 404
        assert running.send("POST", "/v1/requests", bound, {"respondent": "p1", "x": ["a"], "y": "b"}, "k")[0] == 422
        assert [wants(f"p{i}", few)[0] for i in (20, 21, 22, 20)] == [202, 202, 429, 202]
        assert released(running, bound)[0] == {"id": own[1]["id"], "values": {"age": AGES[2], "i": 2}}
        assert len(released(running, bound)) <= 2
        hidden = running.send("GET", "/v1/released", "requester")[1]["items"]
        assert {one["id"] for one in hidden} <= {None, other}
        assert running.send("GET", "/v1/officer/exposure", "officer")[1]["refused"] == 1


def test_a_held_record_is_shown_once_to_everybody_who_asked_for_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    journal = served_journal(url)
    journal.hold_records(GATE, [(f"p{i}", JournalRecord(2 + i % 4, i % 5, json.dumps({"i": i}))) for i in range(40)])
    bound = journal.token_book.make_token(GATE, "requester", respondents=frozenset({"p1", "p2", "p3", "p4"}))[1]
    with serving(url, tmp_path) as running:

        def wants(who: str, token: str, key: str) -> str:
            status, answer = running.send("POST", "/v1/requests", token, {"respondent": who}, key=key)
            assert status == 202
            return str(answer["id"])

        def state(name: str, token: str) -> Any:
            return running.send("GET", f"/v1/requests/{name}", token)[1]

        first = {who: wants(who, "requester", f"a-{who}") for who in ("p1", "p2", "p3", "p4")}
        second = {who: wants(who, bound, f"b-{who}") for who in first}
        twice = {who: wants(who, "requester", f"c-{who}") for who in first}
        assert len({*first.values(), *second.values(), *twice.values()}) == 12
        for who in first:
            seen = [state(first[who], "requester"), state(second[who], bound), state(twice[who], "requester")]
            assert len({(one["state"], json.dumps(one["values"])) for one in seen}) == 1
        left = [who for who in first if state(first[who], "requester")["state"] == "released"]
        assert left
        assert sorted(one["id"] for one in released(running)) == sorted(first[who] for who in left)
        assert sorted(one["id"] for one in released(running, "requester")) == sorted(first[who] for who in left)
        assert sorted(one["id"] for one in released(running, bound)) == sorted(second[who] for who in left)
        assert running.send("GET", f"/v1/requests/{first['p1']}", bound)[0] == 404, "another's request stays another's"
        exposure = running.send("GET", "/v1/officer/exposure", "officer")[1]
        assert (exposure["requests"], exposure["repeated"], exposure["refused"]) == (12, 8, 0)
        assert exposure["released"] + exposure["waiting"] == 4


def test_expired_requests_look_like_pending_ones(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    with serving(url, tmp_path, "--expire-days", str(1.2 / 86_400)) as running:
        names = [ask(running, i, 0, 1)[1]["id"] for i in range(40)]
        first = [running.send("GET", f"/v1/requests/{name}", "requester")[1]["state"] for name in names]
        assert first.count("pending") > 10
        until(lambda: running.send("GET", "/v1/officer/exposure", "officer")[1]["waiting"] == 0)
        again = [running.send("GET", f"/v1/requests/{name}", "requester")[1]["state"] for name in names]
        assert again == first
        exposure = running.send("GET", "/v1/officer/exposure", "officer")[1]
        assert (exposure["expired"], exposure["waiting"]) == (first.count("pending"), 0)


@pytest.mark.slow
def test_batches_are_shown_on_a_clock_in_another_order(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    xs, ys = drawn(60, 3)
    outcome = replay(xs, ys, BASELINE, 5, ["kld"], 0.2)
    with serving(url, tmp_path, "--batch-seconds", "5") as running:
        time.sleep(5.6 - time.time() % 5)  # just after the clock has struck
        names = [ask(running, i, xs[i], ys[i])[1]["id"] for i in range(60)]
        assert released(running) == []
        assert (
            running.send("GET", f"/v1/requests/{names[int(outcome.released[0])]}", "requester")[1]["state"] == "pending"
        )
        until(lambda: released(running))
        shown = [one["id"] for one in released(running)]
        wanted = [names[i] for i in outcome.released]
        assert sorted(shown) == sorted(wanted)
        assert shown != wanted
        running.kill()
        again = start_service(url, tmp_path, "--batch-seconds", "5")
        again.tokens = running.tokens
        try:
            assert [one["id"] for one in released(again)] == shown
        finally:
            again.kill()


def test_a_frozen_gate_takes_requests_and_lets_nothing_out(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url, versions=2)
    with serving(url, tmp_path) as running:
        assert running.send("POST", "/v1/officer/freeze", "officer", {"frozen": True}) == (
            200, {"frozen": True, "changed": True},
        )  # fmt: skip
        assert all(ask(running, i, i % 10, i % 5)[0] == 202 for i in range(30))
        assert released(running) == []
        assert running.send("POST", "/v1/officer/freeze", "officer", {"frozen": False})[1]["changed"]
        n = len(released(running))
        assert n > 5
        assert running.send("POST", "/v1/officer/baseline", "officer", {"number": 9, "policy": "rejudge"})[0] == 409
        assert running.send("POST", "/v1/officer/baseline", "officer", {"number": 2, "policy": "rejudge"})[0] == 200
        exposure = running.send("GET", "/v1/officer/exposure", "officer")[1]
        assert exposure["baseline"] == open_journal(url).baselines(GATE)[1].version
        assert exposure["released"] >= n


def test_a_version_that_drifted_stops_the_gate_or_judges_anew(tmp_path: Path) -> None:
    """The journal says because of which version; a restart is frozen for the same one; the officer then decides."""
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    journal, (xs, ys), later = served_journal(url), drawn(150, 3), stored(20)
    report = json.dumps({"schema": "seriatim.gate.replay/1", "baseline": later.version})
    journal.add_baseline(GATE, later.version, later.content, later.rules, report)
    first, second = (one.version for one in journal.baselines(GATE))

    def take(running: Running, number: int, policy: str) -> Any:
        status, answer = running.send("POST", "/v1/officer/baseline", "officer", {"number": number, "policy": policy})
        assert status == 200
        return answer

    def seen(running: Running) -> Any:
        found = running.send("GET", "/v1/officer/exposure", "officer")[1]
        return found["baseline"], found["frozen"], found["frozen_for"], found["released"]

    with serving(url, tmp_path) as running:
        for i in range(100):
            ask(running, i, xs[i], ys[i])
        n = len(released(running))
        answer = take(running, 2, "freeze")
        assert (answer["frozen"], answer["changed"]) == (True, True)
        (found,) = answer["drift"]
        assert found["p_value"] < 0.05
        assert found["broken"] == []
        assert found["advice"].startswith("re-judge")
        assert take(running, 2, "freeze")["changed"] is False
        for i in range(100, 150):
            ask(running, i, xs[i], ys[i])
        assert seen(running) == (first, True, 2, n)
        running.kill()
    writer = open_journal(url).writer(GATE)
    entry = past_of(writer)[100]
    writer.close()
    assert (int(entry["kind"]), int(entry["about"])) == (FREEZE, 2)
    with serving(url, tmp_path) as again:
        assert seen(again) == (first, True, 2, n)
        assert take(again, 2, "rejudge")["frozen"] is True  # what waits is judged once the officer lets it go on
        assert seen(again) == (second, True, 2, n)
        again.send("POST", "/v1/officer/freeze", "officer", {"frozen": False})
        version, frozen, frozen_for, left = seen(again)
        assert (version, frozen, frozen_for) == (second, False, None)
        assert left > n


def test_a_gate_serves_only_after_a_replay_and_only_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    told = ["gate", "serve", "--journal", url, "--gate", GATE, "--expire-days", "3"]
    assert seriatim(tmp_path, *told).code == 2
    one = served_journal(url)
    last = one.baselines(GATE)[-1]
    one.add_baseline(GATE, last.version, last.content, last.rules, "{}")
    ran = seriatim(tmp_path, *told)
    assert (ran.code, "no replay is stored" in ran.err) == (2, True)
    one.add_baseline(GATE, last.version, last.content, last.rules, last.report)
    with serving(url, tmp_path) as running:
        second = seriatim(tmp_path, *told, "--port", "0")
        assert (second.code, "another service" in second.err) == (4, True)
        waiting = start_service(url, tmp_path, "--standby", wait=False)
        time.sleep(1)
        assert waiting.process.poll() is None
        running.kill()
        assert waiting.ready(20)
        waiting.kill()


def test_from_a_table_to_a_served_gate_by_commands(tmp_path: Path) -> None:
    xs, ys = drawn(2_000, 5)
    rows = [f"p{i},{AGES[x]},{LOCATIONS[y]}" for i, (x, y) in enumerate(zip(xs, ys, strict=True))]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(["id,age,location", *rows]))
    at = ["--journal", f"sqlite:///{tmp_path / 'j.db'}", "--gate", GATE]
    ran = seriatim(tmp_path, "gate", "replay", str(table), "--x", "age", "--y", "location", *at)
    assert ran.code == 0, ran.err
    assert "stored    version 1" in ran.out
    assert seriatim(tmp_path, "gate", "hold", str(table), "--respondent", "id", *at).out == "2,000 records held\n"
    made = json.loads(seriatim(tmp_path, "gate", "token", "make", "--role", "requester", *at, "--json").out)
    assert made["number"] == 1
    shown = json.loads(seriatim(tmp_path, "gate", "show", *at, "--json").out)
    assert (shown["records_held"], shown["records_unknown"]) == (2_000, 0)
    table.write_text("\n".join(["id,age,location", *rows[:6], f"q1,,{LOCATIONS[0]}", f"q2,{AGES[0]},nowhere"]))
    held = seriatim(tmp_path, "gate", "hold", str(table), "--respondent", "id", *at).out
    assert held == "8 records held; 2 of them can never leave: a cell is empty or not in the baseline\n"
    assert [(one["number"], one["tests"]) for one in shown["versions"]] == [(1, ["kld"])]
    assert shown["dependencies"][0]["targets"] == list(LOCATIONS)
    assert "  target   2  L2" in seriatim(tmp_path, "gate", "show", *at).out.splitlines()
    assert seriatim(tmp_path, "gate", "show", "--journal", at[1], "--gate", "nothing").code == 2
    listed = json.loads(seriatim(tmp_path, "gate", "token", "list", *at, "--json").out)["tokens"]
    assert [(one["role"], one["revoked"]) for one in listed] == [("requester", False)]
    turned = seriatim(tmp_path, "gate", "token", "rotate", "1", *at).out.strip()
    running = start_service(at[1], tmp_path)
    try:
        assert running.send("POST", "/v1/requests", turned, {"respondent": "p5"}, "k")[0] == 202
        assert running.send("POST", "/v1/requests", made["token"], {"respondent": "p5"}, "k")[0] == 401
    finally:
        running.kill()
    assert seriatim(tmp_path, "gate", "token", "revoke", "1", *at).code == 0
    assert seriatim(tmp_path, "gate", "token", "revoke", "1", *at).code == 2
    assert seriatim(tmp_path, "gate", "hold", str(table), "--respondent", "age", *at).code == 2


@pytest.mark.parametrize("batch", ["0", "5"])
def test_rates_are_limited(tmp_path: Path, batch: str) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    with serving(url, tmp_path, "--rate", "5", "--batch-seconds", batch) as running:
        statuses = [ask(running, i, 2, 3)[0] for i in range(40)]
        assert 429 in statuses
        assert statuses[0] == 202
