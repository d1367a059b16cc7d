"""The made-up census has the shape it claims."""

import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from seriatim_papers.worlds.adultlike import REFERENCE_DAY, adultlike


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return adultlike(20_000, seed=3)


def test_equal_seeds_give_equal_people_and_other_seeds_give_others(people):
    assert people.equals(adultlike(20_000, seed=3))
    assert not people.equals(adultlike(20_000, seed=4))


def test_columns_are_plain_and_complete(people):
    types = {field.name: field.type for field in people.schema}
    assert types.pop("age") == pa.int64()
    assert types.pop("birth-date") == pa.date32()
    assert set(types.values()) == {pa.string()}
    assert all(people[name].null_count == 0 for name in people.column_names)


@pytest.mark.parametrize("n", [0, 1])
def test_any_size(n):
    table = adultlike(n, seed=1)
    assert table.num_rows == n
    assert table.num_columns == 12


def test_the_birth_date_fits_the_age(people):
    for age, born in zip(people["age"].to_pylist(), people["birth-date"].to_pylist(), strict=True):
        had_birthday = (born.month, born.day) <= (REFERENCE_DAY.month, REFERENCE_DAY.day)
        assert REFERENCE_DAY.year - born.year - (0 if had_birthday else 1) == age
    assert isinstance(born, datetime.date)


def test_many_postcodes_and_days_yet_a_skew(people):
    assert len(pc.unique(people["postcode"])) > 5_000
    assert len(pc.unique(people["birth-date"])) > 8_000
    most = max(pc.value_counts(people["postcode"].combine_chunks()).field("counts").to_pylist())
    assert most > 20


def test_age_and_marriage_go_together(people):
    young = people.filter(pc.less(people["age"], 25))
    share = pc.sum(pc.equal(young["marital-status"], "Never-married")).as_py() / young.num_rows
    assert share > 0.8
