"""What a number may be: said once, for the policy, its messages and the arguments of Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real

LARGEST = 1 << 53
"""Of whole numbers: beyond it neither floats nor machine words count people exactly."""
LARGEST_WORD = (1 << 31) - 1
"""Of seeds and rounds, which kernels take as machine words."""
_POWERS = {LARGEST: "2^53", LARGEST_WORD: "2^31 - 1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLimits:
    """The bounds of a number; ``least`` and ``most`` are allowed themselves, ``above`` and ``below`` are not."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    whole: bool = False
    noun: str = ""
    """What messages call it, if not a number."""
    up_to: str = ""
    """The key of the policy that bounds it further, for messages."""

    @property
    def words(self) -> str:
        """Return the bounds as messages say them: ``a whole number from 1 to 2^53``."""
        noun = self.noun or ("a whole number" if self.whole else "a number")
        return f"{noun} {self.range}"

    @property
    def range(self) -> str:
        """Return the bounds alone: ``from 0 to 1``."""
        low = f"above {_written(self.above)}" if self.above is not None else f"from {_written(self.least)}"
        if self.below is not None:
            return f"{low} and below {_written(self.below)}"
        high = self.up_to or _written(self.most)
        return f"{low} {'to' if self.above is None else 'and up to'} {high}" if high else low

    def allow(self, value: object) -> bool:
        """Return whether a value of any type is a number within the bounds."""
        if not isinstance(value, Integral if self.whole else Real) or isinstance(value, bool):
            return False
        try:
            finite = math.isfinite(value)
        except OverflowError:  # a whole number beyond any float
            return False
        number = int(value) if isinstance(value, Integral) else float(value)
        return finite and not (
            (self.least is not None and number < self.least)
            or (self.above is not None and number <= self.above)
            or (self.most is not None and number > self.most)
            or (self.below is not None and number >= self.below)
        )


def _written(bound: float | None) -> str:
    return "" if bound is None else _POWERS.get(int(bound), f"{bound:g}")


def whole_from(least: int, most: int = LARGEST, up_to: str = "") -> NumberLimits:
    return NumberLimits(least=least, most=most, whole=True, up_to=up_to)


def number_from(least: float, most: float | None = None) -> NumberLimits:
    return NumberLimits(least=least, most=most)


def number_above(bound: float, most: float | None = None, below: float | None = None) -> NumberLimits:
    return NumberLimits(above=bound, most=most, below=below)


SHARE = NumberLimits(least=0, most=1, noun="a share")
CHANCE = NumberLimits(least=0, most=1, noun="a probability")


def are_times(times: Sequence[object]) -> bool:
    """Return whether these are whole numbers that rise, and kernels can count the steps between any two."""
    whole = [time for time in times if isinstance(time, Integral) and not isinstance(time, bool)]
    if len(whole) < len(times) or any(later <= now for now, later in pairwise(map(int, whole))):
        return False
    ends = [int(end) for end in whole[:1] + whole[-1:]]
    return all(abs(end) <= LARGEST_WORD for end in ends) and (not ends or ends[-1] - ends[0] <= LARGEST_WORD)


ARGUMENT_LIMITS: dict[str, NumberLimits] = {
    "least": whole_from(1, LARGEST_WORD),
    "repetitions": whole_from(1, 100),
    "releases": whole_from(1, 120),
    "most": whole_from(1, LARGEST_WORD),
    "bands": whole_from(2, 200),
    "seed": whole_from(0),
}
"""Numbers that attacks, forecasts and gates take beside a policy, in Python as on the command line."""
