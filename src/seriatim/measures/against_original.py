"""Compares a published table with the original: what its labels cost, whether they are true, whom they lead to.

If the rows of both tables are matched, every record is compared with itself. Otherwise a published label is assumed to
hide the original's values in the shares they have there.

Distance linkage says how often the nearest original record is the one a perturbed record was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.measures.information_loss import bits_in_sets
from seriatim.measures.query_error import LabelBoxes
from seriatim.model.audited import AuditedOriginal, AuditedQuasi
from seriatim.model.chance import open_chance
from seriatim.model.classes import LongArray, numbered_alike
from seriatim.model.scale import FloatArray, IntArray

MOST_FLAGS = 120
"""Columns of categories take part in distance linkage up to this many values in all."""


def label_widths(column: AuditedQuasi) -> FloatArray:
    """Return each label's normalised certainty penalty (Xu et al. 2006): 0 for one value, 1 for all; nan if unread.

    For numbers it is the width over the range of the original, for others the values covered over all values.
    """
    scale = column.before.scale
    known = len(scale) - int(scale.texts.null_count)
    span = float(scale.positions[known - 1] - scale.positions[0]) if known else 0.0
    widths = np.full(len(column.covers), np.nan)
    for label, codes in enumerate(column.covers):
        if codes is None or len(codes) == 1:
            widths[label] = np.nan if codes is None else 0.0
        elif codes[-1] >= known:
            widths[label] = 1.0
        elif scale.form == "interval":
            widths[label] = (scale.positions[codes[-1]] - scale.positions[codes[0]]) / (span or 1.0)
        else:
            widths[label] = (len(codes) - 1) / max(len(scale) - 1 if scale.form == "node" else known - 1, 1)
    return widths


def label_steps(column: AuditedQuasi) -> FloatArray | None:
    """Return how far up its hierarchy each label is, 0 to 1 for '*'; None without a hierarchy (Sweeney's Prec)."""
    scale = column.before.scale
    if scale.form != "node":
        return None
    steps = column.levels / max(scale.top, 1)
    for label in np.flatnonzero(np.isnan(steps)):
        codes = column.covers[label]
        if codes is not None:  # a set, or a masked value: the lowest level that covers it
            steps[label] = scale.heights(codes[:1], codes[-1:])[0] / max(scale.top, 1)
    return np.asarray(steps)


def mean_of_records(of_label: FloatArray, column: AuditedQuasi, n_withheld: int, withheld: float) -> float:
    """Return the mean over all records of the original; a withheld one counts ``withheld``; nan if unread."""
    n = len(column.codes) + n_withheld
    return (float(of_label[column.codes].sum()) + n_withheld * withheld) / max(n, 1)


def label_bits(column: AuditedQuasi) -> FloatArray:
    """Return the bits each label leaves open about the value, by the shares of the original's records it covers."""
    counts = column.before.counts()
    bits = np.full(len(column.covers), np.nan)
    for label, codes in enumerate(column.covers):
        if codes is not None:
            bits[label] = bits_in_sets(counts, np.zeros(len(codes), dtype=np.int64), codes, 1)[0]
    return bits


def untrue_share(column: AuditedQuasi, match: LongArray) -> float:
    """Return the share of matched records whose label does not cover their value: 0 if only generalised."""
    matched = match >= 0
    if not matched.any():
        return float("nan")
    labels, values = column.codes[matched], column.before.codes[match[matched]]
    ends = np.array([(0, -1) if codes is None else (codes[0], codes[-1]) for codes in column.covers])
    true = (ends[labels, 0] <= values) & (values <= ends[labels, 1])
    for label, codes in enumerate(column.covers):
        if codes is not None and codes[-1] - codes[0] >= len(codes):  # a set with gaps
            mine = labels == label
            true[mine] = np.isin(values[mine], codes)
    return float((~true).mean())


def class_boxes(original: AuditedOriginal) -> LabelBoxes | None:
    """Return every class as the range of codes its labels cover; None if a label could not be read."""
    facing = original.facing
    if any(column.n_unread for column in facing):
        return None
    classes = numbered_alike([c.codes for c in facing], [len(c.covers) for c in facing], len(facing[0].codes))
    first = np.full(len(classes), len(classes.of_record), dtype=np.int64)
    np.minimum.at(first, classes.of_record, np.arange(len(classes.of_record)))
    low, high = (np.empty((len(facing), len(classes)), dtype=np.int32) for _ in range(2))
    for index, column in enumerate(facing):
        ends = np.array([(0, 0) if c is None else (c[0], c[-1]) for c in column.covers], dtype=np.int32)
        low[index], high[index] = ends[column.codes[first]].T
    return LabelBoxes(low, high, classes.sizes.astype(np.float64))


def linkage_points(facing: Sequence[AuditedQuasi], match: LongArray) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return both tables as points for distance linkage, row by row, and the columns that could not take part.

    Numbers are divided by the original's standard deviation; a range is at its middle. A category is a flag for each of
    its values, a label the even mixture of those it covers, and two different values are one standard deviation apart.
    """
    kept = match >= 0
    before, after, left_out = [], [], []
    flags = 0
    for column in facing:
        if column.before.scale.form == "interval":
            old, new = _numbers(column, match[kept], column.codes[kept])
        elif flags + len(column.before.scale) <= MOST_FLAGS and not column.n_unread:
            flags += len(column.before.scale)
            old, new = _flags(column, match[kept], column.codes[kept])
        else:
            old = new = np.full((1, 1), np.nan)
        if np.isfinite(new).all() and np.isfinite(old).all():
            before.append(old)
            after.append(new)
        else:
            left_out.append(column.name)
    empty = np.zeros((int(kept.sum()), 0))
    return np.hstack([empty, *before]), np.hstack([empty, *after]), tuple(left_out)


def _numbers(column: AuditedQuasi, rows: LongArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    scale = column.before.scale
    middles = np.array([np.nan if c is None else scale.positions[c[[0, -1]]].mean() for c in column.covers])
    places = np.where(np.isnan(middles), column.points, middles)
    old = scale.positions[column.before.codes[rows]]
    spread = float(old.std()) or 1.0
    return (old / spread)[:, None], (places[labels] / spread)[:, None]


def _flags(column: AuditedQuasi, rows: LongArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    n = len(column.before.scale)
    mixtures = np.zeros((len(column.covers), n))
    for label, codes in enumerate(column.covers):
        if codes is not None:
            mixtures[label, codes] = 1.0 / len(codes)
    old, new = np.eye(n)[column.before.codes[rows]], mixtures[labels]
    return old / np.sqrt(2.0), new / np.sqrt(2.0)


@dataclass(frozen=True, slots=True)
class Linkage:
    """Shares of records; ties are divided, so guessing gives 1 / n."""

    linked: float
    """Expected share of records whose nearest original record is the right one."""
    second: float
    """Share of records whose right record is nearest or second nearest."""
    by_luck: float
    tried: int
    """Records that were linked: all of them, or a sample drawn with a fixed seed."""


SEED = 20_262
MOST = 5_000
FEW_DIMENSIONS = 12
"""A tree finds neighbours fast up to this many dimensions; beyond, every point is compared."""
MOST_STEPS = 4_000_000_000


def distance_linkage(original: FloatArray, perturbed: FloatArray) -> Linkage:
    """Link each perturbed record to its nearest original; rows correspond, columns are numbers or 0/1 flags.

    Columns are divided by the original's standard deviation, so that no unit outweighs another.
    """
    if original.shape != perturbed.shape or original.ndim != 2 or not len(original):
        raise InputError(
            Fault("perturbed", f"shapes {perturbed.shape} and {original.shape}", "the same records and columns")
        )
    spread = original.std(axis=0)
    spread[spread == 0] = 1.0
    return linkage_of_points(original / spread, perturbed / spread)


def linkage_of_points(before: FloatArray, after: FloatArray) -> Linkage:
    """Link points that are on comparable scales; of very many records, link a sample."""
    from scipy.spatial import cKDTree

    n = len(before)
    chosen = _sample(n, before.shape[1])
    tree, mine = cKDTree(before), after[chosen]
    own = np.linalg.norm(before[chosen] - mine, axis=1)
    slack = 1e-9 * (1.0 + own)
    nearest, _ = tree.query(mine, k=min(2, n))
    nearest = nearest.reshape(len(chosen), -1)
    first = own <= nearest[:, 0] + slack
    ties = np.ones(len(chosen))
    if first.any():
        ties[first] = tree.query_ball_point(mine[first], own[first] + slack[first], return_length=True)
    second = own <= nearest[:, -1] + slack
    return Linkage(float((first / ties).mean()), float(second.mean()), 1.0 / n, len(chosen))


def _sample(n: int, dimensions: int) -> npt.NDArray[np.int64]:
    most = MOST if dimensions <= FEW_DIMENSIONS else min(MOST, max(200, MOST_STEPS // (n * dimensions)))
    if n <= most:
        return np.arange(n)
    return np.sort(open_chance(SEED, "linkage").choice(n, most, replace=False))
