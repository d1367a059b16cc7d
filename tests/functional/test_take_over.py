"""A running series is taken over by cohort: its releases become what the attacker knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.command_line import seriatim
from support.panels import nlswork

import seriatim as sr
from seriatim import api
from seriatim.attacks import complete_sample, prepare, reveal_leavers
from seriatim.model.candidate_values import Candidates, candidates_remembered
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import POLICY, SERIES, hospital_months

OLD = POLICY.replace("t = 0.5", "# t = 0.5")
BOUND = "\n[adversary]\nbreach_share = 0.02\n"


def new_policy(epoch: int = 2) -> str:
    return (SERIES + BOUND).replace('respondent = "patient"', f'respondent = "patient"\nepoch = {epoch}')


def months() -> list[pa.Table]:
    """Return six months of 600 patients; a few who left after the first return in the fifth."""
    views = hospital_months(600, 6, churn=0.1, seed=4)
    here = pc.is_in(views[0]["patient"], value_set=views[4]["patient"])
    return [*views[:4], pa.concat_tables([views[4], views[0].filter(pc.invert(here)).slice(0, 40)]), views[5]]


def taken_over(folder: Path, views: list[pa.Table], old: int = 3) -> tuple[Any, list[Any]]:
    for name, text in (("old.toml", OLD), ("new.toml", new_policy())):
        (folder / name).write_text(text)
    ledger = api.open_ledger(folder / "ledger.db")
    made = []
    for number, view in enumerate(views):
        policy = api.load_policy(folder / ("old.toml" if number < old else "new.toml"))
        made.append(api.publish(view, policy, ledger, out=folder / "releases"))
        assert made[-1].verdict.released, (number, made[-1].verdict.reasons)
    return ledger, made


def remembered(ledger: Any) -> Candidates:
    return candidates_remembered(ledger.memory("ward-visits")["candidates"])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[Any]]:
    return taken_over(tmp_path_factory.mktemp("cohort"), months())


def test_old_and_new_releases_together_keep_the_bound(running: tuple[Any, list[Any]]) -> None:
    ledger, made = running
    left, history = remembered(ledger), ledger.history("ward-visits")
    assert len(left.known) >= 20
    ground = prepare(reveal_leavers(history)).taken_as_known(left.known, left.until)
    found = complete_sample(ground.compromise(ground.told, keep_log=False), None, 1, float("inf"))
    n_people = len(history.respondents) - len(left.known)
    worst = (found.exclusion.n_breached + len(found.certain) + len(found.undecided)) / n_people
    assert worst <= 0.02
    assert found.exclusion.wrong == 0
    for release in made[3:]:
        (estimate,) = [one for one in release.verdict.estimates if one.attack == "exclusion"]
        assert estimate.detail["taken_as_known"] == len(left.known)


def test_known_people_stand_apart_and_everyone_else_keeps_values(running: tuple[Any, list[Any]]) -> None:
    ledger, made = running
    left, m = remembered(ledger), 3
    known = set(left.known.to_pylist())
    sets = dict(zip(left.respondents.to_pylist(), left.of_person.tolist(), strict=True))
    for release in made[3:]:
        rows = release.groups.filter(pc.is_valid(release.groups.column("group"))).to_pylist()
        people: dict[int, set[str]] = {}
        values: dict[int, set[str]] = {}
        for row in rows:
            values.setdefault(row["group"], set()).add(row["disease"])
            if row["respondent"] is not None:
                people.setdefault(row["group"], set()).add(row["respondent"])
        assert all(group <= known or not group & known for group in people.values())
        for group, members in people.items():
            for who in members - known:
                possible = (
                    {v for v, ok in zip(left.values.to_pylist(), left.sets[sets[who]], strict=True) if ok}
                    if (who in sets)
                    else values[group]
                )
                assert len(values[group] & possible) >= min(m, len(possible))
        (finding,) = [one for one in release.verdict.findings if one.rule == "possible_values"]
        assert finding.kept


def test_people_who_were_only_in_old_releases_return(running: tuple[Any, list[Any]]) -> None:
    _, made = running
    first, fifth = months()[0], months()[4]
    back = fifth["patient"].combine_chunks().slice(len(fifth) - 40)
    assert pc.all(pc.is_in(back, value_set=first["patient"])).as_py()
    rows = made[4].groups.filter(pc.is_valid(made[4].groups.column("group")))
    there = pc.sum(pc.is_in(rows["respondent"].cast(pa.string()), value_set=back.cast(pa.string()))).as_py()
    assert there >= 20  # a few who are known wait until there are more of them


def test_it_is_told_with_counts_and_names_nobody(running: tuple[Any, list[Any]]) -> None:
    ledger, made = running
    left = remembered(ledger)
    (note,) = [one for one in made[3].verdict.notes if one.startswith("taken over after release 3")]
    assert f"{len(left.known)} are already breached" in note
    told = json.dumps([str(made[3].verdict), made[3].codebook, made[3].report.to_json(), made[3].report.to_html()])
    assert not [who for who in left.known.to_pylist() if f"{who}" in told.split()]


def test_the_private_list_names_those_taken_as_known(tmp_path: Path) -> None:
    for number, view in enumerate(months()[:4], 1):
        write_csv(view, tmp_path / f"month-{number}.csv")
    (tmp_path / "old.toml").write_text(OLD)
    (tmp_path / "new.toml").write_text(new_policy())
    for number in (1, 2, 3):
        assert seriatim(tmp_path, "publish", f"month-{number}.csv", "-p", "old.toml").code == 0
    ran = seriatim(tmp_path, "publish", "month-4.csv", "-p", "new.toml", "--private", "exposed.csv")
    assert ran.code == 0, ran.err
    assert "taken over after release 3" in ran.out
    listed = {line.split(",")[0].strip('"') for line in (tmp_path / "exposed.csv").read_text().splitlines()[1:]}
    left = remembered(api.open_ledger(tmp_path / "ledger.db"))
    assert set(left.known.to_pylist()) <= listed
    assert not listed & set(ran.out.split())


def test_a_delivery_and_a_forecast_after_a_take_over(running: tuple[Any, list[Any]]) -> None:
    ledger, _ = running
    ledger.deliver("ward-visits", 5, ["Dr Weber"])
    found = api.forecast(ledger, "ward-visits", releases=1)
    (now,) = [course for course in found.courses if course.way.now]
    assert (now.numbers, now.way.anew, now.stopped) == ((7,), False, "")
    assert ledger.verify().sound


def test_imported_releases_are_taken_over(tmp_path: Path) -> None:
    views = months()
    _, made = taken_over(tmp_path, views[:2], old=2)
    rows = [
        {"release": number, "respondent": row["respondent"], "group": row["group"], "disease": row["disease"]}
        for number, release in enumerate(made, 1)
        for row in release.groups.to_pylist()
    ]
    write_csv(pa.Table.from_pylist(rows), tmp_path / "history.csv")
    policy = new_policy(1).replace("ward-visits", "imported")
    (tmp_path / "imported.toml").write_text(policy)
    ran = seriatim(tmp_path, "ledger", "import", "history.csv", "-p", "imported.toml")
    assert ran.code == 0, (ran.out, ran.err)
    other = api.open_ledger(tmp_path / "ledger.db")
    release = api.publish(views[2], api.load_policy(tmp_path / "imported.toml"), other)
    assert release.verdict.released, release.verdict.reasons
    assert any(note.startswith("taken over after release 2") for note in release.verdict.notes)


def test_a_value_that_has_changed_since_is_open_again(tmp_path: Path) -> None:
    views = months()[:4]
    ledger, _ = taken_over(tmp_path, views[:3], old=3)
    found = api.publish(views[3], api.load_policy(tmp_path / "new.toml"), ledger, dry_run=True)
    assert found.verdict.released
    here, value = views[3]["patient"].to_pylist(), views[3]["disease"].to_pylist()
    other = next(at for at, held in enumerate(value) if held != value[0])
    swapped = [value[other], *value[1:other], value[0], *value[other + 1 :]]
    changed = views[3].set_column(views[3].column_names.index("disease"), "disease", pa.array(swapped))
    made = api.publish(changed, api.load_policy(tmp_path / "new.toml"), ledger)
    assert made.verdict.released, made.verdict.reasons
    rows = {row["respondent"]: row for row in made.groups.to_pylist() if row["respondent"] is not None}
    assert rows[str(here[0])]["disease"] == swapped[0]


def test_nlswork_is_taken_over(tmp_path: Path) -> None:
    frame = nlswork("occ_code").frame
    frame = frame.assign(value=frame.groupby("id").value.transform("first"))
    columns = {name: {"role": "quasi", "kind": "number"} for name in ("age", "msp", "south")}
    columns |= {"race": {"role": "quasi"}, "value": {"role": "sensitive"}}
    series = {"name": "women", "respondent": "id"}
    old = {"series": series, "columns": columns, "promise": {"k": 5, "l": 3}, "defence": {"method": "median"}}
    new = {
        **old,
        "series": {**series, "epoch": 2},
        "promise": {"m": 3, "odds": 1.5},
        "defence": {"method": "cohort"},
        "adversary": {"breach_share": 0.02},
    }
    ledger = sr.Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    for number, (_, rows) in enumerate(list(frame.groupby("year"))[:3]):
        policy = sr.Policy.from_dict(old if number < 2 else new)
        made = sr.publish(rows[["id", "age", "race", "msp", "south", "value"]].reset_index(drop=True), policy, ledger)
        assert made.verdict.released, made.verdict.reasons
    assert any(note.startswith("taken over after release 2") for note in made.verdict.notes)
    assert np.isfinite(made.verdict.estimates[0].high)
