"""People whose value the attacker has, by name: evidence everywhere, no cover for anybody, and never breached."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command_line import Ran, seriatim
from support.enumeration import enumerated_values
from support.histories import histories

import seriatim as sr
from seriatim.attacks import complete, exclusion, prepare
from seriatim.attacks.traces_by_person import trace
from seriatim.errors import AdversaryError, PolicyError, TableError
from seriatim.model import Estimate
from seriatim.model.history import History
from seriatim.usecases.publish.simulation import AttackOutcome

PEOPLE = ("Alice", "Betty", "Carl", "Doris", "Erica", "Fiona", "Carl", "Doris", "Fiona", "Erica", "Grace", "Hanna")
DISEASES = (
    *("cancer", "bronchitis", "AIDS", "cancer", "AIDS", "bronchitis"),
    *("AIDS", "cancer", "bronchitis", "AIDS", "bronchitis", "cancer"),
)


@settings(max_examples=100, deadline=None)
@given(histories(), st.sets(st.integers(0, 6), max_size=3))
def test_known_people_are_evidence_and_are_not_counted_as_enumeration_says(history: History, picks: set[int]) -> None:
    traces = trace(history)
    everyone = sorted(history.respondents.take(traces.order).to_pylist())
    named = [who for at, who in enumerate(everyone) if at in picks]
    values = history.values.to_pylist()
    truth = dict(zip(traces.ids(traces.latest), traces.value[traces.latest].tolist(), strict=True))
    known = {who: frozenset({values[truth[who]]}) for who in named}
    possible = enumerated_values(traces, set(traces.episodes_of(named).tolist()) if named else set())
    certain = {who for who, left in zip(traces.ids(np.arange(len(possible))), possible, strict=True) if len(left) == 1}
    found = complete(history, priors=known)
    assert found.breached == certain - set(named)
    assert found.exclusion.breached.keys() == exclusion(history, named).breached.keys()
    assert found.exclusion.n_people == len(everyone) - len(named)
    again = prepare(history, known).compromise_once(np.empty(0, dtype=np.int32))
    assert again.breached.keys() == prepare(history).compromise_once(traces.episodes_of(named)).breached.keys()


def test_the_papers_first_example_by_the_command(tmp_path: Path) -> None:
    releases = tmp_path / "releases"
    releases.mkdir()
    for name, first in (("m1", 0), ("m2", 6)):
        rows = {"group": [0, 0, 0, 1, 1, 1], "disease": DISEASES[first : first + 6]}
        pacsv.write_csv(pa.table(rows), releases / f"{name}.csv")
    who = {"release": ["m1"] * 6 + ["m2"] * 6, "row": [*range(6), *range(6)], "respondent": PEOPLE}
    pacsv.write_csv(pa.table(who), tmp_path / "who.csv")
    (tmp_path / "adversary.toml").write_text('known = "known.csv"\n')

    def told(*known: str) -> Ran:
        (tmp_path / "known.csv").write_text("respondent,value\n" + "".join(f"{line}\n" for line in known))
        return seriatim(
            tmp_path, "attack", "--history", "releases", "--respondents", "who.csv", "--sensitive", "disease",
            "--adversary", "adversary.toml", "--json",
        )  # fmt: skip

    carl = told("Carl,AIDS")
    assert carl.code == 0, carl.err
    found = json.loads(carl.out)["iterated"]
    assert (round(found["share"], 4), found["detail"]["breached"]) == (
        round(1 / 7, 4),
        [1],
    )  # Erica, of the seven others
    # six people lose AIDS (Lemmas 1 and 2): those of the groups of Carl and of Erica; that alone breaches nobody
    assert (found["detail"]["narrowed"], found["detail"]["known_by_name"]) == (6, 1)
    both = json.loads(told("Carl,AIDS", "Erica,AIDS").out)["iterated"]
    assert (both["share"], both["detail"]["breached"]) == (0.0, [0])
    wrong = told("Carl,cancer")
    assert wrong.code == 2
    assert "1 people have another value" in wrong.err
    assert "cancer" not in wrong.err
    assert "Carl" not in wrong.err


def test_a_verdict_counts_who_loses_values_without_being_breached() -> None:
    found = Estimate("exclusion", 0.01, 0.001, 0.02, n_people=700, wrong=0, detail={"narrowed": 1_041})
    (note,) = AttackOutcome(found).notes
    assert note.endswith("judged by its upper end); 1,041 others lose possible values")
    (plain,) = AttackOutcome(replace(found, detail={"narrowed": 0})).notes
    assert plain.endswith("judged by its upper end)")


def view(n: int = 360, first: int = 0) -> pa.Table:
    chance = np.random.default_rng(5 + first)
    ids = np.arange(first, first + n)
    return pa.table(
        {"who": [f"p{i}" for i in ids], "age": chance.integers(18, 80, n), "ill": [f"d{i % 6}" for i in ids]}
    )


def policy(method: str, known: Any, **adversary: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "ward", "respondent": "who"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "ill": {"role": "sensitive"}},
            "promise": {"m": 3},
            "defence": {"method": method},
            "adversary": {"known": known, "compromised": 0.04, "breach_share": 0.05, **adversary},
        }
    )


@pytest.mark.parametrize("method", ["cohort", "historical"])
def test_known_people_are_published_apart_and_the_others_keep_their_values(tmp_path: Path, method: str) -> None:
    known = {f"p{i}": f"d{i % 6}" for i in (120, 121, 150, 180, 186)}
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    for first, named in ((0, {}), (60, known), (120, known)):  # nobody is known at first
        made = sr.publish(view(first=first), policy(method, {**named, "p0": "d0"}), ledger)
        assert made.verdict.released, made.verdict.reasons
        assert made.verdict.estimates[0].share <= (0.0 if method == "cohort" else 0.05)
        here = made.groups.filter(pa.compute.invert(made.groups["suppressed"]))
        group_of = dict(zip(here["respondent"].to_pylist(), here["group"].to_pylist(), strict=True))
        apart = {group_of[who] for who in {**named, "p0": ""} if who in group_of}
        members = Counter(here["group"].to_pylist())
        assert len(apart) == min(len(apart), 1)
        assert sum(members[one] for one in apart) == sum(who in group_of for who in {**named, "p0": ""})
    if method == "cohort":
        assert "of them by name" in next(f.detail for f in made.verdict.findings if f.rule == "fair_cells")


def test_a_value_that_contradicts_the_table_is_an_error_without_the_value(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    with pytest.raises(TableError, match="1 records whose value is not in their prior") as raised:
        sr.publish(view(), policy("cohort", {"p1": "d5"}), ledger)
    assert "d5" not in str(raised.value)
    assert "p1" not in str(raised.value)
    with pytest.raises(PolicyError, match="1 people have a value that their prior excludes"):
        policy("cohort", {"p1": "d1"}, priors={"p1": ["d2", "d3", "d4"]})
    (tmp_path / "known.csv").write_text("respondent,value\np1,d1\np1,d2\n")
    with pytest.raises(PolicyError, match="1 people have several values"):
        policy("cohort", str(tmp_path / "known.csv"))


def test_people_who_are_said_to_be_known_and_are_not_cannot_hide_a_group() -> None:
    """The promises leave out groups of known people only: the judge looks at names, not at what a defence marks."""
    history = sr.History.from_frame(
        pa.table(
            {
                "release": [1] * 4,
                "group": [1, 1, 2, 2],
                "respondent": ["a", "b", "c", "d"],
                "sensitive": ["x", "x", "y", "z"],
            }
        )
    )
    from seriatim.model.history import JudgedHistory
    from seriatim.promises.series.kept_over_time import without_known

    left = without_known(JudgedHistory(history), frozenset({"a", "c", "d"}))
    assert left.history.releases[0].person.tolist() == [0, 1]  # b is not known, so their group is judged
    with pytest.raises(AdversaryError, match="another value"):
        exclusion(history, priors={"a": {"y"}})
