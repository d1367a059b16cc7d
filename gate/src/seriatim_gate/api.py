"""Count baselines, replay, store and suggest gates for single records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seriatim.errors import Fault, InputError
from seriatim.model.table_faults import LARGEST_RECORD, given_file_bytes
from seriatim.tables.reader import read_table
from seriatim_gate.engine.baseline import Baseline
from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.journal.check import Inspection
from seriatim_gate.journal.sql_journal import open_journal
from seriatim_gate.usecases.replay_report import ReplayReport
from seriatim_gate.usecases.requests import Columns, Pair, Requests
from seriatim_gate.usecases.suggest import Candidates


def gate_baseline(
    table: Any,
    x: str | Sequence[str] = (),
    y: str | Sequence[str] | None = None,
    bands: int = 10,
    ranges: Mapping[str, Sequence[float]] | Sequence[str] = (),
    others: str | None = None,
    baseline: Baseline | Dependencies | str | Path | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    dependencies: Sequence[str] = (),
) -> Dependencies:
    """Count the baseline of a gate on a table; ``x`` names what is released, ``y`` the targets to protect.

    ``dependencies`` are further ones, such as ``age, sex ~> ward, site``: a record leaves only if all hold. ``ranges``
    cut numeric columns at declared numbers, such as ``{"age": [18, 40, 65]}`` or ``["age: 18, 40, 65"]``, instead of
    into ``bands`` of equal share. ``others`` is the target that targets which the baseline does not know count as;
    without it they are refused. An earlier ``baseline`` is recounted on this table, with the same values, ranges and
    targets: its next version.
    """
    from seriatim_gate.engine.attribute import declared_ranges
    from seriatim_gate.usecases.requests import counted_baseline, recounted_baseline

    columns, pairs = _asked(table, x, y, separator, encoding, dependencies)
    known, cuts = _baseline_of(baseline), declared_ranges(ranges)
    if known is not None:
        return recounted_baseline(known, columns, pairs, cuts, others or "")
    return counted_baseline(columns, pairs, bands, cuts, others or "")


def gate_requests(
    table: Any,
    x: str | Sequence[str] = (),
    y: str | Sequence[str] | None = None,
    baseline: Baseline | Dependencies | str | Path | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    dependencies: Sequence[str] = (),
) -> Requests:
    """Read requests for single records, in the order of the table.

    A ``baseline`` brings its own dependencies, so that ``x`` and ``y`` may be left out. Without one the table is its
    own, as ``gate_baseline`` counts it.
    """
    from seriatim_gate.usecases.requests import asked_of

    return asked_of(*_asked(table, x, y, separator, encoding, dependencies), _baseline_of(baseline))


def _asked(
    table: Any, x: str | Sequence[str], y: str | Sequence[str] | None, separator: str | None, encoding: str | None,
    dependencies: Sequence[str],
) -> tuple[Columns, list[Pair]]:  # fmt: skip
    from seriatim.tables.columns import Columns as TableColumns
    from seriatim_gate.engine.dependencies import pairs_named

    columns = TableColumns(read_table(table, separator, encoding))
    own = (x,) if isinstance(x, str) else tuple(x)
    targets = (y,) if isinstance(y, str) else tuple(y or ())
    if bool(own) != bool(targets):
        raise InputError(Fault("x, y", "one without the other", "both"))
    return columns, [*([(own, targets)] if own else []), *pairs_named(dependencies, columns)]


def _baseline_of(baseline: Baseline | Dependencies | str | Path | None) -> Dependencies | None:
    from seriatim_gate.engine.baseline import Baseline
    from seriatim_gate.engine.dependencies import Dependencies

    if baseline is None or isinstance(baseline, Dependencies):
        return baseline
    if isinstance(baseline, Baseline):
        return Dependencies((baseline,))
    content = given_file_bytes(Path(baseline), "baseline", LARGEST_RECORD)
    return Dependencies.from_json(content.decode("utf-8", "replace"))


def gate_replay(
    requests: Requests,
    tests: str | Sequence[str] = ("kld",),
    alpha: float = 0.2,
    *,
    merge: str = "smallest",
    distance: str = "kl",
    few: str = "simulated",
    queue: bool = True,
    joint: bool = False,
    title: str = "requests",
) -> ReplayReport:
    """Show what a gate would have released of these requests, and what an observer would learn from it.

    ``merge`` says how cst joins cells of fewer than 5 records (``smallest`` or ``forward``), ``distance`` what dqt
    compares (``kl`` or ``pearson``), ``few`` how mis and kld judge few records (``simulated`` or ``asymptotic``).
    Without ``queue`` an unsafe request is denied for good. With ``joint`` a set of waiting records may leave together
    where none is safe alone.
    """
    from seriatim_gate.usecases.replay import replayed
    from seriatim_gate.usecases.replay_report import ReplayReport
    from seriatim_gate.usecases.requests import Question

    chosen = (tests,) if isinstance(tests, str) else tuple(tests)
    question = Question(chosen, alpha, merge=merge, distance=distance, few=few, queue=queue, joint=joint)
    found = replayed(requests, question)
    return ReplayReport(title, requests.baseline.version, found)


def gate_store(report: ReplayReport, requests: Requests, journal: str | Path, gate: str) -> int:
    """Store a baseline with its replay in a gate's journal, as the next version; return the version's number."""
    from seriatim_gate.engine.dependencies import Dependencies
    from seriatim_gate.usecases.serving import refuse_overlap, refuse_weak_tests, rules_json

    baseline = requests.baseline
    refuse_weak_tests(report.found.question)
    book = open_journal(journal, create=True)
    others = {name: book.baselines(name)[-1].content for name in book.names() if name != gate}
    refuse_overlap(gate, baseline, {name: Dependencies.from_json(text) for name, text in others.items()})
    rules = rules_json(baseline, report.found.question)
    return book.add_baseline(gate, baseline.version, baseline.to_json(), rules, report.to_json()).number


def gate_hold(
    table: Any,
    respondent: str,
    journal: str | Path,
    gate: str,
    separator: str | None = None,
    encoding: str | None = None,
) -> int:
    """Hold a table's records in a gate's journal, so that requesters name the person only; return how many."""
    from seriatim.tables.columns import Columns as TableColumns
    from seriatim_gate.usecases.requests import held_records
    from seriatim_gate.usecases.serving import read_rules

    book = open_journal(journal)
    stored = book.baselines(gate)
    if not stored:
        raise InputError(Fault("gate", "the journal has no such gate", "", "store a replay first"))
    columns = TableColumns(read_table(table, separator, encoding))
    return book.hold_records(gate, held_records(columns, respondent, read_rules(stored[0])[0]))


def gate_show(journal: str | Path, gate: str) -> dict[str, Any]:
    """Return a gate's stored versions, and the values and targets of its baseline by number, for the officer.

    Pages and answers of a gate number values and targets from 1 and 0, so that nobody reads a value there by chance.
    """
    from seriatim_gate.usecases.serving import read_rules

    book = open_journal(journal)
    stored = [(one.number, read_rules(one)) for one in book.baselines(gate)]
    if not stored:
        raise InputError(Fault("gate", "the journal has no such gate", "", "store a replay first"))
    newest = stored[-1][1].baseline
    return {
        "gate": gate,
        "records_held": book.counts_records(gate),
        "records_unknown": book.counts_unknown_records(gate),
        "versions": [
            {
                "number": number,
                "baseline": rules.baseline.version,
                "tests": list(rules.question.tests),
                "alpha": rules.question.alpha,
                "records": [one.n_records for one in rules.baseline.baselines],
            }
            for number, rules in stored
        ],
        "dependencies": [
            {"dependency": name, "values": list(one.values), "targets": list(one.targets)}
            for name, one in zip(newest.names, newest.baselines, strict=True)
        ],
    }


def gate_verify(
    journal: str | Path, gate: str, released: Sequence[str | Path] = (), head: str | Path | None = None
) -> Inspection:
    """Check all of a gate's journal, and that it knows what left.

    ``released`` are saved answers of /v1/released; ``head`` is the file that notes the newest entry.
    """
    noted = None if head is None else Path(head)
    return open_journal(journal).verify(gate, [_head_of(Path(path)) for path in released], noted)


def _head_of(path: Path) -> str:
    try:
        head = json.loads(given_file_bytes(path, "saved answer", LARGEST_RECORD))["head"]
    except (ValueError, KeyError, TypeError, RecursionError):
        head = None
    if not isinstance(head, str) or not head:
        raise InputError(Fault(str(path), "no answer of /v1/released with a head", "one as the service gave it"))
    return head


def gate_suggest(
    table: Any, bands: int = 10, most: int = 20, separator: str | None = None, encoding: str | None = None
) -> Candidates:
    """Rank pairs of columns by how much releasing one reveals about the other."""
    from seriatim.model.table_faults import check_header
    from seriatim.tables.columns import Columns as TableColumns
    from seriatim_gate.usecases.suggest import ranked_pairs

    read = read_table(table, separator, encoding)
    check_header(read.name, read.data)
    return ranked_pairs(TableColumns(read), read.name, bands, most)
