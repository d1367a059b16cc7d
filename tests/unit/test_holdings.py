"""Who holds which release, alone and together."""

from __future__ import annotations

import pytest
from support.histories import grouped, history_of

from seriatim.errors import InputError
from seriatim.model.recipients import holdings_of
from seriatim.usecases.attack.attack import AdversaryPlan, chosen_recipients, worst_holder_attacked

HELD = {"a": "1", "b": "2", "c": "1", "d": "3"}


def test_what_each_recipient_holds() -> None:
    found = holdings_of([(1, ["Weber"]), (2, ["Ortiz", "Weber "]), (3, []), (4, ["Ortiz"])])
    assert found.names == ("Weber", "Ortiz")
    assert found.unrecorded == {3}
    assert found.holder(["Weber"]).releases == {1, 2, 3}  # the third went to nobody on record: anyone may have it
    assert found.holder(["Weber"]).numbered == "releases 1, 2, 3"
    assert found.holder(["Ortiz"]).releases == {2, 3, 4}


def test_any_two_together_and_more_than_there_are() -> None:
    found = holdings_of([(1, ["a"]), (2, ["b"]), (3, ["c"])])
    assert [(one.name, sorted(one.releases)) for one in found.holders(2)] == [
        ("a and b", [1, 2]),
        ("a and c", [1, 3]),
        ("b and c", [2, 3]),
    ]
    assert [one.names for one in found.holders(9)] == [("a", "b", "c")]
    assert [one.names for one in found.holders(2, among=[" c "])] == [("a", "c"), ("b", "c")]
    assert holdings_of([(1, [])]).holders(2) == ()


def test_two_recipients_together_breach_whom_neither_breaches_alone() -> None:
    """Each release alone leaves two values for everyone; both together leave one."""
    history = history_of(grouped(HELD, "ab", "cd"), grouped(HELD, "ac", "bd"))
    holdings = holdings_of([(1, ["Weber"]), (2, ["Ortiz"])])
    alone = worst_holder_attacked(history, AdversaryPlan(), chosen_recipients(holdings, "Weber", None))
    assert [one.holder.name for one in alone.holders] == ["Weber"]
    assert alone.iterated.share == 0.0
    assert [release.number for release in alone.releases] == [1]
    both = worst_holder_attacked(history, AdversaryPlan(), chosen_recipients(holdings, None, 2))
    assert both.holders[0].holder.name == "Weber and Ortiz"
    assert both.iterated.share == 1.0
    assert both.wrong == 0


def test_the_worst_recipient_comes_first() -> None:
    history = history_of(grouped(HELD, "ab", "cd"), grouped(HELD, "ac", "bd"))
    holdings = holdings_of([(1, ["Weber", "Ortiz"]), (2, ["Ortiz"])])
    found = worst_holder_attacked(history, AdversaryPlan(), chosen_recipients(holdings, None, 1))
    assert [(one.holder.name, one.iterated.share) for one in found.holders] == [("Ortiz", 1.0), ("Weber", 0.0)]
    assert found.held_of(history).releases == history.releases


def test_a_name_that_received_nothing() -> None:
    holdings = holdings_of([(1, ["Weber"])])
    with pytest.raises(InputError, match="received no release"):
        chosen_recipients(holdings, "Webber", None)
    with pytest.raises(InputError, match="no release of this series has a recipient"):
        chosen_recipients(holdings_of([(1, [])]), None, 2)
