"""A refusal may rehearse changes of its policy: what it offers does pass, and nothing of it is recorded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.studies.worlds.hospital import POLICY, hospital_months

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2, 0]}},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}


def policy(promise: dict[str, Any], defence: dict[str, Any], **sections: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "patient"},
            "columns": COLUMNS,
            "promise": promise,
            "defence": defence,
            **sections,
        }
    )


def offered(made: Any) -> list[str]:
    return [line.removeprefix("tried and passes: ") for line in made.verdict.remedies if line.startswith("tried and")]


def test_a_larger_crowd_that_passes_is_offered_and_passes(tmp_path: Path) -> None:
    views = hospital_months(1500, 3, churn=0.05)
    bound = {"breach_share": 0.03}
    tight = policy({"k": 3}, {"method": "median"}, adversary=bound)
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in views:
        made = sr.publish(view, tight, ledger, suggest=True)
        if not made.verdict.released:
            break
    assert not made.verdict.released
    n_before = len(ledger.records())
    lines = offered(made)
    assert lines, made.verdict.remedies
    assert len(ledger.records()) == n_before
    crowd = next(line for line in lines if line.startswith("[promise] k = "))
    k = int(re.search(r"k = (\d+)", crowd)[1])
    looser = sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "patient", "epoch": 2},
            "columns": COLUMNS,
            "promise": {"k": k},
            "defence": {"method": "median"},
            "adversary": bound,
        }
    )
    assert sr.publish(view, looser, ledger, dry_run=True).verdict.released


def test_the_share_to_withhold_is_offered(tmp_path: Path) -> None:
    view = hospital_months(300, 1)[0]
    holes = view.set_column(1, "age", pa.array([None] * 30 + view["age"].to_pylist()[30:]))
    columns = {**COLUMNS, "age": {**COLUMNS["age"], "missing": "suppress"}}
    made = sr.publish(
        holes,
        policy({"k": 5}, {"method": "median"}, columns=columns),
        sr.Ledger.open(tmp_path / "l.db"),
        suggest=True,
    )
    assert not made.verdict.released
    assert any(line.startswith("[defence] suppress = 0.1") for line in offered(made))


def test_a_method_over_time_gets_the_largest_m_that_fits(tmp_path: Path) -> None:
    view = hospital_months(400, 1)[0]
    few = view.set_column(5, "disease", pa.array([("a", "a", "b", "c", "d")[row % 5] for row in range(400)]))
    made = sr.publish(
        few,
        policy({"m": 4}, {"method": "invariant", "suppress": 0.05}),
        sr.Ledger.open(tmp_path / "l.db"),
        suggest=True,
    )
    assert not made.verdict.released
    assert any(line.startswith("[promise] m = 2") for line in offered(made)), made.verdict.remedies


def test_nothing_is_tried_unless_asked(tmp_path: Path) -> None:
    view = hospital_months(50, 1)[0]
    made = sr.publish(view, policy({"k": 60}, {"method": "median"}), sr.Ledger.open(tmp_path / "l.db"))
    assert not made.verdict.released
    assert not any("tried" in line for line in made.verdict.remedies)


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY.replace("k = 5 ", "k = 70"))
    import pyarrow.csv as pacsv

    pacsv.write_csv(hospital_months(60, 1)[0], tmp_path / "view.csv")
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--suggest")
    assert ran.code == 3
    assert "tried" in ran.out
    assert [path.name for path in (tmp_path / "releases").iterdir()] == ["refused"]  # its report, and no table


@pytest.mark.parametrize("seconds", [0.0])
def test_the_time_is_bounded(tmp_path: Path, seconds: float) -> None:
    from seriatim import api, wiring
    from seriatim.usecases.publish import suggestions
    from seriatim.usecases.publish.publish import Order, publish

    ready = api.prepare(hospital_months(60, 1)[0], policy({"k": 70}, {"method": "median"}))
    parts = wiring.wired_publishing(wiring.wired_without_ledger(), ready.view.table)
    order = Order(ready.view, ready.plan, dry_run=True)
    found, tried, all_tried = suggestions.suggestions(order, parts, publish(order, parts).verdict, seconds - 1)
    assert (found, tried, all_tried) == ([], 0, False)
