"""What a series remembers, made at once or bit by bit, and what separating reads from it: by plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from serial_worlds import histories

from seriatim.defences.memory import Memory, Published
from seriatim.kernels.search.separating import as_before, rows_free
from seriatim.model.history import History


def remembered(history: History, room: bool) -> Memory:
    pasts = [Published(past.person.astype(np.int64), past.group, past.value) for past in history]
    memory = Memory()
    if room:
        memory.expect(pasts)
    for past in pasts:
        memory.remember(past)
    return memory


@settings(max_examples=80, deadline=None)
@given(histories(most=8))
def test_room_made_beforehand_changes_nothing(history: History) -> None:
    one, other = remembered(history, True), remembered(history, False)
    assert one.n_groups == other.n_groups
    assert one.members.tolist() == other.members.tolist()
    assert one.member_starts.tolist() == other.member_starts.tolist()
    for person in range(len(history.respondents)):
        for memory in (one, other):
            assert person < memory.n_people or not any((past.person == person).any() for past in history)
        if person < other.n_people:
            assert one.signature[person] == other.signature[person]
            assert one.publications[person] == other.publications[person]
            held = one.places[person, : one.n_places[person]].tolist()
            assert held == other.places[person, : other.n_places[person]].tolist()
            assert one.group_in[:, person].tolist() == other.group_in[:, person].tolist()


@settings(max_examples=80, deadline=None)
@given(histories(most=8))
def test_free_rows_and_groups_as_before_are_what_they_say(history: History) -> None:
    if not len(history):
        return
    memory = remembered(history, False)
    last = history.releases[-1]
    now = np.full(memory.n_people, -1, dtype=np.int32)
    now[last.person[last.person >= 0]] = last.group[last.person >= 0]
    free = rows_free(now, memory.places, memory.n_places, memory.group_size[: memory.n_groups])
    for g in range(memory.n_groups):
        members = memory.members[memory.member_starts[g] : memory.member_starts[g + 1]].tolist()
        assert free[g] == memory.group_size[g] - sum(now[p] >= 0 for p in members)
    # the last release once more: every group of it that has no counterfeit is there as it was
    order = np.argsort(last.group, kind="stable")
    size = np.bincount(last.group, minlength=last.n_groups).astype(np.int32)
    base = (np.cumsum(size) - size).astype(np.int64)
    seats = last.person[order].astype(np.int64)
    plain_size = np.where(memory.group_real == memory.group_size, memory.group_size, -1)
    found = as_before(seats, base, size, memory.group_in[-1], plain_size)
    for v in range(last.n_groups):
        own = seats[base[v] : base[v] + size[v]]
        assert found[v] == bool(len(own) and (own >= 0).all())
        if len(own) > 1 and found[v]:
            changed = seats.copy()
            changed[base[v]] = -1
            assert not as_before(changed, base, size, memory.group_in[-1], plain_size)[v]
