"""Sequence knowledge as files: a TOML file for the reviewer, and a Parquet table of chances beside it.

The table has a row per chance: ``gap`` (0 for priors), ``class`` (null for everyone together), ``past`` (the values a
state remembers, oldest first) and ``next``, with ``chance``. Of an automaton ``past`` is the number of a state and
``then`` the one that follows; the TOML file says what each state shows. Both are plain data; nothing is about one
person.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Floats, Ints
from seriatim.knowledge.sequence_mining import following_runs
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.value_texts import value_texts
from seriatim.model.adversary import Adversary, StatedKnowledge
from seriatim.model.doors import share_argument, whole_argument
from seriatim.model.table_faults import LARGEST_DOCUMENT, LARGEST_LIST, given_file_bytes, is_too_deep

_FORMAT = "seriatim.knowledge/1"
_SLACK = 1e-6
_COLUMNS = ("gap", "class", "past", "next", "chance")


def model_bytes(model: SequenceModel, path: Path) -> dict[Path, bytes]:
    """Return a model as the TOML file ``path`` and the Parquet file beside it."""
    automaton = not model.runs and model.n_states != len(model.values)
    table, buffer = path.with_suffix(".parquet"), pa.BufferOutputStream()
    lines = [
        f"format = {json.dumps(_FORMAT)}",
        f"kind = {json.dumps(model.kind)}",
        f"table = {json.dumps(table.name)}",
        f"values = {json.dumps(value_texts(model.values), ensure_ascii=False)}",
        f"classes = {json.dumps(list(model.classes), ensure_ascii=False)}",
        f"shares = {json.dumps([round(share, 6) for share in model.shares])}  # of the people, by class",
        *(_states(model) if automaton else ()),
        "",
        "[pairs]  # pairs of appearances that were mined, by gap",
        *(f'"{gap}" = {n}' for gap, n in sorted(model.n_pairs.items())),
    ]
    _parquet().write_table(_chances(model, automaton).replace_schema_metadata({"format": _FORMAT}), buffer)
    return {table: buffer.getvalue().to_pybytes(), path: ("\n".join(lines) + "\n").encode()}


def _states(model: SequenceModel) -> list[str]:
    shows = [value_texts(model.values)[value] for value in model.value_of.tolist()]
    return [
        f"shows = {json.dumps(shows, ensure_ascii=False)}  # the value of each state, numbered from 0",
        f"start = {json.dumps(model.start.tolist())}  # the state of a first appearance with each value",
    ]


def _parquet() -> Any:
    import pyarrow.parquet as pq  # a policy without knowledge files never reads one

    return pq


def _chances(model: SequenceModel, automaton: bool) -> pa.Table:
    names = value_texts(model.values)
    spelled = [[names[s] for s in run] for run in model.runs] or [[name] for name in names]
    past = [[str(state)] for state in range(model.n_states)] if automaton else spelled
    rows: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, "then")}

    def add(gap: int, cls: str | None, past: list[str], chances: list[float], then: list[int | None]) -> None:
        for name, chance, state in zip(names, chances, then, strict=True):
            for column, value in zip(rows, (gap, cls, past, name, chance, state), strict=True):
                rows[column].append(value)

    nowhere: list[int | None] = [None] * len(names)
    for at, cls in enumerate(model.classes):
        add(0, cls, [], model.prior[at].tolist(), nowhere)
        for gap, table in sorted(model.steps.items()):
            for a, run in enumerate(past):
                add(gap, cls, run, table[at, a].tolist(), model.then[a].tolist() if automaton else nowhere)
    for name, chances in zip(names, model.value_level.tolist(), strict=True):
        add(1, None, [name], chances, nowhere)
    return pa.table(rows if automaton else {name: rows[name] for name in _COLUMNS})


def read_model(path: Path) -> SequenceModel:
    """Read a model; every fault says what is wrong with the file."""
    try:
        text = given_file_bytes(path, "knowledge", LARGEST_DOCUMENT, AdversaryError).decode("utf-8")
    except UnicodeDecodeError:
        raise _unreadable(path) from None
    beside = path.parent / str(_head(path, text)["table"])
    content = given_file_bytes(beside, "knowledge", LARGEST_LIST, AdversaryError)
    try:
        return _read_once(path, text, beside, content)
    except (OSError, pa.ArrowException):
        raise AdversaryError(Fault(str(beside), "cannot be read", "the Parquet file of the knowledge")) from None


@lru_cache(maxsize=2)
def _read_once(path: Path, text: str, beside: Path, content: bytes) -> SequenceModel:
    """Return the model of both files; known by their contents, since a defence, promises and attacks all ask for it."""
    table = _parquet().read_table(pa.BufferReader(content))
    if any(name not in table.column_names for name in _COLUMNS):
        raise AdversaryError(Fault(str(beside), "columns are missing", ", ".join(_COLUMNS)))
    try:
        return _model_of(_head(path, text), table, str(beside))
    except pa.ArrowException:
        raise
    except (TypeError, ValueError, OverflowError):  # what stands there is of another type
        remedy = "mine it again"
        raise AdversaryError(Fault(str(path), "holds other things than were written", "as written", remedy)) from None


def _head(path: Path, text: str) -> dict[str, Any]:
    try:
        head = {} if is_too_deep(text) else tomllib.loads(text)
    except (ValueError, RecursionError):
        raise _unreadable(path) from None
    if head.get("format") != _FORMAT or not isinstance(head.get("values"), list) or not head["values"]:
        raise AdversaryError(Fault(str(path), "is not a knowledge file", f'format = "{_FORMAT}", values, table'))
    return {"classes": [""], "kind": "table", "pairs": {}, "table": path.with_suffix(".parquet").name, **head}


def _unreadable(path: Path) -> AdversaryError:
    return AdversaryError(Fault(str(path), "cannot be read", "a file of seriatim knowledge mine"))


class _States(NamedTuple):
    """The states of a file, by what its table calls them."""

    place: dict[tuple[str, ...], int]
    value_of: Ints
    start: Ints
    then: Ints
    runs: tuple[tuple[int, ...], ...]


def _model_of(head: dict[str, Any], table: pa.Table, where: str) -> SequenceModel:
    values, classes = tuple(map(str, head["values"])), tuple(map(str, head["classes"]))
    number, own = {name: at for at, name in enumerate(values)}, {name: at for at, name in enumerate(classes)}
    of_gap, of_class, runs, following, of_chance = (table.column(name).to_pylist() for name in _COLUMNS)
    past = [tuple(map(str, run or ())) for run in runs]
    automaton = "shows" in head
    states = _states_read(head, table, past, where) if automaton else _runs_read(values, past, where)
    prior = np.zeros((len(classes), len(values)))
    gaps = sorted({int(gap) for gap in of_gap if gap} | {1})
    steps = {gap: np.zeros((len(classes), len(states.place), len(values))) for gap in gaps}
    level = np.zeros((len(values), len(values)))
    for gap, cls, run, name, chance in zip(of_gap, of_class, past, following, of_chance, strict=True):
        of_all = cls is None and gap == 1 and len(run) == 1 and run[0] in number
        if not (cls in own or of_all) or name not in number or not chance >= 0.0:
            raise _unnamed(where)
        if cls is None:
            level[number[run[0]], number[name]] = chance
        elif gap == 0:
            prior[own[cls], number[name]] = chance
        elif run in states.place:
            steps[int(gap)][own[cls], states.place[run], number[name]] = chance
        else:
            raise _unnamed(where)
    _check_sums(prior, steps, automaton, where)
    found = SequenceModel(
        values=values,
        prior=prior / prior.sum(axis=1, keepdims=True),
        steps=steps,
        value_of=states.value_of,
        start=states.start,
        then=states.then,
        value_level=level,
        classes=classes,
        shares=_shares(head, len(classes), where),
        kind=str(head["kind"]),
        runs=states.runs,
        n_pairs={int(gap): int(n) for gap, n in dict(head["pairs"]).items()},
    )
    if level.any():
        return found
    return replace(found, value_level=found.pooled().steps[1][0, found.start])  # files of older versions


def _check_sums(prior: Floats, steps: dict[int, Floats], automaton: bool, where: str) -> None:
    if any((table.sum(axis=2) > 1.0 + _SLACK).any() for table in steps.values()):
        raise AdversaryError(Fault(where, "chances after a value sum to more than 1", "at most 1"))
    uncovered = 0 if automaton else int((steps[1].sum(axis=(0, 2)) <= 0).sum())
    if uncovered:
        raise AdversaryError(Fault(where, f"{uncovered} rows do not cover a value", "a row for every value"))
    if (prior.sum(axis=1) <= 0).any():
        raise AdversaryError(Fault(where, "a class without a prior", "rows with gap 0 for each class"))


def _unnamed(where: str) -> AdversaryError:
    return AdversaryError(Fault(where, "a class, value or state that the TOML file does not name", "known ones"))


def _runs_read(values: tuple[str, ...], past: list[tuple[str, ...]], where: str) -> _States:
    """Return states that are runs of values."""
    number = {name: at for at, name in enumerate(values)}
    if any(name not in number for run in past for name in run):
        raise _unnamed(where)
    spelled = {(s,) for s in range(len(values))} | {tuple(number[name] for name in run) for run in past if run}
    runs = tuple(sorted(spelled, key=lambda run: (len(run), run)))
    return _States(
        {tuple(values[s] for s in run): at for at, run in enumerate(runs)},
        np.array([run[-1] for run in runs], dtype=np.int32),
        np.arange(len(values), dtype=np.int32),
        following_runs(runs, len(values)),
        runs,
    )


def _states_read(head: dict[str, Any], table: pa.Table, past: list[tuple[str, ...]], where: str) -> _States:
    """Return the states of an automaton, which the file names by their numbers."""
    number = {str(name): at for at, name in enumerate(head["values"])}
    shows, start = head["shows"], head.get("start")
    strange = not isinstance(shows, list) or any(str(name) not in number for name in shows)
    if strange or "then" not in table.column_names:
        raise _unnamed(where)
    value_of = np.array([number[str(name)] for name in shows], dtype=np.int32)
    place: dict[tuple[str, ...], int] = {(str(state),): state for state in range(len(shows))}
    then = np.full((len(shows), len(number)), -1, dtype=np.int32)
    for run, name, state in zip(past, table.column("next").to_pylist(), table.column("then").to_pylist(), strict=True):
        if state is not None and run in place and name in number:
            then[place[run], number[name]] = state if isinstance(state, int) and 0 <= state < len(shows) else -1
    first = np.array(start if isinstance(start, list) else [], dtype=np.int64)
    names = np.arange(len(number))
    known = first.shape == names.shape and ((first >= 0) & (first < len(shows))).all() and (then >= 0).all()
    if not known or (value_of[first] != names).any() or (value_of[then] != names).any():
        raise AdversaryError(Fault(where, "states that lead nowhere, or show another value", "then, shows and start"))
    return _States(place, value_of, first.astype(np.int32), then, ())


def _shares(head: dict[str, Any], n_classes: int, where: str) -> tuple[float, ...]:
    """Return the share of each class; files of older versions do not say it."""
    found = head.get("shares", [])
    if not isinstance(found, list) or len(found) not in (0, n_classes):
        raise AdversaryError(Fault(where, "shares that are not one per class", "a number for each class"))
    if not all(isinstance(share, int | float) and share > 0 for share in found):
        raise AdversaryError(Fault(where, "shares that are not above 0", "a number for each class"))
    return tuple(map(float, found))


def declared_adversary(known: Adversary, ordered: tuple[str, ...] | None = None) -> SequentialAdversary:
    """Return the sequential adversary that a policy or an adversary file declares."""
    model, stay, order = _stated_model(known.sequence)
    return SequentialAdversary(
        model=model,
        stay=stay,
        order=order,
        prior=_prior(known.value_priors),
        classes=_classes(known.classes),
        harmless=frozenset(known.harmless or ()),
        share_known=known.share_known,
        compromised=known.priors.known if known.priors else frozenset(),
        times=known.times,
        ordered=ordered,
        window=known.bands_near,
        sure=known.certain_above,
        raised=known.counts_when_raised,
    )


def _stated_model(stated: StatedKnowledge | None) -> tuple[SequenceModel | None, float | None, int | None]:
    if stated is None:
        return None, None, None
    if stated.file is not None:
        return read_model(Path(stated.file)), None, None
    table = json.loads(stated.table or "{}")
    if set(table) == {"stay"}:
        return None, share_argument("[adversary] sequence: stay", table["stay"]), None
    if set(table) == {"order"}:
        return None, None, whole_argument("[adversary] sequence: order", table["order"])
    if {"values", "matrix"} <= set(table) <= {"values", "matrix", "prior", "gaps"}:
        names = list(map(str, table["values"]))
        return SequenceModel.from_matrix(table["matrix"], names, table.get("prior"), gaps=table.get("gaps")), None, None
    if {"values", "shows", "steps", "then"} <= set(table) <= {"values", "shows", "steps", "then", "prior"}:
        names, shows = list(map(str, table["values"])), list(map(str, table["shows"]))
        return SequenceModel.from_automaton(table["steps"], table["then"], shows, names, table.get("prior")), None, None
    allowed = (
        "a file; { stay = 0.77 }; { order = 2 }; { values = [...], matrix = [[...]] }; "
        "or { values = [...], shows = [...], steps = [[...]], then = [[...]] }"
    )
    raise AdversaryError(Fault("[adversary] sequence", f"keys {', '.join(sorted(table))}", allowed))


def _prior(stated: StatedKnowledge | None) -> dict[str, float] | None:
    if stated is None:
        return None
    table = json.loads(stated.table or "{}")
    if not table or any(not isinstance(chance, int | float) or chance < 0 for chance in table.values()):
        raise AdversaryError(Fault("[adversary] value_priors", "chances that are not numbers from 0", "value = chance"))
    return {str(value): float(chance) for value, chance in table.items()}


def _classes(stated: StatedKnowledge | None) -> dict[str, str]:
    """Return the class of each respondent."""
    if stated is None:
        return {}
    if stated.file is None:
        return {str(who): str(name) for who, name in json.loads(stated.table or "{}").items()}
    import pyarrow.csv as pacsv

    texts = pacsv.ConvertOptions(column_types={"respondent": pa.string(), "class": pa.string()})
    try:
        table = pacsv.read_csv(stated.file, convert_options=texts)
    except (OSError, pa.ArrowInvalid):
        raise AdversaryError(Fault("[adversary] classes", "the file cannot be read", "a CSV file")) from None
    if any(name not in table.column_names for name in ("respondent", "class")):
        raise AdversaryError(Fault("[adversary] classes", "columns are missing", "respondent, class"))
    return dict(zip(table.column("respondent").to_pylist(), table.column("class").to_pylist(), strict=True))
