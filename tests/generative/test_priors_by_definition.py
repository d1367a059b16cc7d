"""Prior sets: read row by row by a plain twin, and attacks that use them against enumeration."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import histories

from seriatim.attacks import exclusion, intersection
from seriatim.model import History, PriorSets, Table, View

IDS, CELLS, VALUES = ["1", "2", "3", "4"], ["x", "y", None], ["a", "b", "c", "d"]
SETS = st.frozensets(st.sampled_from(VALUES), min_size=1)
KNOWN = st.builds(
    PriorSets,
    st.dictionaries(st.sampled_from(IDS), SETS),
    st.dictionaries(st.sampled_from(["sex", "town"]), st.dictionaries(st.sampled_from(["x", "y", "z"]), SETS)),
)


@settings(max_examples=150, deadline=None)
@given(KNOWN, st.lists(st.tuples(st.sampled_from([*IDS, None]), st.sampled_from(CELLS), st.sampled_from(CELLS))))
def test_every_row_gets_what_is_known_of_it(known: PriorSets, rows: list[tuple[Any, Any, Any]]) -> None:
    table = pa.table({
        "who": pa.array([None if r[0] is None else int(r[0]) for r in rows], pa.int64()),
        "sex": pa.array([r[1] for r in rows], pa.string()),
        "town": pa.array([r[2] for r in rows], pa.string()).dictionary_encode(),
    })  # fmt: skip
    hidden = np.zeros(len(rows), dtype=np.bool_)
    view = View(Table(table), quasi=(), sensitive=(), plain=(), respondent="who", suppressed=hidden)
    back = np.arange(len(rows))[::-1].copy()
    assert known.of_rows(view.taken(back))[0].tolist() == [known.of_rows(view)[0][at] for at in back]
    number, priors = known.of_rows(view)
    for at, (who, sex, town) in enumerate(rows):
        allowed = [
            v for v in VALUES
            if (who not in known.named or v in known.named[who])
            and v not in known.impossible.get("sex", {}).get(sex, ())
            and v not in known.impossible.get("town", {}).get(town, ())
        ]  # fmt: skip
        prior = priors[number[at]]
        assert [v for v in VALUES if prior.allows(v)] == allowed
        assert prior.flags(pa.array(VALUES)).tolist() == [v in allowed for v in VALUES]


@settings(max_examples=150, deadline=None)
@given(histories(most=5), st.data())
def test_an_attack_with_priors_excludes_nothing_possible_and_finds_more(history: History, data: st.DataObject) -> None:
    truth: dict[str, str] = {}
    names, values = history.respondents.to_pylist(), history.values.to_pylist()
    for past in history:
        truth |= {names[p]: values[v] for p, v in zip(past.person.tolist(), past.value.tolist(), strict=True) if p >= 0}
    priors = {
        who: {held, *data.draw(st.sets(st.sampled_from(values)))}
        for who, held in truth.items()
        if data.draw(st.booleans())
    }
    possible = worlds(history, list(truth), priors)
    found, blind = exclusion(history, [], priors=priors), exclusion(history, [])
    crossed = intersection(history, priors=priors)
    for who in truth:
        assert truth[who] in possible[who] <= found.candidates[who] <= crossed[who]
        assert found.candidates[who] <= blind.candidates[who]
        assert crossed[who] <= priors.get(who, set(values))
    assert (found.wrong, found.conflicts) == (0, 0)


def worlds(history: History, people: list[str], priors: dict[str, set[str]]) -> dict[str, set[str]]:
    """What each person has in some assignment that fits all groups and priors; counterfeits take what is left."""
    names, values = history.respondents.to_pylist(), history.values.to_pylist()
    groups = []
    for past in history:
        for g in range(past.n_groups):
            rows = [i for i, at in enumerate(past.group.tolist()) if at == g]
            who = [names[past.person[i]] for i in rows if past.person[i] >= 0]
            groups.append((who, Counter(values[past.value[i]] for i in rows)))
    out: dict[str, set[str]] = {who: set() for who in people}
    for world in itertools.product(*(sorted(priors.get(who, set(values))) for who in people)):
        held = dict(zip(people, world, strict=True))
        if all(not Counter(held[p] for p in who) - shown for who, shown in groups):
            for who in people:
                out[who].add(held[who])
    return out
