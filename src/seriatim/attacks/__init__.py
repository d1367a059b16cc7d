"""An adversary at work on releases. Each attack says who is breached, and whether its inferences are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seriatim.lazy_names import public_names

if TYPE_CHECKING:
    from seriatim.attacks._belief import Beliefs, belief
    from seriatim.attacks._candidates import candidates
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
    "Beliefs": "seriatim.attacks._belief",
    "Complete": "seriatim.attacks._complete",
    "Exclusion": "seriatim.attacks._exclusion",
    "SequenceBeliefs": "seriatim.attacks._sequence",
    "SequenceFigures": "seriatim.attacks._sequence_figures",
    "Step": "seriatim.attacks.steps",
    "WithheldGuess": "seriatim.attacks._withheld",
    "WithheldGuesses": "seriatim.attacks._withheld",
    "belief": "seriatim.attacks._belief",
    "candidates": "seriatim.attacks._candidates",
    "complete": "seriatim.attacks._complete",
    "complete_sample": "seriatim.attacks._complete",
    "complete_share": "seriatim.attacks._complete",
    "determined": "seriatim.attacks._twins",
    "estimate_once": "seriatim.attacks._exclusion",
    "estimate_share": "seriatim.attacks._exclusion",
    "exclusion": "seriatim.attacks._exclusion",
    "exclusion_share": "seriatim.attacks._exclusion",
    "intersection": "seriatim.attacks._intersection",
    "intersection_by_register": "seriatim.attacks._intersection",
    "prepare": "seriatim.attacks._exclusion",
    "reveal_leavers": "seriatim.attacks.leavers",
    "sequence": "seriatim.attacks._sequence",
    "sequence_figures": "seriatim.attacks._sequence_figures",
    "shrinking": "seriatim.attacks._intersection",
    "shrinking_by_register": "seriatim.attacks._intersection",
    "twins": "seriatim.attacks._twins",
    "withheld": "seriatim.attacks._withheld",
}


__getattr__ = public_names(__name__, _HOMES)

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
    "candidates",
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
