"""An adversary at work on releases. Each attack says who is exposed, and whether its inferences are right."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.attacks._belief import Beliefs, belief
    from seriatim.attacks._complete import Complete, complete, complete_sample, complete_share
    from seriatim.attacks._exclusion import (
        Exclusion,
        estimate_once,
        estimate_share,
        exclusion,
        exclusion_share,
        prepare,
    )
    from seriatim.attacks._intersection import intersection, intersection_by_register, shrinking, shrinking_by_register
    from seriatim.attacks._sequence import SequenceBeliefs, sequence
    from seriatim.attacks._sequence_figures import SequenceFigures, sequence_figures
    from seriatim.attacks._twins import determined, twins
    from seriatim.attacks._withheld import WithheldGuess, WithheldGuesses, withheld
    from seriatim.attacks.leavers import reveal_leavers
    from seriatim.attacks.steps import Step

# loaded at first use: publishing without a bound on breaches needs none of their kernels
_HOMES = {
    "Beliefs": "_belief",
    "Complete": "_complete",
    "Exclusion": "_exclusion",
    "SequenceBeliefs": "_sequence",
    "SequenceFigures": "_sequence_figures",
    "Step": "steps",
    "WithheldGuess": "_withheld",
    "WithheldGuesses": "_withheld",
    "belief": "_belief",
    "complete": "_complete",
    "complete_sample": "_complete",
    "complete_share": "_complete",
    "determined": "_twins",
    "estimate_once": "_exclusion",
    "estimate_share": "_exclusion",
    "exclusion": "_exclusion",
    "exclusion_share": "_exclusion",
    "intersection": "_intersection",
    "intersection_by_register": "_intersection",
    "prepare": "_exclusion",
    "reveal_leavers": "leavers",
    "sequence": "_sequence",
    "sequence_figures": "_sequence_figures",
    "shrinking": "_intersection",
    "shrinking_by_register": "_intersection",
    "twins": "_twins",
    "withheld": "_withheld",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.attacks' has no attribute {name!r}")
    return getattr(import_module(f"seriatim.attacks.{_HOMES[name]}"), name)


__all__ = [
    "Beliefs",
    "Complete",
    "Exclusion",
    "SequenceBeliefs",
    "SequenceFigures",
    "Step",
    "WithheldGuess",
    "WithheldGuesses",
    "belief",
    "complete",
    "complete_sample",
    "complete_share",
    "determined",
    "estimate_once",
    "estimate_share",
    "exclusion",
    "exclusion_share",
    "intersection",
    "intersection_by_register",
    "prepare",
    "reveal_leavers",
    "sequence",
    "sequence_figures",
    "shrinking",
    "shrinking_by_register",
    "twins",
    "withheld",
]
