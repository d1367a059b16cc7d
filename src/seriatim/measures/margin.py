"""The published margin of every sensitive column against the truth: withheld people and counterfeits distort it."""

from __future__ import annotations

import numpy as np

from seriatim.model import CodedColumn, Draft, Measure, View

ENOUGH = 0.01
"""Values that fewer people share have no ratio: a single person would make it."""


def worst_shares(view: View, draft: Draft) -> tuple[Measure, ...]:
    """Return the worst column's total variation between published and true shares, and its worst value's ratio.

    No value is named. Records that the policy suppresses belong to neither. Noise publishes numbers that nobody has, so
    that shares of single numbers say nothing: a column with such numbers is left out.
    """
    chosen = [at for at, column in enumerate(view.sensitive) if not has_made_up_numbers(column, draft)]
    found = [_margin_errors(view, draft, at) for at in chosen]
    if not found or not draft.table.num_rows:
        return ()
    distance, ratio, name = max(found)
    about = {"column": name}
    return (
        Measure("margin_error", distance, "share", about),
        Measure("margin_worst_ratio", ratio, "times", {**about, "values": f"with {ENOUGH:.0%} of the people or more"}),
    )


def has_made_up_numbers(column: CodedColumn, draft: Draft) -> bool:
    """Return whether numbers are published that nobody has."""
    shown = draft.sensitive[column.name].scale
    if shown is column.scale or column.scale.form != "interval":
        return False
    return not set(shown.texts.to_pylist()) <= set(column.scale.texts.to_pylist())


def _margin_errors(view: View, draft: Draft, at: int) -> tuple[float, float, str]:
    column = view.sensitive[at]
    shown = draft.sensitive[column.name]
    true, told = column.counts(~view.suppressed), np.bincount(shown.codes, minlength=len(shown.scale))
    number = {text: code for code, text in enumerate(column.scale.texts.to_pylist())}
    published = np.zeros(len(true), dtype=np.int64)
    strange = 0
    for text, count in zip(shown.scale.texts.to_pylist(), told.tolist(), strict=True):
        if text in number:
            published[number[text]] += count
        else:
            strange += count
    p, q = true / max(int(true.sum()), 1), published / max(int(told.sum()), 1)
    distance = (float(np.abs(p - q).sum()) + strange / max(int(told.sum()), 1)) / 2
    common = p >= ENOUGH
    with np.errstate(divide="ignore"):
        ratios = np.maximum(p[common] / q[common], q[common] / p[common])
    return distance, float(ratios.max(initial=1.0)), column.name
