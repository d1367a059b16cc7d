"""Input no serial defence can work with is refused with counts and columns, never with a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support.random_series import OneWorker, plain_view, published

from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView
from seriatim.errors import PolicyError, TableError
from seriatim.model.scale import scale_of
from seriatim_papers.historical.safe_groups import historical_groups
from seriatim_papers.invariant import invariant_groups
from seriatim_papers.memory import GroupMemory, Memory

METHODS = [
    (Memory.of, invariant_groups),
    (GroupMemory.of, historical_groups),
    (lambda pasts, _: SlotHistory.of(pasts), lambda *given: update_groups(*given[:4])),
]
VALUE = np.arange(60, dtype=np.int32) % 6


@pytest.mark.parametrize(("recall", "make"), METHODS)
def test_bad_views(recall, make):
    view = plain_view(VALUE, np.arange(60), 6)
    cases = {
        "6 values": replace(view, n_values=6),
        "1 respondents with more than one record": replace(view, person=np.append(np.arange(59), 3)),
        "without a valid value": replace(view, sensitive=np.where(VALUE == 5, -1, VALUE).astype(np.int32)),
        "without a respondent": replace(view, person=np.arange(60) - 1),
    }
    for found, bad in cases.items():
        with pytest.raises(TableError, match=found):
            make(
                bad,
                SerialRules(7 if found == "6 values" else 3),
                recall([], bad.person),
                SerialDraw(b"s", 0),
                OneWorker(),
            )


@pytest.mark.parametrize(("recall", "make"), METHODS)
def test_a_value_that_changed_is_refused(recall, make):
    view = plain_view(VALUE, np.arange(60), 6)
    made = make(view, SerialRules(3), recall([], view.person), SerialDraw(b"s", 0), OneWorker())
    memory = recall([published(view, made)], view.person)
    changed = replace(view, sensitive=np.where(np.arange(60) < 2, (VALUE + 1) % 6, VALUE).astype(np.int32))
    with pytest.raises(TableError, match=r"the value of 2 people has changed since an earlier release.*--corrections"):
        make(changed, SerialRules(3), memory, SerialDraw(b"s", 1), OneWorker())


@pytest.mark.parametrize("wrong", [{"m": 1}, {"m": 3, "n": 4}, {"m": 3, "n": 0}, {"m": 3, "lifespan": 0}])
def test_bad_rules(wrong: dict[str, int]):
    with pytest.raises(PolicyError):
        SerialRules(**wrong)


@pytest.mark.parametrize(("recall", "make"), METHODS)
def test_an_empty_view_is_an_empty_release(recall, make):
    view = plain_view(VALUE, np.arange(0), 6)
    made = make(view, SerialRules(3), recall([], view.person), SerialDraw(b"s", 0), OneWorker())
    assert (made.n_groups, made.n_counterfeits, len(made.group)) == (0, 0, 0)


@pytest.mark.parametrize(("recall", "make"), METHODS)
def test_a_domain_as_large_as_the_table_does_not_hang(recall, make):
    n = 20_000
    scale = scale_of("interval", pa.array([str(i) for i in range(10)]), np.arange(10, dtype=float))
    history = []
    for release in range(2):
        who = np.arange(release * 2_000, n + release * 2_000)
        quasi = (who % 10).astype(np.int32)[:, None]
        view = SerialView(
            quasi=quasi,
            scales=(scale,),
            sensitive=who.astype(np.int32),
            n_values=n + 2_000,
            person=who.astype(np.int64),
        )
        made = make(view, SerialRules(4), recall(history, view.person), SerialDraw(b"s", release), OneWorker())
        history.append(published(view, made))
    assert made.n_withheld() < n / 100


def test_hierarchies_lie_apart_by_where_they_meet():
    texts = pa.array(["n1", "n2", "s1", "s2"])
    scale = scale_of("node", texts, np.arange(4.0), [("north", "north", "south", "south"), ("*",) * 4])
    codes = np.arange(4, dtype=np.int32)
    view = SerialView(quasi=codes[:, None], scales=(scale,), sensitive=codes, n_values=4, person=np.arange(4))
    assert view.place()[:, 0].tolist() == [0.0, 0.25, 0.75, 1.0]
