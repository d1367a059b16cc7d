"""Samples and noise as defences: seeded by the series' secret, the same for the same person in every release."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seriatim as sr
from seriatim.defences.single.noise import binomial_quantiles, binomial_trials, moved_codes
from seriatim.measures import averaged_noise
from seriatim.model.nearness import window_of
from seriatim.model.noise_bell import amounts_of

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "sex": {"role": "quasi"},
    "income": {"role": "sensitive", "kind": "number"},
}


def policy(respondent: bool = True, **defence: Any) -> sr.Policy:
    series = {"name": "s", "respondent": "person"} if respondent else {"name": "s"}
    columns = COLUMNS if respondent else {**COLUMNS, "person": {"role": "drop"}}
    return sr.Policy.from_dict({"series": series, "columns": columns, "promise": {"k": 1}, "defence": defence})


def people(n: int = 400, first: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "person": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.integers(100, 9000, n) * 10,
        }
    )
    return frame.iloc[first:].reset_index(drop=True)


def test_a_sample_shows_records_as_they_are(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    release = sr.publish(people(), policy(method="sample", rate=0.2), ledger)
    assert release.verdict.released, release.verdict.reasons
    assert len(release.table) == 80
    whole = people().assign(age=people().age.astype(str))
    assert (
        release.table.merge(whole, on=["age", "sex", "income"]).drop_duplicates(["age", "sex", "income"]).shape[0] > 70
    )


@pytest.mark.parametrize("respondent", [True, False])
def test_a_later_sample_shows_the_same_people(tmp_path: Path, respondent: bool) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    shown = []
    for first in (0, 20):
        release = sr.publish(people(first=first), policy(respondent, method="sample", rate=0.25), ledger)
        shown.append(set(zip(release.table.age, release.table.sex, release.table.income, strict=True)))
    gone = set(zip(people()[:20].age.astype(str), people()[:20].sex, people()[:20].income, strict=True))
    fewer = max(5 - len(shown[0] & gone), 0)
    assert len((shown[0] - gone) - shown[1]) == fewer, "the size falls with the table, by 5, and nobody else leaves"


def noisy(tmp_path: Path, name: str, **amounts: str) -> list[pd.DataFrame]:
    ledger = sr.Ledger.open(tmp_path / f"{name}.db")
    asked = policy(method="noise", noise=amounts)
    releases = [sr.publish(people(first=first), asked, ledger) for first in (0, 20)]
    assert all(release.verdict.released for release in releases)
    return [release.groups.sort_values("respondent").reset_index(drop=True) for release in releases]


def test_the_same_person_has_the_same_noise_in_every_release(tmp_path: Path) -> None:
    first, second = noisy(tmp_path, "one", income="500")
    true = people().set_index("person").income
    off = first.income.to_numpy() - true.loc[first.respondent].to_numpy()
    assert (off != 0).mean() > 0.8
    assert np.abs(off).max() <= 500
    assert abs(off.mean()) < 40
    both = first.merge(second, on="respondent")
    assert len(both) == 380
    assert (both.income_x == both.income_y).all(), "so averaging gains nothing"
    other, _ = noisy(tmp_path, "two", income="500")
    assert (first.income != other.income).any(), "another series has another secret"


def test_a_changed_value_has_noise_of_its_own(tmp_path: Path) -> None:
    """Incomes that change by 10 from month to month are averaged nearly as if noise were fresh: the verdict says so."""
    ledger, asked = sr.Ledger.open(tmp_path / "ledger.db"), policy(method="noise", noise={"income": "500"})
    told = [sr.publish(people().assign(income=lambda f, by=by: f.income + by), asked, ledger) for by in (0, 10)]
    warned = [any("a changed value has noise of its own" in note for note in one.verdict.notes) for one in told]
    assert warned == [False, True]


@pytest.mark.parametrize("kind", [str, float])
def test_a_person_is_known_by_the_text_of_their_id(tmp_path: Path, kind: Any) -> None:
    """A column of numbers may become one of texts next month: that is no fresh noise and no fresh sample."""
    first, later = people().assign(person=range(400)), people()[1:].assign(person=range(1, 400))
    later = later.assign(person=later.person.astype(kind), income=later.income.astype(float))
    for method, options in (("noise", {"noise": {"income": "500"}}), ("sample", {"rate": 0.25})):
        ledger = sr.Ledger.open(tmp_path / f"{method}.db")
        asked = policy(method=method, **options)
        shown = [sr.publish(frame, asked, ledger).groups.query("not suppressed") for frame in (first, later)]
        both = (
            shown[0]
            .assign(who=shown[0].respondent.astype(float))
            .merge(shown[1].assign(who=shown[1].respondent.astype(float)), on="who")
        )
        assert len(both) >= (399 if method == "noise" else 98)
        assert (both.income_x == both.income_y).all()


@pytest.mark.parametrize("amount", ["500", "2000", "20%"])
def test_round_incomes_do_not_give_the_noise_away(tmp_path: Path, amount: str) -> None:
    """Whoever knows that incomes are hundreds tries all that may have become the noisy number; steps gave it away."""
    frame = people().assign(income=lambda frame: frame.income // 100 * 100 + 1000)
    release = sr.publish(
        frame, policy(method="noise", noise={"income": amount}), sr.Ledger.open(tmp_path / "ledger.db")
    )
    shown = release.groups.sort_values("respondent").income.to_numpy(dtype=float)
    true = frame.sort_values("person").income.to_numpy(dtype=float)
    hundreds = np.arange(500, 95_000, 100.0)
    size = amounts_of(hundreds, amount)[:, None]
    steps = np.array([math.comb(64, n) for n in range(65)]) / 2.0**64
    became = hundreds[:, None] + size * (np.arange(65) - 32) / 32
    fits = [((np.abs(became - number) <= 0.501) * steps).sum(axis=1) for number in shown]
    found = np.array([hundreds[fit.argmax()] for fit in fits])
    nearest = np.round(shown / 100) * 100
    assert (found == true).mean() <= (nearest == true).mean() + 0.1


def test_noise_in_per_cent_and_on_categories(tmp_path: Path) -> None:
    first, _ = noisy(tmp_path, "one", income="10%", sex="100%", age="5")
    true = people().set_index("person").income.loc[first.respondent].to_numpy()
    assert (np.abs(first.income.to_numpy() - true) <= 0.1 * true + 5).all()


@pytest.mark.parametrize(
    ("defence", "fault"),
    [
        ({"method": "sample"}, "method sample needs it"),
        ({"method": "noise"}, "method noise needs it"),
        ({"method": "noise", "noise": {"weight": "5"}}, "1 columns that are neither"),
        ({"method": "noise", "noise": {"sex": "5"}}, "units for 'sex', which has categories or a hierarchy"),
        ({"method": "noise", "noise": {"sex": "50%"}}, "moves nothing in 'sex'; allowed: at least 100%"),
        ({"method": "noise", "noise": {"income": "0.4"}}, "moves nothing in 'income'; allowed: at least 0.5"),
        ({"method": "noise", "noise": {"age": "0.2%"}}, "moves nothing in 'age'; allowed: at least 0.562%"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, defence: dict[str, Any], fault: str) -> None:
    with pytest.raises(sr.PolicyError, match=fault):
        sr.publish(people(), policy(**defence), sr.Ledger.open(tmp_path / "ledger.db"))


@pytest.mark.parametrize(
    "defence",
    [
        {"method": "sample", "rate": 0},
        {"method": "noise", "noise": {"age": "much"}},
        {"method": "noise", "noise": {"age": "0%"}},
    ],
)
def test_amounts_that_cannot_be(defence: dict[str, Any]) -> None:
    with pytest.raises(sr.PolicyError):
        policy(**defence)


def test_noisy_numbers_have_no_more_digits_than_they_mean(tmp_path: Path) -> None:
    """Cents stay cents, without what floats leave behind; numbers that are no decimals are cut far below the noise."""
    cents = people().assign(income=lambda f: f.income / 1000 + 0.07)
    loose = people().assign(income=lambda f: (f.income / 7).astype(np.float32).astype(float))
    shown = []
    for name, frame in (("cents", cents), ("loose", loose)):
        ledger = sr.Ledger.open(tmp_path / f"{name}.db")
        release = sr.publish(frame, policy(method="noise", noise={"income": "20%"}), ledger)
        shown.append(release.table.income.astype(str))
    assert shown[0].str.fullmatch(r"\d+\.\d{1,2}").all()
    assert shown[1].str.len().max() <= 10
    assert shown[1].nunique() > 390
    later = sr.publish(
        loose[1:].assign(income=lambda f: f.income * (f.person != "p1")),
        policy(method="noise", noise={"income": "20%"}),
        ledger,
    )
    assert len(set(later.table.income.astype(str)) - set(shown[1])) <= 1, "another least value moves no last digit"


@pytest.mark.parametrize("engine", ["pandas", "polars"])
@pytest.mark.parametrize(("kind", "most"), [("int8", 128), ("uint8", 256)])
def test_noise_may_leave_a_small_type(tmp_path: Path, kind: str, most: int, engine: str) -> None:
    """Numbers below 0 or beyond the type's last are published in a wider one; they never wrap around."""
    frame = people().assign(income=lambda f: (f.income % most).astype(kind))
    view = frame if engine == "pandas" else pytest.importorskip("polars").from_pandas(frame)
    release = sr.publish(view, policy(method="noise", noise={"income": "900"}), sr.Ledger.open(tmp_path / "ledger.db"))
    shown = np.asarray(release.table["income"])
    assert shown.dtype == np.int64
    assert shown.min() < 0
    assert shown.max() > most


def test_the_papers_noise() -> None:
    assert [binomial_trials(share, 25) for share in (0.1, 0.2, 0.5, 1.0)] == [2, 4, 12, 24]
    assert binomial_trials(0.5, 3) == 2, "a tie rounds up"
    drawn = binomial_quantiles(np.linspace(0.0005, 0.9995, 1000), 4)
    assert np.bincount(drawn.astype(int)).tolist() == pytest.approx([62, 250, 376, 250, 62], abs=2)
    moved = moved_codes(np.zeros(1000, dtype=np.int32), 5, 1.0, np.linspace(0.0005, 0.9995, 1000))
    assert set(moved.tolist()) == {0, 1, 2}


def test_fresh_noise_would_average_away() -> None:
    values, near = np.full(2000, 1000.0), window_of("±5%")
    shares = [averaged_noise.share_of_hits(values, "50%", releases, near) for releases in (1, 8, 64)]
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.99


def test_the_verdict_says_what_fresh_noise_would_give(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    release = sr.publish(people(), policy(method="noise", noise={"income": "50%"}), ledger)
    found = {measure.name: measure for measure in release.verdict.measures}
    values = people().income.to_numpy(dtype=float)
    assert found["fresh_noise_near"].value == averaged_noise.share_of_hits(values, "50%", 8, window_of("±5%"))
    assert found["noise_near"].value < 0.7 < found["fresh_noise_near"].value
    reports = [path.read_text() for path in tmp_path.rglob("report.html")]
    assert any("If every release had fresh noise" in report for report in reports), "in the publisher's own report"
    audit = sr.audit(release.table, policy(method="noise", noise={"income": "50%"}))
    told = {measure.name: measure.value for measure in audit.measures}
    assert told["fresh_noise_near"] == pytest.approx(found["fresh_noise_near"].value, abs=0.1)
    plain = sr.publish(people(), policy(method="sample", rate=0.5), sr.Ledger.open(tmp_path / "other.db"))
    assert not any("noise" in measure.name for measure in plain.verdict.measures)


def codebook_at(folder: Path) -> dict[str, Any]:
    (found,) = folder.rglob("codebook.json")
    told: dict[str, Any] = json.loads(found.read_text())
    return told


def test_users_are_told_how_much_noise_there_is(tmp_path: Path) -> None:
    """The amount is the most that noise moves a value; nobody may take it for the spread."""
    amounts = {"income": "20%", "age": "8", "sex": "100%"}
    release = sr.publish(people(), policy(method="noise", noise=amounts), sr.Ledger.open(tmp_path / "ledger.db"))
    told = {column["name"]: column["noise"] for column in codebook_at(tmp_path)["columns"]}
    assert "at most 20% of the value either way" in told["income"]
    assert "standard deviation of 2.47% of the value" in told["income"]
    assert "standard deviation of 0.987 units" in told["age"]
    assert "moved along the order of the column's values by at most 50% of their number" in told["sex"]
    figures = {measure.name: measure for measure in release.verdict.measures}
    assert figures["noise_spread"].value == pytest.approx(0.0247, abs=1e-4)
    assert figures["noise_spread"].detail == {"column": "income", "at_most": "20%"}, "the sensitive column counts"
    assert figures["noise_near"].value <= figures["noise_hit_chance"].value, "who knows the population guesses better"
    assert "margin_error" not in figures, "all numbers moved, so shares of single numbers say nothing"
    assert not any("value_query_error" in name for name in figures)
    assert not any("occur only once" in note for note in release.verdict.notes)
    page = release.report.to_html()
    assert page.count("with noise, at most 20% either way") == 1
    assert "income: at most 20% either way" in page


def test_users_are_told_that_it_is_a_sample(tmp_path: Path) -> None:
    sr.publish(people(), policy(method="sample", rate=0.2), sr.Ledger.open(tmp_path / "ledger.db"))
    rows = codebook_at(tmp_path)["rows"]
    assert "a random sample, 20% of all records" in rows
    assert "Multiply counts by 5" in rows


DAY = datetime.date(2026, 3, 1)


@pytest.mark.parametrize("kind", ["date", "time", "text"])
def test_noisy_dates_are_dates(tmp_path: Path, kind: str) -> None:
    days: Any = [DAY + datetime.timedelta(days=7 * i) for i in range(60)]
    cells = {"date": days, "time": pd.to_datetime(pd.Series(days)), "text": [str(day) for day in days]}[kind]
    frame = pd.DataFrame({"person": range(60), "age": range(60), "visit": cells})
    columns = {"age": {"role": "quasi", "kind": "number"}, "visit": {"role": "sensitive", "kind": "date"}}
    made = {"series": {"name": "s", "respondent": "person"}, "columns": columns, "promise": {"k": 1}}
    rules = sr.Policy.from_dict({**made, "defence": {"method": "noise", "noise": {"visit": "10"}}})
    release = sr.publish(frame, rules, sr.Ledger.open(tmp_path / "ledger.db"))
    shown = pd.to_datetime(release.groups.sort_values("respondent", key=lambda c: c.astype(int)).visit)
    off = (shown.reset_index(drop=True) - pd.to_datetime(pd.Series(days))).dt.days
    assert off.abs().max() <= 10
    assert off.nunique() > 2
    assert release.table.visit.dtype == frame.visit.dtype
    found = {measure.name: measure for measure in sr.audit(release.table, rules).measures}
    assert (found["hit_chance"].detail["window"], found["equivocation_area"].unit) == ("±15", "days x bits")
    assert found["hit_chance"].detail["table"] < 0.2
    per_cent = sr.Policy.from_dict({**made, "defence": {"method": "noise", "noise": {"visit": "10%"}}})
    with pytest.raises(sr.PolicyError, match="write the amount in days"):
        sr.publish(frame, per_cent, sr.Ledger.open(tmp_path / "other.db"))


def test_per_cent_of_a_date_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "visit": [DAY + datetime.timedelta(days=i) for i in range(4)]})
    for kind in ({"kind": "date"}, {}):
        columns = {"age": {"role": "quasi", "kind": "number"}, "visit": {"role": "sensitive", **kind}}
        with pytest.raises(sr.PolicyError, match="window in days"):
            sr.audit(
                frame,
                sr.Policy.from_dict(
                    {"series": {"name": "s"}, "columns": columns, "promise": {"max_hit_chance_at": {"±5%": 0.5}}}
                ),
            )


@pytest.mark.parametrize("defence", [{"method": "noise", "noise": {"pay": "10%"}}, {"method": "sample", "rate": 0.5}])
def test_no_promise_has_to_be_made_up_and_the_page_says_that_there_is_none(
    tmp_path: Path, defence: dict[str, object]
) -> None:
    view = pd.DataFrame({"id": [str(i) for i in range(60)], "age": range(60), "pay": [i * 7 % 50 for i in range(60)]})
    shape = {
        "series": {"name": "x", "respondent": "id"},
        "columns": {"age": {"role": "quasi"}, "pay": {"role": "sensitive", "kind": "number"}},
        "defence": defence,
    }
    made = sr.publish(view, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "l.db"), out=tmp_path / "out")
    assert made.verdict.released
    assert any("no promise to the people" in note for note in made.verdict.notes)
    (page,) = (tmp_path / "out").glob("*/private/report.html")
    assert "The policy has no promise, so nothing protects this table" in page.read_text()
    with pytest.raises(sr.SeriatimError, match="no promise"):
        sr.publish(
            view, sr.Policy.from_dict({**shape, "defence": {"method": "median"}}), sr.Ledger.open(tmp_path / "m.db")
        )
