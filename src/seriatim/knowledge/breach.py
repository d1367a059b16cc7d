"""The closed-form chance that a tuple's value is found, and the degree of historical safety that bounds it.

Riboni and Bettini's n-Choose (Figure 3; Theorem 2 is garbled in print). It holds for an adversary who reasons once;
one who iterates needs a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.errors import AdversaryError, Fault


@dataclass(frozen=True, slots=True)
class BreachProbability:
    """For one tuple over its lifespan."""

    ct: float
    """A given other value is excluded because its holder is compromised."""
    hc: float
    """A given other value is excluded through a historical correlation."""
    total: float
    """All other values of the signature are excluded, one way or the other."""


def breach_probability(compromised: float, lifespan: int, m: int, n: int) -> BreachProbability:
    """With a share of people compromised, published ``lifespan`` times among m values, correlations of degree n on."""
    faults = []
    if not 0.0 <= compromised <= 1.0:
        faults.append(Fault("compromised", f"{compromised}", "a share from 0 to 1"))
    if lifespan < 1:
        faults.append(Fault("lifespan", f"{lifespan}", "1 or more"))
    if m < 2:
        faults.append(Fault("m", f"{m}", "2 or more"))
    if not 1 <= n <= m:
        faults.append(Fault("n", f"{n}", f"1 to m ({m})"))
    if faults:
        raise AdversaryError(faults)
    spared_ct = (1.0 - compromised) ** lifespan
    spared_hc = (1.0 - (compromised - compromised / m) ** n) ** (lifespan * (m // n))
    return BreachProbability(1.0 - spared_ct, 1.0 - spared_hc, (1.0 - spared_ct * spared_hc) ** (m - 1))


def choose_n(compromised: float, lifespan: int, m: int, breach: float) -> int | None:
    """The smallest degree that keeps the chance below ``breach``; None when no degree up to m does."""
    degrees = range(1, m + 1)
    return next((n for n in degrees if breach_probability(compromised, lifespan, m, n).total < breach), None)


def degree_for(compromised: float, lifespan: int, m: int, breach: float) -> int:
    """As :func:`choose_n`, or an error that says which of lifespan, m and breach would help, and how far."""
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
