"""Table 1 of the Cor-Split paper keeps every older promise; the repaired promises see what is wrong with it."""

from __future__ import annotations

import numpy as np
import pytest
from support.histories import grouped, history_of, paper_history, subtraction, union

from seriatim.model.history import History, JudgedHistory
from seriatim.promises.series.invariance import m_invariance, m_uniqueness, weak_m_invariance
from seriatim_papers.historical.promises import hc_safety, no_subtraction, union_safety


def test_table_1_is_3_anonymous_3_diverse_0_close_and_3_invariant() -> None:
    history = paper_history()
    for past in history.releases:
        margin = np.bincount(past.value, minlength=3) / len(past.value)
        for g in range(past.n_groups):
            values = past.value[past.group == g]
            assert len(values) >= 3
            assert len(set(values.tolist())) >= 3
            assert np.abs(np.bincount(values, minlength=3) / len(values) - margin).max() < 1e-12
    assert m_uniqueness(JudgedHistory(history), 3).kept
    assert m_invariance(JudgedHistory(history), 3).kept


def test_table_1_is_not_hc_safe() -> None:
    found = hc_safety(JudgedHistory(paper_history()), 2)
    assert not found.kept
    assert (found.worst, found.n_classes) == (1.0, 1)
    assert hc_safety(JudgedHistory(paper_history()), 1).kept


@pytest.mark.parametrize("history", [subtraction(), union()])
def test_the_counterexamples_pass_the_papers_checks_and_fail_the_union_promise(history: History) -> None:
    assert weak_m_invariance(JudgedHistory(history), 3).kept
    assert not union_safety(JudgedHistory(history), 2).kept
    assert union_safety(JudgedHistory(history), 1).kept


def test_the_subtraction_hole_is_seen() -> None:
    assert not no_subtraction(JudgedHistory(subtraction())).kept
    assert no_subtraction(JudgedHistory(union())).kept
    assert hc_safety(JudgedHistory(union()), 2).kept


def test_a_group_that_is_published_again_unchanged_breaks_nothing() -> None:
    held = dict(zip("abcdef", "123123", strict=True))
    history = history_of(grouped(held, "abc", "def"), grouped(held, "abc", "def"))
    assert hc_safety(JudgedHistory(history), 3).kept
    assert union_safety(JudgedHistory(history), 3).kept
    assert no_subtraction(JudgedHistory(history)).kept
