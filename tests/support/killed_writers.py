"""Run by test_ledger_faults: writers are killed at random moments, and after each the ledger must stand.

    python -m support.killed_writers URL SHELF DESTINATION KILLS SEED

Writers are forked from this process, which has imported everything but opened nothing, so that a kill costs
no start of an interpreter. Prints the number of releases at the end.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from support.fork import forked
from support.kills import Killer
from support.ledgers import publish

from seriatim.ledger.seals import seal_differences
from seriatim.ledger.sql_ledger import open_ledger


def main(url: str, shelf: str, destination: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    pa.set_cpu_count(1)

    def write_on(done: Callable[[], None]) -> None:
        ledger = open_ledger(url, shelf=shelf)
        while True:
            publish(ledger, ["ann", "bob", "cid"], destination=destination)
            done()

    def look() -> None:
        ledger = open_ledger(url, shelf=shelf)
        visible = [path for path in destination.glob("*") if not path.name.startswith(".")]
        check = ledger.verify([destination] if visible else [])
        assert check.sound, check.faults
        manifests = {record.manifest["chain"]: record.manifest for record in ledger.records()}
        for folder in visible:
            assert any(not seal_differences(folder, manifest) for manifest in manifests.values()), folder
        ledger.resume()
        publish(ledger, ["dan", "ann"], destination=destination)
        check = ledger.verify([destination])
        assert check.sound, check.faults
        assert check.notes == (), check.notes
        assert all(record.state == "sealed" for record in ledger.records())
        assert not [path for path in destination.iterdir() if path.name.startswith(".")]
        Path(shelf).with_name("count").write_text(str(len(ledger.records())))

    killer = Killer(chance)
    for _ in range(kills):
        killer.kill(write_on)
        _, status = os.waitpid(forked(look), 0)
        if status:
            sys.exit(1)
    print(Path(shelf).with_name("count").read_text())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
