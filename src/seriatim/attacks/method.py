"""The attacker knows the algorithm: what cuts that look at values reveal to someone who sees who went where.

``lineage`` and ``cohort`` used to cut people into cells by halving every frequent value at a place of its
own, along the column in which the people of a cell differ most. Whoever knows everyone's quasi-identifiers and cells
rebuilds these cuts, and each of them says something about every value (``kernels.deduce.halvings``). What follows is
told to the rules of exclusion, and what these conclude to the cuts, until nothing moves.

The order of the cells is granted, and how many people of each value are in each is published; so the cut of some cells
is where they fall into halves. A cut that the truth contradicts was not made by this algorithm: it is left out, and so
are those below it. Cells that were made without a look at values therefore say nothing.

A method of another package brings what rebuilds its own cuts (``Method.halvings``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from seriatim.attacks.traces_by_person import Traces, trace_bit_words
from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, Singles
from seriatim.kernels.deduce.halvings import Halvings

ALIKE = 1e-9
"""Columns whose spreads differ by less than this share: nobody can tell which of them was cut."""
Rebuilding = Callable[[Traces, Singles, int], Sequence[Halvings]]
"""Rebuilds a method's own cuts: from traces, where each episode lies (as in ``rebuilt_cuts``), and a first release."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """A cell as its people entered: episodes, and how often each value was published among them."""

    people: Ints
    held: Longs
    made_up: int


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """A cut as ``Halvings`` keeps it."""

    who: Ints
    spot: Singles
    right: Flags
    held: Longs
    common: Flags


def rebuilt_cuts(traces: Traces, place: Singles, since: int = 0, further: Rebuilding | None = None) -> Halvings | None:
    """Return the cuts by values that made the groups of a history, from a release on; None if there are none.

    ``place`` has a row per respondent of the history: where they lie along every quasi-identifier, 0 to 1, as the
    method saw it; nan for people about whom nobody knows. ``further`` rebuilds the method's
    own cuts; without it only groups whose numbers last were cut.
    """
    own = place[traces.respondent]
    cells = [cut for cells in _founded(traces, since) for cut in _cuts_of(traces, cells, own)]
    found = [_as_halvings(cells)] if cells else []
    found += further(traces, own, since) if further is not None else []
    if not found:
        return None
    sizes = [np.diff(one.starts) for one in found]
    return Halvings(
        np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int64),
        *(np.concatenate(parts) for parts in list(zip(*found, strict=True))[1:]),
    )


def _as_halvings(cuts: list[_Cut]) -> Halvings:
    return Halvings(
        np.concatenate(([0], np.cumsum([len(cut.who) for cut in cuts]))).astype(np.int64),
        np.concatenate([cut.who for cut in cuts]).astype(np.int32),
        np.concatenate([cut.spot for cut in cuts]),
        np.concatenate([cut.right for cut in cuts]),
        np.concatenate([cut.held for cut in cuts]).astype(np.int32),
        trace_bit_words(np.array([cut.common for cut in cuts])),
    )


def _founded(traces: Traces, since: int) -> Iterator[list[_Cell]]:
    """Yield the cells that each release from this one on made anew, in the order in which they were cut off."""
    seen = np.empty(0, dtype=np.int64)
    for at, past in enumerate(traces.history):
        if "lineage" not in past.marks:
            continue
        number = np.zeros(past.n_groups, dtype=np.int64)
        number[past.group] = past.marks["lineage"]
        groups = np.flatnonzero(~np.isin(number, seen) & (number >= 0)) if at >= since else number[:0]
        seen = np.union1d(seen, number)
        groups = groups[np.argsort(number[groups], kind="stable")]
        yield [_cell(traces, int(group + traces.first_of_release[at])) for group in groups]


def _cell(traces: Traces, group: int) -> _Cell:
    shown = slice(traces.sig_ptr[group], traces.sig_ptr[group + 1])
    held = np.zeros(traces.n_values, dtype=np.int64)
    held[traces.sig_val[shown]] = traces.sig_cnt[shown]
    people = traces.people[traces.group_ptr[group] : traces.group_ptr[group + 1]]
    return _Cell(people, held, int(traces.counterfeits[group]))


def _cuts_of(traces: Traces, cells: list[_Cell], place: Singles) -> Iterator[_Cut]:
    """Yield the cuts from the whole down to the cells, as far as the truth agrees."""
    stack = [cells]
    while stack:
        some = stack.pop()
        if len(some) < 2:
            continue
        sizes = np.cumsum([cell.held.sum() for cell in some])
        # the method cuts as near to the middle as its cells allow, and so does who repeats it
        at = int(np.abs(sizes[:-1] - sizes[-1] // 2).argmin()) + 1
        cut = _cut_between(some[:at], some[at:], place, traces)
        if cut is not None:
            yield cut
            stack += [some[:at], some[at:]]


def _cut_between(left: list[_Cell], right: list[_Cell], place: Singles, traces: Traces) -> _Cut | None:
    """Return the cut between the people of some cells and those of others; None if none by values is possible."""
    people = np.concatenate([cell.people for cell in (*left, *right)])
    went_right = np.arange(len(people)) >= sum(len(cell.people) for cell in left)
    known = np.isfinite(place[people]).all(axis=1)
    column = _widest(place[people[known]])
    if column is None:
        return None
    order = np.flatnonzero(known)[np.argsort(place[people[known], column], kind="stable")]
    who, spot, side = people[order], place[people[order], column], went_right[order]
    # the truth decides whether the cut was made so: an attacker would have to guess, which is granted
    inner, outer = _innermost(traces, who, spot, side)
    if (inner > outer).any():
        return None
    held = np.array([np.sum([cell.held for cell in cells], axis=0) for cells in (left, right)])
    unknown = held.sum(axis=1) - np.bincount(side, minlength=2)
    common = held[0] != -(-held.sum(axis=0) // 2)  # a value cut at a place of its own is halved
    if unknown.any() or inner[common].max(initial=-np.inf) > outer[common].min(initial=np.inf):
        common[:] = False
    counted = np.column_stack((held, held[:, common].sum(axis=1))) - unknown[:, None]
    return _Cut(who, spot, side, np.maximum(counted, 0), common)


def _widest(place: Singles) -> int | None:
    """Return the column in which some people differ most; None if nobody can tell."""
    wide = place.astype(np.float64)
    spread = (wide**2).sum(axis=0) - wide.sum(axis=0) ** 2 / max(len(wide), 1)
    column = int(spread.argmax())
    near = spread >= spread[column] * (1 - ALIKE)
    return column if spread[column] > 0 and (near.sum() == 1 or (place[:, column] == place[:, near].T).all()) else None


def _innermost(traces: Traces, who: Ints, spot: Singles, right: Flags) -> tuple[Floats, Floats]:
    """Return by value where its innermost holders on the left and on the right lie in truth."""
    value = traces.value[who]
    inner, outer = np.full(traces.n_values, -np.inf), np.full(traces.n_values, np.inf)
    np.maximum.at(inner, value[~right], spot[~right])
    np.minimum.at(outer, value[right], spot[right])
    return inner, outer
