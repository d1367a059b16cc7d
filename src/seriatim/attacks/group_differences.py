"""Group differences: what two groups say together about the few people who are in one of them only.

A cohort is published year after year with hundreds of people of whom a few have changed. As rows of a programme these
groups are long, and their solver looks at everyone again and again. 'The newcomers hold what the leavers held' says the
same, with the group before it, about a few people. So each group is replaced by its difference to another one where
that is shorter: along a shortest tree over all groups, from which every group can be put together again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.kernels.arrays import Flags

MOST_PAIRS = 30_000_000
"""Pairs of groups with a common member, counted once per member; where there are more, groups stay as they are."""


def membership(groups: npt.NDArray[Any], members: npt.NDArray[Any], n_groups: int, n_members: int) -> Any:
    """Return a sparse matrix, groups by members, with a one where a member is in a group."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(groups), dtype=np.int64), (groups, members)), shape=(n_groups, n_members))


def group_differences(inside: Any, exact: Flags) -> Any:
    """Return a sparse matrix of ones and minus ones that makes short rows of groups, given as ``membership``.

    Only ``exact`` groups, without counterfeits, are subtracted from each other: what the others show is an upper bound.
    """
    from scipy.sparse import coo_matrix, identity
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    n_groups = inside.shape[0]
    times = np.bincount(inside.indices, minlength=1).astype(np.int64)
    if (times * times).sum() > MOST_PAIRS:
        return identity(n_groups, dtype=np.int64, format="csr")
    some = np.flatnonzero(exact)
    ours = inside[some]
    sizes = np.diff(ours.indptr)
    shared = (ours @ ours.T).tocoo()
    apart = sizes[shared.row] + sizes[shared.col] - 2 * shared.data
    near = (shared.row < shared.col) & (apart < np.maximum(sizes[shared.row], sizes[shared.col]))
    root = len(some)
    rows = np.concatenate((shared.row[near], np.full(root, root)))
    columns = np.concatenate((shared.col[near], np.arange(root)))
    length = np.concatenate((apart[near], sizes)) + 1.0  # zero would be no edge, and the same tree is shortest
    graph = coo_matrix((length, (rows, columns)), shape=(root + 1, root + 1)).tocsr()
    before = breadth_first_order(minimum_spanning_tree(graph), root, directed=False)[1][:root]
    child = np.flatnonzero((before >= 0) & (before < root))
    less = coo_matrix((np.ones(len(child)), (some[child], some[before[child]])), shape=(n_groups, n_groups))
    return (identity(n_groups, dtype=np.int64, format="csr") - less.tocsr().astype(np.int64)).tocsr()
