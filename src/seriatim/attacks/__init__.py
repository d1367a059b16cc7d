"""An adversary at work on releases. Each attack says who is exposed, and whether its inferences are right."""

from seriatim.attacks._exclusion import Exclusion, estimate_once, estimate_share, exclusion, exclusion_share, prepare
from seriatim.attacks._intersection import intersection, intersection_by_register, shrinking, shrinking_by_register
from seriatim.attacks._sequence import SequenceBeliefs, sequence
from seriatim.attacks._twins import determined, twins
from seriatim.attacks.leavers import reveal_leavers
from seriatim.attacks.sequence_figures import SequenceFigures, sequence_figures
from seriatim.attacks.steps import Step

__all__ = [
    "Exclusion",
    "SequenceBeliefs",
    "SequenceFigures",
    "Step",
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
]
