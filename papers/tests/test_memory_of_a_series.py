"""What a series remembers of the people of a view, and what separating reads from it: by plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import histories

from seriatim.defences.series.memory import RememberedRows
from seriatim.model.history import History
from seriatim_papers.kernels.separation import separation_as_before, separation_rows_free
from seriatim_papers.memory import GroupMemory, Memory


def rows_of(history: History) -> list[RememberedRows]:
    return [RememberedRows(past.person, group=past.group, value=past.value) for past in history]


def members_of(past: RememberedRows, group: int) -> list[int]:
    return sorted(int(p) for p in past.person[past.group == group])


def some_people(history: History, seed: int) -> np.ndarray:
    """Part of the people of a history and some who never were in it, in any order."""
    everyone = np.arange(len(history.respondents) + 3)
    chance = np.random.default_rng(seed)
    return chance.permutation(everyone)[: chance.integers(0, len(everyone) + 1)]


@settings(max_examples=150, deadline=None)
@given(histories(most=8), st.integers(0, 1000))
def test_what_people_showed(history: History, seed: int) -> None:
    pasts, people = rows_of(history), some_people(history, seed)
    memory = Memory.of(pasts, people)
    assert memory.n_releases == len(pasts)
    for i, person in enumerate(people):
        met = [past for past in pasts if (past.person == person).any()]
        assert memory.publications[i] == len(met)
        assert memory.known[i] == bool(met)
        if not met:
            assert memory.value[i] == memory.signature[i] == -1
            continue
        row = np.flatnonzero(met[-1].person == person)[0]
        assert memory.value[i] == met[-1].value[row]
        at = memory.signature[i]
        shown = memory.signature_values[memory.signature_starts[at] : memory.signature_starts[at + 1]]
        assert shown.tolist() == sorted(set(met[-1].value[met[-1].group == met[-1].group[row]].tolist()))
    sets = [
        tuple(memory.signature_values[a:b])
        for a, b in zip(memory.signature_starts, memory.signature_starts[1:], strict=False)
    ]
    assert len(sets) == len(set(sets))


@settings(max_examples=150, deadline=None)
@given(histories(most=8), st.integers(0, 1000))
def test_whom_people_met(history: History, seed: int) -> None:
    pasts, people = rows_of(history), some_people(history, seed)
    memory = GroupMemory.of(pasts, people)
    places: dict[int, list[list[int]]] = {int(person): [] for person in people}
    for release, past in enumerate(pasts):
        for group in range(past.n_groups):
            members = members_of(past, group)
            here = [p for p in members if p in places]
            if not all(places[p] and places[p][-1] == members for p in here):
                for p in here:
                    places[p].append(members)
        for i, person in enumerate(people):
            number = memory.group_in[release, i]
            if person not in past.person:
                assert number == -1
                continue
            members = members_of(past, past.group[past.person == person][0])
            assert number == memory.past_groups[i, len(places[int(person)]) - 1]
            assert memory.group_size[number] == len(members)
            assert memory.group_real[number] == sum(p >= 0 for p in members)
            present = memory.members[memory.member_starts[number] : memory.member_starts[number + 1]]
            assert sorted(people[present]) == [p for p in members if p in places]
    for i, person in enumerate(people):
        n = len(places[int(person)])
        assert memory.n_past_groups[i] == n
        assert memory.last_group[i] == (memory.past_groups[i, n - 1] if n else -1)
    shown = Memory.of(pasts, people)
    assert memory.signature.tolist() == shown.signature.tolist()


@settings(max_examples=80, deadline=None)
@given(histories(most=8))
def test_free_rows_and_groups_as_before_are_what_they_say(history: History) -> None:
    if not len(history):
        return
    memory = GroupMemory.of(rows_of(history), np.arange(len(history.respondents)))
    last = history.releases[-1]
    now = np.full(len(history.respondents), -1, dtype=np.int32)
    now[last.person[last.person >= 0]] = last.group[last.person >= 0]
    free = separation_rows_free(now, memory.past_groups, memory.n_past_groups, memory.group_size)
    for g in range(memory.n_groups):
        members = memory.members[memory.member_starts[g] : memory.member_starts[g + 1]].tolist()
        assert free[g] == memory.group_size[g] - sum(now[p] >= 0 for p in members)
    # the last release once more: every group of it that has no counterfeit is there as it was
    order = np.argsort(last.group, kind="stable")
    size = np.bincount(last.group, minlength=last.n_groups).astype(np.int32)
    base = (np.cumsum(size) - size).astype(np.int64)
    seats = last.person[order].astype(np.int64)
    plain_size = np.where(memory.group_real == memory.group_size, memory.group_size, -1)
    found = separation_as_before(seats, base, size, memory.group_in[-1], plain_size)
    for v in range(last.n_groups):
        own = seats[base[v] : base[v] + size[v]]
        assert found[v] == bool(len(own) and (own >= 0).all())
        if len(own) > 1 and found[v]:
            changed = seats.copy()
            changed[base[v]] = -1
            assert not separation_as_before(changed, base, size, memory.group_in[-1], plain_size)[v]
