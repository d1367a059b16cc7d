"""The curve against polars' sort of the same rows by three columns: from coded columns to groups, as for median."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from benchmarks.timing import in_turns, row
from seriatim.defences.single.curve.segments import SegmentDemand, best_pieces
from seriatim.defences.single.trim import class_tests
from seriatim.engines.threads import Threads
from seriatim.model import Policy, View
from seriatim.policies import policy_from_dict
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim_papers.worlds.adultlike import adultlike

SORT_BY = ["postcode", "birth-date", "age"]


def curve_rows(n: int = 1_000_000) -> list[dict[str, Any]]:
    """Ratios to the sort: k alone, and with l and t."""
    table = adultlike(n, 1)
    frame, workers = pl.DataFrame(table), Threads()
    plain, strict = _policy({"k": 5}), _policy({"k": 5, "l": 3, "t": 0.4})
    view = view_of(read_table(table), plain)
    seconds = in_turns(
        {
            "sort": lambda: frame.sort(SORT_BY),
            "k": lambda: _groups(view, plain, workers),
            "k, l, t": lambda: _groups(view, strict, workers),
        }
    )
    return [
        row(f"curve, k = 5, {n:,} rows x 10 quasi, to polars' sort by 3", seconds["k"] / seconds["sort"], 1),
        row("curve, k = 5, l = 3, t = .4, to the same sort", seconds["k, l, t"] / seconds["sort"], 4),
    ]


def _policy(promise: dict[str, Any]) -> Policy:
    names = adultlike(10, 1).column_names
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in names}
    columns |= {"disease": {"role": "sensitive"}, "salary-class": {"role": "drop"}}
    columns["postcode"] |= {"kind": "category", "hierarchy": {"prefix": [4, 3, 2, 0]}}
    defence = {"method": "curve", "suppress": 0.05}
    return policy_from_dict({"series": {"name": "bench"}, "columns": columns, "promise": promise, "defence": defence})


def _groups(view: View, policy: Policy, workers: Threads) -> int:
    tests = class_tests(view.sensitive, policy.terms.per_column)
    sensitive = view.sensitive if len(tests.kinds) else ()
    crowd = SegmentDemand(policy.terms.k or 1, tests)
    return best_pieces(view.quasi, sensitive, crowd, np.random.default_rng(1), workers).n_groups
