"""What generalising costs: entropy of the values that share a label, and steps climbed in the hierarchies."""

from __future__ import annotations

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.scale import FloatArray, IntArray
from seriatim.model.tabulation import classify


def non_uniform_entropy(original: IntArray, published: IntArray) -> float:
    """Bits lost per record of one column: -log2 of the share its value has among the records with its label.

    After Gionis and Tassa; 0 when every label stands for one value. A withheld record is a label of its own kind:
    give all of them the same code.
    """
    n = len(original)
    if len(published) != n or not n:
        raise InputError(Fault("published", f"{len(published)} records beside {n}", "the same records in order"))
    label = classify([published], [int(published.max()) + 1], n)
    both = classify([published, original], [int(published.max()) + 1, int(original.max()) + 1], n)
    share = both.sizes[both.of_record] / label.sizes[label.of_record]
    return float(-np.log2(share).mean()) + 0.0


def precision(heights: FloatArray, tops: FloatArray) -> float:
    """Sweeney's Prec: 1 when nothing was generalised, 0 when every cell is '*'.

    ``heights[record, column]`` is the level a cell was raised to, ``tops[column]`` the level of '*'.
    """
    if heights.shape[-1] != len(tops) or (tops <= 0).any():
        raise InputError(
            Fault("tops", f"{len(tops)} heights for {heights.shape[-1]} columns", "one above 0 per column")
        )
    return 1.0 - float((heights / tops).mean()) if heights.size else 1.0
