"""The published form of a serial release: boxes cover, counts are right, nothing tells a counterfeit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from support.random_series import OneWorker

from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialRules
from seriatim.defences.series.memory import RememberedRows
from seriatim.defences.series.shuffle import ShuffledView, code_view, shuffled_draft
from seriatim.engines.threads import Threads
from seriatim.errors import PolicyError
from seriatim.model import CodedColumn, Draft, Table, View
from seriatim.model.draft import PLAIN
from seriatim.model.scale import scale_of
from seriatim_papers.invariant import invariant_groups
from seriatim_papers.memory import Memory

N = 60
REGIONS = ("n1", "n2", "s1", "s2")
LEVELS = [("north", "north", "south", "south"), ("*",) * 4]


def a_view(who: np.ndarray) -> View:
    chance = np.random.default_rng(1)
    age, region, illness = chance.integers(20, 30, N)[who], chance.integers(0, 4, N)[who], chance.integers(0, 5, N)[who]
    ages = scale_of("interval", pa.array([str(a) for a in range(20, 30)]), np.arange(20.0, 30.0))
    regions = scale_of("node", pa.array(REGIONS), np.arange(4.0), LEVELS)
    data = pa.table(
        {
            "person": pa.array([f"p{i}" for i in who]),
            "age": pa.array(age),
            "region": pa.array([REGIONS[r] for r in region]),
            "visit": pa.array(who * 10),
            "illness": pa.array([f"illness {i}" for i in illness]),
        }
    )
    illnesses = scale_of("set", pa.array([f"illness {i}" for i in range(5)]), np.arange(5.0))
    return View(
        Table(data),
        quasi=(
            CodedColumn("age", (age - 20).astype(np.int32), ages),
            CodedColumn("region", region.astype(np.int32), regions),
        ),
        sensitive=(CodedColumn("illness", illness.astype(np.int32), illnesses),),
        plain=("visit",),
        respondent="person",
        suppressed=np.zeros(len(who), dtype=np.bool_),
    )


def two_releases(method: str) -> list[tuple[View, ShuffledView, Draft]]:
    history: list[RememberedRows] = []
    make = (lambda *given: update_groups(*given[:4])) if method == "cohort" else invariant_groups
    values = pa.array([], pa.string())
    out = []
    for release, who in enumerate((np.arange(50), np.arange(15, N))):
        view = a_view(who)
        stage = code_view(view, who.astype(np.int64), values)
        state = SlotHistory.of(history) if method == "cohort" else Memory.of(history, stage.codes.person)
        made = make(stage.codes, SerialRules(3), state, SerialDraw(b"k", release), OneWorker())
        draft = shuffled_draft(view, stage, made, SerialDraw(b"k", release), Threads(1))
        out.append((view, stage, draft))
        history.append(_from_groups(draft, stage))
        values = stage.domain
    return out


def _from_groups(draft: Draft, stage: ShuffledView) -> RememberedRows:
    """What a ledger would hand back: the rows of release.groups, people and values as numbers."""
    rows = [row for row in draft.groups.to_pylist() if not row["suppressed"]]
    values = stage.domain.to_pylist()
    marks = [name for name in ("lineage", "slot", "baseline") if name in rows[0]]
    return RememberedRows(
        np.array([-1 if row["respondent"] is None else int(row["respondent"][1:]) for row in rows], dtype=np.int64),
        group=np.array([row["group"] for row in rows], dtype=np.int32),
        value=np.array([values.index(row["illness"]) for row in rows], dtype=np.int32),
        **{name: np.array([row[name] for row in rows], dtype=np.int64) for name in marks},
    )


def covers(label: str, age: int) -> bool:
    low, high = label.strip("[]").split(",") if label.startswith("[") else (label, label)
    return int(low) <= age <= int(high)


@pytest.mark.parametrize("method", ["invariant", "cohort"])
def test_rows_values_and_side_table_agree(method: str):
    for view, _, draft in two_releases(method):
        rows = draft.table.to_pylist()
        plain = [] if method == "cohort" else ["visit"]  # beside the boxes of a cohort, in a table of their own
        assert draft.table.column_names == ["group", "age", "region", *plain, "illness"]
        inside = [row for row in draft.groups.to_pylist() if not row["suppressed"]]
        assert len(rows) == len(inside)
        by_id: dict[int, Counter[str]] = {}
        for row in rows:
            by_id.setdefault(row["group"], Counter())[row["illness"]] += 1
        by_group: dict[int, Counter[str]] = {}
        for row in inside:
            by_group.setdefault(row["group"], Counter())[row["illness"]] += 1
        assert sorted(map(sorted, (c.items() for c in by_id.values()))) == sorted(
            map(sorted, (c.items() for c in by_group.values()))
        )
        assert draft.counterfeits is not None
        fakes = sum(row["counterfeit"] for row in inside)
        assert sum(draft.counterfeits.column("counterfeits").to_pylist()) == fakes
        box = ("age", "region") if method == "cohort" else ("group", "age", "region")
        _assert_boxes_cover(view, draft, box)


def _assert_boxes_cover(view: View, draft: Draft, box: tuple[str, ...]) -> None:
    """Per box as many real rows as records, each covered; found through the visit, which rows carry along."""
    data = {row["visit"]: row for row in view.data.to_pylist()}
    fakes: Counter[tuple[object, ...]] = Counter()
    for row in draft.counterfeits.to_pylist():
        fakes[tuple(row[name] for name in box)] += row["counterfeits"]
    seen = Counter(tuple(row[name] for name in box) for row in draft.table.to_pylist())
    carried = draft.files.get(PLAIN, draft.table).to_pylist()
    real: Counter[tuple[object, ...]] = Counter()
    for row in {row["visit"]: row for row in carried}.values():
        person = data[row["visit"]]
        assert covers(row["age"], person["age"])
        assert row["region"] in (person["region"], {"n": "north", "s": "south"}[person["region"][0]], "*")
        real[tuple(row[name] for name in box)] += 1
    assert seen == real + fakes


def test_same_secret_same_table_and_ids_differ_between_releases():
    first, second = two_releases("cohort"), two_releases("cohort")
    for (_, _, a), (_, _, b) in zip(first, second, strict=True):
        assert a.table.equals(b.table)
        assert a.counterfeits.equals(b.counterfeits)


def test_there_are_counterfeits_to_speak_of():
    assert two_releases("invariant")[1][2].counterfeits.num_rows
    assert two_releases("cohort")[1][2].counterfeits.num_rows


def test_two_sensitive_columns_are_refused():
    view = a_view(np.arange(10))
    double = View(
        view.source,
        quasi=view.quasi,
        sensitive=view.sensitive * 2,
        plain=view.plain,
        respondent=view.respondent,
        suppressed=view.suppressed,
    )
    with pytest.raises(PolicyError, match="2 sensitive columns"):
        code_view(double, np.arange(10), pa.array([], pa.string()))
    none = View(
        view.source,
        quasi=view.quasi,
        sensitive=(),
        plain=view.plain,
        respondent=view.respondent,
        suppressed=view.suppressed,
    )
    with pytest.raises(PolicyError, match="no sensitive column"):
        code_view(none, np.arange(10), pa.array([], pa.string()))
