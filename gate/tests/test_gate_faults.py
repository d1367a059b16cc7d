"""Kills under load, rivals, a database that goes away, a full disk: the gate's service fails closed and recovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.gate_services import Running, served_journal, serving, start_service, until
from support.gates import GATE, past_of

from seriatim_gate.journal.sql_journal import open_journal
from seriatim_papers.safe_release_counts import AGES, LOCATIONS

TESTS = Path(__file__).parents[2] / "tests"


def ask(running: Running, number: int) -> tuple[int, Any]:
    body = {"respondent": f"p{number}", "x": [AGES[2 + number % 5]], "y": LOCATIONS[number % 5]}
    return running.send("POST", "/v1/requests", "requester", body, key=f"k{number}")


@pytest.mark.slow
def test_killed_under_load_nothing_is_lost_and_nothing_leaves_twice(ledger_url: str) -> None:
    """Four kills on each database; ``./dev bench faults --gate`` makes 200."""
    command = [sys.executable, "-m", "support.killed_services", ledger_url, "4", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=TESTS)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 80


def test_of_two_services_one_serves(ledger_url: str, tmp_path: Path) -> None:
    served_journal(ledger_url)
    with serving(ledger_url, tmp_path) as running:
        second = start_service(ledger_url, tmp_path, wait=False)
        assert second.process.wait(60) == 4
        assert "another service writes to this gate" in second.log.read_text()
        assert ask(running, 1)[0] == 202


@pytest.mark.postgres
def test_a_database_that_goes_away_and_comes_back(postgres, tmp_path: Path) -> None:
    url = postgres.fresh_url()
    served_journal(url)
    with serving(url, tmp_path) as running:
        first = [ask(running, i)[1]["id"] for i in range(20)]
        name = f"{postgres.database}_gone"
        # nobody can connect to a database that has another name, and those who are connected are thrown out
        throw_out = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"
        )
        postgres.cluster.execute(f"ALTER DATABASE {postgres.database} ALLOW_CONNECTIONS false")
        postgres.cluster.execute(throw_out.format(postgres.database))
        postgres.cluster.execute(f"ALTER DATABASE {postgres.database} RENAME TO {name}")
        try:
            assert running.send("GET", "/v1/released", "requester")[0] == 503
            status, answer = ask(running, 100)
            assert (status, answer["detail"]) == (503, "not available now; ask again with the same key")
            assert running.send("GET", f"/v1/requests/{first[0]}", "requester")[0] == 503
            assert running.send("GET", "/readyz")[0] == 503
            assert running.send("GET", "/healthz")[0] == 200
        finally:
            postgres.cluster.execute(f"ALTER DATABASE {name} RENAME TO {postgres.database}")
            postgres.cluster.execute(f"ALTER DATABASE {postgres.database} ALLOW_CONNECTIONS true")
        until(lambda: running.send("GET", "/readyz")[0] == 200)
        assert ask(running, 100)[0] == 202
        assert running.send("GET", "/v1/officer/exposure", "officer")[1]["requests"] == 21
        assert "seriatim_gate_journal_failures_total 1" in running.send("GET", "/metrics", "officer")[1]


def test_a_journal_file_that_is_moved_away_and_back(tmp_path: Path) -> None:
    """An open file can be written to after it was moved or removed: what is recorded there may be lost."""
    path, away = tmp_path / "journal.db", tmp_path / "away.db"
    url = f"sqlite:///{path}"
    served_journal(url)
    with serving(url, tmp_path) as running:
        first = [ask(running, number)[1]["id"] for number in range(20)]
        shown = [running.send("GET", f"/v1/requests/{name}", "requester")[1] for name in first]
        name = next(one["id"] for one in shown if one["state"] == "released")
        path.rename(away)
        assert running.send("GET", f"/v1/requests/{name}", "requester")[0] == 503
        assert running.send("GET", "/v1/released", "requester")[0] == 503
        assert ask(running, 100)[0] == 503
        assert running.send("GET", "/readyz")[0] == 503
        assert not path.exists(), "no empty file takes its place"
        away.rename(path)
        until(lambda: running.send("GET", "/readyz")[0] == 200)
        assert running.send("GET", f"/v1/requests/{name}", "requester")[0] == 200
        assert ask(running, 100)[0] == 202
        assert running.send("GET", "/v1/officer/exposure", "officer")[1]["requests"] == 21
        assert "moved away or replaced" in running.log.read_text()


def test_an_address_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    served_journal(f"sqlite:///{tmp_path / 'other.db'}")
    with serving(url, tmp_path) as running:
        for options, said in (
            (("--port", str(running.port)), "already in use"),
            (("--host", "300.1.1.1"), "cannot listen on 300.1.1.1"),
        ):
            second = start_service(f"sqlite:///{tmp_path / 'other.db'}", tmp_path, *options, wait=False)
            assert second.process.wait(60) == 5
            (line,) = second.log.read_text().splitlines()
            assert line.startswith("error: cannot listen on")
            assert said in line


def test_a_session_that_lost_its_lock_adds_nothing(postgres, tmp_path: Path) -> None:
    url = postgres.fresh_url()
    served_journal(url)
    with serving(url, tmp_path) as running:
        assert ask(running, 1)[0] == 202
        with psycopg.connect(host=str(postgres.cluster.folder), user="postgres", dbname=postgres.database) as one:
            one.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
            )
        rival = open_journal(url).writer(GATE, 10.0)
        assert ask(running, 2)[0] == 503
        assert len(past_of(rival)) == 1
        rival.close()
        until(lambda: running.send("GET", "/readyz")[0] == 200)
        assert ask(running, 2)[0] == 202


def test_a_full_disk_is_said_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    with serving(url, tmp_path) as running:
        running.kill()
    small = start_service(url, tmp_path, "--quiet", wait=False, largest_file=400_000)
    small.tokens = running.tokens
    try:
        assert small.ready()
        taken = []
        for number in range(3_000):
            status, answer = ask(small, number)
            if status != 202:
                break
            taken.append(answer["id"])
        assert status == 503
        assert len(taken) > 20
        assert small.send("GET", "/healthz")[0] == 200
        until(lambda: "no space left on the disk" in small.log.read_text())
    finally:
        small.kill()
    again = start_service(url, tmp_path)
    again.tokens = running.tokens
    try:
        assert ask(again, 5_000)[0] == 202
        assert all(again.send("GET", f"/v1/requests/{name}", "requester")[0] == 200 for name in taken[-30:])
        assert again.send("GET", "/v1/officer/exposure", "officer")[1]["requests"] >= len(taken) + 1
    finally:
        again.kill()


def test_a_service_told_to_stop_answers_what_it_has_taken(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    served_journal(url)
    with serving(url, tmp_path) as running:
        names = [ask(running, number)[1]["id"] for number in range(30)]
        os.kill(running.process.pid, signal.SIGTERM)
        assert running.process.wait(30) in (0, -signal.SIGTERM)
    writer = open_journal(url).writer(GATE)
    assert [bytes(one).hex() for one in past_of(writer)["request"]] == names
    writer.close()
