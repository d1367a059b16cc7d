"""What generalising costs: the usual measures of loss."""

from __future__ import annotations

import numpy as np

from seriatim.model import Draft, Measure
from seriatim.model.classes import LongArray


def loss_measures(draft: Draft, class_sizes: LongArray) -> tuple[Measure, ...]:
    """Return GCP, discernibility, average class size and the suppressed share of a draft."""
    sizes = class_sizes.astype(np.float64)
    n, suppressed = draft.n_records, draft.grouping.n_suppressed
    # a suppressed record is as uncertain as the whole table (Bayardo, Agrawal 2005)
    discernibility = float((sizes**2).sum() + suppressed * n)
    per_column = loss_by_column(draft)
    gcp = float(np.mean(list(per_column.values()))) if per_column else 0.0
    return (
        Measure("gcp", gcp, "share", {"meaning": "global certainty penalty; a suppressed record counts 1"}),
        Measure("discernibility", discernibility, "pairs", {"meaning": "pairs of records that look alike"}),
        Measure("average_class_size", float(sizes.mean()) if len(sizes) else 0.0, "records", {}),
        Measure("classes", float(len(sizes)), "classes", {}),
        Measure("suppressed_share", draft.suppressed_share, "share", {"records": suppressed}),
    )


def loss_by_column(draft: Draft) -> dict[str, float]:
    """Return each quasi column's normalised certainty penalty, the mean over records; a suppressed one counts 1."""
    group = draft.grouping.group
    counts = np.bincount(group[group >= 0], minlength=draft.grouping.n_groups)
    n = max(draft.n_records, 1)
    return {
        g.name: float((counts * g.loss_of_group).sum() + draft.grouping.n_suppressed) / n for g in draft.generalised
    }
