"""Every method keeps the shipped clauses of a defence, and each clause finds a defence that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.defences import defence_named
from seriatim.errors import InputError
from seriatim.model import Draft, Grouping, Policy, SeriesState, View
from seriatim.model.methods import installed_rows
from seriatim.ports import Workers
from seriatim.testing import DEFENCE_CONTRACT, ContractBroken, check_defence
from seriatim.testing.clauses import clause_name
from seriatim.testing.defence_contract import Trial
from seriatim.testing.hospital import hospital_months

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number", "hierarchy": {"interval": [5, 10, 20, 40]}},
    "sex": {"role": "quasi"},
    "postcode": {"role": "drop"},
    "ward": {"role": "plain"},
    "visit": {"role": "plain"},
    "disease": {"role": "sensitive", "missing": "suppress"},
}
CASES: dict[str, dict[str, Any]] = {
    "median": {"promise": {"k": 5, "l": 3}, "defence": {"method": "median", "suppress": 0.1}},
    "median relaxed": {"promise": {"k": 5}, "defence": {"method": "median", "mode": "relaxed"}},
    "median blind": {"promise": {"k": 8}, "defence": {"method": "median", "cuts": "blind"}},
    "curve blind": {"promise": {"k": 8, "l": 2}, "defence": {"method": "curve", "cuts": "blind"}},
    "curve": {"promise": {"k": 5, "t": 0.5}, "defence": {"method": "curve", "suppress": 0.1}},
    "lattice": {"promise": {"k": 4, "l": 2}, "defence": {"method": "lattice", "suppress": 0.1}},
    "sample": {"promise": {"k": 1}, "defence": {"method": "sample", "rate": 0.5}},
    "noise": {"promise": {"k": 1}, "defence": {"method": "noise", "noise": {"age": "10%"}}},
    "invariant": {"promise": {"m": 3}, "defence": {"method": "invariant"}},
    "historical": {"promise": {"m": 4, "n": 2}, "defence": {"method": "historical"}},
    "distinct": {"promise": {"m": 4}, "defence": {"method": "distinct"}},
    "cohort": {"promise": {"m": 2, "odds": 1.5}, "defence": {"method": "cohort"}},
    "sequence": {"promise": {"k": 5, "t": 0.5}, "defence": {"method": "sequence", "suppress": 0.1}},
    "sequence as printed": {
        "promise": {"k": 5, "j": 0.6},
        "defence": {"method": "sequence", "mode": "greedy", "suppress": 0.2},
    },
    "cohort knowing": {
        "promise": {"m": 2},
        "defence": {"method": "cohort"},
        "adversary": {"impossible": {"sex": {"male": ["no such thing"]}}},
    },
}


def views() -> list[pa.Table]:
    """Three months; one record of each has no disease and must stay out."""
    made = []
    for month in hospital_months(260, 3, churn=0.15):
        ill = pa.array([None, *month["disease"].to_pylist()[1:]])
        month = month.set_column(month.column_names.index("disease"), "disease", ill)
        made.append(month.append_column("visit", pa.array(range(1000, 1000 + len(month)))))
    return made


def policy_of(case: dict[str, Any]) -> Policy:
    return sr.Policy.from_dict({**case, "series": {"name": "ward", "respondent": "patient"}, "columns": COLUMNS})


@pytest.fixture(scope="module", params=CASES)
def trial(request: pytest.FixtureRequest) -> Trial:
    policy = policy_of(CASES[request.param])
    assert policy.defence is not None
    return Trial.of(defence_named(policy.defence.method), views(), policy)


@pytest.mark.parametrize("check_clause", DEFENCE_CONTRACT, ids=clause_name)
def test_the_method_keeps(check_clause: Callable[[Trial], None], trial: Trial) -> None:
    check_clause(trial)


def test_no_method_is_left_out() -> None:
    assert {case["defence"]["method"] for case in CASES.values()} == set(installed_rows())


def median(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    return defence_named("median")(view, policy, state, workers)


def _with_table(draft: Draft, table: pa.Table) -> Draft:
    return replace(draft, files={**draft.files, "table": table})


def _in_view_order(draft: Draft) -> pa.Table:
    return draft.table.sort_by("visit")


def loses_a_record(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return replace(draft, groups=draft.groups[:-1])


def names_the_wrong_people(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    who = pa.array(["ann"] * draft.groups.num_rows)
    return replace(draft, groups=draft.groups.set_column(0, "respondent", who))


def leaves_gaps_between_groups(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    group = np.where(draft.grouping.group > 0, draft.grouping.group + 1, draft.grouping.group)
    return replace(draft, grouping=Grouping(group, draft.grouping.n_groups + 1))


def groups_the_withheld(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    group = np.where(view.suppressed, 0, draft.grouping.group)
    return replace(draft, grouping=Grouping(group, draft.grouping.n_groups))


def publishes_a_row_twice(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return _with_table(draft, pa.concat_tables([draft.table, draft.table[:1]]))


def publishes_what_is_dropped(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return _with_table(draft, draft.table.append_column("postcode", draft.table["ward"]))


def hides_ids_in_a_plain_column(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    ids = view.data["patient"].slice(0, draft.table.num_rows)
    place = draft.table.column_names.index("ward")
    return _with_table(draft, draft.table.set_column(place, "ward", ids.cast(pa.string())))


def writes_numbers_as_text(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    place = draft.table.column_names.index("visit")
    return _with_table(draft, draft.table.set_column(place, "visit", draft.table["visit"].cast(pa.string())))


def invents_a_label(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    labels = pa.array(["somewhere else"] * draft.table.num_rows)
    return _with_table(draft, draft.table.set_column(draft.table.column_names.index("age"), "age", labels))


def draws_its_own_lots(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    order = np.random.default_rng().permutation(draft.table.num_rows)
    return _with_table(draft, draft.table.take(pa.array(order)))


def counts_its_workers(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return _with_table(draft, draft.table if workers.count == 1 else _in_view_order(draft))


def publishes_in_the_order_of_the_view(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return _with_table(draft, _in_view_order(draft))


def writes_into_the_view(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    view.quasi[0].codes.flags.writeable = True
    view.quasi[0].codes[0] = (view.quasi[0].codes[0] + 1) % len(view.quasi[0].scale)
    return draft


def divides_by_the_number_of_records(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return replace(draft, counters={"share": 100 // len(view)})


def remembers_strangers(draft: Draft, view: View, state: SeriesState, workers: Workers) -> Draft:
    return replace(draft, memory={"slots": pa.table({"respondent": ["a stranger"], "slot": [1]})})


WRONG = {
    loses_a_record: "every_record_is_accounted_for",
    names_the_wrong_people: "every_record_is_accounted_for",
    leaves_gaps_between_groups: "a_record_is_in_a_group_or_suppressed",
    groups_the_withheld: "what_the_policy_suppresses_stays_out",
    publishes_a_row_twice: "suppressed_records_are_absent",
    publishes_what_is_dropped: "only_declared_columns_leave",
    hides_ids_in_a_plain_column: "respondents_are_not_published",
    writes_numbers_as_text: "kept_columns_keep_their_type",
    invents_a_label: "a_group_shows_one_label",
    draws_its_own_lots: "equal_secrets_make_equal_drafts",
    counts_its_workers: "the_number_of_workers_changes_nothing",
    publishes_in_the_order_of_the_view: "row_order_comes_from_the_secret",
    writes_into_the_view: "the_input_stays_as_it_was",
    divides_by_the_number_of_records: "a_small_view_is_no_accident",
    remembers_strangers: "memory_is_about_respondents",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_defence_is_found(wrong: Callable[..., Draft]) -> None:
    def defence(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
        return wrong(median(view, policy, state, workers), view, state, workers)

    with pytest.raises(ContractBroken) as raised:
        check_defence(defence, views()[:1], policy_of(CASES["median"]))
    assert WRONG[wrong] in {line.partition(":")[0] for line in str(raised.value).splitlines()}


def test_a_defence_that_prints_plain_columns_beside_groups_is_found() -> None:
    def beside(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
        draft = defence_named("cohort")(view, policy, state, workers)
        side = draft.files["counterfeits"]
        side = side.append_column("ward", pa.array(["w"] * side.num_rows))
        return replace(draft, files={**draft.files, "counterfeits": side})

    with pytest.raises(ContractBroken, match="plain columns beside groups in the file 'counterfeits'"):
        check_defence(beside, views()[:1], policy_of(CASES["cohort"]))


def test_a_defence_that_follows_the_order_of_the_view_is_found() -> None:
    def first_come(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
        kept = view.suppressed | (np.arange(len(view)) >= len(view) - 40)
        return median(replace(view, suppressed=kept), policy, state, workers)

    with pytest.raises(ContractBroken, match=r"^the_order_of_the_view_changes_no_count: .*turned round$"):
        check_defence(first_come, views()[:1], policy_of(CASES["median"]))


def test_a_defence_whose_chance_follows_values_is_found() -> None:
    def looks(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
        secret = sha256(view.sensitive[0].codes.tobytes()).digest()
        return defence_named("cohort")(view, policy, replace(state, secret=secret), workers)

    with pytest.raises(ContractBroken, match=r"(?m)^values_move_nobody: "):
        check_defence(looks, views()[:1], policy_of(CASES["cohort"]))


def test_messages_count_and_never_quote() -> None:
    def defence(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
        return hides_ids_in_a_plain_column(median(view, policy, state, workers), view, state, workers)

    with pytest.raises(ContractBroken) as raised:
        check_defence(defence, views()[:1], policy_of(CASES["median"]))
    assert not any(who in str(raised.value) for who in views()[0]["patient"].to_pylist())


def test_without_a_table_there_is_nothing_to_check() -> None:
    with pytest.raises(InputError, match="no table"):
        check_defence(median, [], policy_of(CASES["median"]))
