"""Notes of a verdict: what was not judged, who is withheld, and risks that no promise checks.

Silence would look like approval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.model import Draft, History, Policy, View
from seriatim.model.classes import classes_of
from seriatim.model.draft import PLAIN
from seriatim.model.methods import method_named
from seriatim.ports import Ledger

_A_FEW = 256
_MOSTLY = 0.5
_MANY = 0.1
"""A larger share of rows that are counterfeits is noted."""
_ENOUGH = 20
"""Fewer values are unique by chance."""


def remarks_on_draft(draft: Draft, policy: Policy, n_before: int, history: History, changed: int) -> tuple[str, ...]:
    """Return the notes; ``n_before`` is the number of releases so far, ``history`` what the verdict looked at of them.

    ``changed`` people have another value than before, and nobody followed them.
    """
    terms = policy.terms.series
    found = [*policy.unread, *draft.notes, *_not_judged(policy, n_before)]
    if changed:
        found.append(
            f"the value of {changed} people changed, and they were not judged: set [adversary] sure_share to judge an "
            "attacker who knows how values usually change; name values that were wrong in --corrections FILE; "
            "--private FILE lists who"
        )
    if changed and not _noisy(policy).isdisjoint(draft.sensitive):
        found.append(
            "a changed value has noise of its own: if values change only slightly, averaging several releases removes "
            "much of the noise"
        )
    if terms.m is not None and terms.n is None and _seeks_degree(policy):
        found.append(
            "[promise] n is missing: groups of different releases were judged at n = 1, which does not stop an "
            "attacker who knows one person; set n = 2 or more"
        )
    withheld = sum(count for name, count in draft.counters.items() if name.startswith("withheld"))
    if withheld:
        found.append(f"{withheld} people are withheld from this release and will be tried again in the next")
    counterfeits, people = draft.counters.get("counterfeits", 0), draft.n_records - draft.grouping.n_suppressed
    if counterfeits > _MANY * (counterfeits + people):
        fewer = "publish less often, raise odds (3)" if terms.odds is not None else "use a smaller m"
        found.append(
            f"{counterfeits:,} rows are counterfeits, beside {people:,} people: counts of values are unreliable; "
            f"{fewer} or start a new series"
        )
    if n_before and not draft.n_records and terms.m is not None:
        found.append("the view is empty: this release says that everyone has left")
    if n_before and _all_strangers(draft, history):
        found.append(
            "nobody in this view was in an earlier release: if that is unexpected, ids are written differently "
            "(1.0 for 1, spaces, capitals), and earlier releases of these people were not considered"
        )
    found.extend(_nearly_unique(draft, policy))
    return tuple(found)


def _not_judged(policy: Policy, n_before: int) -> Iterator[str]:
    """Name what the policy leaves unjudged, or asks without all that it needs."""
    known, terms = policy.adversary, policy.terms.series
    if n_before and policy.sensitive and not policy.looks_back:
        releases = f"{n_before} earlier release{'' if n_before == 1 else 's'}"
        yield f"not judged together with the {releases}: set [adversary] breach_share or [promise] m"
    needed = {"m": terms.m, "n": terms.n, "lifespan": known.lifespan}
    lacking = [name for name, value in needed.items() if value is None]
    if known.breach is not None and lacking:
        yield f"[adversary] breach was not judged: its formula also needs {', '.join(lacking)}"


def _seeks_degree(policy: Policy) -> bool:
    row = method_named(policy.defence.method) if policy.defence else None
    return row is not None and row.seeks_n


def _noisy(policy: Policy) -> frozenset[str]:
    """Return the columns that have noise."""
    return frozenset(policy.defence.noise if policy.defence is not None else ())


def _nearly_unique(draft: Draft, policy: Policy) -> list[str]:
    """Name sensitive columns whose values mostly occur once: someone who learns such a value has found the person.

    A number with noise is nobody's value.
    """
    found = []
    noisy = _noisy(policy)
    for name, column in draft.sensitive.items():
        if name in noisy and column.scale.form == "interval":
            continue
        counts = np.bincount(column.codes, minlength=len(column.scale))
        alone = int((counts == 1).sum())
        if len(column.codes) >= _ENOUGH and alone > _MOSTLY * len(column.codes):
            share = alone / len(column.codes)
            found.append(
                f"column {name!r}: {share:.0%} of the published values occur only once; publish them in bands or "
                f"rounded ([columns.{name}] bands or rounding), so that a value does not point to one person"
            )
    return found


def n_changed_people(history: History) -> int:
    """Count the people of the newest release who had another value when they were last published before it."""
    *before, newest = history
    last = np.full(len(history.respondents) + 1, -1, dtype=np.int32)
    for past in before:
        last[past.person] = past.value  # counterfeits, who are person -1, write into the place behind everyone
    real = newest.person >= 0
    then = last[newest.person[real]]
    return int(((then >= 0) & (then != newest.value[real])).sum())


def _all_strangers(draft: Draft, history: History) -> bool:
    """Return whether nobody in the draft was published before. Ids are compared as the ledger keeps them."""
    who = pc.drop_null(draft.groups.column("respondent"))
    if not len(history.respondents) or not len(who):
        return False
    known = pc.cast(history.respondents, pa.string())
    for some in (who.slice(0, _A_FEW), who):  # one of the first few is usually known, which saves looking up the others
        if pc.any(pc.is_in(known, value_set=pc.cast(some, pa.string()), skip_nulls=True)).as_py():
            return False
    return True


def remarks_on_other_series(
    ledger: Ledger, policy: Policy, view: View, together: Collection[str] = ()
) -> tuple[str, ...]:
    """Return a note for every other series of the ledger in which people of this view were published.

    ``together`` are those whose releases were judged with this one.
    """
    if policy.respondent is None or not len(view):
        return ()
    alone = "promises are about one series, and anyone who holds both can compare them"
    if policy.adversary.breach_share is not None:
        alone += (
            "; breach_share judges series together whose sensitive columns have one name and have a value in common"
        )
        alone += ", and that name the same [series] people"
    return tuple(
        f"{n:,} of these people are also in the series {name!r} of this ledger: "
        + ("breach_share judges both together, every other promise is about one series" if name in together else alone)
        for name, n in ledger.in_other_series(policy.series, view.cells(policy.respondent)).items()
    )


def remarks_on_view(view: View, draft: Draft, policy: Policy) -> tuple[str, ...]:
    """Return notes about values withheld whole, spellings, plain columns, sensitive ones in a row, a single class."""
    return (
        *_withheld_whole(view, draft, policy),
        *_capitals(view),
        *_plain_columns(view, draft, policy),
        *_several_in_a_row(draft, policy),
        *_one(draft),
    )


def _withheld_whole(view: View, draft: Draft, policy: Policy) -> list[str]:
    """Report values that nobody is published with, and how many of the people who are missing hold one of them."""
    if policy.defence is None or policy.defence.rate is not None:  # a sample leaves people out by chance
        return []
    found, published = [], draft.grouping.group >= 0
    for column in view.sensitive:
        here = np.bincount(column.codes[~view.suppressed], minlength=len(column.scale))
        left = np.bincount(column.codes[published], minlength=len(column.scale))
        gone = (here > 0) & (left == 0)
        if gone.any() and published.any():
            held, missing = int(here[gone].sum()), int((here - left).sum())
            told = "everyone missing has one of them" if held == missing else f"{held} of the {missing} missing"
            found.append(
                f"column {column.name!r}: all {held} records of {gone.sum()} values are withheld: {told}; "
                "[promise] withheld_leak bounds what that reveals"
            )
    return found


def _capitals(view: View) -> list[str]:
    """Report sensitive values that differ only in capitals: they count as different."""
    found = []
    for column in view.sensitive:
        texts = [text for text in column.scale.texts.to_pylist() if isinstance(text, str)]
        n = len(texts) - len({text.casefold() for text in texts})
        if n:
            found.append(
                f"column {column.name!r}: {n} values differ from another one only in capitals and count as different"
            )
    return found


def _plain_columns(view: View, draft: Draft, policy: Policy) -> list[str]:
    """Report how small classes are to someone who knows the plain columns too."""
    k, table = policy.terms.k, draft.files.get(PLAIN, draft.table)
    plain = [
        name for name in view.plain if name in table.column_names and not pat.is_nested(table.schema.field(name).type)
    ]
    if not k or not plain or not table.num_rows:
        return []
    names = [name for name in table.column_names if name in draft.quasi or name in plain]
    classes = classes_of(table, names)
    sizes = classes.sizes[classes.of_record]
    below, alone = int((sizes < k).sum()), int((sizes == 1).sum())
    if not below:
        return []
    known = f"with plain {', '.join(repr(name) for name in plain)} known too"
    return [f"{known}, {alone:,} of {len(sizes):,} rows are alone and {below:,} in classes below k = {k}"]


def _several_in_a_row(draft: Draft, policy: Policy) -> list[str]:
    """Report the sensitive column that best finds people: who knows it of somebody reads the others in their row."""
    table = draft.table
    sensitive = [name for name in draft.sensitive if name in table.column_names]
    known = [name for name in sensitive if name not in _noisy(policy)]
    if draft.own_tables or len(sensitive) < 2 or not known or not table.num_rows:
        return []
    alone = {}
    for name in known:
        classes = classes_of(table, [*(one for one in table.column_names if one in draft.quasi), name])
        alone[name] = int((classes.sizes == 1).sum())
    name = max(known, key=alone.__getitem__)
    if not alone[name]:
        return []
    share = alone[name] / table.num_rows
    others = ", ".join(repr(other) for other in sensitive if other != name)
    return [
        f"{alone[name]:,} of {table.num_rows:,} rows ({share:.1%}) are alone in their class with their {name!r}: who "
        f"knows it of somebody reads {others} of them. Drop a column, or publish it in bands"
    ]


def _one(draft: Draft) -> list[str]:
    if draft.grouping.n_groups != 1 or len(draft.quasi) == 0 or draft.n_records < 2:
        return []
    return ["all records are in one class, so the quasi-identifiers carry no information"]
