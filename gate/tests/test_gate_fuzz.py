"""Hostile requests: no error of the service's own, nothing that was sent comes back, nobody gets in without a role."""

from __future__ import annotations

import http.client
import json
import random
import socket
from pathlib import Path

import pytest
from pydantic import ValidationError
from support.gate_services import Running, served_journal, serving
from support.gates import GATE
from support.schema_fuzz import schema_fuzz

from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.web.answers import RequestBody
from seriatim_papers.safe_release_counts import AGES, LOCATIONS

CANARY = "canary-7f3a"
TRICKS = [
    "' OR 1=1 --", "\"; DROP TABLE entries; --", "../../etc/passwd", "%00", "\x00", "\ud800", "\u202e\u2028", "𝒳" * 50,
    "{{7*7}}", "<script>alert(1)</script>", "$(reboot)", "A" * 10_000, "", " ", "null", "NaN", "-1", "1e999",
]  # fmt: skip


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("fuzz")
    url = f"sqlite:///{folder / 'journal.db'}"
    served_journal(url)
    with serving(url, folder) as one:
        one.tokens["url"] = url
        yield one
        assert one.send("GET", "/readyz")[0] == 200
        assert CANARY not in one.log.read_text()
        assert '"level": "error"' not in one.log.read_text()


def hostile(running: Running, body: bytes, key: str = "k", path: str = "/v1/requests", method: str = "POST") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    headers = {"Authorization": f"Bearer {running.tokens['requester']}", "Idempotency-Key": key}
    try:
        connection.request(method, path, body, headers | {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
    except (BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
        assert len(body) > 100_000
        return 413
    finally:
        connection.close()
    assert answer.status < 500, (answer.status, text)
    assert CANARY.encode() not in text
    assert len(text) < 400
    return answer.status


@pytest.mark.parametrize("name", ["respondent", "x", "y"])
def test_a_text_that_postgresql_cannot_keep_is_refused(name: str) -> None:
    """One such request made the database fail, and with it the requests of everybody who asked at the same time."""
    good = {"respondent": "p", "x": ["a\n\u2028"], "y": "b"}
    assert RequestBody.model_validate(good).respondent == "p"
    with pytest.raises(ValidationError):
        RequestBody.model_validate(good | {name: ["a\0b"] if name == "x" else "a\0b"})


def test_bodies_of_every_wrong_kind(running: Running) -> None:
    good = {"respondent": CANARY, "x": [AGES[2]], "y": LOCATIONS[0]}
    statuses = set()
    chance = random.Random(3)
    odd = [None, True, 0, -1, 1.5, 10**400, [], {}, [[]], {CANARY: 1}, [CANARY] * 30, float("inf"), CANARY, *TRICKS]
    for number in range(400):
        body = dict(good)
        for name in chance.sample(["respondent", "x", "y", CANARY], chance.randint(1, 3)):
            body[name] = chance.choice(odd)
            if name == "x" and chance.random() < 0.5:
                body["x"] = [body["x"]]
        statuses.add(hostile(running, json.dumps(body).encode(), f"f{number}"))
    assert statuses <= {202, 422}
    assert 422 in statuses
    for raw in (b"", b"[", b"\xff\xfe", b"null", b"[]", b'"x"', b"[" * 5_000, b'{"respondent":' * 1_000, b"9" * 9_000):
        assert hostile(running, raw) == 422
    assert hostile(running, b'{"respondent":"' + b"x" * 100_000 + b'"}') == 413
    many = json.dumps({"respondent": [f"p{i}" for i in range(100_000)]}).encode()
    assert hostile(running, many) == 413


def wire(running: Running, *parts: bytes) -> bytes:
    """Send bytes on a connection of their own; return all that comes back."""
    with socket.create_connection(("127.0.0.1", running.port), 30) as one:
        try:
            for part in parts:
                one.sendall(part)
            one.shutdown(socket.SHUT_WR)
        except OSError:  # closed before all of it was sent
            pass
        found = b""
        try:
            while part := one.recv(65_536):
                found += part
        except OSError:
            pass
        return found


@pytest.mark.parametrize(
    ("lines", "body", "status"),
    [
        (["Content-Length: 2"], b"{}", 422),
        (["Host: b", "Content-Length: 2"], b"{}", 400),
        (["Authorization: Bearer b", "Content-Length: 2"], b"{}", 400),
        (["idempotency-key: k", "Content-Length: 2"], b"{}", 400),
        (["Content-Type: text/plain", "Content-Length: 2"], b"{}", 400),
        (["Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n", 422),
        (["Transfer-Encoding: gzip, chunked"], b"2\r\n{}\r\n0\r\n\r\n", 400),
        (["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n", 400),
        (["Transfer-Encoding: chunked", "Content-Length: 2"], b"2\r\n{}\r\n0\r\n\r\n", 400),
        ([f"X: {'a' * 3_000_000}"], b"", 431),
        (["a:"] * 100_000, b"", 431),
        (["Transfer-Encoding: chunked"], b"1;" + b"a" * 3_000_000, 413),
        (["Content-Length: 100000000"], b"a" * 1_000_000, 413),
    ],
)
def test_requests_that_are_framed_wrongly_or_without_end(
    running: Running, lines: list[str], body: bytes, status: int
) -> None:
    for path in ("/v1/requests", "/v1/officer/freeze", "/healthz"):
        head = [f"POST {path} HTTP/1.1", "Host: a", f"Authorization: Bearer {running.tokens['requester']}"]
        head += ["Idempotency-Key: k", "Content-Type: application/json", *lines, "", ""]
        answer = wire(running, "\r\n".join(head).encode(), body)
        other = {422: {"/v1/officer/freeze": 403, "/healthz": 405}, 413: {"/healthz": 405}}.get(status, {})
        if answer or status < 413:  # else it was closed before the answer was read
            assert int(answer[9:12]) in (status, other.get(path, status)), (path, answer)
    assert running.send("GET", "/healthz")[0] == 200


def test_a_name_that_occurs_twice_in_a_body_is_refused(running: Running) -> None:
    """Two readers of such a body may see two different requests."""
    twice = b'{"respondent": "p", "respondent": "q", "x": ["' + AGES[2].encode() + b'"], "y": "L1"}'
    assert hostile(running, twice, "twice") == 422
    frozen, number = b'{"frozen": true, "frozen": false}', b'{"number": 1, "number": 2, "policy": "freeze"}'
    running.send("POST", "/v1/officer/freeze", "officer", {"frozen": False})  # another test may have frozen it
    for path, body in (("freeze", frozen), ("baseline", number)):
        assert running.send("POST", f"/v1/officer/{path}", "officer", raw=body)[0] == 422
    assert not running.send("GET", "/v1/officer/exposure", "officer")[1]["frozen"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_a_body_in_another_encoding_is_refused(running: Running, encoding: str) -> None:
    """Who looks at bodies on their way reads UTF-8."""
    body = json.dumps({"respondent": "p", "x": [AGES[2]], "y": "L1"})
    assert hostile(running, body.encode(encoding), f"encoded as {encoding}".replace(" ", "-")) == 422
    assert running.send("POST", "/v1/officer/freeze", "officer", raw='{"frozen": true}'.encode(encoding))[0] == 422


def test_no_page_may_be_framed_by_another(running: Running) -> None:
    for path in (b"/officer", b"/healthz"):
        assert b"frame-ancestors 'none'" in wire(running, b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n")


def test_values_that_the_baseline_does_not_know_are_refused_with_a_reason(running: Running) -> None:
    for number, (x, y, reason) in enumerate(
        [(CANARY, LOCATIONS[0], "the value is not in the baseline"), (AGES[2], CANARY, "the target is not known")]
    ):
        body = {"respondent": "p", "x": [x], "y": y}
        status, answer = running.send("POST", "/v1/requests", "requester", body, f"unknown-{number}")
        assert status == 202
        seen = running.send("GET", f"/v1/requests/{answer['id']}", "requester")[1]
        assert seen == {"id": answer["id"], "state": "refused", "values": None, "reason": reason}


def test_tricks_in_paths_keys_and_tokens(running: Running) -> None:
    from urllib.parse import quote

    before = running.send("GET", "/v1/officer/exposure", "officer")[1]["requests"]
    for trick in TRICKS:
        safe = quote(trick.encode("utf-8", "replace"), safe="")[:3_000]
        for path in (f"/v1/requests/{safe}", f"/v1/released?after={safe}", f"/v1/released?limit={safe}", f"/{safe}"):
            for method in ("GET", "DELETE", "PATCH"):
                assert hostile(running, b"", path=path, method=method) in (200, 401, 404, 405, 422)
        if trick.isascii() and trick.isprintable() and trick:
            assert running.send("GET", "/v1/released", trick)[0] == 401
    body = json.dumps({"respondent": "p", "x": [AGES[2]], "y": LOCATIONS[0]}).encode()
    assert hostile(running, body, "k" * 201) == 422
    assert hostile(running, body, "no space") == 422
    assert running.send("POST", "/v1/requests", "requester", raw=body)[0] == 422, "a key is required"
    assert running.send("GET", "/v1/officer/exposure", "officer")[1]["requests"] == before


def test_a_hundred_thousand_respondents_bound_to_a_token(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    journal = served_journal(url)
    people = frozenset(f"p{i}" for i in range(100_000))
    token = journal.token_book.make_token(GATE, "requester", respondents=people)[1]
    with serving(url, tmp_path) as one:
        body = {"respondent": "p99999", "x": [AGES[2]], "y": LOCATIONS[0]}
        assert one.send("POST", "/v1/requests", token, body, "k")[0] == 202
        assert one.send("POST", "/v1/requests", token, body | {"respondent": "q"}, "l")[0] == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "doors"), [("requester", "^/v1/(requests|released)"), ("officer", "^/(v1/(officer|released)|[^v])")]
)
def test_schemathesis_finds_nothing(running: Running, role: str, doors: str, tmp_path: Path) -> None:
    """At the doors that a role may pass; ``./dev bench fuzz --gate`` tries all of them, and far longer."""
    assert schema_fuzz(running, role, tmp_path, 8, doors=doors) > 70
    assert open_journal(running.tokens["url"]).names() == (GATE,)
