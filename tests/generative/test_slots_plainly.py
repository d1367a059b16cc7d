"""The kernel that follows places against the plainest reading of the promises, on any claims."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lineages import Stand, claimed

from seriatim.model.history import History
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.slots import SHARED, SPARE, lasting_places

Grid = dict[int, tuple[int, int, int]]
"""place -> person, lineage, value"""


@st.composite
def courses(draw: st.DrawFn) -> list[list[Stand]]:
    """Places that mostly last: people leave, come, return; some places are given up; now and then one is forged."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_places, n_values = draw(st.integers(1, 24)), draw(st.integers(1, 4))
    churn, forged = draw(st.sampled_from([0.2, 0.7])), draw(st.sampled_from([0.0, 0.0, 0.05]))
    rejoining = draw(st.sampled_from([0.0, 0.5, 1.0]))
    stands = [(p, p % 2, p, int(chance.integers(n_values))) for p in range(n_places)]
    out, next_person = [stands], n_places
    for _ in range(draw(st.integers(0, 4))):
        here = {person for person, *_ in stands}
        away = [p for p in range(next_person) if p not in here]
        now = []
        given_up = chance.random() < 0.5
        for person, at, place, value in stands:
            if person < 0 and given_up and chance.random() < 0.5:
                continue
            if person >= 0:
                person = -1 if chance.random() < churn else person
            elif away and chance.random() < 0.3:
                person = away.pop(int(chance.integers(len(away))))
            elif chance.random() < 0.5:
                person, next_person = next_person, next_person + 1
            if chance.random() < forged:
                at, place, value = int(chance.integers(3)), int(chance.integers(n_places + 2)), value
            now.append((person, at, place, value))
        for _ in range(int(chance.integers(0, 9)) if chance.random() < 0.4 else 0):
            n_places += 1
            if away and chance.random() < rejoining:
                person = away.pop(int(chance.integers(len(away))))
            else:
                person, next_person = next_person, next_person + 1
            now.append((person, int(chance.integers(-1, 2)) % 3, n_places + 1, int(chance.integers(n_values))))
        stands = now
        out.append(stands)
    return out


@settings(max_examples=150, deadline=None)
@given(courses(), st.integers(2, 4))
def test_places(course: list[list[Stand]], m: int) -> None:
    history = claimed(*course)
    for upto in range(1, len(course) + 1):
        part = History(history.respondents, history.values, history.releases[:upto])
        wrong = plainly(course[:upto], m)
        found = lasting_places(JudgedHistory(part), m)
        assert found.n_classes == sum(len(lineages) for lineages in wrong)
        assert found.kept == (not any(wrong))
        assert lasting_places(JudgedHistory(part), m, newest=True).n_classes == len(wrong[-1])


def fair(values: list[int], m: int) -> bool:
    return not values or m * max(Counter(values).values()) <= len(values)


def plainly(course: list[list[Stand]], m: int) -> list[set[int]]:
    """For each release the lineages in which a promise is broken."""
    founded: dict[int, tuple[int, int]] = {}
    holder: dict[int, int] = {}
    own: dict[int, int] = {}
    since: dict[int, int] = {}
    made: dict[int, int] = {}
    met: dict[int, int] = {}
    shown: list[set[int]] = []
    lineages: list[set[int]] = []
    out = []
    for release, stands in enumerate(course):
        wrong: set[int] = set()
        refilled: dict[int, list[int]] = {}
        added: dict[int, list[int]] = {}
        joiners: dict[int, list[tuple[int, int]]] = {}
        for i, (person, at, place, value) in enumerate(stands):
            if place not in founded:
                founded[place], since[place] = (at, value), release
                holder[place] = -1
                made[place] = release
                shown_before = [when for when, earlier in enumerate(lineages) if at in earlier]
                if shown_before and shown_before[-1] < release - 1:
                    wrong.add(at)
                if shown_before:
                    added.setdefault(at, []).append(place)
                    joiners.setdefault(at, []).extend([(person, value)] if person >= 0 else [])
                fresh = False
            else:
                again = any(other[2] == place for other in stands[:i])
                if founded[place] != (at, value) or again or not (release and place in shown[-1]):
                    wrong.add(at)
                fresh = person >= 0 and (holder[place], own.get(person)) != (person, place)
            if fresh:
                refilled.setdefault(at, []).append(value)
                since[place] = release
            if person >= 0:
                holder[place], own[person] = person, place
        here = {at for _, at, _, _ in stands}
        for at in here:
            first = min(when for when, there in enumerate([*lineages, here]) if at in there)
            mine = [(made[place], founded[place][1]) for _, where, place, _ in stands if where == at]
            held = Counter(value for when, value in mine if when == first)
            if 0 < len(added.get(at, [])) < 2 * m:
                wrong.add(at)
            back = [(met[person], value) for person, value in joiners.get(at, []) if person in met]
            if back and len(back) < len(joiners[at]):
                wrong.add(at)
            if any(len({value for then, value in back if then == when}) < SHARED for when, _ in back):
                wrong.add(at)
            if any(held[value] < SHARED for _, value in back):
                wrong.add(at)
            for time in {when for when, _ in mine}:
                part = [value for when, value in mine if when == time]
                if not fair(part, m) or (time != first and len(part) < m + SPARE):
                    wrong.add(at)
            batch = refilled.get(at, [])
            if any(held[value] < SHARED for value in batch) or 0 < len(batch) < 2 * m:
                wrong.add(at)
            now = {place for _, _, place, _ in stands}
            gone = [place for place in (shown[-1] if shown else ()) if place not in now and founded[place][0] == at]
            times = {since[place] for place in gone}
            parts = [{founded[place][1] for place in gone if since[place] == time} for time in times]
            apart = len(times) > 1 and any(len(part) < SHARED for part in parts)
            if gone and (len(gone) < m + SPARE or apart or not fair([founded[place][1] for place in gone], m)):
                wrong.add(at)
        for person, *_ in stands:
            met.setdefault(person, release)
        shown.append({place for _, _, place, _ in stands})
        lineages.append(here)
        out.append(wrong)
    return out
