"""Public functions check their arguments at the door: whatever is handed in, it works or is told in a line of ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.ledgers import publish

import seriatim as sr
from seriatim.errors import SeriatimError
from seriatim.ledger.sql_ledger import open_ledger

ROWS = {"release": [1, 1, 2], "respondent": ["a", "b", "a"], "group": [1] * 3, "sensitive": ["x", "y", "x"]}
FAIR, TABLE = [0.5, 0.5], pa.table({"a": [1, 2]})
SHAPE: dict[str, Any] = {"series": {"name": "s"}, "columns": {"a": {"role": "quasi"}}, "promise": {"k": 1}}
ROLES = sr.Policy.from_dict(
    {**SHAPE, "columns": {"a": {"role": "quasi"}, "b": {"role": "sensitive"}}, "defence": {"method": "median"}}
)
PUBLISHED = pa.table({"a": [1, 1, 2, 2], "b": ["x", "y"] * 2})
WRONG: dict[str, Any] = {
    "nothing": None,
    "zero": 0,
    "minus": -1,
    "half": 1.5,
    "nan": float("nan"),
    "huge": 2**70,
    "truth": True,
    "empty": "",
    "text": "x",
    "bytes": b"x",
    "list": [],
    "of nothing": [None],
    "of texts": ["x"],
    "mapping": {"x": 1},
    "object": object(),
    "function": len,
    "array": np.zeros((2, 2)),
    "frame": pd.DataFrame({"x": [1]}),
    "another frame": pl.DataFrame({"x": [1]}),
    "column": pd.Series([1, 2]),
    "nothing in an array": np.zeros(0, dtype=bool),
    "path": Path("/nonexistent/file"),
    "set": {1},
    "type": int,
    "half a character": "\udcff",
    "nul": "a\0b",
    "halves of characters": ["\udcff"],
    "arrow table": pa.table({"x": [1]}),
    "nulls": pa.nulls(2),
    "texts in an array": np.array([["a"]]),
    "huge in a list": [2**70],
}
History = sr.History.from_frame(pa.table(ROWS))
REGISTER = pa.table({"respondent": ["a", "b"], "age": ["1", "2"]})
AS_PUBLISHED = [pa.table({"age": ["1", "2"]}), pa.table({"age": ["1"]})]
MODEL = sr.knowledge.SequenceModel.from_stay(0.7, FAIR, ["x", "y"])
ASKED = sr.queries.Query("sum", (0, 1))
NUMBERS = sr.reading.Axis.whole_numbers(1, 2)
BOUNDS = sr.queries.bounds([ASKED], [3.0], n=3, domain=(0.0, 9.0))
BY_REGISTER: dict[str, Any] = {"history": History, "tables": AS_PUBLISHED, "register": REGISTER}
DOORS: dict[str, tuple[Callable[[Path], Callable[..., Any]], dict[str, Any]]] = {
    "publish": (
        lambda _: sr.publish,
        {"view": TABLE, "policy": None, "ledger": None, "recipients": ["A"], "approved_by": "A", "dry_run": True},
    ),
    "audit": (lambda _: sr.audit, {"table": PUBLISHED, "policy": ROLES, "prior": "published"}),
    "compare": (lambda _: sr.compare, {"view": PUBLISHED, "policy": ROLES, "methods": ["median"]}),
    "state": (lambda home: opened(home).state, {"series": "ward", "destination": None, "head": None}),
    "deliver": (
        lambda home: opened(home).deliver,
        {"series": "ward", "number": 1, "recipients": ["A"], "out": None, "to": (), "policy": None, "override": None},
    ),
    "recall": (lambda home: opened(home).recall, {"series": "ward", "number": 1, "reason": "why", "approved_by": "A"}),
    "erase": (lambda home: opened(home).erase, {"series": "ward", "respondent": "ann"}),
    "resume": (lambda home: opened(home).resume, {"series": None, "out": None}),
    "record": (lambda home: opened(home).record, {"series": "ward", "number": 1}),
    "verify": (lambda home: opened(home).verify, {"published": []}),
    "open": (lambda home: sr.Ledger.open, {"url": "sqlite:////nonexistent/l.db", "shelf": None, "create": True}),
    "load": (lambda _: sr.Policy.load, {"path": "none.toml"}),
    "from_dict": (lambda _: sr.Policy.from_dict, {"mapping": SHAPE, "base": None}),
    "exclusion": (
        lambda _: sr.attacks.exclusion,
        {"history": History, "compromised": (), "priors": None, "follows": None},
    ),
    "share": (
        lambda _: sr.attacks.exclusion_share,
        {"history": History, "share": 0.1, "seeds": [1]},
    ),
    "belief": (lambda _: sr.attacks.belief(History).sure, {"above": 0.9}),
    "twins": (lambda _: sr.attacks.twins, {"history": History}),
    "leakage": (lambda _: sr.measures.leakage, {"prior": FAIR, "posterior": FAIR}),
    "query": (lambda _: sr.queries.Query, {"kind": "sum", "records": (0, 1), "weights": None}),
    "between": (lambda _: sr.queries.Query.between, {"kind": "sum", "keys": [1, 2], "low": 1, "high": 2}),
    "refusals": (lambda _: sr.queries.SpreadRefusals, {"n": 5, "spread": 0.7, "least_records": 2, "known": ()}),
    "answers": (lambda _: sr.queries.Answering, {"values": [1.0, 2.0], "domain": (0.0, 9.0), "approved_by": "A"}),
    "gate": (lambda _: sr.gate.Gate, {"baseline": FAIR, "targets": 2, "alpha": 0.2, "queue": True, "joint": False}),
    "stay": (
        lambda _: sr.knowledge.SequenceModel.from_stay,
        {"stay": 0.7, "margin": FAIR, "values": ["x", "y"]},
    ),
    "labels": (lambda _: sr.reading.Axis.of_labels, {"labels": ["a", "b"], "order": None}),
    "axis": (lambda _: sr.reading.Axis.ordered, {"values": ["a", "b"], "nodes": None}),
    "boxes": (lambda _: sr.reading.read_boxes, {"table": TABLE, "counterfeits": None, "axes": {"a": NUMBERS}}),
    "numbers": (lambda _: sr.reading.Axis.whole_numbers, {"low": 1, "high": 2}),
    "beside": (lambda _: History.beside, {"other": History}),
    "newest": (lambda _: History.newest, {"n": 1}),
    "seeds": (lambda _: sr.attacks.belief, {"history": History, "compromised": (), "seed": 1}),
    "complete": (lambda _: sr.attacks.complete, {"history": History, "compromised": (), "sample": 1, "seed": 1}),
    "complete share": (
        lambda _: sr.attacks.complete_share,
        {"ground": sr.attacks.prepare(History), "share": 0.1, "seeds": [1], "bound": 0.1},
    ),
    "of": (lambda _: sr.attacks.sequence(History).of, {"respondent": "a"}),
    "in truth": (lambda _: sr.attacks.sequence(History).in_truth, {"beliefs": np.zeros((3, 2))}),
    "register": (lambda _: sr.attacks.intersection_by_register, {**BY_REGISTER, "known": None}),
    "fewer": (lambda _: sr.attacks.shrinking_by_register, {**BY_REGISTER, "least": 2}),
    "presence": (lambda _: sr.attacks.presence, {**BY_REGISTER, "tight": True}),
    "learnt": (lambda _: sr.attacks.learnt, {"history": History, "people": REGISTER, "others": None, "seed": 1}),
    "start": (lambda _: MODEL.at_start, {"n_people": 2, "classes": None}),
    "over": (lambda _: MODEL.over, {"values": ["x", "z"], "floor": 0.1}),
    "gaps": (lambda _: MODEL.with_gaps, {"gaps": [2]}),
    "row": (lambda _: ASKED.row, {"n": 3}),
    "answer": (lambda _: ASKED.answer, {"values": np.ones(3)}),
    "least group": (lambda _: sr.queries.SpreadRefusals(3, 0.1).least_group, {"values": np.ones(3)}),
    "bounds": (lambda _: sr.queries.bounds, {"queries": [ASKED], "answers": [3.0], "n": 3, "domain": (0.0, 9.0)}),
    "candidates": (lambda _: BOUNDS.candidates, {"domain": np.array([1.0, 2.0])}),
    "worst sets": (lambda _: sr.audit(PUBLISHED, ROLES).worst_sets, {"column": "b", "up_to": 2}),
    "measure": (lambda _: sr.audit(PUBLISHED, ROLES).equivocation, {"column": "b", "near": None}),
    "book": (lambda home: opened(home).answer_book("answers").append, {"entry": {}}),
}


def opened(home: Path) -> Any:
    ledger = open_ledger(home / "l.db")
    if not ledger.records():
        publish(ledger)
    return ledger


@pytest.mark.parametrize("name", DOORS)
def test_no_argument_ends_in_an_error_of_an_inner_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # some texts are taken for paths
    make, valid = DOORS[name]
    if name == "publish":
        policy = sr.Policy.from_dict({**SHAPE, "defence": {"method": "median"}})
        valid = {**valid, "policy": policy, "ledger": sr.Ledger.open(tmp_path / "l.db")}
    if name == "answers":
        valid = {**valid, "refusals": None}
    for key in valid:
        for what, wrong in WRONG.items():
            try:
                make(tmp_path)(**{**valid, key: wrong})
            except SeriatimError as error:
                said = str(error)
                if "object at 0x" in said:
                    pytest.fail(f"{key}, {what}: {said}")


def test_every_argument_of_what_is_public_is_looked_at() -> None:
    """An annotation that only the type checker can read is one that the door passes over."""
    rooms = (sr, sr.attacks, sr.gate, sr.knowledge, sr.measures, sr.queries, sr.reading)
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    methods = [vars(kind).values() for one in public if inspect.isclass(one) for kind in one.__mro__[:2]]
    doors = {one for one in (*public, *chain(*methods)) if inspect.isfunction(one) and hasattr(one, "__wrapped__")}
    assert len(doors) > 60
    unread = []
    for door in doors:
        inner = inspect.unwrap(door)
        for name, told in inner.__annotations__.items():
            try:
                name == "return" or eval(told, inner.__globals__)
            except NameError:
                unread.append(f"{inner.__qualname__}: {name}")
    assert unread == ["Relation.__init__: releases"]  # nobody makes one by hand: PublishedRelease.relation does


def test_one_name_is_one_recipient_and_nobody_is_no_delivery(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.deliver("ward", 1, "Ann").recipients == ("office", "Ann")
    for nobody in ({}, {"recipients": []}, {"to": ()}):
        with pytest.raises(sr.InputError, match="recipients: nobody"):
            ledger.deliver("ward", 1, **nobody)
    with pytest.raises(sr.InputError, match="no public part"):  # the folder may be a text
        ledger.deliver("ward", 1, "Bob", out=str(tmp_path / "out"))
    with pytest.raises(sr.InputError) as caught:
        ledger.deliver(3, "1", "Bob")
    assert [fault.where for fault in caught.value.faults] == ["series", "number"]
    assert ledger.records()[0].recipients == ("office", "Ann")


def test_a_progress_that_is_no_function() -> None:
    for call in (sr.compare, sr.publish):
        with pytest.raises(sr.InputError, match="progress: 3; allowed: a function"):
            call(PUBLISHED, ROLES, progress=3)
