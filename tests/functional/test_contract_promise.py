"""Every promise keeps the shipped clauses of a promise, and each clause finds a promise that breaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.histories import grouped, history_of, subtraction, union
from support.stands import Stand, claimed

import seriatim as sr
from seriatim.defences import defence_named
from seriatim.errors import InputError
from seriatim.model import Estimate, Finding, History
from seriatim.model.class_counts import ClassCounts
from seriatim.model.history import JudgedHistory, WithheldPeople, nothing_published
from seriatim.model.promises import PROMISES, PromiseSubject
from seriatim.ports import Promise
from seriatim.promises import promised_bounds, promises_of
from seriatim.promises.series.breach_bounds import SimulatedShare, SureShare
from seriatim.promises.single.crowd import Suppression
from seriatim.testing import ContractBroken, check_promise, published_counts
from seriatim.testing.defence_contract import Trial
from seriatim.testing.hospital import hospital_months
from seriatim_papers.historical.promises import ClosedForm

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "ill": {"role": "sensitive", "order": ["angina", "bronchitis", "catarrh", "diphtheria"]},
}
VALUES = COLUMNS["ill"]["order"]
ASKED: dict[str, dict[str, Any]] = {
    "k": {"k": 5},
    "l distinct": {"l": 3},
    "l entropy": {"l": 3, "l_kind": "entropy"},
    "l recursive": {"l": 2, "l_kind": "recursive", "l_c": 1.5},
    "t equal": {"t": 0.2},
    "t ordered": {"t": 0.2, "t_distance": "ordered"},
    "alpha_k": {"alpha_k": 0.5},
    "beta": {"beta": 1.0},
    "beta enhanced": {"beta": 1.0, "beta_kind": "enhanced"},
    "delta": {"delta": 0.5},
    "value_bounds": {"value_bounds": {"angina": [0.0, 0.5]}},
    "distribution_leakage": {"distribution_leakage": 0.2},
    "entropy_leakage": {"entropy_leakage": 0.2},
}


def policy(promise: dict[str, Any]) -> sr.Policy:
    series = {"name": "ward", "respondent": "who"}
    return sr.Policy.from_dict(
        {"series": series, "columns": COLUMNS, "promise": promise, "defence": {"method": "median"}}
    )


def table(ages: list[int], ill: list[str]) -> ClassCounts:
    who = [f"patient-{row}" for row in range(len(ages))]
    return published_counts(pa.table({"who": who, "age": ages, "ill": ill}), policy({"k": 1}))


NUMBERS: dict[str, dict[str, Any]] = {
    "max_hit_chance_at": {"k": 1, "max_hit_chance_at": {"5": 0.5}},
    "min_entropy_at": {"k": 1, "min_entropy_at": {"5": 1.0}},
}


def paid(ages: list[int], pay: list[int], promise: dict[str, Any]) -> tuple[ClassCounts, sr.Policy]:
    columns = {"age": COLUMNS["age"], "pay": {"role": "sensitive", "kind": "number"}}
    shape = {"series": {"name": "pay", "respondent": "who"}, "columns": columns, "promise": promise}
    asked = sr.Policy.from_dict({**shape, "defence": {"method": "median"}})
    who = [f"clerk-{row}" for row in range(len(ages))]
    return published_counts(pa.table({"who": who, "age": ages, "pay": pay}), asked), asked


@pytest.mark.parametrize("name", NUMBERS)
def test_a_promise_about_numbers(name: str) -> None:
    """Pay that is spread in every class, and pay that is nearly the same in every class."""
    keeps, asked = paid([30] * 10 + [40] * 10, [*range(0, 200, 20)] * 2, NUMBERS[name])
    breaks, _ = paid(
        [30] * 10 + [40] * 10, [100 + i % 2 for i in range(10)] + [900 + i % 2 for i in range(10)], NUMBERS[name]
    )
    promise = next(each for each in promises_of(asked) if each.rule == name)
    check_promise(promise, keeps=keeps, breaks=breaks)


MIXED = table([30] * 20 + [40] * 20, VALUES * 10)
APART = table([number // 4 for number in range(40)], [VALUES[number // 4 % 4] for number in range(40)])


@pytest.mark.parametrize("name", ASKED)
def test_a_promise_about_a_table(name: str) -> None:
    (promise,) = promises_of(policy(ASKED[name]))
    check_promise(promise, keeps=MIXED, breaks=APART)


def test_no_promise_is_left_out() -> None:
    made = {row.key: row for row in PROMISES.values() if row.home}
    tables = {key for key, row in made.items() if row.judges is PromiseSubject.TABLE} - {"suppress"}
    series = {rule for row in made.values() if row.judges is PromiseSubject.SERIES for rule in row.rules}
    assert {key for asked in (*ASKED.values(), *NUMBERS.values()) for key in asked} >= tables
    assert {*SERIES, *OF_THE_DRAFT, *OF_THE_ADVERSARY, "j"} == series


def test_suppression() -> None:
    check_promise(Suppression(0.1), keeps=replace(MIXED, withheld=1), breaks=replace(MIXED, withheld=20))


HELD = dict(zip("abcdefghijkl", ["angina", "catarrh", "gout"] * 4, strict=True))
STEADY = history_of(grouped(HELD, "abc", "def", "ghi", "jkl"), grouped(HELD, "abc", "def", "ghi", "jkl"))
FOUNDERS: list[Stand] = [(person, 0, person, person % 4) for person in range(16)]
LEFT: list[Stand] = [(-1 if slot < 8 else person, at, slot, value) for person, at, slot, value in FOUNDERS]
TOGETHER = claimed(FOUNDERS, LEFT)
ONE_JOINS = claimed(FOUNDERS, [*FOUNDERS, (30, 0, 30, 0)])
ALIKE = history_of(grouped(HELD, "abc"), grouped(HELD, "adg", "bcf"))
OTHERS = history_of(grouped(HELD, "abc"), grouped({**HELD, "b": "flu", "c": "cold"}, "abc"))
EVERYWHERE = history_of(*[grouped(HELD, *groups) for groups in (["abc"], ["aef"], ["ahi"], ["akl"])])


def with_baseline(history: History) -> History:
    """The same stands, with no value above one m-th."""
    return replace(
        history,
        releases=tuple(
            replace(past, marks={**past.marks, "baseline": np.zeros(len(past.person), dtype=np.int64)})
            for past in history.releases
        ),
    )


def with_withheld(history: History, values: str) -> History:
    """The same stands, with people withheld from the first release who hold these values."""
    people = [f"withheld-{at}" for at in range(len(values))]
    first = len(history.respondents)
    out = WithheldPeople(np.arange(first, first + len(people), dtype=np.int32), pa.array(list(values)))
    respondents = pa.concat_arrays([history.respondents.cast(pa.string()), pa.array(people)])
    releases = (replace(history.releases[0], withheld=out), *history.releases[1:])
    return replace(history, respondents=respondents, releases=releases)


SERIES: dict[str, tuple[str, History, History]] = {
    "m_uniqueness": ("invariant", STEADY, ALIKE),
    "m_invariance": ("invariant", STEADY, OTHERS),
    "weak_m_uniqueness": ("historical", STEADY, ALIKE),
    "weak_m_invariance": ("historical", STEADY, OTHERS),
    "hc_safety": ("historical", STEADY, history_of(grouped(HELD, "abc"), grouped(HELD, "bcd"))),
    "union_safety": ("historical", STEADY, union()),
    "subtraction": ("historical", STEADY, subtraction()),
    "lifespan": ("historical", STEADY, EVERYWHERE),
    "fair_cells": ("cohort", with_baseline(TOGETHER), with_baseline(ONE_JOINS)),
    "withheld_leak": ("cohort", with_withheld(TOGETHER, "0123" * 5), with_withheld(TOGETHER, "0" * 20)),
}


def promise_named(rule: str, method: str) -> Promise:
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "ward", "respondent": "who"},
            "columns": COLUMNS,
            "promise": {"m": 2, "n": 2, "withheld_leak": 1.1},
            "defence": {"method": method},
            "adversary": {"lifespan": 3, "compromised": 0.1},
        }
    )
    return next(one for one in promises_of(policy) if one.rule == rule)


@pytest.mark.parametrize("rule", SERIES)
def test_a_promise_about_a_series(rule: str) -> None:
    method, keeps, breaks = SERIES[rule]
    check_promise(promise_named(rule, method), keeps=keeps, breaks=breaks)


def test_the_promise_about_beliefs() -> None:
    """People about whom the same was learnt share a group; then those about whom different things were learnt do."""
    held = dict(zip("abcdefgh", ["angina"] * 3 + ["gout"] + ["catarrh"] * 3 + ["gout"], strict=True))
    learnt = [grouped(held, "abcd", "efgh")] * 3
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "ward", "respondent": "who"},
            "columns": COLUMNS,
            "promise": {"k": 2, "j": 0.1},
            "defence": {"method": "sequence", "mode": "optimal"},
        }
    )
    promise = next(one for one in promises_of(policy) if one.rule == "j")
    keeps, breaks = (
        history_of(*learnt, grouped(held, "abcd", "efgh")),
        history_of(*learnt, grouped(held, "abef", "cdgh")),
    )
    check_promise(promise, keeps=keeps, breaks=breaks)


OF_THE_DRAFT = ("possible_values", "coverage", "eligible_table")


@pytest.mark.parametrize("rule", OF_THE_DRAFT)
def test_a_promise_that_looks_at_the_draft(rule: str) -> None:
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "ward", "respondent": "patient"},
            "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "postcode": {"role": "drop"},
                        "ward": {"role": "drop"}, "disease": {"role": "sensitive"}},
            "promise": {"m": 2},
            "defence": {"method": "invariant"},
            "adversary": {"impossible": {"sex": {"male": ["no such thing"]}}},
        }
    )  # fmt: skip
    step = Trial.of(defence_named("invariant"), hospital_months(200, 1), policy).steps[0]
    groups = step.draft.groups
    alike = pa.array(["migraine"] * len(groups))
    wrong = replace(step.draft, groups=groups.set_column(groups.column_names.index("disease"), "disease", alike))
    keeps, breaks = (
        JudgedHistory.of_draft(nothing_published(), draft, step.view, "disease") for draft in (step.draft, wrong)
    )
    promise = next(one for one in (*promises_of(policy), *promised_bounds(policy)) if one.rule == rule)
    check_promise(promise, keeps=keeps, breaks=breaks)


OF_THE_ADVERSARY = ("breach", "breach_share", "sure_share")


def test_the_bounds_of_the_adversary() -> None:
    keeps = JudgedHistory(STEADY, "ill", estimate=Estimate("exclusion", 0.01, 0.0, 0.02, n_people=12))
    breaks = JudgedHistory(STEADY, "ill", estimate=Estimate("exclusion", 0.5, 0.4, 0.6, n_people=12))
    check_promise(SimulatedShare(0.1, "ill"), keeps=keeps, breaks=breaks)
    detail = {"sure": 0.9, "hit_rate": 0.95, "column": "ill"}
    few, many = (Estimate("sequence", share, share, share, n_people=12, detail=detail) for share in (0.01, 0.5))
    follows = JudgedHistory(STEADY, "ill")
    check_promise(SureShare(0.1, "ill"), keeps=replace(follows, believed=few), breaks=replace(follows, believed=many))
    rare, sure = (ClosedForm(allowed=allowed, compromised=0.1, lifespan=5, m=3, n=2) for allowed in (1.0, 0.0))
    with pytest.raises(ContractBroken, match=r"\Ait_is_broken_where_it_must_be: .*\Z"):
        check_promise(rare, keeps=STEADY, breaks=STEADY)
    with pytest.raises(ContractBroken, match=r"\Ait_is_kept_where_it_must_be: .*\Z"):
        check_promise(sure, keeps=STEADY, breaks=STEADY)


@dataclass(frozen=True)
class FewRows:
    """A right promise of somebody else; each below has one thing wrong."""

    most: int = 39
    rule: str = "few_rows"
    column: str | None = None
    judges: Any = "table"

    def check(self, counts: ClassCounts) -> Finding:
        return Finding(self.rule, counts.n_rows <= self.most, float(counts.n_rows), float(self.most))


FEW = table([30] * 8, VALUES * 2)


def test_a_promise_of_somebody_else() -> None:
    check_promise(FewRows(), keeps=FEW, breaks=MIXED)


class Nameless(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), rule="rows")


class Lenient(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), kept=True)


class Strict(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), kept=False)


class Moody(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), worst=float(np.random.default_rng().random()))


class Clumsy(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        counts.values["ill"].count[:1] += 1
        return super().check(counts)


class LooksAtTheFirstClass(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), worst=float(counts.sizes[:1].sum()))


class Talks(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), detail="most have bronchitis")


class Fragile(FewRows):
    def check(self, counts: ClassCounts) -> Finding:
        return replace(super().check(counts), detail=f"{100 // counts.n_rows}")


@dataclass
class Soft:
    most: int = 39
    rule: str = "few_rows"
    column: str | None = None
    judges: Any = "table"
    check = FewRows.check


class Silent(FewRows):
    def __init__(self) -> None:
        super().__init__(rule="")


@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        (Silent(), "it_says_what_it_is"),
        (Soft(), "it_is_frozen"),
        (Strict(), "it_is_kept_where_it_must_be"),
        (Lenient(), "it_is_broken_where_it_must_be"),
        (Nameless(), "the_finding_bears_its_name"),
        (Moody(), "it_finds_the_same_twice"),
        (Clumsy(), "it_leaves_its_case_alone"),
        (LooksAtTheFirstClass(), "the_order_says_nothing"),
        (Talks(), "no_cell_is_quoted"),
        (Fragile(), "nothing_is_no_accident"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_wrong_promise_is_found(wrong: Any, clause: str) -> None:
    keeps = table([30] * 8 + [40], [*VALUES * 2, "angina"][::-1])
    breaks = table([30] * 40 + [40], [*VALUES * 10, "diphtheria"])
    with pytest.raises(ContractBroken) as raised:
        check_promise(wrong, keeps=keeps, breaks=breaks)
    assert clause in [line.partition(":")[0] for line in str(raised.value).splitlines()]


@dataclass(frozen=True)
class FollowsNumbers:
    rule: str = "numbers"
    column: str | None = None
    judges: Any = "series"

    def check(self, judged: JudgedHistory) -> Finding:
        first = float(sum(past.person[past.group == 0].sum() for past in judged.history))
        return Finding(self.rule, len(judged.history) < 3, first, 0.0)


def test_a_promise_that_reads_the_numbers_is_found() -> None:
    with pytest.raises(ContractBroken, match=r"\Anumbers_of_people_values_and_groups_say_nothing: .*\Z"):
        check_promise(FollowsNumbers(), keeps=STEADY, breaks=EVERYWHERE)


def test_the_wrong_kind_of_case_is_bad_input() -> None:
    with pytest.raises(InputError, match="a case of a series"):
        check_promise(FewRows(), keeps=STEADY, breaks=STEADY)
