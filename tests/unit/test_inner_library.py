"""Functions that only kernels call are linked into kernels, and no machine code is made for them alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from seriatim.kernels.arrays import Longs, inner, leaf
from seriatim.kernels.inner_library import InnerLibrary, KernelCompiler


@leaf
def last_of(values: Longs) -> int:
    return values[len(values) - 1]


@inner
def doubled(values: Longs) -> Longs:
    made = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        made[i] = 2 * values[i]
    if last_of(values) < 0:
        raise ValueError("below zero")
    return made


@njit(pipeline_class=KernelCompiler)
def doubled_twice(values: Longs) -> Longs:
    return doubled(doubled(values))


def code_of(function: Any) -> list[Any]:
    return [made.library for made in function.overloads.values()]


def test_a_kernel_holds_what_it_calls() -> None:
    assert doubled_twice(np.arange(3)).tolist() == [0, 4, 8]
    for function in (doubled, last_of):
        (code,) = code_of(function)
        assert isinstance(code, InnerLibrary)
        assert code.get_pointer_to_function("any") == 0
    (code,) = code_of(doubled_twice)
    assert not isinstance(code, InnerLibrary)


def test_an_error_inside_reaches_python() -> None:
    with pytest.raises(ValueError, match="below zero"):
        doubled_twice(np.array([1, -1]))


def test_nothing_of_it_is_machine_code() -> None:
    doubled_twice(np.arange(3))
    engine = code_of(doubled_twice)[0].codegen._engine
    entries = [next(iter(function.overloads.values())).fndesc for function in (doubled, doubled_twice)]
    assert [engine.is_symbol_defined(entry.llvm_cpython_wrapper_name) for entry in entries] == [False, True]
