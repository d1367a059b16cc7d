"""The figures of an audit: tables by class and by record, the worst of each, and measures of the table as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seriatim.measures import averaged_noise
from seriatim.measures.exposure import (
    chance_given_unique,
    count_uniques,
    error_given_unique,
    exposed_domain_size,
    journalist_chances,
    marketer_share,
    prosecutor_chances,
    reveals_nothing,
)
from seriatim.measures.leakage_given import KnownAttribute, chance_p_values, expected_by_chance, worst_of_records
from seriatim.measures.uniqueness import SpecialUniques, find_special_uniques
from seriatim.model import Measure
from seriatim.model.audited import AuditedTable, sizes_beside
from seriatim.model.classes import Classes, LongArray
from seriatim.model.scale import FloatArray
from seriatim.usecases.audit import audit_numbers, audit_original

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit, ColumnBlock


SMALLEST = ("size", "distinct_l", "entropy_l")
"""Figures whose smallest is the worst; of l_e it is the one farthest from 0, of the others the largest."""
WHOLE = ("size", "distinct_l", "n_missing", "n_exclusive")
COLUMNS = (
    "size",
    "distinct_l",
    "entropy_l",
    "tv",
    "emd",
    "l_d",
    "l_e",
    "kl",
    "beta",
    "delta",
    "max_p",
    "n_missing",
    "n_exclusive",
)
FURTHER = ("recursive_c", "beta_enhanced", "delta_present")


def by_class(block: ColumnBlock, membership: Classes) -> pa.Table:
    """Return a row per class: its figures, the null and p-value of its l_d, and the sensitive column they are about."""
    columns: dict[str, pa.Array] = {"class": pa.array(np.arange(len(membership)), pa.int64())}
    for name in (*COLUMNS, *FURTHER):
        columns[name] = _arrow(name, block.figures[name])
    null, chance = by_luck(block)
    columns["null_l_d2"] = pa.array(null, pa.float64(), from_pandas=True)
    columns["p_value"] = pa.array(chance, pa.float64(), from_pandas=True)
    columns["sensitive"] = pa.array([block.column]).take(pa.array(np.zeros(len(membership), dtype=np.int32)))
    return pa.table(columns)


def by_luck(block: ColumnBlock) -> tuple[FloatArray, FloatArray]:
    """Return E[L_D^2] of random classes of the same sizes, and how often one leaks as much (published margin only)."""
    sizes = block.figures["n_valued"]
    null = np.where(sizes > 0, expected_by_chance(block.counts.totals, np.maximum(sizes, 1.0)), np.nan)
    if not block.by_margin:
        return null, np.full(len(sizes), np.nan)
    return null, chance_p_values(block.counts.totals, sizes, block.figures["l_d"])


def by_record(classes: pa.Table, membership: Classes, n_blocks: int) -> pa.Table:
    """Return a row per record and block: row, class, and the figures of its class."""
    n = len(membership.of_record)
    rows = pa.array(np.tile(np.arange(n, dtype=np.int64), n_blocks))
    steps = np.repeat(np.arange(n_blocks, dtype=np.int64) * len(membership), n)
    taken = classes.take(pa.array(np.tile(membership.of_record.astype(np.int64), n_blocks) + steps))
    return taken.add_column(0, "row", rows)


def worst_sets(audited: AuditedTable, column: str, up_to: int) -> pa.Table:
    """Return the worst class of each record over all sets of at most ``up_to`` known columns."""
    coded = next(c for c in audited.sensitive if c.name == column)
    given = [KnownAttribute(c.name, c.codes, c.n_values) for c in audited.given]
    worst = worst_of_records(KnownAttribute(column, coded.codes, len(coded.scale)), given, up_to)
    sets = pa.array([" + ".join(names) for names in worst.sets])
    return pa.table({"row": np.arange(len(audited)), "given": sets.take(pa.array(worst.which)), "l_d": worst.l_d})


def worst_of_each(block: ColumnBlock, membership: Classes) -> dict[str, Any]:
    """Return the worst of each figure under its own name, with the number of classes and records."""
    found: dict[str, Any] = {}
    for name in (*COLUMNS, *FURTHER):
        figures = block.figures[name]
        figures = figures[~np.isnan(figures)]
        worst = _worst(name, figures)
        found[name] = int(worst) if name in WHOLE and np.isfinite(worst) else worst
    return {**found, "n_classes": len(membership), "n_records": len(membership.of_record)}


def _worst(name: str, figures: FloatArray) -> float:
    if not len(figures):
        return float("nan")
    if name == "l_e":
        return float(figures[np.abs(figures).argmax()])
    return float(figures.min() if name in SMALLEST else figures.max())


def domain_sizes(audited: AuditedTable) -> list[Measure]:
    """Count the values each column shows, without '*'; beside them those of the other table, if there is one."""
    found = []
    for index, column in enumerate(audited.given):
        detail: dict[str, Any] = {"column": column.name}
        if audited.beside and audited.beside.given:
            before = audited.beside.given[index]
            detail["before"] = exposed_domain_size(before.codes, before.n_values, before.star)
        found.append(
            Measure(
                "domain_size", float(exposed_domain_size(column.codes, column.n_values, column.star)), "values", detail
            )
        )
    return found


def of_withheld(audited: AuditedTable, blocks: Sequence[ColumnBlock]) -> list[Measure]:
    """Measure the withheld records, which original margin minus published margin reveals: a class like any other."""
    if audited.beside is None:
        return []
    found = []
    for index, block in enumerate(blocks):
        codes = audited.beside.sensitive[index]
        before = np.bincount(codes[codes >= 0], minlength=block.counts.n_values)
        gone = before - block.counts.totals
        if (gone < 0).any() or not gone.sum():
            continue  # the other table is not the original of this one, or nothing was withheld
        gap = gone / gone.sum() - before / before.sum()
        detail = {"column": block.column, "records": int(gone.sum()), "values": int((gone > 0).sum())}
        found.append(Measure("withheld_l_d", float(np.linalg.norm(gap)), "", detail))
    return found


def _arrow(name: str, figures: FloatArray) -> pa.Array:
    if name in WHOLE:
        empty = np.isnan(figures)
        return pa.array(np.where(empty, 0, figures).astype(np.int64), pa.int64(), mask=empty)
    return pa.array(figures, pa.float64(), from_pandas=True)


SUPPOSED = (0.1, 0.01, 0.5)
"""Shares of the population that a table may be a sample of, if none is given."""


def all_measures(audit: Audit) -> tuple[Measure, ...]:
    """Return the measures in reading order; those about one column name it in their detail."""
    risk = prosecutor_chances(audit.counts.sizes)
    compared = audit_original.compared(audit.audited)
    return (
        Measure("prosecutor_risk", risk.highest, "chance", {"mean": risk.mean, "share_above_0.2": risk.share_at_risk}),
        _journalist(audit),
        _marketer(audit),
        Measure("uniques", float(count_uniques(audit.counts.sizes)), "records", {}),
        *_sampled(audit.counts.sizes, audit.question.sampled),
        _special_uniques(audit.audited),
        *(
            Measure("perfect", float(reveals_nothing(b.figures["tv"])), "", {"column": b.column, "prior": audit.prior})
            for b in audit.blocks
        ),
        *audit_numbers.measures(audit),
        *averaged_noise.nearness_of_columns(audit.audited.sensitive, audit.policy),
        *_coarseness(audit),
        *(() if audit.audited.original else domain_sizes(audit.audited)),
        *(() if audit.audited.original else of_withheld(audit.audited, audit.blocks)),
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
        risk = prosecutor_chances(audit.counts.sizes)
        return Measure("journalist_risk", risk.highest, "chance", {"population": "the table itself: an upper bound"})
    risk = journalist_chances(audit.counts.sizes, population)
    return Measure("journalist_risk", risk.highest, "chance", {"population": "the other table", "mean": risk.mean})


def _marketer(audit: Audit) -> Measure:
    """Return the chance among the same population as the journalist's."""
    population = _population(audit)
    of = "the table itself" if population is None else "the other table"
    return Measure("marketer_risk", marketer_share(audit.counts.sizes, population), "share", {"population": of})


def _population(audit: Audit) -> LongArray | None:
    """Return the sizes of the classes in the other table; None if it cannot be the population of this one."""
    population = sizes_beside(audit.audited, audit.membership)
    return None if population is None or (population < audit.counts.sizes).any() else population


def _sampled(sizes: LongArray, sampled: float | None) -> tuple[Measure, ...]:
    """Return how often a unique match is right: at the given share, else at a few assumed ones."""
    chances = {share: chance_given_unique(sizes, share) for share in (SUPPOSED if sampled is None else (sampled,))}
    first, chance = next(iter(chances.items()))
    if not math.isfinite(chance):
        return ()
    if sampled is not None:
        error = error_given_unique(sizes, sampled)
        return (Measure("correct_given_unique", chance, "chance", {"sampled": sampled, "error": error}),)
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
    return find_special_uniques([c.codes for c in audited.given], [c.n_values for c in audited.given])


def _score_bands(scores: FloatArray) -> dict[str, float]:
    """Return the spread of SUDA's scores, as logarithms, over the records that some set singles out: nobody's own."""
    if not len(scores):
        return {}
    at = np.quantile(scores, (0.0, 0.5, 0.9, 1.0))
    return dict(zip(("least", "median", "highest_tenth", "highest"), (float(x) for x in at), strict=True))
