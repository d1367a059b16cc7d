"""Random tables and policies for hypothesis: hierarchies, missing cells, constants, one row, none, all unique."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

TEXTS = st.sampled_from(["a", "b", "c", "ä", "日本", "x,y", '"', "{z}", "=1+1", " ", "-3", "[1,2]", "null", "'"])
NUMBERS = st.integers(-5, 30)
FLOATS = st.sampled_from([0.0, 0.5, -1.25, 3.0, 1e10, 2.5])


@st.composite
def quasi_columns(draw: Any, n: int, name: str) -> tuple[pa.Array, dict[str, Any]]:
    """One quasi column and its part of a policy."""
    kind = draw(
        st.sampled_from(
            ["number", "float", "text", "constant", "unique", "interval", "prefix", "order", "unseen", "date"]
        )
    )
    rule: dict[str, Any] = {"role": "quasi"}
    if kind == "number":
        cells: list[Any] = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    elif kind == "float":
        cells = draw(st.lists(FLOATS, min_size=n, max_size=n))
    elif kind == "constant":
        cells = ["same"] * n
    elif kind == "unique":
        cells = [f"u{i}" for i in range(n)]
    elif kind == "interval":
        cells = draw(st.lists(NUMBERS, min_size=n, max_size=n))
        rule["hierarchy"] = {"interval": [5, 10]}
    elif kind == "prefix":
        cells = [f"{i:04d}" for i in draw(st.lists(st.integers(0, 40), min_size=n, max_size=n))]
        rule |= {"kind": "category", "hierarchy": {"prefix": [3, 2, 0]}}
    elif kind == "order":
        cells = draw(st.lists(st.sampled_from(["low", "mid", "high"]), min_size=n, max_size=n))
        rule |= {"kind": "category", "order": ["low", "mid", "high"]}
    elif kind == "unseen":
        cells = draw(st.lists(st.sampled_from(["low", "mid", "high", "odd", "other"]), min_size=n, max_size=n))
        rule |= {"kind": "category", "on_unseen": draw(st.sampled_from(["suppress", "top"]))}
        if draw(st.booleans()):
            rule["order"] = ["low", "mid", "high"]
        else:
            rule["hierarchy"] = {"group": [["low", "mid"], ["high"]]}
    elif kind == "date":
        cells = [f"2020-0{1 + d % 9}-1{d % 7}" for d in draw(st.lists(st.integers(0, 60), min_size=n, max_size=n))]
        rule |= {"kind": "date"}
    else:
        cells = draw(st.lists(TEXTS, min_size=n, max_size=n))
    return _with_missing(draw, cells, rule)


def _with_missing(draw: Any, cells: list[Any], rule: dict[str, Any]) -> tuple[pa.Array, dict[str, Any]]:
    treat = draw(st.sampled_from(["error", "value", "suppress"]))
    if treat != "error" and cells:
        rule["missing"] = treat
        for index in draw(st.lists(st.integers(0, len(cells) - 1), max_size=max(1, len(cells) // 4))):
            cells[index] = None
    kind = pa.string() if any(isinstance(cell, str) for cell in cells) else None
    return pa.array(cells, kind or (pa.string() if all(cell is None for cell in cells) else None)), rule


@st.composite
def sensitive_columns(draw: Any, n: int, name: str) -> tuple[pa.Array, dict[str, Any], dict[str, Any]]:
    """One sensitive column, its part of a policy and what is promised of it."""
    skewed = st.sampled_from(["s0"] * draw(st.integers(1, 12)) + ["s1", "s2", "s3", "s4", "s5"])
    rule: dict[str, Any] = {"role": "sensitive"}
    promise: dict[str, Any] = {}
    if draw(st.booleans()):
        promise["l_kind"] = draw(st.sampled_from(["distinct", "entropy", "recursive"]))
        promise["l"] = draw(st.integers(1, 4))
        if promise["l_kind"] == "recursive":
            promise["l_c"] = draw(st.sampled_from([0.5, 1.0, 2.0, 4.0]))
    if draw(st.booleans()):
        promise["t"] = draw(st.sampled_from([0.1, 0.25, 0.5, 0.8]))
        promise["t_distance"] = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
        if promise["t_distance"] == "hierarchical":
            rule |= {"hierarchy": {"group": [["s0", "s1"], ["s2", "s3"], ["s4", "s5"]]}}
        if promise["t_distance"] == "ordered":
            rule |= {"kind": "category", "order": ["s0", "s1", "s2", "s3", "s4", "s5"]}
    cells, rule = _with_missing(draw, draw(st.lists(skewed, min_size=n, max_size=n)), rule)
    return cells, rule, promise


@st.composite
def tables_and_policies(
    draw: Any, methods: tuple[str, ...] = ("median", "lattice", "curve")
) -> tuple[pa.Table, dict[str, Any]]:
    n = draw(st.sampled_from([0, 1, 2, 3, 7, 20, 60]))
    columns: dict[str, pa.Array] = {"who": pa.array([f"r{i}" for i in range(n)], pa.string())}
    rules: dict[str, Any] = {}
    promise: dict[str, Any] = {"k": draw(st.integers(1, 6))}
    for index in range(draw(st.integers(1, 4))):
        columns[f"q{index}"], rules[f"q{index}"] = draw(quasi_columns(n, f"q{index}"))
    for index in range(draw(st.integers(0, 2))):
        columns[f"s{index}"], rules[f"s{index}"], asked = draw(sensitive_columns(n, f"s{index}"))
        if asked:
            promise[f"s{index}"] = asked
    columns["note"] = pa.array([f"n{i}" for i in range(n)], pa.string())
    rules["note"] = {"role": "plain"}
    method = draw(st.sampled_from(methods))
    defence = {"method": method, "suppress": draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))}
    if method == "median":
        defence["mode"] = draw(st.sampled_from(["strict", "relaxed"]))
    policy = {
        "series": {"name": "random", "respondent": "who"},
        "columns": rules,
        "promise": promise,
        "defence": defence,
    }
    return pa.table(columns), policy
