"""What changes the Cor-Split study's figures: choices the paper leaves open, one changed at a time.

They are the order of the records, how a cut leaves ties, what counts as one round of reasoning, whether the adversary
counts, and how queries are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

from seriatim.attacks.exclusion_rules import PreparedHistory, prepare
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView
from seriatim.kernels.arrays import Ints, Longs, Words
from seriatim.kernels.check.box_counts import range_boxes
from seriatim.kernels.deduce.board import Board
from seriatim.kernels.deduce.one_round import narrow_by_compromised, narrow_by_correlations
from seriatim.reading import Boxes, count_in_ranges
from seriatim.wiring import wired_workers
from seriatim_papers.cor_split import (
    METHODS,
    CorSplitMethod,
    CorSplitSetting,
    Order,
    cor_split_numbers,
    cor_split_scales,
    play_cor_split,
)
from seriatim_papers.cor_split_parts import COMPROMISED, SEEDS
from seriatim_papers.memory import GroupMemory
from seriatim_papers.queries import draw_queries, queries_anywhere, queries_by_share, study_query_answers
from seriatim_papers.stable_cuts import stably_cut_groups
from seriatim_papers.worlds.census import DOMAINS, N_INCOMES, CensusChurn, census

DRAWN = {"around people": draw_queries, "anywhere": queries_anywhere, "by share of people": queries_by_share}
STABLE = CorSplitMethod("invariant, stable ties", GroupMemory.of, stably_cut_groups)
PRINTED = (METHODS[0], STABLE, METHODS[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The share of people breached under one reading of the experiment."""

    setting: str
    order: Order
    method: str
    unsafe: tuple[int, int]
    """hc-unsafe groups in the second and the last release."""
    counterfeits: tuple[int, int]
    """Fewest and most counterfeits in a release after the first."""
    side_by_side: float
    """ct-pvr and hc-pvr, each from what is known beforehand: the reading of the paper's Lemma 2."""
    one_after_the_other: float
    """hc-pvr from what ct-pvr left."""
    printed_rules: float
    """Both, repeated until nothing changes."""
    all_rules: tuple[float, ...]
    """With counting, to the fixed point; one figure for each draw of compromised people."""


@dataclass(frozen=True, slots=True)
class QueryReason:
    """The error of one method's first release, by how the queries are drawn."""

    drawn: str
    method: str
    selectivity: float
    held: float
    """Share of the people in the median query."""
    error: float
    """Median of the relative errors, without queries that match nobody."""


def reasons(worlds: Sequence[tuple[CensusChurn, Sequence[Order]]], seeds: Sequence[int] = SEEDS) -> tuple[Reason, ...]:
    """Run the same series with different orders of the records, cuts of ties and readings of the attack."""
    work = [(churn, order, method) for churn, orders in worlds for order in orders for method in PRINTED]
    found = []
    for churn, order, method in work:
        setting = CorSplitSetting(churn, n_queries=1, query_every=churn.releases + 1, order=order)
        played = play_cor_split(method, setting, wired_workers())
        ground = prepare(played.history())
        side, after, printed = _readings(ground, seeds[0])
        drawn = tuple(_breached(ground, ground.compromise(ground.draw(COMPROMISED, s), False).words, s) for s in seeds)
        unsafe = [figures.unsafe or 0 for figures in played.figures]
        counterfeits = [figures.counterfeits for figures in played.figures[1:]]
        name = f"{churn.size:,} people, {churn.share:.0%} churn, {churn.releases} releases"
        found.append(
            Reason(
                setting=name,
                order=order,
                method=method.name,
                unsafe=(unsafe[1], unsafe[-1]),
                counterfeits=(min(counterfeits), max(counterfeits)),
                side_by_side=side,
                one_after_the_other=after,
                printed_rules=printed,
                all_rules=drawn,
            )
        )
    return tuple(found)


def reasons_asked(churn: CensusChurn, n_queries: int) -> tuple[QueryReason, ...]:
    """Measure one release with three ways of drawing queries."""
    setting = CorSplitSetting(replace(churn, releases=1), n_queries=1, query_every=2)
    people = census(churn.n_people, setting.seed)
    who = cor_split_numbers(people, setting.churn, setting.seed)[0][0]
    view = SerialView(
        quasi=people.quasi[who],
        scales=cor_split_scales(),
        sensitive=people.income[who],
        n_values=N_INCOMES,
        person=np.arange(len(who)),
    )
    boxes = {}
    for method in METHODS[:2]:
        rules = SerialRules(setting.m, setting.n, sticky=method.sticky)
        made = method.group(view, rules, method.recall([], view.person), SerialDraw(b"study", 1), wired_workers())
        boxes[method.name] = Boxes(*range_boxes(view.quasi, made.box, int(made.box.max(initial=-1)) + 1))
    found = []
    for (drawn, draw), share in product(DRAWN.items(), (0.01, 0.05, 0.10)):
        queries = draw(view.quasi, DOMAINS, share, n_queries, setting.seed)
        truth = study_query_answers(view.quasi, queries)
        held = float(np.median(truth) / len(view))
        for name, own in boxes.items():
            error = np.abs(count_in_ranges(own, queries) - truth)[truth > 0] / truth[truth > 0]
            found.append(QueryReason(drawn, name, share, held, float(np.median(error))))
    return tuple(found)


def _readings(ground: PreparedHistory, seed: int) -> tuple[float, float, float]:
    """Return the shares breached by the printed rules: side by side, one after the other, and repeated."""
    board = ground.board
    ptr, pair = ground.meetings
    told = ground.read.copy()
    value = ground.traces.value
    known = ground.draw(COMPROMISED, seed)
    told[known] = 0
    told[known, value[known] >> 6] = np.uint64(1) << (value[known] & 63).astype(np.uint64)
    by_compromised = narrow_by_compromised(board, told)
    share: Callable[[Words], float] = partial(_breached, ground, seed=seed)
    side = share(by_compromised & narrow_by_correlations(board, ptr, pair, told))
    words = narrow_by_correlations(board, ptr, pair, by_compromised)
    return side, share(words), share(reasons_repeated(board, ptr, pair, by_compromised, words))


def reasons_repeated(board: Board, ptr: Longs, pair: Ints, looked: Words, words: Words) -> Words:
    """Repeat both printed rules until nothing changes; ``words`` is what hc-pvr left of ``looked``.

    A pair of groups says nothing new unless someone in the second has lost a value since it was last compared.
    """
    group = np.repeat(np.arange(len(board.mem_ptr) - 1), np.diff(board.mem_ptr))
    while True:
        told = narrow_by_compromised(board, words)
        moved = (told != looked).any(axis=1)
        if not moved.any():
            return words
        touched = np.zeros(len(ptr) - 1, dtype=np.bool_)
        touched[group[moved[board.mem]]] = True
        kept = touched[pair]
        starts = np.concatenate(([0], np.cumsum(kept)))[ptr]
        words, looked = narrow_by_correlations(board, starts, pair[kept], told), told


def _breached(ground: PreparedHistory, words: Words, seed: int) -> float:
    """Return the share of people not compromised with one value left."""
    free = np.ones(len(words), dtype=np.bool_)
    free[ground.draw(COMPROMISED, seed)] = False
    left: npt.NDArray[np.int64] = np.bitwise_count(words[free]).sum(axis=1)
    return float((left == 1).mean())
