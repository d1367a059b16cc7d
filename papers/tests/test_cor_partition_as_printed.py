"""Figures 5 and 6 as printed: the check by its own words, groups by m, and what goes wrong, on series of our own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_series import OneWorker, Series, assert_complete, groups_of, published, series, unsafe_pairs

from seriatim.defences.series.contract import SerialDraw, SerialRules
from seriatim_papers.cor_split import METHODS, CorSplitMethod, CorSplitSetting, play_cor_split
from seriatim_papers.historical.as_printed import printed_groups, printed_safe
from seriatim_papers.historical.safe_groups import historical
from seriatim_papers.memory import GroupMemory
from seriatim_papers.worlds.census import CensusChurn

PRINTED = CorSplitMethod("as printed", GroupMemory.of, printed_groups)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 3), min_size=6, max_size=6), max_size=3), st.integers(1, 6), st.integers(1, 5))
def test_the_check_is_figure_6_word_by_word(earlier: list[list[int]], size: int, n: int) -> None:
    group_in = np.array(earlier, dtype=np.int32).reshape(len(earlier), 6)
    safe = True
    for release in earlier:
        multiset = [release[record] for record in range(size) if release[record] >= 0]
        most = max((multiset.count(one) for one in multiset), default=0)
        safe = safe and not size - n < most < size
    assert printed_safe([(0, record) for record in range(size)], group_in, n) == safe


@settings(max_examples=80, deadline=None)
@given(series(max_people=60, max_releases=4))
def test_every_group_has_its_values_equally_often_and_ends(world: Series) -> None:
    rules, pasts = SerialRules(world.m, world.n, mode="printed", sticky=False), []
    for release, view in enumerate(world.views()):
        made = historical(view, rules, pasts, SerialDraw(b"secret", release), OneWorker())
        assert_complete(view, made)
        pasts.append(published(view, made))
        for people, values in groups_of(pasts[-1]):
            assert people
            assert len(values) >= world.m
            assert len(set(values.values())) == 1, "weak m-uniqueness"


def test_what_goes_wrong_as_printed() -> None:
    """Merging makes unsafe groups pass the printed check; the mended check finds them, and mode greedy has none."""
    setting = CorSplitSetting(CensusChurn(1_000, 0.1, 5), n_queries=50, query_every=99)
    printed, mended = (play_cor_split(method, setting, OneWorker()) for method in (PRINTED, METHODS[1]))
    assert sum(figures.unsafe or 0 for figures in printed.figures) > 0
    assert sum(figures.unsafe or 0 for figures in mended.figures) == 0
    assert unsafe_pairs(list(printed.published[:3]), setting.n) > 0
    sizes = Counter(int(n) for rows in printed.published for n in np.bincount(rows.group))
    assert max(sizes) >= 2 * setting.m, "groups that were merged"


@pytest.mark.parametrize("share", [0.1, 0.33])
def test_where_n_is_the_number_of_values_the_printed_loop_would_not_end(share: float) -> None:
    setting = CorSplitSetting(CensusChurn(600, share, 4), m=6, n=6, n_queries=50, query_every=99)
    played = play_cor_split(PRINTED, setting, OneWorker())
    assert played.share("withheld") > 0.1
