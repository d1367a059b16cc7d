"""Priors from the policy to the release, its verdict and the attack: what somebody cannot have is no cover."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim import api
from seriatim.errors import AdversaryError, PolicyError, TableError
from seriatim.model import History, PriorSets
from seriatim.model.history import JudgedHistory, nothing_published
from seriatim.promises.series.possible_values import PossibleValues
from seriatim.testing.hospital import POLICY, hospital_months
from seriatim.testing.hospital import SERIES as HOSPITAL

NEVER = {"female": {"angina", "epilepsy"}, "male": {"hepatitis", "HIV", "asthma"}}
RULES = """
[adversary.impossible.sex]
female = ["angina", "epilepsy"]
male = ["hepatitis", "HIV", "asthma"]
"""
M = 3


def true_months(n: int = 3) -> list[pa.Table]:
    """Months in which nobody has what the rules call impossible."""
    return [
        view.filter(pa.array([_can_be(row) for row in view.to_pylist()]))
        for view in hospital_months(500, n, churn=0.15)
    ]


def _can_be(row: dict[str, Any]) -> bool:
    return row["disease"] not in NEVER[row["sex"]]


SERIES = re.sub(r"odds = 2 .*\n", "", HOSPITAL)
"""Without room for values above one m-th: m values stay possible."""


def policy_of(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    return api.load_policy(path)


def fewest_candidates(rows: list[dict[str, Any]], allowed: dict[str, Any]) -> float:
    """By hand: for everyone the rows of his group that may be his, over the most frequent value among them."""
    held = defaultdict(Counter)
    for row in rows:
        if not row["suppressed"]:
            held[row["group"]][row["disease"]] += 1
    least = float("inf")
    for row in rows:
        if not row["suppressed"] and not row["counterfeit"]:
            may = [n for value, n in held[row["group"]].items() if allowed[row["respondent"]](value)]
            least = min(least, sum(may) / max(may))
    return least


@pytest.mark.parametrize(
    ("method", "more"), [("cohort", ""), ("invariant", ""), ("historical", "n = 2\n"), ("historical", "n = 1\n")]
)
def test_m_values_stay_possible_for_both_sexes(tmp_path: Path, method: str, more: str) -> None:
    # a group of historical that would force people to be equal is left out
    allowed_out = "\nsuppress = 0.6" if method == "historical" else ""
    text = SERIES.replace('"cohort"', f'"{method}"{allowed_out}').replace("m = 3", f"{more}m = 3")
    plain, knowing = policy_of(tmp_path, text), policy_of(tmp_path, text + RULES)
    ledger, other = api.open_ledger(tmp_path / "a.db"), api.open_ledger(tmp_path / "b.db")
    worst = float("inf")
    for view in true_months():
        sex = dict(zip(view["patient"].to_pylist(), view["sex"].to_pylist(), strict=True))
        allowed = {who: (lambda v, s=s: v not in NEVER[s]) for who, s in sex.items()}
        made = api.publish(view, knowing, ledger, out=tmp_path / "out")
        assert made.verdict.released, made.verdict.reasons
        (finding,) = [f for f in made.verdict.findings if f.rule == "possible_values"]
        rows = made.groups.to_pylist()
        assert finding.worst == pytest.approx(fewest_candidates(rows, allowed))
        assert finding.worst >= M
        blind = api.publish(view, plain, other, out=tmp_path / "blind")
        assert "possible_values" not in [f.rule for f in blind.verdict.findings]
        worst = min(worst, fewest_candidates(blind.groups.to_pylist(), allowed))
        read = api.view_of(api.read_table(view.take(blind.release.draft.source_rows)), knowing)
        judged = JudgedHistory.of_draft(nothing_published(), blind.release.draft, read, "disease")
        assert PossibleValues(knowing.adversary.priors, M).check(judged).worst == pytest.approx(
            fewest_candidates(blind.groups.to_pylist(), allowed)
        )
    # whoever does not know of it publishes groups that leave somebody fewer; a cohort of hundreds has room for both
    assert (worst < M) == (method != "cohort")


@pytest.mark.parametrize("method", ["cohort", "invariant", "historical"])
def test_a_month_without_records(tmp_path: Path, method: str) -> None:
    policy = policy_of(tmp_path, SERIES.replace('"cohort"', f'"{method}"') + RULES)
    ledger = api.open_ledger(tmp_path / "ledger.db")
    (view,) = true_months(1)
    with pytest.raises(TableError, match=r"no records; allowed: at least one;.*\(empty\)"):
        api.publish(view[:0], policy, ledger)
    assert api.publish(view, policy, ledger).verdict.released
    with pytest.raises(TableError, match=r"no records; allowed: at least one;.*\(empty\)"):
        api.publish(view[:0], policy, ledger)
    assert api.publish(view[:0], policy, ledger, empty=True).verdict.released


def test_a_file_names_people_and_may_grow_without_a_new_epoch(tmp_path: Path) -> None:
    views = true_months(2)
    policy = SERIES.replace(
        'method = "cohort"', 'method = "cohort"\nsuppress = 0.1'
    )  # 459 people, in two parts by priors
    policy += '\n[adversary]\npriors = "known.csv"\n'
    ledger = api.open_ledger(tmp_path / "ledger.db")
    named: dict[str, list[str]] = {}
    for number, view in enumerate(views, start=1):
        for who, sex in zip(view["patient"].to_pylist(), view["sex"].to_pylist(), strict=True):
            if sex == "male":
                named[who] = sorted(set(DOMAIN) - NEVER["male"])
        lines = [f"{who},{value}" for who, values in named.items() for value in values]
        (tmp_path / "known.csv").write_text("respondent,value\n" + "\n".join(lines) + "\n")
        loaded = policy_of(tmp_path, policy)
        assert loaded.canonical.count("P0") == 0  # the ledger's copy of the policy names nobody
        made = api.publish(view, loaded, ledger, out=tmp_path / "out")
        assert made.number == number, made.verdict.reasons
        allowed = {
            who: (lambda v, who=who: v in named.get(who, DOMAIN)) for who in view["patient"].to_pylist()
        }  # fmt: skip
        assert fewest_candidates(made.groups.to_pylist(), allowed) >= M


DOMAIN = sorted({value for view in true_months(2) for value in view["disease"].to_pylist()})


def test_the_simulated_adversary_knows_it_too(tmp_path: Path) -> None:
    view = true_months(1)[0]
    text = POLICY.replace("suppress = 0.05", "suppress = 0.05\n[adversary]\nbreach_share = 1.0\n")
    shares = {}
    for name, rules in (("blind", ""), ("knowing", RULES)):
        ledger = api.open_ledger(tmp_path / f"{name}.db")
        made = api.publish(view, policy_of(tmp_path, text + rules), ledger, out=tmp_path / name)
        assert made.verdict.released, made.verdict.reasons
        (estimate,) = made.verdict.estimates
        assert estimate.wrong == 0
        shares[name] = estimate.share
    assert shares["blind"] <= shares["knowing"]
    everybody = {
        who: [value] for who, value in zip(view["patient"].to_pylist(), view["disease"].to_pylist(), strict=True)
    }
    whole = api.policy_from_dict({**as_dict(text), "adversary": {"breach_share": 1.0, "priors": everybody}})
    ledger = api.open_ledger(tmp_path / "whole.db")
    made = api.publish(view, whole, ledger, out=tmp_path / "whole")
    assert made.verdict.estimates[0].share == 0.0  # a prior of one value is knowledge, not a breach


def as_dict(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def test_a_prior_that_excludes_the_truth_is_refused_without_a_name(tmp_path: Path) -> None:
    view = hospital_months(300, 1)[0]
    for text in (SERIES, POLICY + "[adversary]\nbreach_share = 0.5\n"):
        ledger = api.open_ledger(tmp_path / "ledger.db")
        with pytest.raises(TableError, match="records whose value is not in their prior") as caught:
            api.publish(view, policy_of(tmp_path, text + RULES), ledger)
        assert not any(value in str(caught.value) for value in (*NEVER["male"], *NEVER["female"], "P0"))
        assert ledger.records() == []


def test_rules_that_leave_fewer_than_m_values_are_refused(tmp_path: Path) -> None:
    view = true_months(1)[0]
    few = {
        who: [value, "gastritis"]
        for who, value in zip(view["patient"].to_pylist(), view["disease"].to_pylist(), strict=True)
    }
    policy = api.policy_from_dict({**as_dict(SERIES), "adversary": {"priors": few}})
    with pytest.raises(TableError, match="prior set of fewer than m = 3 values"):
        api.publish(view, policy, api.open_ledger(tmp_path / "ledger.db"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("who,value\nP1,flu\n", "other columns"),
        ("respondent,value\n", "nobody is named"),
        ("respondent,value\nP1\nP2,flu\nP3,\n", "2 lines without both cells"),
        ('respondent,value\nP1,"flu\n', "not readable as CSV"),
        (None, "no such priors file"),
    ],
)
def test_bad_files_are_told_without_their_cells(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "known.csv").write_text(content)
    with pytest.raises(PolicyError, match=said) as caught:
        policy_of(tmp_path, SERIES + '\n[adversary]\npriors = "known.csv"\n')
    assert "flu" not in str(caught.value)
    assert "P1" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[adversary.impossible.sox]\nfemale = ['angina']\n", "not declared"),
        ("[adversary.impossible.disease]\nangina = ['angina']\n", "the sensitive column itself"),
        ("[adversary.priors]\nP1 = []\n", "1 people without any possible value"),
        ("[adversary]\npriors = 3\n", r"\[adversary\] priors is 3"),
    ],
)
def test_bad_rules_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        policy_of(tmp_path, SERIES + "\n" + text)


def test_priors_that_nothing_judges_are_refused_not_forgotten(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, POLICY + RULES)
    with pytest.raises(PolicyError, match="no promise judges them"):
        api.publish(true_months(1)[0], policy, api.open_ledger(tmp_path / "ledger.db"))


def history() -> History:
    """Table 1 of the paper."""
    rows = [
        (1, 1, "Alice", "cancer"), (1, 1, "Betty", "bronchitis"), (1, 1, "Carl", "AIDS"), (1, 2, "Doris", "cancer"),
        (1, 2, "Erica", "AIDS"), (1, 2, "Fiona", "bronchitis"), (2, 3, "Carl", "AIDS"), (2, 3, "Doris", "cancer"),
        (2, 3, "Fiona", "bronchitis"), (2, 4, "Erica", "AIDS"), (2, 4, "Grace", "bronchitis"),
        (2, 4, "Hanna", "cancer"),
    ]  # fmt: skip
    release, group, respondent, sensitive = zip(*rows, strict=True)
    return sr.History.from_frame(
        pa.table({"release": release, "group": group, "respondent": respondent, "sensitive": sensitive})
    )


def test_attacks_take_priors() -> None:
    from seriatim import attacks

    # Doris and Fiona cannot have AIDS: then Carl does, Erica is his twin, and nobody needs to be compromised
    known = {"Doris": {"cancer", "bronchitis"}, "Fiona": {"cancer", "bronchitis"}}
    assert attacks.exclusion(history(), [], priors=known).breached == {"Carl": "AIDS", "Erica": "AIDS"}
    assert attacks.exclusion(history(), []).breached == {}
    assert attacks.intersection(history(), priors=known)["Doris"] == {"cancer", "bronchitis"}
    assert attacks.intersection(history(), priors=known)["Grace"] == {"cancer", "bronchitis", "AIDS"}
    assert attacks.exclusion_share(history(), 0.0, [1], priors=known).share == 0.25
    found = api.attack(history(), {"priors": known})
    assert found.iterated.share == 0.25
    assert [(r.below, r.single) for r in found.releases] == [(2, 0), (2, 0)]
    with pytest.raises(AdversaryError, match="a history does not hold"):
        api.attack(history(), {"impossible": {"sex": {"male": ["x"]}}})


def test_numbers_as_ids_and_values() -> None:
    long = pa.table(
        {"release": [1, 1, 1], "group": [1, 1, 1], "respondent": [7, 8, 9], "sensitive": [1, 2, 3]}
    )  # fmt: skip
    made = sr.History.from_frame(long)
    assert PriorSets({"7": frozenset(["1"])}).of_history(made) == {
        made.respondents[0].as_py(): {made.values[0].as_py()}
    }
    assert api.attack(made, {"priors": {7: [1]}, "least": 2}).releases[0].single == 1


def test_the_command_reads_an_adversary_file(tmp_path: Path) -> None:
    folder = tmp_path / "monthly"
    folder.mkdir()
    (folder / "m1.csv").write_text("age,disease\n3*,cancer\n3*,flu\n3*,AIDS\n")
    (tmp_path / "who.csv").write_text("release,row,respondent\nm1,0,A\nm1,1,B\nm1,2,C\n")
    (tmp_path / "known.csv").write_text("respondent;value\nA;cancer\nA;flu\nB;cancer\nB;flu\n")
    (tmp_path / "adversary.toml").write_text('compromised = 0.0\npriors = "known.csv"\n')
    call = ["attack", "--history", str(folder), "--respondents", str(tmp_path / "who.csv"), "--json"]
    blind = seriatim(tmp_path, *call)
    knowing = seriatim(tmp_path, *call, "--adversary", "adversary.toml")
    assert knowing.code == 0, knowing.err
    assert [json.loads(ran.out)["iterated"]["share"] for ran in (blind, knowing)] == [0.0, pytest.approx(1 / 3)]
    (tmp_path / "adversary.toml").write_text("compromissed = 0.0\n")
    wrong = seriatim(tmp_path, *call, "--adversary", "adversary.toml")
    assert wrong.code == 2
    assert "compromissed" in wrong.err
