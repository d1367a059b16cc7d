"""Estimates how many people an attacker who assumes exchangeability is certain about.

``[adversary] sure`` and ``sure_share`` are judged by it in a series whose values never change and whose slots are known
(cohorts): there belief is exact by cells, or sampled. Series in which it cannot be had are followed by the
sequence attack, as those whose values change.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pyarrow as pa

from seriatim.attacks.leavers import reveal_leavers
from seriatim.attacks.sampled_belief import Beliefs, belief, published_shares
from seriatim.kernels.arrays import Flags
from seriatim.knowledge.knowledge_files import knowledge_of_adversary
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
    found = [belief(history, _known(history, share, seed), seed) for seed in (SEEDS if share > 0 else SEEDS[:1])]
    if any(one.n_unjudged > one.n_disputed for one in found):
        return None
    about = {"column": judged.column} if policy.sensitive[1:] else {}
    return FollowedPeople(_estimate(found, policy, about), {})


def _known(history: History, share: float, seed: int) -> list[str]:
    """Draw the people whose value is known beforehand."""
    people = [past.person[past.person >= 0] for past in history]
    ids = history.respondents.take(pa.array(np.unique(np.concatenate(people)))).drop_null().to_pylist()
    hit = open_chance(seed, "compromised").random(len(ids)) < share
    return [who for who, known in zip(ids, hit.tolist(), strict=True) if known]


def _estimate(found: list[Beliefs], policy: Policy, about: dict[str, str | None]) -> Estimate:
    known = knowledge_of_adversary(policy.adversary)
    counts = [_certain(one, known.sure, known.raised, known.harmless) for one in found]
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
        **about,
    }
    low, high = min(shares), max(shares)
    return Estimate("belief", float(np.mean(shares)), low, high, n_people=everyone[0], detail=detail)


def _certain(found: Beliefs, sure: float, raised: float, harmless: frozenset[Hashable]) -> tuple[int, int]:
    """Count the people inferred with certainty that the releases raised, and all whom such a belief is about."""
    values, spared = value_texts(found.traces.history.values.to_pylist()), set(value_texts(harmless))
    margin = published_shares(found.traces)[: len(values)]
    odds = found.by_cell / np.maximum(1 - found.by_cell, 1e-12)
    before = margin / np.maximum(1 - margin, 1e-12)
    minds = np.array([value not in spared for value in values], dtype=np.bool_)
    certain: Flags = (found.by_cell > sure) & (odds >= raised * before) & minds
    truth = certain[found.cell, found.traces.value[found.people]]
    about = np.bincount(found.cell, minlength=len(certain))
    return int(truth.sum()), int(about[certain.any(axis=1)].sum())
