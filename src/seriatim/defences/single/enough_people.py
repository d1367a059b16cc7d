"""Joins neighbouring groups until each has k people, since k records may belong to fewer people.

Methods that cut by records know nothing of people. If everyone has one record, nothing changes. Otherwise groups that
are neighbours in the order of the cuts are near each other, so joining them costs least. Joining two groups keeps every
promise that both keep (l, t and the likeness promises are about shares, which a join averages). Only entropy leakage,
which also bounds how even a class may be, can break by joining: the verdict would say so.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import LabelPieces
from seriatim.model import View
from seriatim.model.classes import class_text_codes


def with_enough_people(pieces: LabelPieces, view: View, k: int) -> LabelPieces:
    """Return the pieces, joined where one has fewer than k different respondents."""
    if view.respondent is None or view.once or k < 2 or pieces.n_groups < 2:
        return pieces
    person, names = class_text_codes(view.cells(view.respondent))
    if len(names) == len(person):
        return pieces
    return LabelPieces(pieces.order, bounds_with_enough_people(person[pieces.order], pieces.bounds, k))


def bounds_with_enough_people(
    person: npt.NDArray[np.int32], bounds: npt.NDArray[np.int64], k: int
) -> npt.NDArray[np.int64]:
    """Return some of the bounds, with k different people between any two; the outermost two if none suffice."""
    people = _people_by_piece(person, bounds)
    n_pieces = len(people)
    starts: list[int] = []
    place = 0
    while place < n_pieces:
        first, place = place, place + 1
        if people[first] >= k:
            starts.append(first)
            continue
        inside = set(person[bounds[first] : bounds[place]].tolist())
        while len(inside) < k and (place < n_pieces or starts):
            if place < n_pieces and _rightwards(people, bounds, starts, first, place, k):
                inside.update(person[bounds[place] : bounds[place + 1]].tolist())
                place += 1
            else:
                last, first = first, starts.pop()
                inside.update(person[bounds[first] : bounds[last]].tolist())
        starts.append(first)
    return np.append(bounds[starts], bounds[-1])


def _rightwards(
    people: npt.NDArray[np.int64], bounds: npt.NDArray[np.int64], starts: list[int], first: int, place: int, k: int
) -> bool:
    """Return whether to join with the right neighbour: one that is short too, else the smaller one."""
    if not starts or people[place] < k:
        return True
    return bool(bounds[place + 1] - bounds[place] <= bounds[first] - bounds[starts[-1]])


def _people_by_piece(person: npt.NDArray[np.int32], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    n_pieces, n_people = len(bounds) - 1, int(person.max(initial=0)) + 1
    piece = np.repeat(np.arange(n_pieces, dtype=np.int64), np.diff(bounds))
    pairs = np.unique(piece * n_people + person)
    return np.bincount(pairs // n_people, minlength=n_pieces).astype(np.int64)
