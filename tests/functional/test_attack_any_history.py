"""Tables of any tool and a list of respondents become a history, and the attack counts who is exposed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from seriatim.attacks import exclusion
from seriatim.errors import TableError
from seriatim.usecases.attack.assembly import history_of_tables
from seriatim.usecases.attack.attack import AdversaryPlan, attack

FIRST = {"age": ["[31,35]"] * 3 + ["[37,41]"] * 3, "disease": ["c", "b", "A", "c", "A", "b"]}
SECOND = {"age": ["[35,40]"] * 3 + ["[41,42]"] * 3, "disease": ["A", "c", "b", "A", "b", "c"]}
PEOPLE = [
    *("Alice", "Betty", "Carl", "Doris", "Erica", "Fiona"),
    *("Carl", "Doris", "Fiona", "Erica", "Grace", "Hanna"),
]


def tables() -> dict[str, pa.Table]:
    return {"m1": pa.table(FIRST), "m2": pa.table(SECOND)}


def respondents(base: int = 0) -> pa.Table:
    rows = [row + base for row in range(6)]
    return pa.table({"release": ["m1"] * 6 + ["m2"] * 6, "row": rows + rows, "respondent": PEOPLE})


@pytest.mark.parametrize("base", [0, 1])
def test_the_papers_table_from_files(base: int) -> None:
    history = history_of_tables(tables(), respondents(base), "disease").history
    assert exclusion(history, ["Carl"]).breached == {"Erica": "A"}


def test_a_group_column_counts_before_equal_values() -> None:
    split = {name: table.append_column("group", pa.array([0, 1, 0, 1, 0, 1])) for name, table in tables().items()}
    history = history_of_tables(split, respondents(), "disease").history
    assert [past.group.tolist() for past in history.releases] == [[0, 1, 0, 1, 0, 1]] * 2
    history = history_of_tables(split, respondents(), "disease", ["age"]).history
    assert [past.group.tolist() for past in history.releases] == [[0, 0, 0, 1, 1, 1]] * 2


def test_a_row_without_a_respondent_is_a_counterfeit() -> None:
    history = history_of_tables(tables(), respondents().slice(0, 11), "disease").history
    assert history.releases[1].person.tolist()[-1] == -1


def test_the_attack_counts_people() -> None:
    history = history_of_tables(tables(), respondents(), "disease").history
    found = attack(history, AdversaryPlan(compromised=0.3, seeds=(1, 2, 3)))
    assert found.n_people == 8
    assert [(r.n_people, r.below, r.single) for r in found.releases] == [(6, 0, 0), (6, 0, 0)]
    assert found.once.share <= found.iterated.share
    assert found.wrong == 0
    assert (found.n_twin_sets, found.n_twins, found.n_determined) == (1, 2, 0)
    assert set(found.charts) == {"shrinking", "breaches"}
    assert not any(name in str(found.charts) for name in PEOPLE)


def test_without_compromised_people_one_repetition_is_enough() -> None:
    found = attack(history_of_tables(tables(), respondents(), "disease").history, AdversaryPlan())
    assert found.iterated.detail["seeds"] == [1]
    assert found.iterated.share == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"release": ["m9"] * 12}, "12 rows name a release"),
        ({"row": np.arange(12)}, "row numbers outside"),
        ({"respondent": ["Alice"] * 12}, "listed twice"),
    ],
)
def test_bad_lists_of_respondents_are_refused_without_naming_anyone(change: dict[str, object], said: str) -> None:
    columns = {name: respondents().column(name) for name in ("release", "row", "respondent")} | change
    with pytest.raises(TableError) as caught:
        history_of_tables(tables(), pa.table(columns), "disease")
    assert said in str(caught.value)
    assert "Alice" not in str(caught.value)


def test_missing_columns_are_all_named() -> None:
    with pytest.raises(TableError) as caught:
        history_of_tables(tables(), respondents().drop_columns(["row"]), "illness")
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize("rows", [["x5", *"12345"] * 2, [0.5, 1, 2, 3, 4, 5] * 2, [None, 1, 2, 3, 4, 5] * 2])
def test_rows_that_are_no_numbers_are_told_without_the_cell(rows: list[object]) -> None:
    listed = respondents().set_column(1, "row", pa.array(rows))
    with pytest.raises(TableError, match="column row: not whole numbers") as told:
        history_of_tables(tables(), listed, "disease")
    assert "x5" not in str(told.value)
