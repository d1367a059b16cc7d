"""People are in several series of a ledger: what a reader of both concludes is bounded, not of each alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import seriatim as sr
from seriatim.usecases.other_series import series_beside, together


def people(n: int, seed: int) -> pa.Table:
    chance = np.random.default_rng(seed)
    ill = chance.choice(list("abcdefgh"), n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])
    names, sex = [f"p{number}" for number in range(n)], chance.choice(["f", "m"], n)
    age, place = chance.integers(18, 90, n), chance.integers(0, 60, n)
    return pa.table({"id": names, "age": age, "place": place, "sex": sex, "ill": ill})


def policy(name: str, method: str = "median", drop: tuple[str, ...] = (), **more: dict[str, Any]) -> sr.Policy:
    kinds: dict[str, dict[str, Any]] = {
        "age": {"role": "quasi", "kind": "number"}, "place": {"role": "quasi", "kind": "number"},
        "sex": {"role": "quasi"}, "ill": {"role": "sensitive"},
    }  # fmt: skip
    shape: dict[str, Any] = {
        "series": {"name": name, "respondent": "id", **more.get("series", {})},
        "columns": {key: {"role": "drop"} if key in drop else kind for key, kind in kinds.items()},
        "promise": {"m": 3, "odds": 2} if method == "cohort" else {"k": 5, "ill": {"l": 3}},
        "defence": {"method": method, "suppress": 0.05},
        "adversary": {"breach_share": 0.01, **more.get("adversary", {})},
    }
    return sr.Policy.from_dict(shape)


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    return sr.Ledger.open(tmp_path / "ledger.db")


def outcome(release: Any) -> tuple[bool, float]:
    (finding,) = [one for one in release.verdict.findings if one.rule == "breach_share"]
    return release.verdict.released, finding.worst


@pytest.mark.parametrize("second", [{"method": "curve"}, {"drop": ("age",)}], ids=["another method", "other columns"])
def test_a_second_series_of_the_same_people_is_refused_by_the_first(ledger: Any, second: dict[str, Any]) -> None:
    table = people(1_500, 3)
    assert outcome(sr.publish(table, policy("one"), ledger, to=["Ann"])) == (True, 0.0)
    refused = sr.publish(table, policy("two", **second), ledger, to=["Ann"])
    assert not refused.verdict.released
    (reason,) = refused.verdict.reasons
    assert reason.startswith("breach_share")
    told = str(refused.verdict)
    assert "together with series 'one', about the same people; this series alone breaches 0.00%" in told
    assert "publish these people in one series with 'one', or both with method = \"cohort\"" in told
    joint = together(refused_history(ledger, table, second), beside(ledger, table))
    breached = len(sr.attacks.exclusion(joint).breached)
    assert 0.03 < breached / 1_500 <= outcome(refused)[1]


def refused_history(ledger: Any, table: pa.Table, second: dict[str, Any]) -> sr.History:
    """The second series as it would have been: published without a bound, in a ledger of its own."""
    free = policy("two", **second, adversary={"breach_share": 1.0})
    sr.publish(table, free, ledger)
    return ledger.history("two", "ill")


def beside(ledger: Any, table: pa.Table) -> Any:
    return series_beside(ledger, "two", "id", "ill", table.column("id"))


def test_each_recipient_alone_is_judged_by_what_they_hold(ledger: Any) -> None:
    table, alone = people(1_500, 3), {"collusion": 1}
    sr.publish(table, policy("one"), ledger, to=["Ann"])
    assert not sr.publish(table, policy("two", "curve", adversary=alone), ledger, to=["Ann"]).verdict.released
    released = sr.publish(table, policy("two", "curve", adversary=alone), ledger, to=["Bob"])
    assert released.verdict.released
    assert "worst recipient: Bob, with release 1: 0.0% of people" in str(released.verdict)


def test_a_delivery_and_an_attack_count_what_a_recipient_has_of_other_series(ledger: Any) -> None:
    table, alone = people(1_500, 3), {"collusion": 1}
    sr.publish(table, policy("one"), ledger, to=["Ann"])
    sr.publish(table, policy("two", "curve", adversary=alone), ledger, to=["Bob"])
    with pytest.raises(sr.SeriatimError, match="Ann, with release 1 and 1 of other series, could breach"):
        ledger.deliver("two", 1, to=["Ann"])
    ledger.deliver("two", 1, to=["Cleo"])
    found = sr.attack(ledger, series="two")
    assert found.iterated.share == 0.0
    assert found.beside.names == ("one",)
    assert found.beside.iterated.share > 0.03
    assert sr.attack(ledger, series="two", recipient="Bob").beside is None
    with pytest.raises(sr.InputError, match="received no release of this series"):
        sr.attack(ledger, series="two", recipient="Ann")


def test_cohorts_of_both_series_are_released(ledger: Any) -> None:
    table = people(1_500, 3)
    for name in ("one", "two"):
        assert outcome(sr.publish(table, policy(name, "cohort"), ledger, to=["Ann"])) == (True, 0.0)


def test_other_registers_and_other_columns_are_not_joined(ledger: Any) -> None:
    table = people(600, 5)
    sr.publish(table, policy("one"), ledger)
    other = {"people": "staff"}
    released = sr.publish(table, policy("two", "curve", series=other), ledger)
    assert outcome(released)[1] == 0.0
    assert "name the same [series] people" in str(released.verdict)
    renamed = table.rename_columns(["number", "age", "place", "sex", "ill"])
    same = sr.Policy.from_dict(
        {
            "series": {"name": "three", "respondent": "number", "people": "staff"},
            "columns": {
                "age": {"role": "quasi", "kind": "number"}, "place": {"role": "quasi", "kind": "number"},
                "sex": {"role": "drop"}, "ill": {"role": "sensitive"},
            },
            "promise": {"k": 5}, "defence": {"method": "median"}, "adversary": {"breach_share": 0.01},
        }
    )  # fmt: skip
    assert "together with series 'two'" in str(sr.publish(renamed, same, ledger).verdict)


def test_two_nomenclatures_are_differenced(ledger: Any) -> None:
    """Ages by 5 and by 10 from another start, the classical case: 0.0% each, and whoever holds both subtracts."""
    chance = np.random.default_rng(8)
    ages, ill = chance.integers(20, 90, 150), chance.choice(list("abcdef"), 150)
    table = pa.table({"id": range(150), "age": ages, "ill": ill})

    def by(name: str, origin: int, step: int, k: int) -> sr.Policy:
        age = {"role": "quasi", "kind": "number", "hierarchy": {"interval": [step], "origin": origin}}
        return sr.Policy.from_dict(
            {
                "series": {"name": name, "respondent": "id"},
                "columns": {"age": age, "ill": {"role": "sensitive"}},
                "promise": {"k": k}, "defence": {"method": "lattice", "suppress": 0.1},
                "adversary": {"breach_share": 0.002},
            }
        )  # fmt: skip

    assert sr.publish(table, by("fives", 0, 5, 4), ledger).verdict.released
    refused = sr.publish(table, by("tens", 4, 10, 6), ledger)
    assert not refused.verdict.released
    assert "'fives'" in str(refused.verdict)


@pytest.mark.parametrize("seed", range(6))
def test_no_value_is_excluded_that_is_true_and_the_bound_covers_enumeration(tmp_path: Path, seed: int) -> None:
    """On random pairs the complete attack on both together, run apart, stays within the verdict's upper end."""
    chance = np.random.default_rng(seed)
    ledger, table = sr.Ledger.open(tmp_path / "l.db"), people(120, seed)
    part = table.take(chance.permutation(120)[: 70 + 8 * seed])
    sr.publish(table, policy("one", adversary={"breach_share": 1.0}), ledger)
    verdict = sr.publish(part, policy("two", "curve", adversary={"breach_share": 1.0}), ledger)
    joint = together(ledger.history("two", "ill"), beside(ledger, part))
    found = sr.attacks.complete(joint)
    own = set(part.column("id").to_pylist())
    assert found.exclusion.wrong == 0
    assert len(found.breached & own) / len(own) <= outcome(verdict)[1] + 1e-9


def test_erased_people_stay_somebody() -> None:
    own = sr.History.from_frame(
        pa.table({"release": [1, 1], "respondent": ["a", "b"], "group": [0, 0], "sensitive": ["x", "y"]})
    )
    other = sr.History(pa.array([None, "b"], pa.string()), own.values, own.releases)
    joint = own.beside(other)
    assert len(joint.respondents) == 3
    assert [past.person.tolist() for past in joint] == [[2, 1], [0, 1]]


def test_a_series_that_dropped_the_column_still_counts_by_its_earlier_releases(ledger: Any) -> None:
    table = people(1_500, 3)
    sr.publish(table, policy("one"), ledger)
    later = table.append_column("pain", pa.array(np.random.default_rng(9).choice(list("uvwxyz"), 1_500)))
    now = {
        "series": {"name": "one", "respondent": "id", "epoch": 2},
        "columns": {
            "age": {"role": "quasi", "kind": "number"}, "place": {"role": "quasi", "kind": "number"},
            "sex": {"role": "quasi"}, "ill": {"role": "drop"}, "pain": {"role": "sensitive"},
        },
        "promise": {"k": 5}, "defence": {"method": "median"},
    }  # fmt: skip
    assert sr.publish(later, sr.Policy.from_dict(now), ledger).verdict.released
    assert not sr.publish(table, policy("two", "curve"), ledger).verdict.released


def test_a_column_spelled_otherwise_is_not_said_to_be_judged_together(ledger: Any) -> None:
    table = people(600, 3)
    sr.publish(table, policy("one"), ledger)
    capitals = table.set_column(4, "ill", pc.utf8_upper(table.column("ill")))
    told = str(sr.publish(capitals, policy("two", "curve"), ledger).verdict)
    assert "breach_share judges both together" not in told
    assert "have a value in common" in told


def test_people_with_other_values_elsewhere_are_not_judged_and_the_verdict_says_so(ledger: Any) -> None:
    table = people(600, 3)
    sr.publish(table, policy("one"), ledger)
    shifted = pa.array([*"bcdefgha" * 75]).slice(0, 600)
    other = table.set_column(4, "ill", pc.if_else(pc.equal(table.column("sex"), "f"), table.column("ill"), shifted))
    verdict = sr.publish(other, policy("two", "cohort"), ledger).verdict
    (finding,) = [one for one in verdict.findings if one.rule == "breach_share"]
    assert finding.kept
    assert finding.result == "partly judged"
    assert 200 < finding.n_unjudged < 400
    assert "hold another value, or several, in other series" in finding.detail


def test_a_series_with_several_records_of_a_person_is_no_reason_to_fail(ledger: Any) -> None:
    table = people(600, 3)
    sr.publish(pa.concat_tables([table, table.slice(0, 40)]), free("one"), ledger)
    verdict = sr.publish(table, policy("two", "cohort"), ledger).verdict
    (finding,) = [one for one in verdict.findings if one.rule == "breach_share"]
    assert (finding.result, finding.n_unjudged) == ("partly judged", 40)


def free(name: str) -> sr.Policy:
    """A series that bounds nothing: people may have several records."""
    kinds = {"age": {"role": "quasi", "kind": "number"}, "place": {"role": "drop"}, "sex": {"role": "quasi"}}
    shape = {
        "series": {"name": name, "respondent": "id"}, "columns": {**kinds, "ill": {"role": "sensitive"}},
        "promise": {"k": 5}, "defence": {"method": "median"},
    }  # fmt: skip
    return sr.Policy.from_dict(shape)
