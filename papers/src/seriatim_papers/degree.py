"""The probability that a person is breached, in closed form, and the degree n that keeps it low.

Riboni and Bettini's n-Choose (Cor-Split, figure 3; theorem 2 is garbled in print). It holds for an adversary who
draws every conclusion once. One who builds on each finding does better: simulate that as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from seriatim.errors import AdversaryError, Fault, PolicyError
from seriatim.model.adversary import Adversary
from seriatim.model.doors import share_argument, whole_argument


@dataclass(frozen=True, slots=True)
class BreachProbability:
    """The chance that one person is breached over a whole lifespan."""

    ct: float
    """The chance that compromised tuples exclude one value."""
    hc: float
    """The chance that historical correlations of degree n exclude one value."""
    total: float
    """The chance that the two exclude every value but the true one."""


def breach_probability(compromised: float, lifespan: int, m: int, n: int) -> BreachProbability:
    """Return the chance of a breach of someone published ``lifespan`` times among m values.

    Each tuple is compromised with probability ``compromised``.
    """
    _check(compromised, lifespan, m)
    whole_argument("n", n)
    if not 1 <= n <= m:
        raise AdversaryError(Fault("n", f"{n}", f"1 to m = {m}", "lower n or raise m"))
    spared_ct = (1.0 - compromised) ** lifespan
    spared_hc = (1.0 - (compromised - compromised / m) ** n) ** (lifespan * (m // n))
    return BreachProbability(1.0 - spared_ct, 1.0 - spared_hc, (1.0 - spared_ct * spared_hc) ** (m - 1))


def choose_n(compromised: float, lifespan: int, m: int, breach: float) -> int | None:
    """Return the smallest degree n whose breach probability is below ``breach``; None if there is none up to m.

    If None, publish nothing before shortening the lifespan, raising m or relaxing ``breach``.
    """
    _check(compromised, lifespan, m)
    if share_argument("breach", breach) == 0.0:
        raise AdversaryError(Fault("breach", f"{breach}", "above 0, at most 1"))
    degrees = range(1, m + 1)
    return next((n for n in degrees if breach_probability(compromised, lifespan, m, n).total < breach), None)


def degree_or_error(compromised: float, lifespan: int, m: int, breach: float) -> int:
    """Return :func:`choose_n`, or raise an error that says which lifespan, m or breach would do."""
    n = choose_n(compromised, lifespan, m, breach)
    if n is not None:
        return n
    best = min(breach_probability(compromised, lifespan, m, degree).total for degree in range(1, m + 1))
    shorter = next((L for L in range(lifespan, 0, -1) if choose_n(compromised, L, m, breach)), None)
    larger = next((k for k in range(m, m + 100) if choose_n(compromised, lifespan, k, breach)), None)
    ways = [f"breach above {best:.4f}"]
    ways += [f"lifespan at most {shorter}"] if shorter else []
    ways += [f"m at least {larger}"] if larger else []
    raise AdversaryError(
        Fault("n", f"no degree keeps the chance of a breach below {breach}", "", "change one: " + ", or ".join(ways))
    )


def chosen_degree(m: int, adversary: Adversary) -> int:
    """Return the degree for ``n = "choose"``, or say which keys of [adversary] are missing."""
    compromised, lifespan, breach = adversary.compromised, adversary.lifespan, adversary.breach
    if compromised is None or lifespan is None or breach is None:
        needed = {"compromised": compromised, "lifespan": lifespan, "breach": breach}
        found = f"[adversary] lacks {', '.join(name for name, value in needed.items() if value is None)}"
        raise PolicyError(Fault('[promise] n = "choose"', found, "compromised, lifespan and breach", "add them"))
    try:
        return degree_or_error(compromised, lifespan, m, breach)
    except AdversaryError as error:
        raise PolicyError([replace(fault, where=f"[promise] {fault.where}") for fault in error.faults]) from None


def _check(compromised: float, lifespan: int, m: int) -> None:
    faults: list[Fault] = []
    checks: tuple[Callable[[], object], ...] = (
        lambda: share_argument("compromised", compromised),
        lambda: whole_argument("lifespan", lifespan),
        lambda: whole_argument("m", m, 2),
    )
    for check in checks:
        try:
            check()
        except AdversaryError as error:
            faults.extend(error.faults)
    if faults:
        raise AdversaryError(faults)
