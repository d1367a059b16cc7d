"""Several records of a person are refused alike wherever people are followed: counts and what to do, never an id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.attacks.traces_by_person import trace
from seriatim.errors import TableError
from seriatim.knowledge.appearances import appearances_of
from seriatim.model.history import History, PastRelease
from seriatim.model.table_faults import most_records_at_once, several_records_fault

WORDS = ("2 respondents with more than one record, up to 3", "one each", "keep one record per person", "visit_1")


RELEASES = ([0, 0, 0, 1, 2], [0, 0, 0, 1, 1])
"""Whose records each release has: canary-a has three in both, canary-b two in the second."""
PEOPLE = ("canary-a", "canary-b", "c")


def history() -> History:
    zeros = np.zeros(5, dtype=np.int32)
    pasts = [
        PastRelease(n, person=np.array(who, dtype=np.int32), group=zeros, value=zeros)
        for n, who in enumerate(RELEASES, start=1)
    ]
    return History(pa.array(PEOPLE), pa.array(["flu"]), tuple(pasts))


def frame() -> pa.Table:
    rows = [(n, PEOPLE[who]) for n, people in enumerate(RELEASES, start=1) for who in people]
    release, respondent = (list(cells) for cells in zip(*rows, strict=True))
    return pa.table(
        {"release": release, "respondent": respondent, "group": [0] * len(rows), "sensitive": ["flu"] * len(rows)}
    )


@pytest.mark.parametrize(
    "follow",
    [lambda: trace(history()), lambda: appearances_of(history()), lambda: sr.History.from_frame(frame())],
    ids=["attack", "sequence", "frame"],
)
def test_whoever_follows_people_says_the_same(follow: Callable[[], object]) -> None:
    with pytest.raises(TableError) as caught:
        follow()
    assert [words for words in WORDS if words not in str(caught.value)] == []
    assert "canary" not in str(caught.value)


def test_people_count_once_by_their_fullest_release() -> None:
    person, release = np.array([4, 4, 4, 9, 4, 9, 9]), np.array([1, 1, 1, 1, 2, 2, 2])
    assert most_records_at_once(person, release).tolist() == [3, 2]
    assert most_records_at_once(person[:0], release[:0]).tolist() == []


def test_one_record_each_is_no_fault() -> None:
    assert several_records_fault("respondent", np.array([1, 0, 1])) is None
    assert several_records_fault("respondent", np.array([], dtype=np.int64)) is None
