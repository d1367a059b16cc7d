"""Publishers are killed at random moments, and after each the ledger must stand and the next publish must work.

    python -m support.killed_publishers FOLDER KILLS SEED

Publishers are forked from this process, which has imported everything that the first of them needed but opened nothing,
so that a kill costs no start of an interpreter. Used by the tests (4 kills) and by `./dev bench faults` (500).
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
from support.fork import forked

from seriatim import api
from seriatim.ledger.seals import seal_differences
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import POLICY, hospital

PER_LEDGER = 25
"""Kills before a new ledger is begun: looking through all releases after each kill would soon cost most of the time."""


def main(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    pa.set_cpu_count(1)
    table = folder / "visits.csv"
    write_csv(hospital(400), table)
    (folder / "policy.toml").write_text(POLICY)
    policy = api.load_policy(folder / "policy.toml")
    made = 0
    for begin in range(0, kills, PER_LEDGER):
        home = folder / f"life-{begin}"
        home.mkdir()
        made += _live(home, table, policy, chance, min(PER_LEDGER, kills - begin))
    print(made)


def _live(folder: Path, table: Path, policy: Any, chance: random.Random, kills: int) -> int:
    """One ledger's life under ``kills`` kills; how many releases it holds at the end."""
    url, shelf, out = folder / "ledger.db", folder / "shelf", folder / "out"

    def publish_on() -> None:
        ledger = api.open_ledger(url, shelf=shelf)
        while True:
            assert api.publish(table, policy, ledger, out=out, again=True).verdict.released

    def look() -> None:
        ledger = api.open_ledger(url, shelf=shelf)
        check = ledger.verify([out] if out.exists() else [])
        assert check.sound, check.faults
        chains = [record.manifest for record in ledger.records()]
        for made in [path for path in out.glob("*") if not path.name.startswith(".")]:
            assert any(not seal_differences(made, manifest) for manifest in chains), made
        assert api.publish(table, policy, ledger, out=out, again=True).verdict.released
        ledger.resume()
        check = ledger.verify([out])
        assert check.sound, check.faults
        assert all(record.state == "sealed" for record in ledger.records())
        assert not [path for path in out.iterdir() if path.name.startswith(".")]
        (folder / "count").write_text(str(len(ledger.records())))
        (folder / "modules").write_text("\n".join(sys.modules))

    # one life to compile, then one to measure, so that a kill falls anywhere in it: reading, cutting, writing, sealing
    assert os.waitpid(forked(look), 0)[1] == 0
    for name in (folder / "modules").read_text().split():
        with suppress(ImportError):
            import_module(name)
    begin = time.monotonic()
    assert os.waitpid(forked(look), 0)[1] == 0
    whole = min(time.monotonic() - begin, 5.0)
    for _ in range(kills):
        publisher = forked(publish_on)
        time.sleep(chance.uniform(0.0, 1.5 * whole))
        os.kill(publisher, signal.SIGKILL)
        os.waitpid(publisher, 0)
        if os.waitpid(forked(look), 0)[1]:
            sys.exit(1)
    return int((folder / "count").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
