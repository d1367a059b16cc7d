"""How near an attacker comes to a number: hit chance, entropy and area of every class, and whom the averages hide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seriatim.errors import Fault, InputError
from seriatim.kernels.check.class_figures import entropies_of_near_values, hit_chances_of_near_values
from seriatim.measures.equivocation_rows import class_areas
from seriatim.measures.leakage_given import KnownAttribute
from seriatim.measures.supplementary_knowledge import attribute_sets
from seriatim.model import Measure
from seriatim.model.audited import AuditedTable
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import numbered_alike
from seriatim.model.nearness import has_distances, positions_or_nan, usual_window, window_of, window_reach
from seriatim.model.scale import FloatArray, Scale

if TYPE_CHECKING:
    from seriatim.ports import Workers
    from seriatim.usecases.audit.audit import Audit, ColumnBlock

CARRIED = 0.3
"""One record that carries more than this share of a class's area is an outlier."""
MOST_VALUES = 300
FIGURES = ("initial", "entropy", "hit_chance", "area")


def measures(audit: Audit) -> tuple[Measure, ...]:
    """Return the figures of every sensitive column whose values have distances."""
    found: list[Measure] = []
    for block in audit.blocks:
        scale = _scale_of(audit.audited, block.column)
        if has_distances(scale):
            unit = audit.policy.columns[block.column].unit or ("days" if scale.dated else "units")
            found += _measures(block, scale, f"{unit} x bits", audit.workers)
    return tuple(found)


def notes(audit: Audit) -> tuple[str, ...]:
    """Return a warning for every column in which single records carry the area of their class."""
    told = []
    for measure in audit.measures:
        if measure.name == "equivocation_area" and measure.detail["outlier_classes"]:
            n, column = measure.detail["outlier_classes"], measure.detail["column"]
            told.append(
                f"{column}: in {n:,} class{'' if n == 1 else 'es'} one record carries more than {CARRIED:.0%} of the "
                "area, so the area says little about the others; decide by the hit chance"
            )
    return tuple(told)


def by_record(audit: Audit, column: str, near: str | None = None) -> pa.Table:
    """Return a row per record: its class, H(0), H and hit chance at a window, area, and belief in its true value."""
    scale, near = scale_and_window(audit, column, near)
    block = next(block for block in audit.blocks if block.column == column)
    seen, of_record = block.counts, audit.membership.of_record
    figures = by_class(scale, seen, near, audit.workers)
    coded = next(one for one in audit.audited.sensitive if one.name == column)
    own = _mass_near(scale, seen, of_record, coded.codes, near)
    columns = {name: values[of_record] for name, values in figures.items()}
    return pa.table({"row": np.arange(len(of_record)), "class": of_record, **columns, "belief_in_truth": own})


def scale_and_window(audit: Audit, column: str, near: str | None) -> tuple[Scale, str]:
    """Return the scale of a sensitive column, and what counts as near on it; an error if nothing can."""
    scale = _scale_of(audit.audited, column)
    if not has_distances(scale):
        where, remedy = f"column {column!r}", 'set kind = "number", or add an order'
        raise InputError(Fault(where, "categories without an order", "numbers, dates, or an order", remedy))
    return scale, usual_window(scale) if near is None else _checked_window(near)


def _checked_window(near: str) -> str:
    try:
        window_of(near)
    except ValueError:
        raise InputError(Fault("near", "not a width", '"5", "5%", "±5", "±5%" or "±5% or 100"')) from None
    return near


def _scale_of(audited: AuditedTable, column: str) -> Scale:
    return next(one.scale for one in audited.sensitive if one.name == column)


def by_class(scale: Scale, seen: ValueCounts, near: str, workers: Workers) -> dict[str, FloatArray]:
    """Return H(0), H and hit chance at a window, and the area of every class."""
    reach, exactly = window_reach(scale, window_of(near)), np.arange(len(scale), dtype=np.int64)
    return {
        "initial": entropies_of_near_values(seen.starts, seen.value, seen.count, exactly),
        "entropy": entropies_of_near_values(seen.starts, seen.value, seen.count, reach),
        "hit_chance": hit_chances_of_near_values(seen.starts, seen.value, seen.count, reach),
        "area": class_areas(seen, positions_or_nan(scale), workers),
    }


def _measures(block: ColumnBlock, scale: Scale, unit: str, workers: Workers) -> list[Measure]:
    seen, near = block.counts, usual_window(scale)
    figures = by_class(scale, seen, near, workers)
    records = np.repeat(np.arange(len(seen)), seen.valued)
    reach = window_reach(scale, window_of(near))
    held = np.flatnonzero(seen.totals).astype(np.int32)
    whole = hit_chances_of_near_values(np.array([0, len(held)]), held, seen.totals[held].astype(np.int32), reach)
    hits, areas, initial = figures["hit_chance"][records], figures["area"][records], figures["initial"][records]
    width = _usual_width(scale, seen)
    about = {"column": block.column, "window": near}
    return [
        Measure(
            "hit_chance", float(hits.max()), "chance", {**about, "mean": float(hits.mean()), "table": float(whole[0])}
        ),
        Measure(
            "equivocation_area",
            float(np.nanmin(areas)),
            unit,
            {
                **about,
                **{
                    name: float(np.nanquantile(areas, at)) for name, at in (("p1", 0.01), ("p5", 0.05), ("median", 0.5))
                },
                "usual_width": width,
                "of_usual_width": float(np.nanmin(areas)) / width if width else 0.0,
                "outlier_classes": int((_carried(scale, seen, figures["area"], workers) > CARRIED).sum()),
            },
        ),
        Measure("nothing_left", float((initial <= 0).mean()), "share", {**about, "meaning": "records with H(0) = 0"}),
    ]


def _usual_width(scale: Scale, seen: ValueCounts) -> float:
    """Return the width of the table's values from the 1 % to the 99 % quantile: outliers do not count."""
    positions = positions_or_nan(scale)
    known = ~np.isnan(positions)
    reached = np.cumsum(seen.totals[known]) / max(int(seen.totals[known].sum()), 1)
    ends = np.searchsorted(reached, (0.01, 0.99)).clip(0, max(int(known.sum()) - 1, 0))
    return float(positions[known][ends[1]] - positions[known][ends[0]])


def _carried(scale: Scale, seen: ValueCounts, areas: FloatArray, workers: Workers) -> FloatArray:
    """Return the largest share of a class's area that goes with its lowest or its highest record."""
    lengths = np.diff(seen.starts)
    small = (lengths >= 3) & (lengths <= MOST_VALUES)
    shares = np.zeros(len(lengths))
    for ends in (seen.starts[:-1][small], seen.starts[1:][small] - 1):
        count = seen.count.copy()
        count[ends] -= 1
        kept = count > 0
        starts = np.concatenate(([0], np.cumsum(kept)))[seen.starts]
        rest = ValueCounts(seen.sizes, starts, seen.value[kept], count[kept], seen.totals)
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = 1.0 - class_areas(rest, positions_or_nan(scale), workers) / areas
        shares[small] = np.fmax(shares[small], np.nan_to_num(lost[small]))
    return shares


def _mass_near(scale: Scale, seen: ValueCounts, of_record: Any, codes: Any, near: str) -> FloatArray:
    """Return the share of each record's class that lies near its true value."""
    window = window_of(near)
    positions = positions_or_nan(scale)
    allowed = np.maximum(window.width / 2, window.ratio * np.abs(positions))
    low = np.searchsorted(positions, positions - allowed - 1e-9)
    high = np.searchsorted(positions, positions + allowed + 1e-9, side="right")
    keys = seen.owner.astype(np.int64) * (len(scale) + 1) + seen.value
    reached = np.concatenate(([0], np.cumsum(seen.count)))
    base = of_record.astype(np.int64) * (len(scale) + 1)
    inside = reached[np.searchsorted(keys, base + high[codes])] - reached[np.searchsorted(keys, base + low[codes])]
    size = reached[seen.starts[1:]] - reached[seen.starts[:-1]]
    return np.asarray(inside / np.maximum(size[of_record], 1))


def by_columns_known(audit: Audit, column: str, near: str | None = None) -> pa.Table:
    """Return a row per number of columns known: each figure by combination and by record, and the worst set.

    Every set of columns of a size counts, or a seeded sample of sets if there are too many, and in each set every
    combination of values that occurs. Averages over combinations and over records differ, so both are named.
    The worst set is the one with the highest hit chance on average over records; ``nothing_left`` is the share of
    records with H(0) = 0, over all sets.
    """
    scale, near = scale_and_window(audit, column, near)
    coded = next(one for one in audit.audited.sensitive if one.name == column)
    given = [KnownAttribute(one.name, one.codes, one.n_values) for one in audit.audited.given]
    rows = []
    for known in range(len(given) + 1):
        figures, sizes, worst = [], [], (-1.0, "")
        sets = attribute_sets(len(given), known)
        for chosen in sets:
            held = [given[place] for place in chosen]
            classes = numbered_alike([g.codes + 1 for g in held], [g.n_values + 1 for g in held], len(coded.codes))
            found = by_class(scale, ValueCounts.of(classes, coded.codes, len(scale)), near, audit.workers)
            figures.append(np.column_stack([found[name] for name in FIGURES]))
            sizes.append(classes.sizes)
            hit = float(np.average(found["hit_chance"], weights=classes.sizes))
            worst = max(worst, (hit, " + ".join(g.name for g in held)))
        rows.append(_row(known, len(sets), np.concatenate(figures), np.concatenate(sizes), worst))
    return pa.Table.from_pylist(rows)


def _row(
    known: int, sets: int, figures: FloatArray, sizes: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    worst: tuple[float, str],
) -> dict[str, object]:  # fmt: skip
    row: dict[str, object] = {"known": known, "sets": sets}
    for place, name in enumerate(FIGURES):
        placed = ~np.isnan(figures[:, place])  # a class of missing values only has no area
        held, weights = figures[placed, place], sizes[placed]
        row[name] = float(held.mean()) if len(held) else float("nan")
        row[f"{name}_by_record"] = float(np.average(held, weights=weights)) if len(held) else float("nan")
    row["nothing_left"] = float(sizes[figures[:, 0] <= 0].sum() / sizes.sum())
    return {**row, "worst_hit_chance": worst[0], "worst_set": worst[1]}
