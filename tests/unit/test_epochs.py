"""A policy changes only where a new epoch begins."""

from __future__ import annotations

import pytest
from support.ledgers import made_policy

from seriatim.errors import PolicyError
from seriatim.model import Policy, SeriesState, check_epoch


def state_under(policy: Policy) -> SeriesState:
    return SeriesState(
        policy.series,
        version=1,
        head="head",
        n_releases=1,
        epoch=policy.epoch,
        policy_digest=policy.digest,
        policy=policy.canonical,
        secret=b"secret",
    )


def test_a_new_series_begins_with_epoch_1() -> None:
    check_epoch(SeriesState("ward"), made_policy())
    for epoch in (0, 2, -1):
        with pytest.raises(PolicyError, match="starts with epoch 1"):
            check_epoch(SeriesState("ward"), made_policy(epoch=epoch))


def test_the_same_policy_goes_on() -> None:
    check_epoch(state_under(made_policy()), made_policy())


def test_a_change_is_named_and_refused() -> None:
    changed = made_policy(k=5, sensitive=("disease", "pay"))
    with pytest.raises(PolicyError) as raised:
        check_epoch(state_under(made_policy()), changed)
    said = str(raised.value)
    assert "[columns.pay], [promise]" in said
    assert "[columns.disease]" not in said
    assert "epoch = 2" in said


def test_the_next_epoch_may_change_anything() -> None:
    check_epoch(state_under(made_policy()), made_policy(k=5, epoch=2))


@pytest.mark.parametrize("epoch", [1, 4])
def test_epochs_neither_go_back_nor_jump(epoch: int) -> None:
    with pytest.raises(PolicyError, match="2 or 3"):
        check_epoch(state_under(made_policy(epoch=2)), made_policy(epoch=epoch))


@pytest.mark.parametrize("text", ["", "not json", "[1]"])
def test_a_policy_text_of_another_shape_is_still_refused(text: str) -> None:
    state = SeriesState(
        "ward",
        version=1,
        head="head",
        n_releases=1,
        epoch=1,
        policy_digest="other digest",
        policy=text,
        secret=b"secret",
    )
    with pytest.raises(PolicyError, match="changed inside epoch 1"):
        check_epoch(state, made_policy())
