"""The figures of an audit as tables: by class, by record, the worst of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seriatim.measures.exposure import exposed_domain_size
from seriatim.measures.leakage_given import (
    GivenAttribute,
    chance_leakage_p_values,
    leakage_by_chance,
    worst_leakage_given_records,
)
from seriatim.model import Measure
from seriatim.model.audited import AuditedTable
from seriatim.model.classes import Classes
from seriatim.model.scale import FloatArray

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import ColumnBlock

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
    null = np.where(sizes > 0, leakage_by_chance(block.counts.totals, np.maximum(sizes, 1.0)), np.nan)
    if not block.by_margin:
        return null, np.full(len(sizes), np.nan)
    return null, chance_leakage_p_values(block.counts.totals, sizes, block.figures["l_d"])


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
    given = [GivenAttribute(c.name, c.codes, c.n_values) for c in audited.given]
    worst = worst_leakage_given_records(GivenAttribute(column, coded.codes, len(coded.scale)), given, up_to)
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
