"""Sequence knowledge: tables, mining, gaps, classes, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from seriatim.errors import AdversaryError, InputError
from seriatim.knowledge import SequenceModel, posterior
from seriatim.knowledge.sequence_mining import ValueCorpus, best_order

HOW = ("filter", "product")


class TestRefused:
    @pytest.mark.parametrize(
        ("beliefs", "counts", "said"),
        [
            ([[0.5, -0.1], [0.5, 0.5]], [1, 1], "negative"),
            ([[0.0, 0.0], [0.5, 0.5]], [1, 1], "1 rows are all 0"),
            ([[0.5, 0.5]], [1, 1], "2 records for 1 people"),
            ([[0.5, 0.5]], [0.5, 0.5], "not whole numbers"),
            ([[0.5, float("nan")]], [1, 0], "not finite"),
            ([0.5, 0.5], [1, 1], "shapes"),
        ],
    )
    def test_beliefs_and_counts_that_are_none(self, beliefs: list, counts: list, said: str) -> None:
        with pytest.raises(AdversaryError, match=said):
            posterior(beliefs, counts)

    def test_a_rule_that_is_none(self) -> None:
        with pytest.raises(InputError, match="bayes, omega, sum"):
            posterior([[1.0]], [1], rule="guess")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("matrix", "said"),
        [
            ([[0.5, 0.5]], "a row and a column for every value"),
            ([[0.5, 0.6], [0.5, 0.5]], "1 rows sum to more than 1"),
            ([[-0.5, 0.5], [0.5, 0.5]], "negative"),
            ([[0.5, float("nan")], [0.5, 0.5]], "not finite"),
            ([[0.5, 0.5], [0.5]], "rows of different lengths"),
            ("table", "not numbers"),
        ],
    )
    def test_tables_that_are_none(self, matrix: list, said: str) -> None:
        with pytest.raises(AdversaryError, match=said):
            SequenceModel.from_matrix(matrix, ["a", "b"])

    def test_values_that_knowledge_does_not_cover(self) -> None:
        with pytest.raises(AdversaryError, match="1 values that the knowledge does not cover"):
            SequenceModel.from_matrix([[0.5, 0.5], [0.5, 0.5]], ["a", "b"]).over(["a", "b", "c"])
        for order in (1, 2):  # mined: a new value is no fault, but knowledge about none of the values is
            with pytest.raises(AdversaryError, match="2 values that the knowledge does not cover"):
                SequenceModel.mine([["a", "b", "a"]], order).over(["x", "y"])

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"posterior": [[0.0, 0.0]]}, "1 rows are all 0"),
            ({"posterior": [[0.5, -0.5]]}, "posterior"),
            ({"posterior": [[0.5, 0.5, 0.0]]}, "posterior"),
            ({"posterior": "half"}, "not numbers"),
            ({"gap": 0}, "whole steps"),
            ({"gap": 1.5}, "whole steps"),
            ({"gap": [1, 2]}, "one for all or one each"),
            ({"gap": "one"}, "not numbers"),
            ({"classes": ["nobody"]}, "one known class"),
            ({"state": [[1.0, 2.0, 3.0]]}, "state"),
            ({"state": [[-1.0, 2.0]]}, "state"),
            ({"state": [[float("nan"), 2.0]]}, "state"),
        ],
    )
    @pytest.mark.parametrize("revision", HOW)
    def test_what_nobody_can_revise(self, given: dict, said: str, revision: str) -> None:
        model = SequenceModel.from_matrix([[0.9, 0.1], [0.2, 0.8]], ["a", "b"])
        asked = {"state": None, "posterior": [[0.5, 0.5]], **given}
        with pytest.raises(AdversaryError, match=said):
            model.revise(**asked, revision=revision)  # type: ignore[arg-type]

    @pytest.mark.parametrize("sequences", [[], [[]]])
    def test_nothing_can_be_mined_from_nothing(self, sequences: list) -> None:
        with pytest.raises(AdversaryError, match="no values at all"):
            SequenceModel.mine(sequences)


class TestMining:
    CORPUS = (["a", "b", "b", "c"], ["a", "b", "a"], ["c", "c"], ["b"])

    def test_continued_and_printed_denominators(self) -> None:
        """b is continued twice (b, c and a would be three), and occurs four times."""
        continued = SequenceModel.mine(self.CORPUS, unseen="zero")
        printed = SequenceModel.mine(self.CORPUS, unseen="zero", denominators="printed")
        b = continued.values.index("b")
        np.testing.assert_allclose(continued.steps[1][0, b], [1 / 3, 1 / 3, 1 / 3])
        np.testing.assert_allclose(printed.steps[1][0, b], [1 / 4, 1 / 4, 1 / 4])

    def test_unseen_runs_back_off_and_are_never_impossible(self) -> None:
        model = SequenceModel.mine(self.CORPUS, order=2)
        assert (model.steps[1] > 0).all()
        np.testing.assert_allclose(model.steps[1].sum(axis=2), 1.0)
        zero = SequenceModel.mine(self.CORPUS, order=2, unseen="zero")
        assert (zero.steps[1] == 0).any()

    def test_order_two_remembers_the_value_before(self) -> None:
        rows = [["a", "b", "a", "b", "a"], ["c", "b", "c", "b", "c"]] * 40
        model = SequenceModel.mine(rows, order=2)
        a, b, c = (model.values.index(v) for v in "abc")
        state, first = None, np.eye(3)
        step = model.revise(state, first[[a, c]])
        step = model.revise(step.state, first[[b, b]])
        assert step.beliefs[0, a] > 0.8
        assert step.beliefs[1, c] > 0.8
        once = SequenceModel.mine(rows, order=1).revise(None, first[[b]]).beliefs
        assert once[0, a] == pytest.approx(0.5, abs=0.02)

    def test_the_product_of_marginals_multiplies_what_each_release_says(self) -> None:
        """The weight of a run is the product of its posteriors; the filter weighs its steps, too."""
        rows = [*product("abc", repeat=4), *[("a", "b", "a", "c")] * 30, *[("c", "b", "b", "a")] * 20]
        model = SequenceModel.mine(rows, order=2)
        seen = np.array([[[0.5, 0.2, 0.3]], [[0.1, 0.6, 0.3]], [[0.3, 0.3, 0.4]]])
        state, expected = None, np.zeros(3)
        for posterior_at in seen:
            found = model.revise(state, posterior_at, revision="product")
            state = found.state
        for s, t in np.ndindex(3, 3):
            run = next(a for a, values in enumerate(model.runs) if values == (s, t))
            assert found.state[0, run] == pytest.approx(seen[1, 0, s] * seen[2, 0, t])
            expected += seen[1, 0, s] * seen[2, 0, t] * model.steps[1][0, run]
        np.testing.assert_allclose(found.beliefs[0], expected)
        filtered = model.revise(model.revise(None, seen[1]).state, seen[2]).beliefs[0]
        assert np.abs(filtered - expected).max() > 0.01

    def test_single_steps_are_revised_alike(self) -> None:
        model = SequenceModel.mine(self.CORPUS)
        seen = np.array([[0.2, 0.3, 0.5]])
        one, two = (model.revise(model.revise(None, seen, revision=how).state, seen, 2, revision=how) for how in HOW)
        np.testing.assert_allclose(one.beliefs, two.beliefs)
        with pytest.raises(InputError, match="revision: a str; allowed: filter, product"):
            model.revise(None, seen, revision="guess")

    def test_order_one_needs_no_state_but_the_posterior(self) -> None:
        model = SequenceModel.mine(self.CORPUS)
        seen = np.array([[0.2, 0.3, 0.5]])
        np.testing.assert_allclose(model.revise(None, seen).beliefs, seen @ model.steps[1][0])

    def test_gaps_take_their_own_table_or_steps(self) -> None:
        rng = np.random.default_rng(3)
        rows = [[int(v) for v in rng.integers(0, 2, 3)] for _ in range(300)]
        model = SequenceModel.mine(rows, times=[[0, 1, 3]] * 300, values=[0, 1])
        assert sorted(model.steps) == [1, 2]
        seen = np.array([[1.0, 0.0]])
        np.testing.assert_allclose(model.revise(None, seen, gap=2).beliefs[0], model.steps[2][0, 0])
        one = model.steps[1][0]
        np.testing.assert_allclose(model.revise(None, seen, gap=3).beliefs[0], np.linalg.matrix_power(one, 3)[0])

    def test_classes_have_their_own_steps_and_priors(self) -> None:
        rows = [["a", "a", "a"]] * 30 + [["a", "b", "a"]] * 30
        model = SequenceModel.mine(rows, classes=["still"] * 30 + ["lively"] * 30)
        found = model.revise(None, np.array([[1.0, 0.0]] * 2), classes=["still", "lively"]).beliefs
        assert found[0, 0] > 0.9
        assert found[1, 1] > 0.9
        with pytest.raises(AdversaryError, match="known class"):
            model.revise(None, np.array([[1.0, 0.0]]), classes=["other"])


class TestValuesAsText:
    """Knowledge files hold text; the values of a history are what its table had."""

    @pytest.mark.parametrize("values", [(3, 1, 2), (3.0, 1.0, 2.0), ("3", "1", "2")])
    def test_numbers_are_found_by_their_text(self, values: tuple) -> None:
        table = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]])
        model = SequenceModel.from_matrix(table, ["1", "2", "3"], [0.5, 0.3, 0.2]).over(values)
        assert model.values == values
        order = [2, 0, 1]
        np.testing.assert_allclose(model.prior[0], np.array([0.5, 0.3, 0.2])[order])
        np.testing.assert_allclose(model.steps[1][0], table[np.ix_(order, order)])

    def test_a_value_that_runs_never_had_gets_a_state_of_its_own(self) -> None:
        model = SequenceModel.mine([list("aabba"), list("abab")], 2).over(["a", "b", "c"])
        assert (model.steps[1].sum(axis=2) <= 1 + 1e-9).all()
        first = model.revise(None, [[0.0, 0.0, 1.0]])
        assert first.beliefs[0, :2].sum() > 0.9
        assert model.revise(first.state, [[0.5, 0.5, 0.0]]).beliefs.sum() == pytest.approx(1.0, abs=1e-3)


class TestClasses:
    def test_without_classes_each_counts_by_its_people(self) -> None:
        sequences, classes = [list("aaaa")] * 90 + [list("bbbb")] * 10, ["one"] * 90 + ["two"] * 10
        model = SequenceModel.mine(sequences, classes=classes)
        np.testing.assert_allclose(model.margin, [0.9, 0.1], atol=0.01)
        np.testing.assert_allclose(model.pooled().prior[0], [0.9, 0.1], atol=0.01)
        np.testing.assert_allclose(model.pooled().steps[1][0], model.value_level, atol=0.1)


class TestOrder:
    def test_runs_are_mined_where_they_tell_more(self) -> None:
        rng = np.random.default_rng(3)

        def walk(remembers: bool) -> list[str]:
            held = [int(rng.integers(0, 3))] * (2 if remembers else 1)
            for _ in range(8):
                stays = 0.8 if not remembers or held[-1] == held[-2] else 0.2
                held.append(held[-1] if rng.random() < stays else int(rng.integers(0, 3)))
            return ["xyz"[v] for v in held]

        for remembers in (True, False):
            corpus = ValueCorpus.of([walk(remembers) for _ in range(150)])
            assert best_order(corpus) == (2 if remembers else 1)
        assert best_order(ValueCorpus.of([list("xyx")])) == 1

    def test_single_precision_stays_single(self) -> None:
        """Posteriors of millions of people are held once, in single precision."""
        model = SequenceModel.mine([list("aabab"), list("bbbab")])
        seen = np.array([[0.9, 0.1], [0.3, 0.7]])
        found = model.revise(None, seen.astype(np.float32), gap=[1, 3])
        assert found.beliefs.dtype == np.float32
        np.testing.assert_allclose(found.beliefs, model.revise(None, seen, gap=[1, 3]).beliefs, rtol=1e-6)

    def test_long_gaps_are_as_many_single_steps(self) -> None:
        model = SequenceModel.mine([list("aabab"), list("bbbab")])
        longer = model.with_gaps([2, 40])
        assert sorted(longer.steps) == [1, 40]
        seen = np.array([[0.9, 0.1]])
        np.testing.assert_allclose(longer.revise(None, seen, gap=40).beliefs, model.revise(None, seen, gap=40).beliefs)


class TestStay:
    def test_one_number_is_a_model(self) -> None:
        model = SequenceModel.from_stay(0.77, [3, 1], ["a", "b"])
        np.testing.assert_allclose(model.steps[1][0], [[0.9425, 0.0575], [0.1725, 0.8275]])
        assert model.coupling == pytest.approx(0.77)
        assert not model.constant

    def test_identity_is_constant(self) -> None:
        model = SequenceModel.from_stay(1.0, [3, 1, 1], "abc")
        assert model.constant
        assert model.coupling == 1.0

    def test_new_values_get_a_floor(self) -> None:
        wider = SequenceModel.from_stay(0.5, [1, 1], ["a", "b"]).over(["b", "z", "a"])
        assert (wider.prior > 0).all()
        np.testing.assert_allclose(wider.steps[1].sum(axis=2), 1.0, atol=1e-3)

    @pytest.mark.parametrize("unseen", ["backoff", "zero"])
    def test_runs_of_values_that_a_history_lacks_or_orders_otherwise(self, unseen: str) -> None:
        """Fewer values, in another order: the same chances of those that are left."""
        rng = np.random.default_rng(2)
        model = SequenceModel.mine([rng.choice(list("abcd"), 6).tolist() for _ in range(60)], order=2, unseen=unseen)
        names = [value for value in model.values if value != "d"][::-1]
        fewer = model.over(names)
        assert fewer.values == tuple(names)
        own = [model.values.index(value) for value in names]
        first, second = np.eye(4)[own[0]][None], np.eye(4)[own[2]][None]
        whole = model.revise(model.revise(None, first).state, second).beliefs[0]
        less = fewer.revise(fewer.revise(None, np.eye(3)[[0]]).state, np.eye(3)[[2]]).beliefs[0]
        np.testing.assert_allclose(less, whole[own])
        np.testing.assert_allclose(fewer.value_level, model.value_level[np.ix_(own, own)])

    def test_runs_without_their_past_are_the_last_value(self) -> None:
        rng = np.random.default_rng(3)
        corpus = [rng.choice(list("abc"), 5).tolist() for _ in range(40)]
        one, two = (SequenceModel.mine(corpus, order=order, values="abc") for order in (1, 2))
        last = two.over("cab").of_last_value()
        assert last is not None
        np.testing.assert_allclose(last.steps[1], one.over("cab").steps[1])
        assert one.of_last_value() is None

    def test_tempering_makes_less_certain(self) -> None:
        model = SequenceModel.from_stay(1.0, [1, 1], ["a", "b"]).tempered(0.2)
        np.testing.assert_allclose(model.steps[1][0], [[0.9, 0.1], [0.1, 0.9]])


def test_a_value_that_is_never_shown_lies_in_gaps() -> None:
    """Everyone goes from a to b, c and a again; only a and c are ever published."""
    model = SequenceModel.from_matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "abc").over(("a", "c"))
    assert [model.revise(None, [[1, 0]], gap).beliefs[0].tolist() for gap in (1, 2, 3)] == [[0, 0], [0, 1], [1, 0]]
