"""Figures about an audited table as a whole: who can be found again, which columns reveal nothing, what it cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from seriatim.measures.averaged_noise import averaged_noise_measures
from seriatim.measures.exposure import (
    exposure_given_unique,
    exposure_n_uniques,
    exposure_to_journalist,
    exposure_to_marketer,
    exposure_to_prosecutor,
    is_exposure_none,
)
from seriatim.measures.uniqueness import SpecialUniques, special_uniqueness
from seriatim.model import Measure
from seriatim.model.audited import AuditedTable, sizes_beside
from seriatim.model.classes import LongArray
from seriatim.model.scale import FloatArray
from seriatim.usecases.audit import audit_figures, audit_numbers, audit_original

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit

SUPPOSED = (0.1, 0.01, 0.5)
"""Shares of the population that a table may be a sample of, if none is given."""


def all_of(audit: Audit) -> tuple[Measure, ...]:
    """Return the measures in reading order; those about one column name it in their detail."""
    risk = exposure_to_prosecutor(audit.counts.sizes)
    compared = audit_original.compared(audit.audited, audit.question.weights)
    return (
        Measure("prosecutor_risk", risk.highest, "chance", {"mean": risk.mean, "share_above_0.2": risk.share_at_risk}),
        _journalist(audit),
        _marketer(audit),
        Measure("uniques", float(exposure_n_uniques(audit.counts.sizes)), "records", {}),
        *_sampled(audit.counts.sizes, audit.question.sampled),
        _special_uniques(audit.audited),
        *(
            Measure("perfect", float(is_exposure_none(b.figures["tv"])), "", {"column": b.column, "prior": audit.prior})
            for b in audit.blocks
        ),
        *audit_numbers.measures(audit),
        *averaged_noise_measures(audit.audited.sensitive, audit.policy),
        *_coarseness(audit),
        *(() if audit.audited.original else audit_figures.domain_sizes(audit.audited)),
        *(() if audit.audited.original else audit_figures.of_withheld(audit.audited, audit.blocks)),
        *compared,
    )


def _coarseness(audit: Audit) -> tuple[Measure, ...]:
    """Return the cost; discernibility counts a withheld record as alike to the whole original, if that is known."""
    sizes = audit.counts.sizes.astype(np.float64)
    original = audit.audited.original
    n = original.n_records if original else len(audit.audited)
    withheld = max(n - len(audit.audited), 0)
    return (
        Measure("discernibility", float((sizes**2).sum() + withheld * n), "pairs", {"withheld": withheld}),
        Measure("average_class_size", float(sizes.mean()), "records", {}),
    )


def _journalist(audit: Audit) -> Measure:
    """Return the chance among the population, if the other table can be it; else among the table: an upper bound."""
    population = _population(audit)
    if population is None:
        risk = exposure_to_prosecutor(audit.counts.sizes)
        return Measure("journalist_risk", risk.highest, "chance", {"population": "the table itself: an upper bound"})
    risk = exposure_to_journalist(audit.counts.sizes, population)
    return Measure("journalist_risk", risk.highest, "chance", {"population": "the other table", "mean": risk.mean})


def _marketer(audit: Audit) -> Measure:
    """Return the chance among the same population as the journalist's."""
    population = _population(audit)
    of = "the table itself" if population is None else "the other table"
    return Measure("marketer_risk", exposure_to_marketer(audit.counts.sizes, population), "share", {"population": of})


def _population(audit: Audit) -> LongArray | None:
    """Return the sizes of the classes in the other table; None if it cannot be the population of this one."""
    population = sizes_beside(audit.audited, audit.membership)
    return None if population is None or (population < audit.counts.sizes).any() else population


def _sampled(sizes: LongArray, sampled: float | None) -> tuple[Measure, ...]:
    """Return how often a unique match is right: at the given share, else at a few assumed ones."""
    chances = {share: exposure_given_unique(sizes, share) for share in (SUPPOSED if sampled is None else (sampled,))}
    first, chance = next(iter(chances.items()))
    if not math.isfinite(chance):
        return ()
    if sampled is not None:
        return (Measure("correct_given_unique", chance, "chance", {"sampled": sampled}),)
    detail = {f"if_sampled_{share:g}": found for share, found in chances.items()}
    return (Measure("correct_given_unique", chance, "chance", {"supposed": first, **detail}),)


def _special_uniques(audited: AuditedTable) -> Measure:
    """Count the records that three columns or fewer single out, and how often each column takes part."""
    special = special_uniques(audited)
    part = {c.name: int(n) for c, n in zip(audited.given, special.by_column, strict=True)}
    scores = special.log_score[special.n_sets > 0]
    detail = {"up_to": special.up_to, "sets_with": part, "log_scores": _score_bands(scores)}
    return Measure("special_uniques", float(special.n_records), "records", detail)


def special_uniques(audited: AuditedTable) -> SpecialUniques:
    """Search the columns that make classes."""
    return special_uniqueness([c.codes for c in audited.given], [c.n_values for c in audited.given])


def _score_bands(scores: FloatArray) -> dict[str, float]:
    """Return the spread of SUDA's scores, as logarithms, over the records that some set singles out: nobody's own."""
    if not len(scores):
        return {}
    at = np.quantile(scores, (0.0, 0.5, 0.9, 1.0))
    return dict(zip(("least", "median", "highest_tenth", "highest"), (float(x) for x in at), strict=True))
