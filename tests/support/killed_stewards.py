"""Stewards who publish, import, erase, deliver, recall and resume are killed at any moment, and the ledger must stand.

    python -m support.killed_stewards URL SHELF FOLDER KILLS SEED

They are forked from this process, which has imported everything but opened nothing. A steward writes down what a call
returned. After each kill: what was written down is in the ledger (nothing lost), nothing is there twice, ``verify``
finds no fault, and after ``resume`` alone nothing is unfinished (no manual repair). Prints what was done, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from support.fork import forked
from support.kills import Killer
from support.ledgers import SECRET, made_groups, made_policy

from seriatim.ledger.seals import seal_differences
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.ports import Reservation

PER_LEDGER = 25
"""Kills before a new series is begun: looking through all releases after each kill would soon cost most of the time."""
KINDS = ("publish", "publish", "import", "erase", "deliver", "recall", "resume")


def reserved(ledger: SqlLedger, series: str, people: list[str], out: Path) -> int:
    policy, state = made_policy(series), ledger.state(series, out)
    with ledger.stage() as folder:
        for part in ("public", "private"):
            (folder / part).mkdir()
            (folder / part / "file.txt").write_text(f"{part} {len(people)}\n" * 50)
        asked = Reservation(
            state=state,
            secret=state.secret or SECRET,
            policy=policy,
            staged=folder,
            groups=made_groups(people),
            n_published=len(people),
            destination=out,
            memory={"seen": pa.table({"respondent": people, "times": [1] * len(people)})},
        )
        return ledger.reserve(asked).number


class Steward:
    """One steward's work; every call that returned is written to a file before the next begins."""

    def __init__(self, url: str, shelf: str, folder: Path, series: str, seed: int) -> None:
        self.ledger = open_ledger(url, shelf=shelf)
        self.folder, self.series, self.chance = folder, series, random.Random(seed)
        self.name = f"{seed:08x}"
        self.log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.n = 0

    def work_on(self, told: Callable[[], None]) -> None:
        told()
        while True:
            self.n += 1
            kind = self.chance.choice(KINDS)
            done = getattr(self, kind)(f"{self.name}-{self.n}")
            if done:
                os.write(self.log, (json.dumps([kind, *done]) + "\n").encode())
                told()

    def publish(self, name: str) -> list[Any]:
        number = reserved(self.ledger, self.series, ["ann", "bob", f"only-{name}"], self.folder / "out")
        self.ledger.seal(self.series, number)
        return [self.series, number, f"only-{name}"]

    def newest(self) -> int | None:
        records = [one for one in self.ledger.records(self.series) if one.state == "sealed"]
        return records[-1].number if records else None

    def deliver(self, name: str) -> list[Any] | None:
        number = self.newest()
        if number is None:
            return None
        self.ledger.deliver(self.series, number, [name], self.folder / "given" / name)
        return [self.series, number, name]

    def erase(self, name: str) -> list[Any] | None:
        known = [who for who in self.ledger.history(self.series).respondents.to_pylist() if who and "only" in who]
        if not known:
            return None
        who = self.chance.choice(known)
        self.ledger.erase(self.series, who)
        return [self.series, 0, who]

    def recall(self, name: str) -> list[Any] | None:
        records = [one for one in self.ledger.records(self.series) if one.state != "recalled"]
        if not records or records[-1].recipients or self.chance.random() < 0.5:
            return None
        self.ledger.recall(self.series, records[-1].number, name)
        return [self.series, records[-1].number, name]

    def resume(self, name: str) -> list[Any]:
        number = reserved(self.ledger, self.series, ["ann", f"only-{name}"], self.folder / "out")
        self.ledger.resume()
        return [self.series, number, name]

    def __getattr__(self, kind: str) -> Any:  # 'import' cannot be defined as a name
        if kind == "import":
            return self.bring_in
        raise AttributeError(kind)

    def bring_in(self, name: str) -> list[Any]:
        rows = {
            "release": ["a", "a", "b", "b"],
            "respondent": ["ann", "bob"] * 2,
            "group": [1] * 4,
            "disease": ["x", "y"] * 2,
        }
        self.ledger.import_history(made_policy(f"past-{name}"), pa.table(rows))
        return [f"past-{name}", 2, ""]


def published(folder: Path) -> list[Path]:
    """Return the folder of releases, once there is one: a folder in which nothing can be compared is a fault."""
    return [folder / "out"] if any((folder / "out").glob("[!.]*")) else []


def look(url: str, shelf: str, folder: Path, series: str) -> None:
    """Check the ledger after a kill, and again after resume."""
    ledger = open_ledger(url, shelf=shelf)
    check = ledger.verify(published(folder))
    assert check.sound, check.faults
    ledger.resume()
    check = ledger.verify(published(folder))
    assert (check.faults, check.notes) == ((), ()), (check.faults, check.notes)
    records = {(one.series, one.number): one for one in ledger.records()}
    assert not [one for one in records.values() if one.state == "reserved"]
    log = folder / "log"
    told = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    nobody = {who for kind, _, _, who in told if kind == "erase"}
    people = ledger.history(series).respondents.to_pylist() if series in {name for name, _ in records} else []
    assert not nobody & set(people), "an erased person is there"
    counted = Counter(who for who in people if who)
    assert not [who for who, n in counted.items() if n > 1], "a person is there twice"
    for kind, of, number, name in told:
        if kind in ("publish", "resume"):
            assert records[of, number].state in ("sealed", "recalled"), "a release is lost"
        if kind == "import":
            assert [one.state for one in records.values() if one.series == of] == ["imported"] * 2
        if kind == "recall":
            assert (records[of, number].state, records[of, number].recalled) == ("recalled", name)
        if kind == "deliver":
            assert records[of, number].recipients.count(name) == 1, "a delivery is lost or doubled"
    for one in (record for record in records.values() if record.series == series):
        assert len(set(one.recipients)) == len(one.recipients)
        for name in one.recipients:
            (given,) = (folder / "given" / name).iterdir()
            assert not given.name.startswith(".")
            assert (given / "file.txt").is_file()
        target = folder / "out" / f"{one.series}-{one.number:04d}"
        if one.state == "sealed":
            assert not seal_differences(target, one.manifest)
        if one.state == "recalled":
            assert not target.exists()
    left = [path for path in (*Path(shelf).glob(".*"), *(folder / "out").glob(".*")) if path.name != ".sealing.lock"]
    assert not left, f"left over: {left}"
    for past in {name for name, _ in records if name.startswith("past-")}:
        assert len([1 for name, _ in records if name == past]) == 2, "half an import"


def load_everything() -> None:
    """Load and compile what a steward needs, on a ledger that is thrown away: a kill must not fall into imports."""
    import psycopg  # noqa: F401
    import sqlalchemy.dialects.postgresql.psycopg  # noqa: F401

    with TemporaryDirectory() as folder:
        ledger = open_ledger(Path(folder) / "ledger.db")
        steward = Steward(f"sqlite:///{folder}/ledger.db", f"{folder}/ledger.db.shelf", Path(folder), "ward", 1)
        for kind in ("publish", "erase", "publish", "deliver", "import", "resume"):
            getattr(steward, kind)(kind)
        ledger.verify()
        for one in (ledger, steward.ledger):
            one.database.engine.dispose()
        os.close(steward.log)


def main(url: str, shelf: str, folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    pa.set_cpu_count(1)
    load_everything()
    killer = Killer(chance)
    done: Counter[str] = Counter()
    for begin in range(0, kills, PER_LEDGER):
        series, home = f"ward-{begin}-x", folder / f"life-{begin}"
        home.mkdir(parents=True)
        for kill in range(begin, min(begin + PER_LEDGER, kills)):
            killer.kill(lambda told: Steward(url, shelf, home, series, seed * 10_000 + kill).work_on(told))  # noqa: B023
            if os.waitpid(forked(lambda: look(url, shelf, home, series)), 0)[1]:  # noqa: B023
                print(f"kill {kill}", file=sys.stderr)
                sys.exit(1)
        log = home / "log"
        done.update(json.loads(line)[0] for line in (log.read_text().splitlines() if log.exists() else ()))
    print(json.dumps(done))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
