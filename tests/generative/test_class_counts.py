"""Counts of parts of a table add up to those of the whole: every promise and every figure is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.model import Table
from seriatim.model.class_counts import ClassCounts
from seriatim.model.classes import CLASS, RESPONDENT, PublishedTable
from seriatim.promises import promises_of
from seriatim.promises.single.crowd import Suppression
from seriatim.tables.auditable import auditable
from seriatim.usecases.audit.audit import audit

ILL = ["angina", "bronchitis", "catarrh", "diphtheria"]
SHAPE: dict[str, Any] = {
    "series": {"name": "ward", "respondent": "who"},
    "columns": {
        "age": {"role": "quasi"},
        "zip": {"role": "quasi"},
        "ill": {"role": "sensitive", "order": ILL},
        "pay": {"role": "sensitive", "kind": "number"},
    },
    "promise": {
        "k": 3,
        "ill": {
            "l": 2, "l_kind": "recursive", "l_c": 1.5, "t": 0.2, "t_distance": "ordered", "alpha_k": 0.4, "beta": 0.5,
            "delta": 0.5, "value_bounds": {"angina": [0.1, 0.4]}, "distribution_leakage": 0.1, "entropy_leakage": 0.1,
        },
        "pay": {
            "l": 3, "l_kind": "entropy", "t": 0.1, "max_hit_chance_at": {"5": 0.2}, "min_entropy_at": {"5": 1.0},
            "beta": 0.5, "beta_kind": "enhanced",
        },
    },
}  # fmt: skip


def drawn(seed: int) -> PublishedTable:
    """A table in which people have several records, some cells are missing and some values are nobody's."""
    chance = np.random.default_rng(seed)
    n, people = int(chance.integers(12, 90)), int(chance.integers(5, 60))
    table = pa.table(
        {
            "who": [f"patient-{person}" for person in chance.integers(0, people, n)],
            "age": pa.array(chance.choice(["30", "40", "*"], n), mask=chance.random(n) < 0.1),
            "zip": pa.array(chance.integers(0, 3, n).astype(str)).dictionary_encode(),
            "ill": [*ILL[:2], *chance.choice([*ILL[: int(chance.integers(2, 5))], "*"], n - 2)],
            "pay": [0, 1, *chance.integers(0, 40, n - 2)],
        }
    )
    published = auditable(Table(table), sr.Policy.from_dict(SHAPE)).published()
    named = pa.table({RESPONDENT: table["who"], CLASS: pa.array(published.classes.of_record)})
    return PublishedTable(
        classes=published.classes, labels=published.labels, sensitive=published.sensitive, named=named, offered=n + 3,
        withheld=3,
    )  # fmt: skip


def part(whole: PublishedTable, rows: np.ndarray, withheld: int) -> PublishedTable:
    """Some rows of a table, as someone counts them who does not know the others."""
    from seriatim.model import CodedColumn
    from seriatim.model.classes import classes_of

    labels = whole.labels.take(pa.array(rows))
    classes = classes_of(labels, labels.column_names)
    assert whole.named is not None
    people = whole.named[RESPONDENT].take(pa.array(rows))
    return PublishedTable(
        classes=classes,
        labels=labels,
        sensitive={name: CodedColumn(name, one.codes[rows], one.scale) for name, one in whole.sensitive.items()},
        named=pa.table({RESPONDENT: people, CLASS: pa.array(classes.of_record)}),
        offered=len(rows) + withheld,
        withheld=withheld,
    )


def assert_alike(one: ClassCounts, other: ClassCounts) -> None:
    assert one.sizes.tolist() == other.sizes.tolist()
    assert one.people is not None
    assert other.people is not None
    assert one.people.tolist() == other.people.tolist()
    assert (one.offered, one.withheld) == (other.offered, other.withheld)
    assert one.labels.to_pylist() == other.labels.to_pylist()
    for name, seen in one.values.items():
        merged = other.values[name]
        for field in ("sizes", "starts", "value", "count", "totals"):
            assert getattr(seen, field).tolist() == getattr(merged, field).tolist(), (name, field)
        for figure, found in seen.figures.items():
            np.testing.assert_array_equal(found, merged.figures[figure], figure)


@pytest.mark.parametrize("seed", range(50))
def test_parts_add_up_to_the_whole(seed: int) -> None:
    whole, chance = drawn(seed), np.random.default_rng(1_000 + seed)
    n = len(whole)
    cuts = np.sort(chance.integers(0, n + 1, int(chance.integers(1, 5))))
    runs = np.split(np.arange(n), cuts)  # some are empty
    parts = [ClassCounts.of(part(whole, run, 3 if at == 0 else 0)) for at, run in enumerate(runs)]
    expected, found = ClassCounts.of(whole), ClassCounts.merge(parts)
    assert_alike(expected, found)
    promises = [*promises_of(sr.Policy.from_dict(SHAPE)), Suppression(0.01)]
    assert len(promises) == 15
    for promise in promises:
        assert repr(promise.check(found)) == repr(promise.check(expected)), promise.rule


@pytest.mark.parametrize("seed", range(0, 50, 7))
def test_rows_may_go_to_any_part(seed: int) -> None:
    """Then classes have other numbers, and everything else is the same."""
    whole, chance = drawn(seed), np.random.default_rng(seed)
    lots = chance.integers(0, 3, len(whole))
    found = ClassCounts.merge([ClassCounts.of(part(whole, np.flatnonzero(lots == lot), lot)) for lot in range(3)])
    expected = ClassCounts.of(whole)
    for promise in promises_of(sr.Policy.from_dict(SHAPE)):
        one, other = promise.check(expected), promise.check(found)
        assert (one.kept, one.n_classes, one.n_people) == (other.kept, other.n_classes, other.n_people)
        assert one.worst == pytest.approx(other.worst, nan_ok=True)


def test_who_is_in_a_class_of_two_parts_is_one_person() -> None:
    policy = sr.Policy.from_dict({**SHAPE, "promise": {"k": 3}})
    table = pa.table({"who": list("aabbab"), "age": ["30"] * 6, "zip": ["1"] * 6, "ill": ILL[:3] * 2, "pay": range(6)})
    audited = auditable(Table(table), policy).published()
    named = pa.table({RESPONDENT: table["who"], CLASS: pa.array(audited.classes.of_record)})
    whole = PublishedTable(
        classes=audited.classes, labels=audited.labels, sensitive=audited.sensitive, named=named, offered=6
    )
    counts = ClassCounts.merge([ClassCounts.of(part(whole, rows, 0)) for rows in np.split(np.arange(6), [3])])
    (finding,) = (promises_of(policy)[0].check(counts),)
    assert (finding.worst, finding.kept) == (2.0, False)


def test_parts_on_different_scales_cannot_be_added() -> None:
    policy = sr.Policy.from_dict(SHAPE)
    parts = [
        ClassCounts.of(auditable(Table(pa.table({
            "who": ["x", "y"], "age": ["30", "30"], "zip": ["1", "2"], "ill": ILL[:2], "pay": pay
        })), policy).published()) for pay in ([1, 2], [1, 3])
    ]  # fmt: skip
    with pytest.raises(ValueError, match="column 'pay': parts are coded on different scales"):
        ClassCounts.merge(parts)


def test_an_audit_and_its_promises_number_classes_alike() -> None:
    """Also where the first record of a class has no value."""
    policy = sr.Policy.from_dict({**SHAPE, "promise": {"ill": {"alpha_k": 0.6}}})
    table = pa.table(
        {
            "who": list("abcdef"), "age": ["30", "40", "40", "40", "30", "30"], "zip": ["1"] * 6,
            "ill": ["*", "angina", "catarrh", "catarrh", "angina", "angina"], "pay": range(6),
        }
    )  # fmt: skip
    found = audit(auditable(Table(table), policy), policy)
    (finding,) = found.findings
    assert finding.classes == (0, 1)
    assert found.membership.of_record.tolist() == [0, 1, 1, 1, 0, 0]
