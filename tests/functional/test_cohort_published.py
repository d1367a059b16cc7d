"""A series of cohorts from tables to releases: skewed values, hierarchies, plain columns, another method before."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.reading import Axis, open_release

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "postcode": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [3, 2, 0]}},
    "grade": {"role": "sensitive"},
}


def asked(method: str = "cohort", columns: dict[str, Any] = COLUMNS, **more: Any) -> Any:
    shape = {
        "series": {"name": "panel", "respondent": "who"},
        "columns": columns,
        "promise": {"m": 3, "odds": 1.5},
        "defence": {"method": method},
        "adversary": {"compromised": 0.1},
    }
    return sr.Policy.from_dict({**shape, **more})


def months(n: int = 1500, releases: int = 5, churn: float = 0.1) -> list[pa.Table]:
    """Sixty in a hundred people finished the same grade; a tenth leaves every month."""
    chance = np.random.default_rng(11)
    everyone = n + int(n * churn * releases) + releases
    grade = chance.choice([12, 8, 10, 14, 16], everyone, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    age, postcode = chance.integers(18, 60, everyone), chance.integers(100, 400, everyone)
    here, known, made = np.arange(n), n, []
    for _ in range(releases):
        made.append(
            pa.table({"who": here, "age": age[here], "postcode": postcode[here].astype(str), "grade": grade[here]})
        )
        stays = here[chance.random(len(here)) >= churn]
        came = np.arange(known, known + n - len(stays))
        here, known = np.concatenate((stays, came)), known + len(came)
    return made


def test_most_people_share_a_value_and_all_are_published(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    for view in months():
        made = sr.publish(view, asked(), ledger, out=tmp_path / "out")
        assert made.verdict.released, made.verdict.reasons
        (finding,) = [one for one in made.verdict.findings if one.rule == "fair_cells"]
        assert finding.worst <= finding.threshold
        assert "belief about anyone at most" in finding.detail
        assert "for someone who knows 10% of the people" in finding.detail
        groups = made.groups
        assert not pa.compute.any(groups.filter(pa.compute.invert(groups["counterfeit"]))["suppressed"]).as_py()
        real = view["grade"].to_numpy()
        shown = made.table["grade"].to_numpy()
        margins = [np.array([(part == grade).mean() for grade in (8, 10, 12, 14, 16)]) for part in (real, shown)]
        assert abs(margins[0] - margins[1]).sum() / 2 < 0.02
    assert sr.attack(ledger, {"compromised": 0.1}, series="panel") is not None


def test_without_common_a_skewed_table_is_refused(tmp_path: Path) -> None:
    policy = asked(promise={"m": 3})
    made = sr.publish(months(releases=1)[0], policy, sr.Ledger.open(tmp_path / "ledger.db"))
    assert not made.verdict.released
    assert any(reason.startswith("suppress") for reason in made.verdict.reasons)
    assert any("[promise] odds = 2 would pass" in remedy for remedy in made.verdict.remedies)
    tried = sr.publish(months(releases=1)[0], policy, sr.Ledger.open(tmp_path / "ledger.db"), suggest=True)
    assert any("tried and passes: [promise] odds = 2" in remedy for remedy in tried.verdict.remedies)


def test_a_column_in_which_nearly_all_are_alike_is_bad_input(tmp_path: Path) -> None:
    view = months(releases=1)[0]
    grade = pa.array([12] * (len(view) - 20) + [8, 10] * 10)
    with pytest.raises(sr.TableError, match="the column carries no information"):
        sr.publish(view.set_column(3, "grade", grade), asked(), sr.Ledger.open(tmp_path / "ledger.db"))


def boxes_of_several_groups(made: Any) -> int:
    """Count the boxes that people of several cohorts share, as only the publisher can."""
    draft = made.release.draft
    box, group = draft.grouping.group, draft.groups["group"].to_numpy()[: draft.n_records]
    pairs = np.unique(np.column_stack((box, group)), axis=0)
    return len(pairs) - len(np.unique(box))


def boxes_in(table: pa.Table) -> Counter[tuple[str, str]]:
    return Counter(zip(table["age"].to_pylist(), table["postcode"].to_pylist(), strict=True))


def test_plain_columns_stand_beside_boxes_and_never_beside_groups(tmp_path: Path) -> None:
    policy = asked(columns={**COLUMNS, "town": {"role": "plain"}})
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    for view in months(3000, 2):
        towns = view.append_column("town", pa.array([f"t{row % 7}" for row in range(len(view))]))
        made = sr.publish(towns, policy, ledger, out=tmp_path / "out")
        assert made.verdict.released
    assert boxes_of_several_groups(made) > 30
    assert made.table.column_names == ["group", "age", "postcode", "grade"]
    assert made.plain.column_names == ["age", "postcode", "town"]
    counterfeits = made.release.files["counterfeits"]
    shown = boxes_in(made.table)
    for row in counterfeits.to_pylist():
        shown[row["age"], row["postcode"]] -= row["counterfeits"]
    assert boxes_in(made.plain) == +shown
    assert min(boxes_in(made.plain).values()) >= 3
    kept = ~made.release.draft.groups_by_source["suppressed"].to_numpy(zero_copy_only=False)[: len(towns)]
    assert Counter(made.plain["town"].to_pylist()) == Counter(towns.filter(pa.array(kept))["town"].to_pylist())
    assert "plain.*" in made.codebook["rows"]
    assert {one["name"]: one["role"] for one in made.codebook["columns"]}["town"] == "plain"


def test_a_reader_counts_people_by_a_plain_column(tmp_path: Path) -> None:
    policy = asked(columns={**COLUMNS, "town": {"role": "plain"}})
    view = months(1500, 1)[0]
    view = view.append_column("town", pa.array([f"t{row % 7}" for row in range(len(view))]))
    sr.publish(view, policy, sr.Ledger.open(tmp_path / "ledger.db"), out=tmp_path / "out")
    release = open_release(tmp_path / "out" / "panel-0001", {"age": Axis.whole_numbers(18, 59)})
    truth = pa.compute.value_counts(view["town"])
    assert release.count_values("town") == {one["values"].as_py(): one["counts"].as_py() for one in truth}
    assert release.count({}, {"town": "t3"}) == release.count_values("town")["t3"]
    old = int(((view["age"].to_numpy() >= 40) & (view["town"].to_numpy() == "t3")).sum())
    assert release.count({"age": (40, 59)}, {"town": "t3"}) == pytest.approx(old, rel=0.15)
    with pytest.raises(sr.TableError, match="nothing links their rows"):
        release.count({}, {"town": "t3", "grade": "12"})


def test_odds_in_a_group_and_own_part_are_two_figures(tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    sex, age = chance.integers(0, 2, 4000), chance.integers(18, 60, 4000)
    grade = np.where(chance.random(4000) < 0.5, sex, chance.integers(0, 4, 4000)).astype(str)
    people = [str(one) for one in range(4000)]
    view = pa.table({"who": people, "age": age, "sex": sex.astype(str), "grade": grade})
    columns = {"age": {"role": "quasi", "kind": "number"}, "sex": {"role": "quasi"}, "grade": {"role": "sensitive"}}
    policy = asked(columns=columns, promise={"m": 2, "odds": 3}, defence={"method": "cohort", "relation": ["sex"]})
    made = sr.publish(view, policy, sr.Ledger.open(tmp_path / "l.db"), out=tmp_path / "out")
    told = {one.name: one.value for one in made.verdict.measures}
    groups = made.table.group_by(["group", "grade"]).aggregate([([], "count_all")]).to_pandas()
    shares = groups.pivot(index="group", columns="grade", values="count_all").fillna(0)
    base = shares.sum() / shares.sum().sum()
    shares = shares.div(shares.sum(axis=1), axis=0)
    odds = (shares / (1 - shares)) / (base / (1 - base))
    assert told["odds_in_group"] == pytest.approx(float(odds.to_numpy().max()))
    assert 1 < told["own_part"] < 3
    assert told["relation_kept"] > 0.15
    page = next((tmp_path / "out").rglob("public/report.html")).read_text()
    assert f"beyond {told['odds_in_group']:.2f} times" in page
    assert "own part" not in page.lower()
