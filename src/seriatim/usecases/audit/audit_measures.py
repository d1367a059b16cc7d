"""Figures about an audited table as a whole: who is found again, what is said about nobody, how coarse it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from seriatim.measures.exposure import correct_given_unique, is_perfect, journalist, n_uniques, prosecutor
from seriatim.measures.uniqueness import special_uniques
from seriatim.model import Measure
from seriatim.model.audited import Audited, sizes_beside
from seriatim.model.tabulation import Membership
from seriatim.usecases.audit import audit_figures
from seriatim.usecases.audit.audit_original import original_measures

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit

SUPPOSED = (0.1, 0.01, 0.5)
"""Shares of the population that a table may be a sample of, when nobody says."""


def measures_of(audit: Audit) -> tuple[Measure, ...]:
    """In the order they are told; those about one column name it in their detail."""
    risk = prosecutor(audit.membership)
    compared = original_measures(audit.audited, audit.question.weights)
    return (
        Measure("prosecutor_risk", risk.highest, "chance", {"mean": risk.mean, "share_above_0.2": risk.share_at_risk}),
        _journalist(audit),
        Measure("marketer_risk", risk.mean, "share", {}),
        Measure("uniques", float(n_uniques(audit.membership)), "records", {}),
        *_sampled(audit.membership, audit.question.sampled),
        _special_uniques(audit.audited),
        *(
            Measure("perfect", float(is_perfect(b.figures["tv"])), "", {"column": b.column, "prior": audit.prior})
            for b in audit.blocks
        ),
        *_coarseness(audit),
        *(() if audit.audited.original else audit_figures.domain_measures(audit.audited)),
        *(() if audit.audited.original else audit_figures.withheld_measures(audit.audited, audit.blocks)),
        *compared,
    )


def _coarseness(audit: Audit) -> tuple[Measure, ...]:
    """Discernibility counts a withheld record against the whole original, when that is known."""
    sizes = audit.membership.sizes.astype(np.float64)
    original = audit.audited.original
    n = original.n_records if original else len(audit.audited)
    withheld = max(n - len(audit.audited), 0)
    return (
        Measure("discernibility", float((sizes**2).sum() + withheld * n), "pairs", {"withheld": withheld}),
        Measure("average_class_size", float(sizes.mean()), "records", {}),
    )


def _journalist(audit: Audit) -> Measure:
    """Among the population when the other table can be it, else among the table itself: an upper bound."""
    population = sizes_beside(audit.audited, audit.membership)
    if population is None or (population < audit.membership.sizes).any():
        risk = prosecutor(audit.membership)
        return Measure("journalist_risk", risk.highest, "chance", {"population": "the table itself: an upper bound"})
    risk = journalist(audit.membership, population)
    return Measure("journalist_risk", risk.highest, "chance", {"population": "the other table", "mean": risk.mean})


def _sampled(membership: Membership, sampled: float | None) -> tuple[Measure, ...]:
    """How often a unique match is right: at the share that is known, else at a few that are supposed."""
    chances = {
        share: correct_given_unique(membership, share) for share in (SUPPOSED if sampled is None else (sampled,))
    }
    first, chance = next(iter(chances.items()))
    if not math.isfinite(chance):
        return ()
    if sampled is not None:
        return (Measure("correct_given_unique", chance, "chance", {"sampled": sampled}),)
    detail = {f"if_sampled_{share:g}": found for share, found in chances.items()}
    return (Measure("correct_given_unique", chance, "chance", {"supposed": first, **detail}),)


def _special_uniques(audited: Audited) -> Measure:
    """Records that three attributes or fewer single out, and how often each attribute takes part."""
    special = special_uniques([c.codes for c in audited.given], [c.n_values for c in audited.given])
    part = {c.name: int(n) for c, n in zip(audited.given, special.by_column, strict=True)}
    return Measure("special_uniques", float(special.n_records), "records", {"up_to": 3, "sets_with": part})
