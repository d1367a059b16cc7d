"""What being withheld tells, counted by hand, in the ledger's own histories and on a real panel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.panels import nlswork

import seriatim as sr
from seriatim.attacks import withheld
from seriatim.model.history import JudgedHistory
from seriatim.promises.series.withheld_leak import WithheldLeak
from seriatim.usecases.attack.attack import AdversaryPlan, attack
from seriatim.usecases.attack.attack_page import HistoryReport


def history(*releases: str) -> sr.History:
    """Releases as texts such as 'aab|ac': who is published, then who is withheld; people are places in the alphabet."""
    rows: dict[str, list[Any]] = {"release": [], "respondent": [], "group": [], "sensitive": []}
    for number, text in enumerate(releases, 1):
        shown, _, out = text.partition("|")
        for at, value in enumerate(shown + out):
            name = f"p{at}" if value != "." else None
            if name is not None:
                rows["release"].append(number)
                rows["respondent"].append(name)
                rows["group"].append("g" if at < len(shown) else None)
                rows["sensitive"].append(value)
    return sr.History.from_frame(pa.table({**rows, "group": pa.array(rows["group"], pa.string())}))


def test_the_best_guess_is_the_most_frequent_value_among_the_withheld() -> None:
    found = withheld(history("aabbcc|ccb", "aabbcc|..bd"))
    first, second = found.releases
    assert (first.n_withheld, first.hits, first.n_people, first.by_margin) == (3, 2, 9, 4)
    assert (second.n_withheld, second.hits, second.n_people, second.by_margin) == (2, 1, 8, 3)
    # over the series p6, p7, p8 and p9 were withheld, p8 twice and counted once
    whole = found.series
    assert (whole.n_withheld, whole.hits, whole.n_people, whole.by_margin) == (4, 2, 10, 4)
    assert (whole.hit_share, whole.margin_share) == (0.5, 0.4)
    assert found.estimate.low < 0.5 < found.estimate.high
    control = found.series.margin_share
    assert found.risk[0] == pytest.approx((found.estimate.share - control) / (1 - control))
    assert found.risk[1] < found.risk[0] < found.risk[2]


def test_nobody_withheld_tells_nothing() -> None:
    found = withheld(history("aab", "aab"))
    assert found.series.n_withheld == 0
    assert (found.estimate.share, found.estimate.n_people) == (0.0, 0)
    assert found.risk == (0.0, 0.0, 0.0)
    assert attack(history("aab", "aab"), AdversaryPlan()).withheld is None


def test_people_never_published_and_values_never_published_count() -> None:
    found = withheld(history("ab|zz"))
    assert (found.series.n_withheld, found.series.hits, found.series.n_people) == (2, 2, 4)


def test_one_person_proves_nothing_and_thirty_alike_prove_it() -> None:
    promise = WithheldLeak(1.1, "ill", m=2)
    few, many = (JudgedHistory(history("abcdabcdabcd|" + "a" * n), "ill") for n in (1, 30))
    assert promise.check(few).kept
    broken = promise.check(many)
    # 30 of 30: at least 88 % by Clopper and Pearson; the value has 33 of 42 in the view, which is more than 1/2
    assert broken.worst == pytest.approx(0.025 ** (1 / 30) / (33 / 42))
    assert broken.kept == (broken.worst <= 1.1)
    assert not WithheldLeak(1.0, "ill", m=2).check(many).kept


def test_a_cap_by_common_is_wider() -> None:
    case = JudgedHistory(history("aabcdefghijk" * 5 + "|" + "a" * 10), "ill")
    plain, common = (WithheldLeak(1.1, "ill", 6, c).check(case) for c in (None, 3.0))
    assert plain.worst > common.worst > 1.0


def test_the_report_has_counts_and_no_values() -> None:
    made = HistoryReport("t", attack(history("aabbcc|qqb", "aabbcc|..bq"), AdversaryPlan()))
    record = made.record()["withheld"]
    assert [one["n_withheld"] for one in record["releases"]] == [3, 2]
    assert record["series"]["hit_share"] == 0.75
    assert "What being withheld reveals" in made.to_html()


def policy(**promise: Any) -> sr.Policy:
    quasi = {name: {"role": "quasi"} for name in ("age", "race", "south")}
    return sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "id"},
            "columns": {**quasi, "grade": {"role": "sensitive", "kind": "category"}},
            "promise": {"m": 3, **promise},
            "defence": {"method": "cohort", "suppress": 0.9},
        }
    )


def test_on_a_real_panel_all_withheld_people_hold_the_commonest_value(tmp_path: Path) -> None:
    """Grade in nlswork: 60 % hold one value, m = 3, so the surplus is withheld and everyone can tell what it is."""
    frame = nlswork().frame[["id", "year", "age", "race", "south", "grade"]]
    years = [part.drop(columns="year") for _, part in frame[frame.year < 72].groupby("year")]
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for year in years:
        made = sr.publish(year, policy(), ledger, approved_by="A. Ortiz", override="the attack is tried on it")
        assert "eligible_table" in made.verdict.reasons[0]
        (told,) = [one for one in made.verdict.estimates if one.attack == "withheld"]
        assert told.share > 0.95  # later, a few people of other values wait for a fair batch
    found = sr.attack(ledger, series="panel").withheld
    assert found is not None
    assert found.releases[0].hit_share == 1.0
    assert found.series.n_withheld > 300
    assert found.series.margin_share < 0.7
    refused = sr.publish(years[0], policy(withheld_leak=1.1), sr.Ledger.open(tmp_path / "other.db"))
    assert not refused.verdict.released
    assert "withheld_leak" in refused.verdict.reasons[0]
