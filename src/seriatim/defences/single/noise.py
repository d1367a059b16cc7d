"""Additive binomial noise: every record is published, some columns not as they are.

Alfalayleh and Brankovic add noise by index, in per cent of the number of values. On a real column that protects nobody
(100 % over 551 incomes moves the median income by 2.6 %), so ``[defence] noise`` counts in units of the value or in per
cent of it; categories are moved along their order. The same person with the same value has the same noise in every
release of a series, since fresh noise averages away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.defences.labels import LabelPieces
from seriatim.defences.single.draft import draft_of
from seriatim.errors import Fault, PolicyError
from seriatim.model import CodedColumn, Draft, Policy, SeriesState, View, scale_of
from seriatim.model.chance import lasting_names, secret_chance, uniform_of
from seriatim.model.noise_bell import amounts_of, decimal_step, quantiles_at, rounded_to_step
from seriatim.model.scale import FloatArray, IntArray
from seriatim.ports import Workers


def noise(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Publish every record, with noise on the columns that ``[defence] noise`` names: at most the amount it says."""
    assert state.secret is not None
    assert policy.defence is not None
    amounts = policy.defence.options.noise
    if not amounts:
        raise PolicyError(Fault("[defence] noise", "method noise needs it", 'a table of column = "10" or "10%"'))
    noisy, names = view, lasting_names(view)
    for column in (*view.quasi, *view.sensitive):
        if column.name in amounts:
            texts = column.scale.texts.to_pylist()
            _must_take(column, amounts[column.name], view.cell_type(column.name))
            keys = [f"{name}/{texts[code]}" for name, code in zip(names, column.codes, strict=True)]
            chance = uniform_of(state.secret, f"noise/{column.name}", keys)
            noisy = _with_noise(noisy, column, amounts[column.name], chance)
    unknown = len(amounts) - sum(column.name in amounts for column in (*view.quasi, *view.sensitive))
    if unknown:
        found = f"{unknown} columns that are neither quasi nor sensitive"
        raise PolicyError(Fault("[defence] noise", found, "columns that are published and coded"))
    known = np.flatnonzero(~view.suppressed).astype(np.int32)
    pieces = LabelPieces(known, np.arange(len(known) + 1, dtype=np.int64))
    return draft_of(noisy, pieces, secret_chance(state.secret, state.n_releases + 1, "shuffle"), workers)


def _must_take(column: CodedColumn, amount: str, kind: pa.DataType) -> None:
    """Raise an error for noise in per cent of a date (of the days since 1970, that is), and on times of day."""
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        raise PolicyError(Fault("[defence] noise", f"times in {column.name!r}", "numbers, dates or categories"))
    if column.scale.dated and amount.endswith("%"):
        found = f"per cent of the dates in {column.name!r}"
        raise PolicyError(Fault("[defence] noise", found, 'days, as "30"', "write the amount in days"))
    if column.scale.form != "interval" and not amount.endswith("%"):
        found = f"units for {column.name!r}, which has categories or a hierarchy"
        remedy = "for numbers remove the hierarchy, which this method does not use"
        raise PolicyError(Fault("[defence] noise", found, 'per cent of its number of values, as "50%"', remedy))
    least = _least_amount(column, amount)
    if float(amount.rstrip("%")) < least:
        found = f"so little that it moves nothing in {column.name!r}"
        raise PolicyError(Fault("[defence] noise", found, f"at least {least:.3g}{'%' if amount.endswith('%') else ''}"))


def _least_amount(column: CodedColumn, amount: str) -> float:
    """Return the least amount that moves anything: half a step of the numbers, or one category; 0 if nothing can."""
    known = len(column.scale) - int(column.scale.texts.null_count)
    if column.scale.form != "interval":
        return 100.0 / (len(column.scale) - 1) if len(column.scale) > 1 else 0.0
    half, largest = decimal_step(column.scale) / 2, float(np.abs(column.scale.positions[:known]).max(initial=0.0))
    if not amount.endswith("%"):
        return half
    return 100.0 * half / largest if largest else 0.0


def _with_noise(view: View, column: CodedColumn, amount: str, chance: FloatArray) -> View:
    sensitive = any(column.name == other.name for other in view.sensitive)
    if column.scale.form == "interval" and sensitive:
        return _new_numbers(view, column, noisy_positions(column, amount, chance))
    if column.scale.form == "interval":  # a quasi value stays one that occurs, so that users can still count ranges
        known = len(column.scale) - int(column.scale.texts.null_count)
        codes = _nearest(column.scale.positions[:known], noisy_positions(column, amount, chance))
        codes = np.where(column.codes < known, codes, column.codes).astype(np.int32)
    else:
        codes = moved_codes(column.codes, len(column.scale), _share(amount), chance)
    return _recoded(view, CodedColumn(column.name, codes, column.scale))


def noisy_positions(column: CodedColumn, amount: str, chance: FloatArray) -> FloatArray:
    """Return the numbers of a column with noise, on the grid of the column's numbers."""
    values = column.scale.positions[column.codes]
    return rounded_to_step(values + amounts_of(values, amount) * quantiles_at(chance), column.scale, amount)


def moved_codes(codes: IntArray, n_values: int, share: float, chance: FloatArray) -> IntArray:
    """Return codes moved along their order by at most half of ``share`` of it; the ends reflect."""
    trials = binomial_trials(share, n_values)
    moved = codes + binomial_quantiles(chance, trials).astype(np.int64) - trials // 2
    period = max(2 * (n_values - 1), 1)
    folded = np.mod(moved, period)
    return np.minimum(folded, period - folded).astype(np.int32) if n_values > 1 else codes


def binomial_trials(share: float, n_values: int) -> int:
    """Return the paper's M: a share of |D| - 1, to the nearest even number, ties up."""
    return 2 * int(np.floor(share * (n_values - 1) / 2 + 0.5))


def binomial_quantiles(chance: FloatArray, trials: int) -> FloatArray:
    """Return the quantiles of Bin(trials, 1/2) at numbers from 0 to 1."""
    from scipy.special import bdtr  # scipy.stats takes a second to load

    return np.searchsorted(bdtr(np.arange(trials + 1.0), trials, 0.5), chance, side="right").clip(0, trials) * 1.0


def _share(amount: str) -> float:
    return float(amount.rstrip("%")) / 100.0


def _nearest(positions: FloatArray, wanted: FloatArray) -> IntArray:
    right = np.searchsorted(positions, wanted).clip(1, max(len(positions) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(positions) - 1)
    return np.where(wanted - positions[left] <= positions[right] - wanted, left, right).astype(np.int32)


def _new_numbers(view: View, column: CodedColumn, numbers: FloatArray) -> View:
    """Return the view with other numbers in a sensitive column, of the same type; a missing cell stays missing."""
    missing = np.asarray(column.scale.texts.is_null())[column.codes]
    kind = view.cell_type(column.name)
    if pa.types.is_integer(kind):
        numbers = np.rint(numbers)
    distinct, codes = np.unique(numbers[~missing], return_inverse=True)
    texts, written = _written(distinct, kind, dated=column.scale.dated)
    cells = written.take(pa.array(_filled(codes, missing), mask=missing))
    positions = distinct.astype(np.float64)
    if missing.any():
        texts = pa.concat_arrays([texts, pa.array([None], pa.string())])
        positions = np.append(positions, positions[-1] + 1.0 if len(positions) else 0.0)
    full = np.where(missing, len(distinct), _filled(codes, missing)).astype(np.int32)
    scale = replace(scale_of("interval", texts, positions), dated=column.scale.dated)
    changed = CodedColumn(column.name, full, scale)
    sensitive = tuple(changed if other.name == column.name else other for other in view.sensitive)
    return replace(view.with_cells(column.name, cells), sensitive=sensitive)


def _filled(codes: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> IntArray:
    """Return a code for each record; 0 where the cell is missing."""
    full = np.zeros(len(missing), dtype=np.int32)
    full[~missing] = codes
    return full


def _written(distinct: FloatArray, kind: pa.DataType, *, dated: bool) -> tuple[pa.StringArray, pa.Array]:
    """Return noisy numbers as texts and as cells of the column's type; days as dates."""
    if dated:
        days = pa.array(distinct.astype(np.int32), pa.date32())
        return days.cast(pa.string()), days.cast(kind)
    texts = pa.array([f"{value:.12g}" for value in distinct], pa.string())
    if not pa.types.is_integer(kind):
        return texts, pa.array([float(text) for text in texts.to_pylist()], pa.float64())
    try:
        return texts, pa.array(distinct).cast(kind)
    except pa.ArrowInvalid:  # bytes and the like are too small for what noise makes of them
        return texts, pa.array(distinct).cast(pa.int64())


def _recoded(view: View, changed: CodedColumn) -> View:
    """Return the view with other codes of a column on the same scale; its cells follow."""
    cells = changed.scale.texts.take(pa.array(changed.codes))
    return replace(
        view.with_cells(changed.name, cells),
        quasi=tuple(changed if other.name == changed.name else other for other in view.quasi),
        sensitive=tuple(changed if other.name == changed.name else other for other in view.sensitive),
    )
