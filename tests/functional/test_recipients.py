"""The ledger knows who received which release: attacks and verdicts by what recipients hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.policies.questions import AdversaryKeysUnread
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import POLICY, hospital_months


@pytest.fixture(scope="module")
def views() -> list[pa.Table]:
    return hospital_months(300, 3)


def written(folder: Path, views: list[pa.Table], adversary: str = "") -> None:
    for number, view in enumerate(views, 1):
        write_csv(view, folder / f"month-{number}.csv")
    (folder / "policy.toml").write_text(POLICY + adversary)


def publish(folder: Path, month: int, *to: str) -> Any:
    names = [part for name in to for part in ("--to", name)]
    return seriatim(folder, "publish", f"month-{month}.csv", "-p", "policy.toml", *names)


def test_attack_by_recipient_and_by_any_two(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views)
    for month, to in ((1, ("Dr Weber",)), (2, ("Ms Ortiz",)), (3, ("Dr Weber",))):
        assert publish(tmp_path, month, *to).code == 0
    one = seriatim(tmp_path, "attack", "--series", "ward-visits", "--recipient", "Ms Ortiz", "--json")
    assert one.code == 0, one.err
    alone = json.loads(one.out)
    assert alone["recipients"][0]["names"] == ["Ms Ortiz"]
    assert [release["number"] for release in alone["releases"]] == [2]
    each = json.loads(
        seriatim(tmp_path, "attack", "--series", "ward-visits", "--adversary", "collusion = 1", "--json").out
    )
    assert [one["names"] for one in each["recipients"]] == [["Dr Weber"], ["Ms Ortiz"]]  # who holds two is worse
    both = json.loads(
        seriatim(tmp_path, "attack", "--series", "ward-visits", "--adversary", "collusion = 2", "--json").out
    )
    everything = json.loads(seriatim(tmp_path, "attack", "--series", "ward-visits", "--json").out)
    assert both["iterated"] == everything["iterated"]
    assert alone["iterated"]["share"] < each["iterated"]["share"] < both["iterated"]["share"]
    shown = seriatim(
        tmp_path, "attack", "--series", "ward-visits", "--adversary", "collusion = 2", "--out", "attack.html"
    )
    assert "Dr Weber and Ms Ortiz" in shown.out
    assert "Dr Weber and Ms Ortiz" in (tmp_path / "attack.html").read_text()
    # a delivery afterwards counts
    delivered = seriatim(tmp_path, "ledger", "deliver", "ward-visits", "1", "--to", "Ms Ortiz")
    assert delivered.code == 0, delivered.err
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    now = sr.attack(ledger, series="ward-visits", recipient="Ms Ortiz")
    assert sorted(now.holders[0].holder.releases) == [1, 2]


def test_recipients_need_a_ledger(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views)
    publish(tmp_path, 1)
    with pytest.raises(sr.InputError, match="no release of this series has a recipient"):
        sr.attack(sr.Ledger.open(tmp_path / "ledger.db"), series="ward-visits", collusion=2)
    unknown = seriatim(tmp_path, "attack", "--history", ".", "--respondents", "x.csv", "--recipient", "Dr Weber")
    assert (unknown.code, "--series" in unknown.err) == (2, True)
    history = sr.Ledger.open(tmp_path / "ledger.db").history("ward-visits")
    with pytest.raises(sr.InputError, match="ledger"):
        sr.attack(history, recipient="Dr Weber")
    with pytest.raises(sr.SeriatimError, match="collusion"):
        sr.attack(sr.Ledger.open(tmp_path / "ledger.db"), series="ward-visits", collusion=0)


def test_an_attack_reads_the_collusion_of_an_adversary_file(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views)
    (tmp_path / "adversary.toml").write_text("collusion = 2\n")
    asked = ("attack", "--series", "ward-visits", "--json")
    publish(tmp_path, 1)
    # no recipient is on record: everyone may hold everything, as the policy has it
    everyone = seriatim(tmp_path, *asked, "--adversary", "adversary.toml")
    assert (everyone.code, everyone.out) == (0, seriatim(tmp_path, *asked).out)
    publish(tmp_path, 2, "Dr Weber")
    publish(tmp_path, 3, "Ms Ortiz")
    together = seriatim(tmp_path, *asked, "--adversary", "adversary.toml")
    assert together.out == seriatim(tmp_path, *asked, "--adversary", "collusion = 2").out
    assert together.out != seriatim(tmp_path, *asked, "--adversary", "collusion = 1").out
    history = sr.Ledger.open(tmp_path / "ledger.db").history("ward-visits")
    with pytest.warns(AdversaryKeysUnread, match="adversary: not read here: collusion"):
        sr.attack(history, {"collusion": 2})
    with pytest.warns(AdversaryKeysUnread, match="not read here: breach, lifespan, sure_share"):
        sr.attack(history, {"lifespan": 3, "breach": 0.1, "sure_share": 0.5})


def test_the_verdict_names_the_worst_recipient(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views, "\n[adversary]\nbreach_share = 0.9\n")
    assert publish(tmp_path, 1, "Dr Weber").code == 0
    second = publish(tmp_path, 2, "Dr Weber", "Ms Ortiz")
    assert "worst recipient: Dr Weber, with releases 1, 2" in second.out
    third = publish(tmp_path, 3, "Ms Ortiz")
    assert "worst recipient: Ms Ortiz, with releases 2, 3" in third.out
    public = "".join(path.read_text() for path in (tmp_path / "releases").glob("*/public/*"))
    assert "Weber" not in public
    assert "Ortiz" not in public


def test_the_same_release_to_the_same_person_is_refused_and_to_another_not(
    tmp_path: Path, views: list[pa.Table]
) -> None:
    """With collusion = 1 each recipient is judged by what they would hold."""
    written(tmp_path, views, "\n[adversary]\nbreach_share = 0.01\ncollusion = 1\n")
    assert publish(tmp_path, 1, "Dr Weber").code == 0
    same = publish(tmp_path, 2, "Dr Weber")
    assert same.code == 3, same.out
    assert "breach_share" in same.out
    both = publish(tmp_path, 2, "Ms Ortiz", "Dr Weber")
    assert (both.code, "worst recipient: Dr Weber" in both.out) == (3, True)
    anyone = publish(tmp_path, 2)  # to nobody on record: Dr Weber may have it
    assert anyone.code == 3
    other = publish(tmp_path, 2, "Ms Ortiz")
    assert other.code == 0, other.out
    together = seriatim(tmp_path, "attack", "--series", "ward-visits", "--adversary", "collusion = 2", "--json")
    assert json.loads(together.out)["iterated"]["share"] > 0.01


def test_two_together_are_refused_what_one_may_have(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views, "\n[adversary]\nbreach_share = 0.01\ncollusion = 2\n")
    assert publish(tmp_path, 1, "Dr Weber").code == 0
    refused = publish(tmp_path, 2, "Ms Ortiz")
    assert refused.code == 3
    assert "worst recipient: Dr Weber and Ms Ortiz" in refused.out


def test_a_delivery_is_judged_before_it_is_recorded(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views, "\n[adversary]\nbreach_share = 0.01\ncollusion = 1\n")
    assert publish(tmp_path, 1, "Dr Weber").code == 0
    assert publish(tmp_path, 2, "Ms Ortiz").code == 0
    before = sr.Ledger.open(tmp_path / "ledger.db").entries()
    asked = ("ledger", "deliver", "ward-visits", "1", "--to", "Ms Ortiz", "--out", "given")
    refused = seriatim(tmp_path, *asked)
    assert refused.code == 3, refused.err
    assert "Ms Ortiz, with releases 1, 2" in refused.err
    assert "breach_share" in refused.err
    told = json.loads(seriatim(tmp_path, *asked, "--json").out)["error"]
    assert (told["kind"], told["exit_code"]) == ("DeliveryRefused", 3)
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    with pytest.raises(sr.DeliveryRefused, match="Ms Ortiz"):
        ledger.deliver("ward-visits", 1, ["Ms Ortiz"])
    assert ledger.entries() == before  # nothing recorded
    assert not (tmp_path / "given").exists()
    assert (ledger.verify().faults, ledger.verify().notes) == ((), ())
    # who has nothing yet may have it, who has it already hears nothing new, and who answers for it may override
    assert seriatim(tmp_path, "ledger", "deliver", "ward-visits", "1", "--to", "Mr Lind").code == 0
    assert seriatim(tmp_path, "ledger", "deliver", "ward-visits", "1", "--to", "Dr Weber").code == 0
    assert seriatim(tmp_path, *asked, "--override", "it was on her desk").code == 2
    named = seriatim(tmp_path, *asked, "--override", "it was on her desk", "--approved-by", "A. Ortiz")
    assert named.code == 0, named.err
    assert (tmp_path / "given").is_dir()
    assert ledger.verify().sound
    assert ledger.entries()[-1].facts["approval"] == {"by": "A. Ortiz", "override": "it was on her desk"}


def test_two_who_would_share_are_judged_together_at_a_delivery(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views, "\n[adversary]\nbreach_share = 0.01\ncollusion = 2\n")
    assert publish(tmp_path, 1, "Dr Weber").code == 0
    forced = ("--to", "Ms Ortiz", "--override", "an order of the court", "--approved-by", "A. Ortiz")
    assert seriatim(tmp_path, "publish", "month-2.csv", "-p", "policy.toml", *forced).code == 0
    refused = seriatim(tmp_path, "ledger", "deliver", "ward-visits", "2", "--to", "Mr Lind")
    assert (refused.code, "Dr Weber and Mr Lind, with releases 1, 2" in refused.err) == (3, True)
    # with Ms Ortiz beside her Dr Weber could see both before
    assert seriatim(tmp_path, "ledger", "deliver", "ward-visits", "1", "--to", "Dr Weber").code == 0


def test_a_draft_judged_before_a_delivery_is_judged_again(tmp_path: Path, views: list[pa.Table]) -> None:
    written(tmp_path, views)
    assert publish(tmp_path, 1, "Dr Weber").code == 0
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    state = ledger.state

    def moved(*asked: Any) -> Any:
        found = state(*asked)
        ledger.deliver("ward-visits", 1, ["Ms Ortiz"])
        return found

    class Racing(type(ledger)):  # type: ignore[misc]
        __slots__ = ()
        state = staticmethod(moved)

    racing = Racing(ledger.database, ledger.shelf)
    with pytest.raises(sr.LedgerMoved, match="delivered"):
        sr.publish(views[1], sr.Policy.load(tmp_path / "policy.toml"), racing)
    assert [one.number for one in ledger.records()] == [1]
