"""Estimates how many people an attacker who assumes exchangeability is certain about.

``[adversary] sure`` and ``sure_share`` are judged by it in a series whose values never change and whose slots are known
(cohorts): there belief is exact by cells, or sampled. Series in which it cannot be had are followed by the
sequence attack, as those whose values change.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from seriatim.attacks.leavers import reveal_leavers
from seriatim.attacks.sampled_belief import Beliefs, belief, published_shares
from seriatim.kernels.arrays import Flags
from seriatim.knowledge.knowledge_files import declared_adversary
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.knowledge.value_texts import value_texts
from seriatim.model import Estimate, Policy
from seriatim.model.chance import open_chance
from seriatim.model.history import History, JudgedHistory
from seriatim.model.methods import method_named
from seriatim.usecases.publish.followed_people import FollowedPeople

SEEDS = (1, 2, 3)


def believed_people(judged: JudgedHistory, policy: Policy) -> FollowedPeople | None:
    """Return what is believed about everyone so far; None where this attack does not apply or cannot judge everyone."""
    row = method_named(policy.defence.method) if policy.defence is not None else None
    if row is None or not row.leavers_known or policy.adversary.sequence is not None:
        return None
    history = reveal_leavers(judged.history)
    share = policy.adversary.share_known
    named = policy.adversary.priors.known if policy.adversary.priors else frozenset()
    seeds = SEEDS if share > 0 else SEEDS[:1]
    found = [belief(history, _known(history, share, seed, named), seed) for seed in seeds]
    if any(one.n_unjudged > one.n_disputed for one in found):
        return None
    return FollowedPeople(_estimate(found, policy, judged.column), {})


def _known(history: History, share: float, seed: int, named: frozenset[str]) -> list[str]:
    """Draw the people whose value is known beforehand, and add those known by name."""
    people = [past.person[past.person >= 0] for past in history]
    ids = history.respondents.take(pa.array(np.unique(np.concatenate(people)))).drop_null().to_pylist()
    hit = open_chance(seed, "compromised").random(len(ids)) < share
    return [who for who, known in zip(ids, hit.tolist(), strict=True) if known or str(who) in named]


def _estimate(found: list[Beliefs], policy: Policy, column: str | None) -> Estimate:
    rule = policy.columns.get(column or "")
    known = declared_adversary(policy.adversary, rule.order if rule is not None else None)
    counts = [_certain(one, known) for one in found]
    everyone = [len(one.people) + one.n_unjudged for one in found]
    shares = [right / max(n, 1) for n, (right, _) in zip(everyone, counts, strict=True)]
    claimed = sum(n for _, n in counts)
    detail = {
        "sure": known.sure,
        "raised": known.raised,
        "people": max(right for right, _ in counts),
        "hit_rate": sum(right for right, _ in counts) / claimed if claimed else float("nan"),
        "largest_belief": max(float(one.largest.max(initial=0.0)) for one in found),
        "mean_belief": float(np.mean([one.in_truth.mean() if len(one.people) else 0.0 for one in found])),
        "expected_belief": float(np.mean([one.expected for one in found])),
        "exact": bool(all(one.exact[one.cell].all() for one in found)),
        "compromised": policy.adversary.share_known,
        "unjudged": max(one.n_unjudged for one in found),
        **({"column": column} if policy.sensitive[1:] else {}),
    }
    low, high = min(shares), max(shares)
    return Estimate("belief", float(np.mean(shares)), low, high, n_people=everyone[0], detail=detail)


def _certain(found: Beliefs, known: SequentialAdversary) -> tuple[int, int]:
    """Count the people inferred with certainty that the releases raised, and all whom such a belief is about.

    A belief is about one value, or about all within a window around one.
    """
    values, spared = found.traces.history.values.to_pylist(), set(value_texts(known.harmless))
    if not len(found.people):
        return 0, 0
    around, margin = found.by_cell, published_shares(found.traces)
    near = known.within(values) if known.window else None
    if near is not None:
        around, margin = np.minimum(around @ near, 1.0), np.minimum(margin @ near, 1.0)
    best, cells = around.argmax(axis=1), np.arange(len(around))
    odds, before = (p / np.maximum(1 - p, 1e-12) for p in (around[cells, best], margin[best]))
    minds = np.array([value not in spared for value in value_texts(values)], dtype=np.bool_)[best]
    certain: Flags = (around[cells, best] > known.sure) & (odds >= known.raised * before) & minds
    claimed, truth = best[found.cell], found.traces.value[found.people]
    right = certain[found.cell] & (claimed == truth if near is None else near[claimed, truth] > 0)
    return int(right.sum()), int(certain[found.cell].sum())
