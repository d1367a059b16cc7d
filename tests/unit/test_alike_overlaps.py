"""Of the groups that share a person, a draw looks only at those whose values it could compare."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import seriatim as sr
from seriatim.attacks.exclusion_rules import prepare
from seriatim.kernels.deduce.board import overlaps


@pytest.fixture
def history() -> sr.History:
    chance = np.random.default_rng(4)
    value = chance.integers(0, 4, 40)
    parts = []
    for release in range(30):
        who = chance.permutation(40)[:32]
        part = pd.DataFrame({"release": release, "respondent": who.astype(str), "group": np.arange(32) // 2})
        parts.append(part.assign(sensitive=value[who].astype(str)))
    frame = pd.concat(parts)
    frame.loc[frame.index[:64:7], "respondent"] = None
    return sr.History.from_frame(frame)


def test_they_publish_the_same_values_and_no_counterfeit(history: sr.History) -> None:
    ground = prepare(history)
    board = ground.board
    ptr, pair = overlaps(board.mem_ptr, board.mem, board.per_ptr, board.per, 1)
    values = [
        Counter(dict(zip(board.sig_val[a:b].tolist(), board.sig_cnt[a:b].tolist(), strict=True)))
        for a, b in zip(board.sig_ptr[:-1], board.sig_ptr[1:], strict=True)
    ]
    wanted = [
        [other for other in pair[a:b].tolist() if values[other] == values[group] and not board.counterfeits[other]]
        for group, (a, b) in enumerate(itertools.pairwise(ptr))
    ]
    alike, kept = ground.meetings
    assert [kept[a:b].tolist() for a, b in itertools.pairwise(alike)] == wanted
    assert 0 < len(kept) < len(pair) / 2
    assert board.counterfeits.any()
