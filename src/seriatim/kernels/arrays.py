"""What all kernels share: the names of array types, how a function is compiled, and sorts that compile quickly.

A function that Python calls is a :func:`kernel`; one that only kernels call is :func:`inner`. An inner function is
compiled into the kernels that call it and nowhere else: it is not kept on its own and has no entry for Python, which
saves a quarter of the time that compiling takes. Calling one from Python would crash, so a test looks for it.

What a first use waits for is the compiler. So that it has less to do, kernels are written in plain loops: assigning to
a slice, ``np.sort`` or ``a.sum()`` brings in dozens of numba's own functions, which take a second or two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit, types

from seriatim.kernels.compiled import KernelCache, cache_folder

Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Marks = npt.NDArray[np.int8]
Shorts = npt.NDArray[np.uint16]
Halves = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that Python calls, at its first call, and keep it for later runs."""
    made: Any = _compiled(function)
    cache: Callable[[F], Any] = KernelCache
    if hasattr(made, "enable_caching") and cache_folder(Path(function.__code__.co_filename).parent) is not None:
        made._cache = cache(function)  # what enable_caching does, with a cache of our own
    return cast(F, made)


def inner(function: F) -> F:
    """Compile a function that only kernels call, into each of them."""
    return _compiled(function, no_cpython_wrapper=True)


def leaf(function: F) -> F:
    """As :func:`inner`, for a function that makes no array and returns none.

    Its arrays are borrowed from the caller, so nobody counts references to them: a tuple of five arrays handed to a
    function of three lines would otherwise cost more than the lines.
    """
    return _compiled(function, no_cpython_wrapper=True, _nrt=False)


def inlined(function: F) -> F:
    """As :func:`leaf`, copied into the kernels that call it: for a few lines in a loop over every record.

    Looking up a text takes half the time that it takes with a call (``number_texts``, 620,000 and 200,000 texts);
    compiling takes a little longer.
    """
    return _compiled(function, inline="always")


def fast_inner(function: F) -> F:
    """As :func:`inner`, for sums of floats that may be added up in any order."""
    return _compiled(function, no_cpython_wrapper=True, fastmath=True)


def _compiled(function: F, **options: Any) -> F:
    compiler: Callable[..., Any] = njit  # its stubs do not know all options
    made = compiler(function, nogil=True, no_cfunc_wrapper=True, **options)
    if hasattr(made, "get_call_template"):  # not where numba is switched off
        plainly = made.get_call_template
        made.get_call_template = lambda args, kws: plainly(tuple(map(_one_type, args)), kws)
    return cast(F, made)


def _one_type(found: Any) -> Any:
    """Return the type a whole number travels as between kernels: never the number itself, nor a shorter one.

    A function called with 0, with an entry of ``Ints`` and with a length would otherwise be compiled three times.
    """
    known: Any = types
    wide = known.unliteral(found)
    return known.int64 if isinstance(wide, known.Integer) and wide.signed and wide.bitwidth < 64 else wide


@leaf
def copy_array(into: Any, values: Any) -> None:
    """Overwrite the first entries of ``into`` with ``values``."""
    for i in range(len(values)):
        into[i] = values[i]


@leaf
def sort_array_part(values: Any, first: int, last: int) -> None:
    """Sort ``values[first:last]`` in place: by insertion, over long steps first when it is long (Shell's sort)."""
    step = 1
    while 9 * step < last - first:
        step = 3 * step + 1
    while step > 0:
        for i in range(first + step, last):
            value = values[i]
            j = i - step
            while j >= first and values[j] > value:
                values[j + step] = values[j]
                j -= step
            values[j + step] = value
        step //= 3


@kernel
def rows_by_key(keys: Ints, n_keys: int) -> tuple[Longs, Ints]:
    """Return where each key's rows start, and the rows in order of their key; negative keys stay out."""
    starts = np.zeros(n_keys + 1, dtype=np.int64)
    for key in keys:
        if key >= 0:
            starts[key + 1] += 1
    for k in range(n_keys):
        starts[k + 1] += starts[k]
    rows = np.empty(starts[n_keys], dtype=np.int32)
    at = starts[:-1].copy()
    for row in range(len(keys)):
        key = keys[row]
        if key >= 0:
            rows[at[key]] = row
            at[key] += 1
    return starts, rows
