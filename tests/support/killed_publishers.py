"""Publishers, who also write pages to sign, are killed at any moment; the ledger must stand and the next publish work.

    python -m support.killed_publishers FOLDER KILLS SEED

Publishers are forked from this process, which has imported everything that the first of them needed but opened nothing,
so that a kill costs no start of an interpreter. Used by the tests (4 kills) and by `./dev bench faults` (500).
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
from support.fork import forked
from support.kills import Killer

from seriatim import api
from seriatim.ledger.seals import seal_differences
from seriatim.report.sign_off import is_changed
from seriatim.storage.durable_files import write_whole
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
    url, shelf, out, signed = folder / "ledger.db", folder / "shelf", folder / "out", folder / "to-sign.html"

    def publish_on(done: Callable[[], None]) -> None:
        ledger = api.open_ledger(url, shelf=shelf)
        while True:
            made = api.publish(table, policy, ledger, out=out, again=True)
            assert made.verdict.released
            done()
            assert made.number is not None
            page = api.sign_off_in_ledger(ledger, policy.series, made.number)
            write_whole({signed: page.to_html().encode()})
            done()

    def look() -> None:
        ledger = api.open_ledger(url, shelf=shelf)
        visible = [path for path in out.glob("*") if not path.name.startswith(".")]
        check = ledger.verify([out] if visible else [])
        assert check.sound, check.faults
        page = signed.read_bytes() if signed.exists() else b""
        assert not page or (page.endswith(b"-->\n") and not is_changed(page)), "half a page to sign"
        chains = [record.manifest for record in ledger.records()]
        for made in visible:
            assert any(not seal_differences(made, manifest) for manifest in chains), made
        assert api.publish(table, policy, ledger, out=out, again=True).verdict.released
        ledger.resume()
        check = ledger.verify([out])
        assert (check.faults, check.notes) == ((), ()), (check.faults, check.notes)
        assert all(record.state == "sealed" for record in ledger.records())
        assert not [path for path in out.iterdir() if path.name.startswith(".")]
        (folder / "count").write_text(str(len(ledger.records())))
        (folder / "modules").write_text("\n".join(sys.modules))

    assert os.waitpid(forked(look), 0)[1] == 0  # compiles, so that a kill falls into work
    for name in (folder / "modules").read_text().split():
        with suppress(ImportError):
            import_module(name)
    killer = Killer(chance)
    for _ in range(kills):
        killer.kill(publish_on)
        if os.waitpid(forked(look), 0)[1]:
            sys.exit(1)
    return int((folder / "count").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
