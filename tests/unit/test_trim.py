"""Suppression before grouping: as little as the diversity asked for needs, drawn by the secret."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.defences.single.trim import class_tests, publishable_records, whole_passes
from seriatim.model import CodedColumn, Policy
from seriatim.model.chance import secret_chance
from seriatim.model.scale import scale_of
from seriatim.policies import policy_from_dict

SCALE = scale_of("set", pa.array(list("abcdef")), np.arange(6.0))


def asked(suppress: float = 0.5, k: int = 2, **terms: Any) -> Policy:
    return policy_from_dict(
        {
            "series": {"name": "s"},
            "columns": {"s": {"role": "sensitive"}},
            "promise": {"k": k, "s": terms} if terms else {"k": k},
            "defence": {"method": "median", "suppress": suppress},
        }
    )


def trimmed(values: list[int], policy: Policy, secret: bytes = b"s" * 32) -> np.ndarray:
    column = CodedColumn("s", np.array(values, dtype=np.int32), SCALE)
    return publishable_records((column,), policy, np.zeros(len(values), dtype=bool), secret_chance(secret, 1, "trim"))


def test_nothing_goes_when_everything_holds() -> None:
    assert trimmed([0, 1, 2, 0, 1, 2], asked(l=3)).all()
    assert trimmed([0, 0, 0], asked()).all()


def test_only_the_excess_of_the_frequent_value_goes() -> None:
    values = [0] * 30 + [1] * 4 + [2] * 4
    keep = trimmed(values, asked(l=2, l_kind="recursive", l_c=1.0))
    assert keep[30:].all()
    assert keep[:30].sum() == 7  # r1 < 1.0 (r2 + r3) = 8
    entropy = trimmed(values, asked(l=2.9, l_kind="entropy"))
    assert entropy[30:].all()
    assert 4 <= entropy[:30].sum() < 30


def test_the_secret_decides_who_goes() -> None:
    values = [0] * 30 + [1] * 4 + [2] * 4
    policy = asked(l=2, l_kind="recursive", l_c=1.0)
    assert trimmed(values, policy).tolist() == trimmed(values, policy).tolist()
    assert trimmed(values, policy).tolist() != trimmed(values, policy, b"t" * 32).tolist()


def test_what_cannot_hold_is_left_for_the_verdict_or_all_withheld() -> None:
    assert trimmed([0] * 10, asked(l=2)).all()
    assert not trimmed([0] * 10, asked(suppress=1.0, l=2)).any()
    assert trimmed([0], asked(k=5)).all()
    assert not trimmed([0], asked(suppress=1.0, k=5)).any()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=40),
    st.sampled_from(["entropy", "recursive"]),
    st.integers(1, 4),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_what_is_left_passes_as_a_whole_or_nothing_was_taken(
    values: list[int], kind: str, diverse: int, c: float
) -> None:
    terms: dict[str, Any] = {"l": diverse, "l_kind": kind} | ({"l_c": c} if kind == "recursive" else {})
    policy = asked(k=1, **terms)
    keep = trimmed(values, policy)
    column = CodedColumn("s", np.array(values, dtype=np.int32), SCALE)
    tests = class_tests((column,), policy.terms.per_column, keep)
    assert keep.all() or whole_passes(tests, tests.prior, int(keep.sum()))
