"""How near someone comes to a number who knows none, one, ..., all of the columns that an attacker may know.

Every set of columns of a size counts, or a seeded sample of sets if there are too many, and in each set every
combination of values that occurs. Averages over combinations and over records differ, so both are named; so is the
worst set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from seriatim.measures.leakage_given import GivenAttribute
from seriatim.measures.supplementary_knowledge import supplementary_knowledge_sets
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import number_classes
from seriatim.model.scale import FloatArray
from seriatim.usecases.audit.audit_numbers import audit_number_figures, audit_number_scale

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit

FIGURES = ("initial", "entropy", "hit_chance", "area")


def audit_knowledge_table(audit: Audit, column: str, near: str | None = None) -> pa.Table:
    """Return a row per number of columns known: each figure by combination and by record, and the worst set.

    The worst set is the one with the highest hit chance on average over records; ``nothing_left`` is the share of
    records with H(0) = 0, over all sets.
    """
    scale, near = audit_number_scale(audit, column, near)
    coded = next(one for one in audit.audited.sensitive if one.name == column)
    given = [GivenAttribute(one.name, one.codes, one.n_values) for one in audit.audited.given]
    rows = []
    for known in range(len(given) + 1):
        figures, sizes, worst = [], [], (-1.0, "")
        sets = supplementary_knowledge_sets(len(given), known)
        for chosen in sets:
            held = [given[place] for place in chosen]
            classes = number_classes([g.codes + 1 for g in held], [g.n_values + 1 for g in held], len(coded.codes))
            found = audit_number_figures(scale, ValueCounts.of(classes, coded.codes, len(scale)), near, audit.workers)
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
