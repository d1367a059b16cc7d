"""A policy is checked once, however many tables it has; a view is published under the policy it was prepared for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import seriatim as sr
from seriatim import api
from seriatim.model import PriorSets
from seriatim.usecases.publish import foreknowledge
from seriatim.usecases.publish import plan as plan_case

COLUMNS = {"age": {"role": "quasi"}, **{name: {"role": "sensitive"} for name in ("ill", "drug", "ward")}}


def policy(k: int = 2, method: str = "cohort", epoch: int = 1, **adversary: object) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id", "epoch": epoch},
            "columns": COLUMNS,
            "promise": {"k": k, "m": 2},
            "defence": {"method": method},
            "adversary": adversary,
        }
    )


def test_columns_with_tables_of_their_own_do_not_check_the_policy_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("check_column_names", "_check_simulation"):
        real = getattr(plan_case, name)
        monkeypatch.setattr(plan_case, name, lambda one, real=real, name=name: (asked.append(name), real(one)))
    monkeypatch.setattr(foreknowledge, "check_priors", lambda _: asked.append("check_priors"))
    stated = policy(sure_share=0.5)
    known = replace(stated.adversary, priors=PriorSets({"1": frozenset({"flu"})}))
    made = plan_case.checked_policy(replace(stated, adversary=known))
    assert asked == ["check_column_names", "_check_simulation", "check_priors"]
    assert [*made.own_tables] == ["ill", "drug", "ward"]
    assert {id(own.defence) for own in made.own_tables.values()} == {id(made.defence)}


def test_a_view_prepared_under_another_policy_is_an_error(tmp_path: Path) -> None:
    view = pa.table({"id": [1, 2], "age": [1, 2], "ill": ["x", "y"], "drug": ["a", "b"], "ward": ["p", "q"]})
    ready, ledger = api.prepare(view, policy(method="median")), sr.Ledger.open(tmp_path / "ledger.db")
    for other in (policy(1, method="median"), policy(method="median", epoch=2)):
        for call in (
            lambda other=other: sr.publish(ready, other, ledger),
            lambda other=other: sr.compare(ready, other),
        ):
            with pytest.raises(sr.PolicyError, match="policy: not the one that the view was prepared under"):
                call()
    assert ledger.records() == []
    made = sr.publish(ready, policy(method="median"), ledger)
    assert made.policy is ready.plan.policy
