"""A refusal may rehearse changes of its policy: what it offers does pass, and nothing of it is recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.testing.hospital import POLICY, hospital_months
from seriatim.usecases.publish import suggestions

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2, 0]}},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}


@pytest.fixture(scope="module", autouse=True)
def clock_that_stands() -> Iterator[None]:
    """The search looks at a clock after each rehearsal; what it offers must not depend on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggestions, "monotonic", lambda: 0.0)
        yield


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


@pytest.mark.slow
def test_a_larger_crowd_that_passes_is_offered_and_passes(tmp_path: Path) -> None:
    views = hospital_months(1500, 3, churn=0.05)
    bound = {"breach_share": 0.06}
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
    from seriatim.usecases.publish.publish import ReleaseOrder, publish

    ready = api.prepare(hospital_months(60, 1)[0], policy({"k": 70}, {"method": "median"}))
    parts = wiring.wired_publishing(wiring.wired_without_ledger(), ready.view.source)
    order = ReleaseOrder(ready.view, ready.plan, dry_run=True)
    found, tried, all_tried = suggestions.suggestions(order, parts, publish(order, parts).verdict, seconds - 1)
    assert (found, tried, all_tried) == ([], 0, False)
    refusal = publish(order, parts)
    told = suggestions.with_all_remedies(refusal, order, parts, seconds - 1).verdict
    assert told.remedies == refusal.verdict.remedies  # that nothing passes is no remedy
    assert any("none of them passes" in note for note in told.notes)
    assert any("ran out of time" in note for note in told.notes)


CHURNING = {"breach_share": 0.05}


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[pa.Table], sr.Ledger]:
    """A second month that breaches too many, in a hospital where three in ten are others every month."""
    views = hospital_months(1500, 4, churn=0.3)
    tight = policy({"k": 5}, {"method": "median"}, adversary=CHURNING)
    ledger = sr.Ledger.open(tmp_path_factory.mktemp("churning") / "l.db")
    assert sr.publish(views[0], tight, ledger).verdict.released
    made = sr.publish(views[1], tight, ledger, suggest=True)
    assert not made.verdict.released
    return made, views, ledger


def pasted(line: str, **sections: Any) -> sr.Policy:
    """The policy with the lines of an offer in it, as a steward pastes them."""
    columns = {name: dict(rule) for name, rule in COLUMNS.items()}
    whole: dict[str, Any] = {
        "series": {"name": "s", "respondent": "patient", "epoch": 2},
        "columns": columns,
        "promise": {"k": 5},
        "defence": {"method": "median"},
        "adversary": CHURNING,
        **sections,
    }
    lines = re.findall(r"\[([\w.]+)\] (\w+) = (\"\w+\"|[\d.]+)", line)
    assert lines
    for section, key, value in lines:
        place = whole
        for name in section.split("."):
            place = place[name]
        place[key] = value.strip('"') if value.startswith('"') else float(value) if "." in value else int(value)
    return sr.Policy.from_dict(whole)


@pytest.mark.parametrize("begins", ["[promise] k", "[defence] leftovers", "[columns.age] rounding"])
def test_what_is_offered_passes_when_it_is_pasted(refused: tuple[Any, list[pa.Table], sr.Ledger], begins: str) -> None:
    made, views, ledger = refused
    lines = [one for one in offered(made) if one.startswith(begins)]
    assert lines
    for line in lines:
        assert re.search(r"certainty lost \d", line)
        again = sr.publish(views[1], pasted(line), ledger, dry_run=True)
        assert again.verdict.released, again.verdict.reasons


def test_withholding_leaves_the_other_groups_as_they_were(refused: tuple[Any, list[pa.Table], sr.Ledger]) -> None:
    made, views, ledger = refused
    (line,) = [one for one in offered(made) if one.startswith("[defence] leftovers")]
    rest = sr.publish(views[1], pasted(line), ledger, dry_run=True)
    before, after = made.groups.to_pydict(), rest.groups.to_pydict()
    assert before["respondent"] == after["respondent"]
    shown = [row for row, group in enumerate(after["group"]) if group is not None]
    assert 0.75 * len(views[1]) < len(shown) < len(views[1])
    pairs = {(before["group"][row], after["group"][row]) for row in shown}
    assert len({old for old, _ in pairs}) == len(pairs) == len({new for _, new in pairs})
    gone = {before["group"][row] for row in range(len(views[1])) if after["group"][row] is None}
    assert not gone & {old for old, _ in pairs}  # whole classes


def test_publishing_less_often_is_offered_and_the_later_month_passes(
    refused: tuple[Any, list[pa.Table], sr.Ledger],
) -> None:
    made, views, ledger = refused
    (line,) = [one for one in offered(made) if one.startswith("publish every")]
    left_out = int(re.search(r"leave out the next (\d+)", line)[1])
    tight = policy({"k": 5}, {"method": "median"}, adversary=CHURNING)
    assert sr.publish(views[1 + left_out], tight, ledger, dry_run=True).verdict.released


def test_a_class_that_breaks_a_promise_is_withheld_if_asked(tmp_path: Path) -> None:
    """lattice counts records, so three records of one person make a class of one person."""
    one = {"age": 30, "sex": "f", "postcode": "10101", "ward": "w", "disease": "flu"}
    rows = [{"patient": f"p{n}", **one, "disease": ("flu", "gout")[n % 2]} for n in range(30)]
    rows += [{"patient": "q", **one, "age": 99}] * 3
    ledger, view = sr.Ledger.open(tmp_path / "l.db"), pa.Table.from_pylist(rows)
    asked = {"method": "lattice", "suppress": 0.1}
    made = sr.publish(view, policy({"k": 3}, asked), ledger, suggest=True)
    assert not made.verdict.released
    assert any(line.startswith('[defence] leftovers = "withhold"') for line in offered(made)), made.verdict.remedies
    rest = sr.publish(view, policy({"k": 3}, {**asked, "leftovers": "withhold"}), ledger)
    assert rest.verdict.released
    assert rest.table.column("age").to_pylist() == ["30"] * 30


def test_over_releases_a_much_larger_crowd_is_tried_first_and_cohorts_too(tmp_path: Path) -> None:
    """The mildest change was tried first, and the time was over before one that passes."""
    ledger = sr.Ledger.open(tmp_path / "l.db")
    tight = policy({"k": 3}, {"method": "median"}, adversary={"breach_share": 0.02})
    first, *later = hospital_months(400, 3, churn=0.1)
    assert sr.publish(first, tight, ledger).verdict.released
    made = next(one for one in (sr.publish(view, tight, ledger, suggest=True) for view in later) if one.table is None)
    assert "a larger k" in made.verdict.remedies[0]
    lines = offered(made)
    assert any(line.startswith('[defence] method = "auto"') for line in lines), lines
    (cohorts,) = [line for line in lines if line.startswith('[defence] method = "cohort"')]
    assert "breached at most" in cohorts
    shape = {
        "series": {"name": "s", "respondent": "patient", "epoch": 2},
        "columns": COLUMNS,
        "promise": {"m": 3, "odds": 2},
        "defence": {"method": "cohort"},
        "adversary": {"breach_share": 0.02},
    }
    assert sr.publish(later[0], sr.Policy.from_dict(shape), ledger).verdict.released


def test_what_keeps_most_of_the_relation_is_offered_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"a": 0.1, "b": 0.7, "c": None}
    found = [suggestions.Suggestion((name,), 0.1, 0.0, share, 0.01) for name, share in kept.items()]
    monkeypatch.setattr(suggestions, "suggestions", lambda *_: (found, 3, True))
    ledger, tight = sr.Ledger.open(tmp_path / "l.db"), policy({"k": 70}, {"method": "median"})
    verdict = sr.publish(hospital_months(60, 1, churn=0)[0], tight, ledger, suggest=True).verdict
    told = [line.removeprefix("tried and passes: ") for line in verdict.remedies if line.startswith("tried and passes")]
    assert [line[0] for line in told] == ["b", "a", "c"]
    assert "relation kept 70%, breached at most 1.00%" in told[0]
