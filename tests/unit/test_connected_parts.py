"""Connected parts as clauses: they say what integer programmes say, of histories too large to enumerate."""

from __future__ import annotations

import numpy as np
import pytest
from support.histories import grouped, history_of

from seriatim.attacks import complete, connected_parts, prepare
from seriatim.attacks.complete_search import complete_sample
from seriatim.attacks.possible_worlds import undecided_people
from seriatim.model.history import History


def regrouped(seed: int, n_releases: int) -> History:
    """Return releases of 36 people in two halves that never meet, in new groups of three each time."""
    chance = np.random.default_rng(seed)
    people = [f"p{n}" for n in range(36)]
    held = {who: "123"[n % 3] for n, who in enumerate(people)}
    releases = []
    for _ in range(n_releases):
        groups = []
        for half in (people[:18], people[18:]):
            of_value = [chance.permutation([who for who in half if held[who] == value]) for value in "123"]
            groups += [list(trio) for trio in zip(*of_value, strict=True)]
        releases.append(grouped(held, *groups))
    return history_of(*releases)


@pytest.mark.parametrize("n_releases", [2, 3, 4])
def test_clauses_and_programmes_agree(n_releases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    histories = [regrouped(seed, n_releases) for seed in range(6)]
    by_clauses = [complete(history, ["p0"]) for history in histories]
    monkeypatch.setattr(connected_parts, "MOST_LITERALS", 0)
    by_programmes = [complete(history, ["p0"]) for history in histories]
    assert [one.breached for one in by_clauses] == [one.breached for one in by_programmes]
    assert not any(len(one.undecided) for one in by_clauses)


def test_halves_that_never_meet_are_two_parts() -> None:
    run = prepare(regrouped(1, 3)).compromise(np.empty(0, dtype=np.int32))
    parts = connected_parts.connected_parts(undecided_people(run.traces, run.words))
    assert sorted(parts.sizes.tolist()) == [18, 18]
    assert parts.suited.all()


def test_a_world_is_counted_again_before_it_is_believed() -> None:
    run = prepare(regrouped(2, 2)).compromise(np.empty(0, dtype=np.int32))
    part, _ = connected_parts.connected_parts(undecided_people(run.traces, run.words)).part(0)
    truth = run.traces.value[part.episodes].astype(np.int64)
    assert part._fits(truth)
    wrong = truth.copy()
    wrong[0] = (wrong[0] + 1) % 3
    assert not part._fits(wrong)


def test_little_work_decides_nobody_and_says_so() -> None:
    """Groups drawn anew, of any values: so much was shown of each person that other worlds are few and far away."""
    chance = np.random.default_rng(1)
    held = {f"p{n}": "123456"[n % 6] for n in range(1_200)}
    drawn = [chance.permutation([*held]).reshape(-1, 6).tolist() for _ in range(2)]
    releases = [grouped(held, *groups) for groups in drawn]
    run = prepare(history_of(*releases)).compromise(np.empty(0, dtype=np.int32))
    worlds = undecided_people(run.traces, run.words)
    most = int(worlds.class_of[int(np.argmax(np.diff(run.traces.person_ptr)))])
    part, _ = connected_parts.connected_parts(worlds).part(most)
    said, work = part.differing(most, 1.0)
    assert said is None
    assert work > 0
    assert complete_sample(run, 5, work=500.0).undecided.size > 0


def test_one_world_opens_many_people() -> None:
    """Every group has every value once, so values may be exchanged everywhere, and worlds far away are tried first."""
    run = prepare(regrouped(1, 4)).compromise(np.empty(0, dtype=np.int32))
    worlds = undecided_people(run.traces, run.words)
    part, _ = connected_parts.connected_parts(worlds).part(0)
    said, _ = part.differing(0, 1_000.0)
    assert isinstance(said, np.ndarray)
    assert len(said) >= 12  # the holders of two values, of 18 people in their half
