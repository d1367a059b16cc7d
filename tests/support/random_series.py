"""Random little series and plain checks, straight from the definitions and sharing nothing with the defences."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from seriatim.defences.series.contract import SerialGrouping, SerialView, WithheldReason
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.scale import scale_of

SCALES = tuple(scale_of("interval", pa.array([str(i) for i in range(k)]), np.arange(k, dtype=float)) for k in (7, 3))


class OneWorker:
    count = 1

    def map(self, work, items):
        return [work(item) for item in items]


@dataclass(frozen=True, kw_only=True)
class Series:
    m: int
    n: int
    n_values: int
    quasi: np.ndarray
    value: np.ndarray
    present: tuple[np.ndarray, ...]
    scales: tuple = field(repr=False)

    def views(self):
        """Views in order; people are numbered as a ledger would, by first appearance."""
        number: dict[int, int] = {}
        for who in self.present:
            for person in who:
                number.setdefault(int(person), len(number))
            numbers = np.array([number[int(p)] for p in who], dtype=np.int64)
            yield SerialView(
                quasi=self.quasi[who],
                scales=self.scales,
                sensitive=self.value[who],
                n_values=self.n_values,
                person=numbers,
            )


@st.composite
def series(draw, max_people: int = 90, max_releases: int = 6) -> Series:
    m = draw(st.integers(2, 6))
    n = draw(st.integers(1, m))
    n_values = draw(st.integers(m, m + 6))
    n_people = draw(st.integers(0, max_people))
    skew = draw(st.sampled_from([0.0, 0.5, 2.0]))
    churn = draw(st.sampled_from([0.0, 0.1, 0.4, 0.9]))
    n_releases = draw(st.integers(1, max_releases))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = np.arange(1, n_values + 1, dtype=float) ** -skew
    value = chance.choice(n_values, n_people, p=weights / weights.sum()).astype(np.int32)
    quasi = np.column_stack([chance.integers(0, len(scale), n_people) for scale in SCALES]).astype(np.int32)
    here = chance.random(n_people) < 0.6
    present = []
    for _ in range(n_releases):
        present.append(chance.permutation(np.flatnonzero(here)))
        here = np.where(chance.random(n_people) < churn, chance.random(n_people) < 0.6, here)
    return Series(m=m, n=n, n_values=n_values, quasi=quasi, value=value, present=tuple(present), scales=SCALES)


def plain_view(value: np.ndarray, who: np.ndarray, n_values: int) -> SerialView:
    """Some of the people, on one quasi-identifier with ten values."""
    scale = scale_of("interval", pa.array([str(i) for i in range(10)]), np.arange(10, dtype=float))
    return SerialView(
        quasi=(who % 10).astype(np.int32)[:, None],
        scales=(scale,),
        sensitive=value[who],
        n_values=n_values,
        person=who.astype(np.int64),
    )


def published(view: SerialView, made: SerialGrouping) -> RememberedRows:
    """The rows that a ledger keeps."""
    real = np.flatnonzero(made.group >= 0)
    blank = np.full(made.n_counterfeits, -1, dtype=np.int64)
    lineage = slot = baseline = None
    group = np.concatenate((made.group[real], made.counterfeit_group)).astype(np.int32)
    if made.slots is not None:
        lineage = made.slots.cohort_of_group[group]
        slot = np.concatenate((made.slots.slot_of_record[real], made.slots.slot_of_counterfeit))
    value = np.concatenate((view.sensitive[real], made.counterfeit_value)).astype(np.int32)
    if made.slots is not None and made.slots.baseline is not None:
        baseline = made.slots.baseline[value]
    return RememberedRows(
        np.concatenate((view.person[real], blank)),
        group=group,
        value=value,
        lineage=lineage,
        slot=slot,
        baseline=baseline,
    )


def groups_of(past: RememberedRows) -> list[tuple[frozenset[int], Counter[int]]]:
    """Each group as its people and its multiset of values, counterfeits included in the values."""
    people: dict[int, set[int]] = defaultdict(set)
    values: dict[int, Counter[int]] = defaultdict(Counter)
    for person, group, value in zip(past.person.tolist(), past.group.tolist(), past.value.tolist(), strict=True):
        values[group][value] += 1
        if person >= 0:
            assert person not in people[group]
            people[group].add(person)
    return [(frozenset(people[g]), values[g]) for g in sorted(values)]


def assert_complete(view: SerialView, made: SerialGrouping) -> None:
    """Everyone is published or withheld with a reason; no group is empty or all counterfeit."""
    out = made.group < 0
    assert len(made.group) == len(view)
    assert np.array_equal(out, made.withheld != WithheldReason.NO)
    assert set(made.group[~out].tolist()) == set(range(made.n_groups))
    assert set(made.counterfeit_group.tolist()) <= set(range(made.n_groups))
    assert np.array_equal(made.box < 0, out)


def assert_unique(past: RememberedRows, m: int) -> None:
    for _, values in groups_of(past):
        assert len(values) >= m
        assert max(values.values()) == 1


def assert_weakly_unique(past: RememberedRows, m: int) -> None:
    for _, values in groups_of(past):
        assert len(values) >= m
        assert len(set(values.values())) == 1


def assert_invariant(history: list[RememberedRows]) -> None:
    signature: dict[int, frozenset[int]] = {}
    for past in history:
        for people, values in groups_of(past):
            for person in people:
                assert signature.setdefault(person, frozenset(values)) == frozenset(values)


def unsafe_pairs(history: list[RememberedRows], n: int) -> int:
    """Groups of the last release that share too much with a different group of an earlier one."""
    *earlier, last = history
    found = 0
    old = [group for past in earlier for group in groups_of(past)]
    for people, values in groups_of(last):
        size = sum(values.values())
        for old_people, old_values in old:
            old_size = sum(old_values.values())
            if (people, size) == (old_people, old_size):
                continue
            common = len(people & old_people)
            least = min(size, old_size)
            found += least - n < common < least
    return found


def equal_groupings(a: SerialGrouping, b: SerialGrouping) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("group", "withheld", "counterfeit_group", "counterfeit_value", "box")
    )
