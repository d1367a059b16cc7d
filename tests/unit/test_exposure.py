"""Chances of being found again, on tables small enough to count by hand."""

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.errors import InputError
from seriatim.measures._leakage import figures_by_class, leakage
from seriatim.measures.against_original import distance_linkage
from seriatim.measures.exposure import (
    chance_given_unique,
    count_uniques,
    error_given_unique,
    exposed_domain_size,
    journalist_chances,
    marketer_share,
    prosecutor_chances,
    reveals_nothing,
)
from seriatim.measures.information_loss import bits_in_ranges, bits_in_sets, entropy_and_precision, sweeney_precision
from seriatim.measures.leakage_given import (
    KnownAttribute,
    all_column_pairs,
    all_column_sets,
    chance_p_values,
    expected_by_chance,
    leakage_given,
    worst_of_records,
)
from seriatim.measures.uniqueness import find_special_uniques
from seriatim.model import CodedColumn, Draft, Generalised, Grouping, Table, View, scale_of
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import Classes, numbered_alike


def classes_of(*codes: int) -> Classes:
    return numbered_alike([np.array(codes, np.int32)], [max(codes) + 1], len(codes))


def test_prosecutor_journalist_and_marketer():
    classes = classes_of(0, 1, 1, 2, 2, 2)  # sizes 1, 2, 3
    found = prosecutor_chances(classes.sizes, threshold=0.4)
    assert (found.highest, found.mean) == (1.0, pytest.approx(3 / 6))
    assert found.share_at_risk == pytest.approx(3 / 6)
    wider = journalist_chances(classes.sizes, np.array([10, 2, 6]))
    assert (wider.highest, wider.mean) == (0.5, pytest.approx((1 / 10 + 2 / 2 + 3 / 6) / 6))
    assert marketer_share(classes.sizes) == pytest.approx(0.5)
    assert marketer_share(classes.sizes, np.array([10, 2, 6])) == pytest.approx(wider.mean)
    with pytest.raises(InputError, match="1 of them smaller"):
        journalist_chances(classes.sizes, np.array([10, 2, 2]))


def test_a_unique_of_a_sample_is_not_always_unique():
    classes = classes_of(0, 1, 2, 2, 3, 3, 4, 4, 4)
    assert count_uniques(classes.sizes) == 2
    assert chance_given_unique(classes.sizes, 0.1) == pytest.approx(0.1 * 2 / (0.1 * 2 + 2 * 0.9 * 2))
    assert chance_given_unique(classes.sizes, 1.0) == 1.0
    assert math.isnan(chance_given_unique(classes_of(0, 0, 0).sizes, 0.1))
    with pytest.raises(InputError):
        chance_given_unique(classes.sizes, 0.0)


@pytest.mark.parametrize("sampled", [0.1, 0.3])
def test_the_error_of_a_unique_match_is_what_samples_show(sampled: float):
    """Samples of one population: the estimate minus the truth has the variance that each sample estimates."""
    chance = np.random.default_rng(8)
    population = np.repeat([1, 2, 3, 5, 8, 15], [400, 300, 200, 150, 80, 40])
    errors, estimates = [], []
    for _ in range(3000):
        sizes = chance.binomial(population, sampled)
        truth = (sizes == 1).sum() / population[sizes == 1].sum()
        errors.append(chance_given_unique(sizes, sampled) - truth)
        estimates.append(error_given_unique(sizes, sampled) ** 2)
    assert np.mean(estimates) == pytest.approx(np.var(errors), rel=0.1)
    assert abs(np.mean(errors)) < np.std(errors) / 3


def test_the_error_of_a_unique_match_at_the_ends():
    assert error_given_unique(classes_of(0, 1, 2, 2).sizes, 1.0) == 0.0
    assert math.isnan(error_given_unique(classes_of(0, 0, 0).sizes, 0.1))


def test_a_perfect_table_says_nothing():
    classes = classes_of(0, 0, 1, 1)
    assert reveals_nothing(figures_by_class(ValueCounts.of(classes, np.array([0, 1, 0, 1], np.int32), 2))["tv"])
    assert not reveals_nothing(figures_by_class(ValueCounts.of(classes, np.array([0, 0, 0, 1], np.int32), 2))["tv"])


def test_a_star_is_not_a_value():
    codes = np.array([0, 1, 2, 2, 1], np.int32)
    assert exposed_domain_size(codes, 5) == 3
    assert exposed_domain_size(codes, 5, star=2) == 2
    assert exposed_domain_size(codes, 5, star=4) == 3


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25))
def test_special_uniques_equal_the_plain_search(rows: list[tuple[int, int, int]]):
    columns = [np.array(c, np.int32) for c in zip(*rows, strict=True)]
    found = find_special_uniques(columns, [3, 3, 3])
    for i, row in enumerate(rows):
        sets = [
            chosen
            for size in (1, 2, 3)
            for chosen in combinations(range(3), size)
            if sum(all(other[c] == row[c] for c in chosen) for other in rows) == 1
        ]
        minimal = [s for s in sets if not any(set(t) < set(s) for t in sets)]
        assert found.n_sets[i] == len(minimal)
        assert found.smallest[i] == min(map(len, minimal), default=0)
        assert found.score[i] == pytest.approx(sum(math.factorial(3 - len(s)) for s in minimal))


def test_distance_linkage_finds_the_untouched_and_guesses_among_equals():
    chance = np.random.default_rng(1)
    original = chance.normal(size=(200, 3)) * [1.0, 1000.0, 0.001]
    assert distance_linkage(original, original.copy()).linked == 1.0
    same = np.zeros((10, 2))
    assert distance_linkage(same, same).linked == pytest.approx(0.1)
    noisy = distance_linkage(original, original + chance.normal(size=original.shape) * original.std(axis=0) * 5)
    assert noisy.by_luck <= noisy.linked + 0.02
    assert noisy.linked <= noisy.second < 0.3
    with pytest.raises(InputError):
        distance_linkage(original, original[:-1])


def test_non_uniform_entropy_and_precision():
    counts = np.array([3, 1, 1, 1])
    first, pair = (3 * math.log2(4 / 3) + math.log2(4)) / 4, 1.0
    low, high = np.array([0, 2, 1], np.int32), np.array([1, 3, 1], np.int32)
    assert bits_in_ranges(counts, low, high).tolist() == pytest.approx([first, pair, 0.0])
    owner, codes = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 2, 3, 1], np.int32)
    assert bits_in_sets(counts, owner, codes, 3).tolist() == pytest.approx([first, pair, 0.0])
    assert sweeney_precision(np.array([[0.0, 2.0], [1.0, 2.0]]), np.array([2.0, 2.0])) == pytest.approx(
        1 - (0 + 1 + 0.5 + 1) / 4
    )


def test_what_generalising_a_hierarchy_cost():
    levels = [("x", "x", "y", "y"), ("*",) * 4]
    scale = scale_of("node", pa.array(["a", "b", "c", "d"]), np.arange(4.0), levels)
    codes = np.array([0, 1, 1, 2, 2, 3], np.int32)
    view = View(
        Table(pa.table({"q": codes})),
        quasi=(CodedColumn("q", codes, scale),),
        sensitive=(),
        plain=(),
        respondent=None,
        suppressed=np.zeros(6, dtype=bool),
    )
    shown = Generalised(
        "q",
        "node",
        label_of_group=np.array([0, 1], np.int32),
        labels=("x", "c"),
        loss_of_group=np.array([0.5, 0.0]),
        low=np.array([0, 2]),
        high=np.array([1, 2]),
    )
    grouping = Grouping(np.array([0, 0, 0, 1, 1, -1], np.int32), 2)
    files = {"table": pa.table({"q": ["x", "x", "x", "c", "c"]})}
    draft = Draft(files=files, quasi=("q",), sensitive={}, grouping=grouping, generalised=(shown,), groups=pa.table({}))
    entropy, kept = entropy_and_precision(view, draft)
    withheld = 2 * (1 / 6 * math.log2(6) + 1 / 3 * math.log2(3))
    assert entropy.value == pytest.approx((math.log2(3) + 2 * math.log2(1.5) + withheld) / 6)
    assert kept.value == pytest.approx(1 - (3 * 0.5 + 1) / 6)


def test_scores_of_very_many_attributes_are_finite_and_few_bytes_are_held():
    chance = np.random.default_rng(5)
    columns = [chance.integers(0, 4, 40).astype(np.int32) for _ in range(200)]
    found = find_special_uniques(columns, [4] * 200)
    assert found.up_to == 2
    assert np.isfinite(found.log_score[found.n_sets > 0]).all()
    assert (found.log_score[found.n_sets == 0] == -np.inf).all()
    assert found.log_score.max() > 500
    tracemalloc.start()
    find_special_uniques([column % 2 for column in columns[:20]], [2] * 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000, "the sets of three are not kept"


def attributes() -> list[KnownAttribute]:
    return [
        KnownAttribute("one", np.array([0, 0, 1, 1, 2, 2], np.int32), 3),
        KnownAttribute("two", np.array([0, 1, 0, 1, 0, 1], np.int32), 2),
        KnownAttribute("target", np.array([0, 0, 1, 1, 0, 1], np.int32), 2),
    ]


def test_leakage_in_every_direction():
    one, two, target = attributes()
    assert leakage_given(target, [one]).mean_l_e == pytest.approx(leakage_given(one, [target]).mean_l_e)
    both = leakage_given(target, [one, two])
    assert (both.n_classes, both.mean_l_e, both.max_l_d) == (6, pytest.approx(1.0), pytest.approx(math.sqrt(0.5)))
    assert [(p.target, *p.given) for p in all_column_pairs(attributes())][:2] == [("one", "two"), ("one", "target")]
    assert [s.given for s in all_column_sets(target, [one, two])] == [("one",), ("two",), ("one", "two")]


def test_the_worst_set_of_each_record_is_the_smallest_that_tells_most():
    one, two, target = attributes()
    found = worst_of_records(target, [one, two])
    assert [found.sets[w] for w in found.which] == [("one",)] * 4 + [("one", "two")] * 2
    assert found.l_d.tolist() == pytest.approx([math.sqrt(0.5)] * 6)


def test_the_null_is_the_mean_of_random_classes():
    totals, k = np.array([6, 3, 2, 1]), 3
    everyone = np.repeat(np.arange(4), totals)
    a = totals / totals.sum()
    squares = [
        ((np.bincount(everyone[list(chosen)], minlength=4) / k - a) ** 2).sum() for chosen in combinations(range(12), k)
    ]
    assert expected_by_chance(totals, np.array([float(k)]))[0] == pytest.approx(np.mean(squares), abs=1e-12)


def test_p_values_of_small_classes_are_near_the_exact_ones():
    totals, k = np.array([6, 3, 2, 1]), 3
    everyone = np.repeat(np.arange(4), totals)
    a = totals / totals.sum()
    leaks = np.array(
        [np.linalg.norm(np.bincount(everyone[list(c)], minlength=4) / k - a) for c in combinations(range(12), k)]
    )
    observed = np.unique(leaks.round(12))
    exact = [(leaks >= leak - 1e-9).mean() for leak in observed]
    found = chance_p_values(totals, np.full(len(observed), float(k)), observed)
    assert found.tolist() == pytest.approx(exact, abs=0.02)


def test_p_values_of_large_classes_are_near_uniform_under_the_null():
    chance = np.random.default_rng(3)
    totals = np.array([4000, 3000, 2000, 800, 200])
    draws = chance.multivariate_hypergeometric(totals, 200, size=2000)
    l_d = np.linalg.norm(draws / 200 - totals / totals.sum(), axis=1)
    found = chance_p_values(totals, np.full(2000, 200.0), l_d)
    for level in (0.01, 0.05, 0.25, 0.5, 0.9):
        assert (found <= level).mean() == pytest.approx(level, abs=0.035)


@pytest.mark.parametrize(
    ("prior", "posterior", "message"),
    [
        ([0.5, 0.5], [1.0], "2 prior and 1 posterior"),
        ([0.5, 0.4], [0.5, 0.5], "sum to 0.9"),
        ([7, 3, 2], [3, 1, 0], "divide counts"),
        ([0.5, -0.5, 1.0], [1.0, 0.0, 0.0], "negative"),
        ({"a": 0.5, "b": 0.5}, {"a": 0.5, "c": 0.5}, "misses 1 value"),
        ({"a": 1.0}, [1.0], "both of one kind"),
        ([], [], "a list of shares"),
        (["xyzzy", 0.5], [0.5, 0.5], "prior: a list that does not hold numbers alone"),
        ([0.5, None], [0.5, 0.5], "negative or not a number"),
        ([0.5, [0.5]], [0.5, 0.5], "numbers alone"),
        (None, [1.0], "a list of shares"),
        ("xyzzy", "xyzzy", "a str that does not hold numbers"),
        ({"a": "xyzzy"}, {"a": 1.0}, "prior: a list that does not hold numbers"),
        ({"a": 1.0}, {"a": "xyzzy"}, "posterior: a list that does not hold numbers"),
        ({"a": 1.0}, {"b": np.ones(2)}, "posterior: 2 dimension"),
        ([[0.5, 0.5]], [[0.5, 0.5]], "2 dimension"),
        ([1j, 1 - 1j], [0.5, 0.5], "numbers alone"),
        ({0.5, 0.25}, [0.5, 0.5], "numbers alone"),
    ],
)
def test_beliefs_that_cannot_be_compared(prior: object, posterior: object, message: str):
    with pytest.raises(InputError, match=message) as caught:
        leakage(prior, posterior)  # type: ignore[arg-type]
    assert "xyzzy" not in str(caught.value)


def test_counts_of_values_by_pandas_are_matched_by_value():
    cells = pd.Series(["flu", "flu", "flu", "heart", "cancer", "cancer"])
    prior, posterior = cells.value_counts(normalize=True), cells[3:].value_counts(normalize=True)
    assert list(prior.index) != list(posterior.index)
    assert leakage(prior, posterior) == leakage(prior.to_dict(), posterior.to_dict())
    assert leakage(pd.Series([0.5, 0.5]), pd.Series([1.0, 0.0])) == leakage([0.5, 0.5], [1.0, 0.0])
    with pytest.raises(InputError, match="misses 1 value"):
        leakage(posterior, prior)


def test_mappings_are_matched_by_value():
    assert leakage({"a": 0.25, "b": 0.75}, {"b": 1.0}) == leakage([0.25, 0.75], [0.0, 1.0])


def test_a_prior_that_misses_a_published_value_is_refused():
    tab = ValueCounts.of(classes_of(0, 0, 1, 1), np.array([0, 1, 0, 1], np.int32), 2)
    with pytest.raises(InputError, match="1 published value"):
        figures_by_class(tab, np.array([1.0, 0.0]))
