"""Schemathesis on a gate's service, every role at every route, with and without held records: no error of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import keep, row

EXAMPLES = 150
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    from support.gate_services import ROLES, served_journal, serving
    from support.schema_fuzz import schema_fuzz

    from seriatim_gate.ports import JournalRecord
    from seriatim_papers.safe_release_counts import AGES

    sent, errors = 0, 0
    for held in (False, True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            url = f"sqlite:///{folder / 'journal.db'}"
            journal = served_journal(url)
            if held:
                body = json.dumps({"age": AGES[0]})
                journal.hold_records("soldiers", [(f"p{i}", JournalRecord(i % 10, i % 5, body)) for i in range(500)])
            with serving(url, folder) as running:
                for role in ROLES:
                    sent += schema_fuzz(running, role, folder, 10 if "--quick" in options else EXAMPLES, 11)
                errors += running.log.read_text().count('"level": "error"')
    keep("gate-fuzz", [row(f"errors of the gate's service in {sent:,} generated requests", errors, 0, "")])
