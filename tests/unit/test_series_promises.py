"""Promises about a series: a draft is judged as the newest release of its history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.histories import grouped, history_of, paper_history

from seriatim.errors import PolicyError
from seriatim.model import (
    Adversary,
    CodedColumn,
    DefenceSettings,
    Draft,
    Estimate,
    Finding,
    Generalised,
    Grouping,
    History,
    PastRelease,
    Policy,
    PromiseTerms,
    SeriesTerms,
    Table,
    View,
    scale_of,
)
from seriatim.model.adversary import NOBODY_KNOWN
from seriatim.model.history import JudgedHistory, nothing_published
from seriatim.promises import promises_of
from seriatim.promises.series.breach_bounds import SimulatedShare
from seriatim.promises.series.coverage import Coverage
from seriatim.promises.series.kept_over_time import KeptOverTime

AGES = [31, 33, 35, 41, 43, 45]
HELD = ["x", "y", "z", "x", "y", "z"]
NO_HISTORY = nothing_published()


def view() -> View:
    data = pa.table({"who": list("abcdef"), "age": AGES, "disease": HELD})
    ages = scale_of("interval", pa.array([str(age) for age in AGES]), np.array(AGES, dtype=np.float64))
    values = scale_of("set", pa.array(["x", "y", "z"]), np.arange(3, dtype=np.float64))
    codes = np.arange(6, dtype=np.int32)
    return View(
        Table(data),
        quasi=(CodedColumn("age", codes, ages),),
        sensitive=(CodedColumn("disease", codes % 3, values),),
        plain=(),
        respondent="who",
        suppressed=np.zeros(6, dtype=np.bool_),
    )


def draft(labels: tuple[str, str] = ("[31,35]", "[41,45]"), counterfeits: int = 1) -> Draft:
    """Two groups of three, and one counterfeit z in the second."""
    box = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    rows = [labels[b] for b in box] + [labels[1]]
    shown = Generalised(
        "age", "interval", label_of_group=np.array([0, 1], dtype=np.int32), labels=labels, loss_of_group=np.zeros(2)
    )
    codes = np.array([0, 1, 2, 0, 1, 2, 2], dtype=np.int32)
    return Draft(
        files={
            "table": pa.table({"group": [7, 7, 7, 4, 4, 4, 4], "age": rows, "disease": [*HELD, "z"]}),
            "counterfeits": pa.table({"group": [4], "age": [labels[1]], "counterfeits": [counterfeits]}),
        },
        quasi=("age",),
        sensitive={"disease": CodedColumn("disease", codes, view().sensitive[0].scale)},
        grouping=Grouping(box, 2),
        generalised=(shown,),
        groups=pa.table(
            {
                "respondent": [*"abcdef", None],
                "group": pa.array([0, 0, 0, 1, 1, 1, 1], pa.int32()),
                "disease": [*HELD, "z"],
                "counterfeit": [False] * 6 + [True],
                "suppressed": [False] * 7,
            }
        ),
        serial=True,
    )


def judged(history: History = NO_HISTORY, made: Draft | None = None) -> JudgedHistory:
    return JudgedHistory.of_draft(history, made or draft(), view(), "disease")


def test_a_draft_becomes_the_newest_release() -> None:
    held = dict(zip("fed", "zyx", strict=True))
    joined = history_of(grouped(held, "fed")).with_draft(draft(), "disease")
    assert joined.respondents.to_pylist() == ["f", "e", "d", "a", "b", "c"]
    newest = joined.releases[-1]
    assert newest.number == 2
    assert newest.person.tolist() == [3, 4, 5, 2, 1, 0, -1]
    assert joined.values.take(newest.value).to_pylist() == [*HELD, "z"]
    assert nothing_published().with_draft(draft(), "disease").releases[0].n_groups == 2


def test_suppressed_records_are_not_in_it() -> None:
    hidden = draft().groups.set_column(4, "suppressed", pa.array([True] + [False] * 6))
    joined = nothing_published().with_draft(replace(draft(), groups=hidden), "disease")
    (past,) = joined.releases
    assert {joined.respondents[who].as_py() for who in past.person.tolist() if who >= 0} == {"b", "c", "d", "e", "f"}
    assert joined.respondents.take(pa.array(past.withheld.person)).to_pylist() == ["a"], "told as withheld, no more"


def promised(
    method: str | None,
    adversary: Adversary = NOBODY_KNOWN,
    **asked: Any,
) -> list[KeptOverTime]:
    settings = DefenceSettings(method or "median")
    terms = PromiseTerms(series=SeriesTerms(**asked))
    found = promises_of(Policy(series="s", columns={}, terms=terms, defence=settings, adversary=adversary))
    return [promise for promise in found if isinstance(promise, KeptOverTime)]


def findings(
    method: str | None,
    history: History = NO_HISTORY,
    **asked: Any,
) -> dict[str, Finding]:
    promises = promised(method, Adversary(lifespan=1), **asked)
    return {promise.rule: promise.check(judged(history)) for promise in promises}


def test_each_method_is_asked_what_it_can_keep() -> None:
    assert set(findings("invariant", m=3)) == {"m_uniqueness", "m_invariance", "lifespan"}
    assert set(findings("cohort", m=3, n=2)) == {"fair_cells", "lifespan"}
    weak = {"weak_m_uniqueness", "weak_m_invariance", "hc_safety", "union_safety", "subtraction", "lifespan"}
    assert set(findings("historical", m=3, n=2)) == weak
    assert promised(None, Adversary(lifespan=1)) == []


def test_findings_name_the_column_and_count_groups_and_people() -> None:
    found = findings("invariant", m=3)["m_uniqueness"]
    assert (found.column, found.kept, found.n_classes, found.n_people) == ("disease", False, 1, 3)


def test_the_lifespan_counts_the_whole_history() -> None:
    held = dict(zip("fed", "zyx", strict=True))
    history = history_of(grouped(held, "fed"))
    assert findings(None, history, m=3)["lifespan"].n_people == 3


def test_n_is_a_degree_or_chosen_or_refused() -> None:
    adversary = Adversary(compromised=0.04, lifespan=24, breach=0.1)
    promise = next(p for p in promised("historical", adversary, m=6, n="choose") if p.rule == "hc_safety")
    assert promise.check(judged(paper_history())).threshold == 3
    with pytest.raises(PolicyError, match="lifespan"):
        promised("historical", replace(adversary, lifespan=25), m=6, n="choose")
    with pytest.raises(PolicyError, match="breach"):
        promised("historical", Adversary(compromised=0.04, lifespan=24), m=6, n="choose")
    with pytest.raises(PolicyError):
        promised("historical", m=3, n=4)


def test_coverage_holds_and_each_way_of_breaking_it_is_seen() -> None:
    def told(made: Draft) -> str:
        return Coverage().check(judged(made=made)).detail

    assert Coverage().check(judged()).kept, told(draft())
    assert "1 people outside" in told(draft(labels=("[33,35]", "[41,45]")))
    assert "1 groups whose rows" in told(draft(counterfeits=2))
    twice = draft().groups.set_column(0, "respondent", pa.array([*"aacdef", None]))
    assert "1 people published more than once" in told(replace(draft(), groups=twice))
    moved = draft().table.set_column(1, "age", pa.array(["[31,35]"] * 4 + ["[41,45]"] * 3))
    assert "2 rows whose box" in told(replace(draft(), files={**draft().files, "table": moved}))
    mixed = draft().table.set_column(2, "disease", pa.array(["x", "y", "y", "x", "z", "z", "z"]))
    assert "2 groups whose rows" in told(replace(draft(), files={**draft().files, "table": mixed}))


def test_what_was_only_read_is_not_judged_as_a_draft() -> None:
    with pytest.raises(ValueError, match="only read"):
        Coverage().check(JudgedHistory(paper_history()))
    with pytest.raises(ValueError, match="no attack was run"):
        SimulatedShare(0.1, "disease").check(judged())


def test_what_promises_share_is_made_once() -> None:
    made = []

    def make(one: JudgedHistory) -> int:
        made.append(one)
        return len(one.history)

    once, other = judged(paper_history()), judged()
    assert [once.once(make), once.once(make), other.once(make)] == [3, 3, 1]
    assert made == [once, other]


def test_the_way_out_of_a_breach_knows_values_that_change() -> None:
    def broken(second: list[int]) -> str:
        group, people = np.zeros(2, dtype=np.int32), np.arange(2, dtype=np.int32)
        pasts = [
            PastRelease(n, person=people, group=group, value=np.array(value, dtype=np.int32))
            for n, value in ((1, [0, 1]), (2, second))
        ]
        history = History(pa.array(["ann", "bob"]), pa.array(["flu", "cold"]), tuple(pasts))
        found = JudgedHistory(history, estimate=Estimate("exclusion", 0.5, 0.4, 0.6, n_people=2))
        return SimulatedShare(0.1, "disease").check(found).remedy

    assert "cohort" in broken([0, 1])
    assert "sure_share" in broken([1, 1])
    assert "cohort" not in broken([1, 1])


def test_the_way_out_of_a_breach_is_not_the_method_in_use_nor_silent_about_the_undecided() -> None:
    """A series of cohorts was told to let cohorts take over, and found .44 was nobody certain but all undecided."""
    people = np.arange(2, dtype=np.int32)
    past = PastRelease(
        1, person=people, group=np.zeros(2, dtype=np.int32), value=people, marks={"slot": people.astype(np.int64)}
    )
    history = History(pa.array(["ann", "bob"]), pa.array(["flu", "cold"]), (past,))

    def told(**estimate: Any) -> str:
        found = JudgedHistory(history, estimate=Estimate("exclusion", n_people=2, **estimate))
        return SimulatedShare(0.1, "disease").check(found).remedy

    assert "take over" not in told(share=0.5, low=0.4, high=0.6)
    said = told(share=0.0, low=0.0, high=0.6, detail={"asked": 380, "undecided": 370})
    assert "370 of 380 people checked stay undecided" in said
