"""The method sequence: groups along the curve that keep k, t and j, and what happens to those left over."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import seriatim as sr
from seriatim.defences.series.sequence.grouping import sequence_groups
from seriatim.engines.threads import Threads
from seriatim.model.history import SeriesState
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of

VALUES = tuple("abcdef")
STATE = SeriesState("s", n_releases=0, secret=b"a secret of some length, for a test")


def months(n_months: int, n_people: int = 240, stay: float = 0.85) -> list[pa.Table]:
    rng = np.random.default_rng(8)
    value, age, weight = (rng.integers(0, high, n_people) for high in (len(VALUES), 40, 30))
    tables = []
    for _ in range(n_months):
        value = np.where(rng.random(n_people) > stay, rng.integers(0, len(VALUES), n_people), value)
        columns = {"age": age.tolist(), "weight": weight.tolist(), "stage": [VALUES[v] for v in value]}
        tables.append(pa.table({"id": [f"p{i}" for i in range(n_people)], **columns}))
    return tables


def policy(promise: dict[str, Any], **defence: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {
                "age": {"role": "quasi", "kind": "number"},
                "weight": {"role": "quasi", "kind": "number"},
                "stage": {"role": "sensitive"},
            },
            "promise": promise,
            "defence": {"method": "sequence", "suppress": 1.0, **defence},
        }
    )


@pytest.mark.parametrize("mode", ["optimal", "greedy"])
def test_promises_are_kept_and_everyone_is_accounted_for(tmp_path: Path, mode: str) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    asked = policy({"k": 8, "t": 0.5, "j": 0.35}, mode=mode)
    for view in months(3):
        made = sr.publish(view, asked, ledger)
        assert made.verdict.released, made.verdict.reasons
        kept = {finding.rule: finding for finding in made.verdict.findings}
        assert kept["k"].worst >= 8
        assert kept["t"].worst <= 0.5
        assert kept["j"].worst <= 0.35 + 1e-5
        groups = made.groups
        assert groups.num_rows == 240
        sizes = np.unique(groups.column("group").drop_null().to_numpy(), return_counts=True)[1]
        assert sizes.min() >= 8
        assert made.table.num_rows == int((~groups.column("suppressed").to_numpy()).sum())


def test_optimal_loses_no_more_than_greedy(tmp_path: Path) -> None:
    loss = {}
    for mode in ("optimal", "greedy"):
        ledger = sr.Ledger.open(tmp_path / f"{mode}.db")
        asked = policy({"k": 8, "t": 0.4}, mode=mode)
        verdict = sr.publish(months(1)[0], asked, ledger).verdict
        loss[mode] = next(m.value for m in verdict.measures if m.name == "gcp")
    assert loss["optimal"] < loss["greedy"]


def test_the_verdict_says_what_j_can_do(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    first, second = months(2)
    loose = policy({"k": 8, "j": 5.0})
    said = sr.publish(first, loose, ledger).verdict.notes
    assert any("diverge by 0.000 nats: j does nothing" in note for note in said)
    other = sr.Ledger.open(tmp_path / "m.db")
    tight = policy({"k": 8, "j": 0.05}, mode="greedy")
    sr.publish(first, tight, other)
    said = sr.publish(second, tight, other).verdict.notes
    assert any("j is below it" in note and "were dropped" in note for note in said)


def test_a_collapse_is_refused_by_the_policys_share(tmp_path: Path) -> None:
    """Greedy never closes again once the rest diverges too much: loud, not silent."""
    ledger = sr.Ledger.open(tmp_path / "l.db")
    asked = policy({"k": 8, "j": 0.02}, mode="greedy", suppress=0.05)
    first, second = months(2)
    second = second.take([i for i in range(240) if i % 10])  # else the same people may meet again, and nothing diverges
    assert sr.publish(first, asked, ledger).verdict.released
    refused = sr.publish(second, asked, ledger).verdict
    assert not refused.released
    assert refused.reasons[0].startswith("suppress: found")


def test_relaxed_leftovers_drop_nobody_and_say_what_was_reached(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    made = sr.publish(months(1)[0], policy({"k": 8}, mode="greedy", leftovers="relax"), ledger)
    assert made.table.num_rows == 240
    assert any(note.startswith("nobody was dropped: the largest t reached is") for note in made.verdict.notes)


def test_the_leaks_of_the_method_are_measured(tmp_path: Path) -> None:
    """t ends groups later; k alone does not, and says nothing."""
    said = {}
    for name, promise in (("t", {"k": 8, "t": 0.35}), ("k", {"k": 8})):
        made = sr.publish(months(1)[0], policy(promise, mode="greedy"), sr.Ledger.open(tmp_path / f"{name}.db"))
        said[name] = " ".join(made.verdict.notes)
    assert "cut points:" in said["t"]
    assert "cut points:" not in said["k"]


@pytest.mark.parametrize("mode", ["optimal", "greedy"])
def test_blind_cuts_do_not_depend_on_values_and_keep_every_promise(tmp_path: Path, mode: str) -> None:
    """With k alone the groups are the same whatever the values are; where t binds, whole groups are joined."""
    asked, view = policy({"k": 8}, mode=mode, cuts="blind"), months(1)[0]
    other = view.set_column(3, "stage", pa.array([VALUES[i % 6] for i in range(240)]))
    sizes = []
    for at, table in enumerate((view, other)):
        drafts = sequence_groups(view_of(read_table(table), asked), asked, STATE, Threads())
        sizes.append(dict(zip(drafts.groups["respondent"].to_pylist(), drafts.grouping.group.tolist(), strict=True)))
        assert drafts.grouping.n_groups > 10, at
    together = [{frozenset(who for who in own if own[who] == g) for g in set(own.values())} for own in sizes]
    assert together[0] == together[1]
    strict = policy({"k": 8, "t": 0.4, "l": 3, "j": 5.0}, mode=mode, cuts="blind")
    made = sr.publish(view, strict, sr.Ledger.open(tmp_path / "l.db"))
    assert made.verdict.released, made.verdict.reasons
    kept = {finding.rule: finding for finding in made.verdict.findings}
    assert kept["t"].worst <= 0.4
    assert kept["l"].worst >= 3
    assert any("groups were merged with a neighbour for l or t" in note for note in made.verdict.notes)


def test_the_best_cut_says_how_many_ends_look_at_values(tmp_path: Path) -> None:
    said = {}
    for name, promise in (("t", {"k": 8, "t": 0.35}), ("k", {"k": 8})):
        made = sr.publish(months(1)[0], policy(promise), sr.Ledger.open(tmp_path / f"{name}.db"))
        said[name] = " ".join(made.verdict.notes)
    assert "of groups end where they do because of sensitive values" in said["t"]
    assert "cut points" not in said["k"]


def test_the_same_again_is_the_same(tmp_path: Path) -> None:
    view, asked = months(1)[0], policy({"k": 8, "t": 0.5})
    ledger = sr.Ledger.open(tmp_path / "l.db")
    made = sr.publish(view, asked, ledger)
    again = sr.publish(view, asked, sr.Ledger.open(tmp_path / "l2.db"))
    assert made.table.num_rows == again.table.num_rows


@pytest.mark.parametrize(
    ("promise", "said"), [({"t": 0.5}, "k: missing"), ({"k": 3, "j": 0.5, "j_base": "bits"}, "j is in nats")]
)
def test_what_the_method_cannot_do_is_bad_input(tmp_path: Path, promise: dict[str, Any], said: str) -> None:
    with pytest.raises(sr.PolicyError, match=said):
        sr.publish(months(1)[0], policy(promise), sr.Ledger.open(tmp_path / "l.db"))


def test_buckets_are_two_tables_joined_by_group(tmp_path: Path) -> None:
    """Nobody's value is beside them, every group has its own values, and the series is attacked as if it were boxes."""
    ledger = sr.Ledger.open(tmp_path / "l.db")
    asked = policy({"k": 6, "l": 2}, mode="optimal", form="buckets")
    for at, view in enumerate(months(2), 1):
        made = sr.publish(view, asked, ledger, out=tmp_path / f"out{at}")
        assert made.verdict.released, made.verdict.reasons
        assert made.table.column_names == ["group", "age", "weight"]
        people, values = (
            pacsv.read_csv(next((tmp_path / f"out{at}").rglob(name))) for name in ("table.csv", "values.csv")
        )
        assert values.column_names == ["group", "stage"]
        assert made.values.to_pylist() == values.to_pylist()
        assert values.to_pylist() == sorted(values.to_pylist(), key=lambda row: (row["group"], row["stage"]))
        true = made.groups.filter(made.groups["group"].is_valid())
        assert Counter(zip(*values.to_pydict().values(), strict=True)) == Counter(
            zip(true["group"].to_pylist(), true["stage"].to_pylist(), strict=True)
        )
        own = {row["id"]: (row["age"], row["weight"]) for row in view.to_pylist()}
        seen = Counter(zip(*people.to_pydict().values(), strict=True))
        assert seen == Counter(
            (g, *own[who]) for g, who in zip(true["group"].to_pylist(), true["respondent"].to_pylist(), strict=True)
        )
        kept = {finding.rule: finding for finding in made.verdict.findings}
        assert kept["k"].worst >= 6
        assert kept["l"].worst >= 2
    found = sr.attack(ledger, series="s")
    assert found.sequence is not None
    assert found.sequence.n_people == 240
    reports = [path.read_text() for path in tmp_path.rglob("report.html")]
    assert any("groups and their values in separate tables" in report for report in reports)
    told = json.loads(next((tmp_path / "out1").rglob("codebook.json")).read_text())
    assert told["rows"].startswith("two tables, joined by group")


def test_a_bucket_says_no_more_than_boxes_about_the_values(tmp_path: Path) -> None:
    """The joined draft is shuffled inside groups: a row of it is nobody's record."""
    ledger = sr.Ledger.open(tmp_path / "l.db")
    view = months(1)[0]
    made = sr.publish(view, policy({"k": 8}, mode="optimal", form="buckets"), ledger, dry_run=True)
    boxes = sr.publish(view, policy({"k": 8}, mode="optimal"), sr.Ledger.open(tmp_path / "o.db"), dry_run=True)
    sizes = [sorted(Counter(one.groups["group"].to_pylist()).values()) for one in (made, boxes)]
    assert sizes[0][0] >= 8
    assert sum(sizes[0]) == sum(sizes[1]) == 240


def covered(tmp_path: Path, **defence: Any) -> tuple[pa.Table, sr.Ledger, Any]:
    """The second of two releases in groups of seven: greedy leaves at least two of 240 people over."""
    ledger = sr.Ledger.open(tmp_path / "l.db")
    asked = policy({"k": 7, "l": 2, "t": 0.9, "j": 5.0}, mode="greedy", leftovers="counterfeit", **defence)
    first, second = months(2)
    sr.publish(first, asked, ledger)
    return second, ledger, sr.publish(second, asked, ledger, out=tmp_path / "out")


def test_counterfeits_take_the_place_of_people_left_over(tmp_path: Path) -> None:
    """As many rows as people, every promise kept, and only the publisher's own file tells which rows are nobody's."""
    _, ledger, made = covered(tmp_path)
    assert made.verdict.released, made.verdict.reasons
    groups = made.groups
    fake = groups.filter(groups["counterfeit"])
    assert 2 <= fake.num_rows < 14
    assert fake["respondent"].null_count == fake.num_rows
    gone = groups.filter(groups["suppressed"])
    assert gone.num_rows >= fake.num_rows
    assert made.table.num_rows == 240 - gone.num_rows + fake.num_rows
    assert groups.num_rows == 240 + fake.num_rows
    kept = {finding.rule: finding for finding in made.verdict.findings}
    assert kept["k"].worst >= 7
    assert kept["t"].worst <= 0.9
    assert kept["suppress"].worst == gone.num_rows / 240
    assert made.table.column_names == ["age", "weight", "stage"]
    own = groups.filter(groups["group"].is_valid())
    assert Counter(own["stage"].to_pylist()) == Counter(made.table["stage"].to_pylist())
    assert any("withheld behind rows with counterfeit values" in note for note in made.verdict.notes)
    public = [path for path in (tmp_path / "out").rglob("public/*") if path.suffix in (".csv", ".json")]
    assert not any("counterfeit" in path.read_text() for path in public)
    assert "the value is made up" in next((tmp_path / "out").rglob("codebook.json")).read_text()
    told = sr.attack(ledger, series="s")
    assert told.sequence is not None
    assert 238 <= told.sequence.n_people <= 240
    boxes = Counter(zip(made.table["age"].to_pylist(), made.table["weight"].to_pylist(), strict=True))
    assert min(boxes.values()) >= 7


def test_people_left_over_are_inside_the_box_that_covers_them(tmp_path: Path) -> None:
    view, _, made = covered(tmp_path)
    boxes = {tuple(map(ends, row.values())) for row in made.table.select(["age", "weight"]).to_pylist()}
    gone = set(made.groups.filter(made.groups["suppressed"])["respondent"].to_pylist())
    inside = [
        any(a[0] <= row["age"] <= a[1] and b[0] <= row["weight"] <= b[1] for a, b in boxes)
        for row in view.to_pylist()
        if row["id"] in gone
    ]
    assert inside
    assert all(inside)


def ends(text: str) -> tuple[int, int]:
    low, _, high = text.strip("[]").partition(",")
    return int(low), int(high or low)


def test_the_share_of_counterfeits_is_capped(tmp_path: Path) -> None:
    _, ledger, made = covered(tmp_path, suppress=0.001)
    assert not made.verdict.released
    assert made.verdict.reasons[0].startswith("suppress: found")
    assert ledger.records() == []


def test_counterfeits_do_not_go_with_buckets() -> None:
    with pytest.raises(sr.PolicyError, match="shows everyone's quasi-identifiers"):
        policy({"k": 8}, leftovers="counterfeit", form="buckets")


@pytest.mark.parametrize("mode", ["optimal", "greedy"])
def test_buckets_publish_a_column_called_group_so_no_other_may_be(tmp_path: Path, mode: str) -> None:
    view = months(1)[0].rename_columns(["id", "group", "weight", "stage"])
    asked = sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {
                "group": {"role": "quasi", "kind": "number"},
                "weight": {"role": "plain"},
                "stage": {"role": "sensitive"},
            },
            "promise": {"k": 8},
            "defence": {"method": "sequence", "mode": mode, "form": "buckets"},
        }
    )
    ledger = sr.Ledger.open(tmp_path / "l.db")
    with pytest.raises(sr.PolicyError, match=r"columns.group.*buckets publish a column of this name"):
        sr.publish(view, asked, ledger)
    assert ledger.records() == []


@pytest.mark.parametrize("form", ["intervals", "buckets"])
@pytest.mark.parametrize("mode", ["optimal", "greedy"])
def test_without_quasi_identifiers_people_are_put_together_by_chance(tmp_path: Path, mode: str, form: str) -> None:
    asked = sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"age": {"role": "drop"}, "weight": {"role": "drop"}, "stage": {"role": "sensitive"}},
            "promise": {"k": 8, "j": 2.0},
            "defence": {"method": "sequence", "mode": mode, "form": form},
        }
    )
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in months(2):
        made = sr.publish(view, asked, ledger)
        assert made.verdict.released, made.verdict.reasons
        assert made.table.num_rows == 240


def test_a_counterfeit_never_shows_the_cell_of_a_withheld_record(tmp_path: Path) -> None:
    """Suppressed records have code 0: whichever was last among them stood for the first value in every row."""
    values = [f"d{at % 6}" if at % 20 else "withheld" for at in range(400)]
    table = pa.table({"who": [str(at) for at in range(400)], "q": list(range(400)), "value": values})
    shape = {
        "series": {"name": "s", "respondent": "who"},
        "columns": {
            "q": {"role": "quasi", "kind": "number"},
            "value": {"role": "sensitive", "order": [f"d{at}" for at in range(6)], "on_unseen": "suppress"},
        },
        "promise": {"k": 10, "l": 5, "t": 0.2},
        "defence": {"method": "sequence", "leftovers": "counterfeit", "suppress": 0.9},
    }
    for number in range(8):  # it depended on the secret
        made = sr.publish(table, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / f"{number}.db"))
        assert set(made.table["value"].to_pylist()) <= {f"d{at}" for at in range(6)}
