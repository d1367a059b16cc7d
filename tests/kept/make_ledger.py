"""Make the ledger that later versions must still open: python tests/kept/make_ledger.py FOLDER

Run once for each version that changes what a ledger looks like; what it made is kept and never made anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.ledgers import PASTS, SECRET, made_policy, publish, reserve

from seriatim.ledger.sql_ledger import open_ledger


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    ledger = open_ledger(folder / "ledger.db")
    ledger.import_history(made_policy("before us"), PASTS, SECRET)
    publish(ledger, ["ann", "bob", None, "cid"])
    publish(ledger, ["bob", "dan"], policy=made_policy(epoch=2, k=3))
    ledger.deliver("ward", 1, ["lab"])
    ledger.erase("ward", "cid")
    reserve(ledger, ["eve", "ann"], policy=made_policy(epoch=2, k=3))
    assert ledger.verify().sound
    (folder / "ledger.db.shelf" / ".sealing.lock").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
