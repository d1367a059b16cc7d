"""Reports harmless values that never occur: they are probably misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow.compute as pc

from seriatim.knowledge.knowledge_files import declared_adversary
from seriatim.knowledge.value_texts import value_texts
from seriatim.model import Policy
from seriatim.ports import Ledger
from seriatim.usecases.publish.judgement import JudgedDraft


def remarks_on_spelling(cases: Sequence[JudgedDraft], policy: Policy, ledger: Ledger) -> tuple[str, ...]:
    """Report harmless values that never occur; raise an error if none of them does.

    They are about every sensitive column. A value may come later, or have gone: older releases are read only if
    nothing else has any.
    """
    if policy.adversary.sure_share is None or not policy.adversary.harmless:
        return ()
    known = declared_adversary(policy.adversary)
    told = {text for case in cases for text in _told_by(case)}
    if known.n_strange_harmless(told) == len(known.harmless):
        told |= set(_told_by_ledger(policy, ledger))
    known.check_harmless(told, "the view, any release or the knowledge")
    n = known.n_strange_harmless(told)
    what = f"{n} of {len(known.harmless)} values {'is' if n == 1 else 'are'}"
    return (f"[adversary] harmless: {what} in no view, release or knowledge so far; check the spelling",) if n else ()


def _told_by(case: JudgedDraft) -> Iterator[str]:
    """Yield the values of the draft, of the releases that were read, and those declared for a column."""
    for rule in case.policy.sensitive:
        yield from value_texts(pc.unique(case.draft.groups.column(rule.name)).to_pylist())
        yield from map(str, rule.order or ())
    for history in case.histories.values():
        yield from value_texts(history.values.to_pylist())


def _told_by_ledger(policy: Policy, ledger: Ledger) -> Iterator[str]:
    for rule in policy.sensitive:
        yield from value_texts(ledger.history(policy.series, rule.name).values.to_pylist())
