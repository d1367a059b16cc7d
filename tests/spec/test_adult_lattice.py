"""Adult's lattice as the field measures it: nine quasi-identifiers, k = 5, 5 % suppression."""

from __future__ import annotations

import pytest

from benchmarks.lattice_case import adult_folder, best_node
from benchmarks.lattice_case import adult_view as view_of_adult
from seriatim.engines.threads import Threads


def test_the_optimum_of_adult_is_the_one_found_by_trying_all_12_960_nodes():
    folder = adult_folder()
    if folder is None:
        pytest.skip("no adult.csv: set SERIATIM_ADULT")
    view, policy = view_of_adult(folder)
    found = best_node(view, policy, Threads(2))
    assert found is not None
    heights = dict(zip((column.name for column in view.quasi), found.heights.tolist(), strict=True))
    assert heights == {
        "sex": 0,
        "age": 3,
        "race": 0,
        "marital-status": 0,
        "education": 2,
        "native-country": 1,
        "workclass": 1,
        "occupation": 2,
        "salary-class": 0,
    }
    assert found.judgement.suppressed == 1346
    assert found.judgement.n_kept == 397
