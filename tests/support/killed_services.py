"""Run by test_gate_faults: a gate's service is killed at random moments under load, and after each all must stand.

    python -m support.killed_services URL KILLS SEED

Services are forked from this process, which has imported everything but opened nothing. After each kill: every answer
that a client got is in the journal, what was shown as released stays so in the same order, nobody's record left
twice, and at the end a replay of the journal's requests gives the journal's decisions. Prints how many requests were
answered, and the longest restart in seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from typing import Any

from support.command_nursery import import_everything
from support.fork import forked
from support.gate_clients import GateClient
from support.gate_services import free_port, served_journal
from support.gates import GATE, drawn, past_of

from seriatim_gate import replay
from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.ports import REQUEST
from seriatim_gate.web.server import serve
from seriatim_gate.web.settings import DAY, Settings
from seriatim_papers.safe_release_counts import AGES, BASELINE, LOCATIONS

CLIENTS, ANSWERS = 8, 100
LOST = (OSError, asyncio.IncompleteReadError)


class Load:
    """What clients have sent and were told."""

    def __init__(self, chance: random.Random, tokens: dict[str, str]) -> None:
        self.chance, self.tokens = chance, tokens
        self.xs, self.ys = drawn(200_000, chance.randrange(1 << 30))
        self.sent = 0
        self.unsure: list[int] = []
        self.told: dict[str, int] = {}
        self.shown: list[Any] = []
        self.restarts: list[float] = []
        self.answers_left = 0

    async def round(self, port: int, service: int, began: float) -> None:
        """Load a fresh service, check what the last one left, and kill it at a random moment."""
        client = GateClient(port, self.tokens["requester"])
        while True:
            try:
                if (await client.get("/readyz"))[0] == 200:
                    break
            except LOST:
                await client.close()
                assert os.waitpid(service, os.WNOHANG) == (0, 0), "the service did not start"
                await asyncio.sleep(0.005)
        self.restarts.append(time.monotonic() - began)
        await self.check(port)
        self.answers_left = self.chance.randrange(ANSWERS)
        await asyncio.gather(*(self.ask_on(port, service) for _ in range(CLIENTS)))

    def answered(self, service: int) -> None:
        """Count an answer; a moment after a random number of them the service is killed."""
        self.answers_left -= 1
        if self.answers_left == -1:
            asyncio.get_running_loop().call_later(self.chance.uniform(0.0, 0.01), os.kill, service, signal.SIGKILL)

    async def ask_on(self, port: int, service: int) -> None:
        client = GateClient(port, self.tokens["requester"])
        while True:
            number = self.unsure.pop() if self.unsure else self._next()
            body = {"respondent": f"p{number}", "x": [AGES[self.xs[number]]], "y": LOCATIONS[self.ys[number]]}
            try:
                status, answer = await client.post("/v1/requests", json.dumps(body).encode(), f"k{number}")
            except LOST:
                self.unsure.append(number)
                return
            assert status in (202, 503), status
            self.answered(service)
            if status == 202:
                self.told[json.loads(answer)["id"]] = number
            else:
                self.unsure.append(number)

    async def check(self, port: int) -> None:
        client, officer = GateClient(port, self.tokens["requester"]), GateClient(port, self.tokens["officer"])
        for name in self.chance.sample(sorted(self.told), min(40, len(self.told))):
            status, seen = await client.get(f"/v1/requests/{name}")
            assert status == 200, "an answer was lost"
            assert seen["state"] in ("released", "pending")
        shown: list[Any] = []
        while True:
            items = (await officer.get(f"/v1/released?limit=1000&after={len(shown)}"))[1]["items"]
            if not items:
                break
            shown += [one["id"] for one in items]
        assert shown[: len(self.shown)] == self.shown, "what was released has changed"
        assert len(set(shown)) == len(shown), "a record left twice"
        self.shown = shown
        await client.close()
        await officer.close()

    def _next(self) -> int:
        self.sent += 1
        return self.sent - 1


def main(url: str, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    import_everything()  # children inherit what is loaded and compiled here
    journal = served_journal(url)
    tokens = {role: journal.token_book.make_token(GATE, role)[1] for role in ("requester", "officer")}
    load = Load(chance, tokens)
    for _ in range(kills):
        port, began = free_port(), time.monotonic()
        settings = Settings(gate=GATE, expire=30 * DAY, port=port, rate=1e6)
        service = forked(lambda chosen=settings: serve(open_journal(url), chosen, quiet=True))
        try:
            asyncio.run(load.round(port, service, began))
        finally:
            _end(service)
    _compare(url, load)
    print(len(load.told), round(max(load.restarts), 3))


def _end(service: int) -> None:
    try:
        os.kill(service, signal.SIGKILL)
        os.waitpid(service, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # it ended by itself, and the round says why


def _compare(url: str, load: Load) -> None:
    """Replay what the journal holds, and look for every answer in it."""
    journal = open_journal(url)
    writer = journal.writer(GATE, 10.0)
    past = past_of(writer)
    asked = past[past["kind"] == REQUEST]
    names = {bytes(one).hex() for one in asked["request"]}
    assert set(load.told) <= names, "an answer was lost"
    assert len(names) == len(asked)
    found = replay(asked["x"].astype(int), asked["y"].astype(int), BASELINE, 5, ["kld"], 0.2)
    assert len(found.released) == past["n_out"][-1]
    order = [bytes(asked["request"][i]).hex() for i in found.released]
    assert order[: len(load.shown)] == load.shown
    people = [who for who, _ in journal.bodies(GATE, [int(i) for i in found.released]).values()]
    assert len(set(people)) == len(people), "a person's record left twice"
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
