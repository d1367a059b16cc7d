from seriatim.attacks._belief import Beliefs, belief
from seriatim.attacks._candidates import candidates
from seriatim.attacks._complete import Complete, complete, complete_sample, complete_share
from seriatim.attacks._exclusion import Exclusion, estimate_once, estimate_share, exclusion, exclusion_share, prepare
from seriatim.attacks._intersection import intersection, intersection_by_register, shrinking, shrinking_by_register
from seriatim.attacks._sequence import SequenceBeliefs, sequence
from seriatim.attacks._sequence_figures import SequenceFigures, sequence_figures
from seriatim.attacks._twins import determined, twins
from seriatim.attacks._withheld import WithheldGuess, WithheldGuesses, withheld
from seriatim.attacks.leavers import reveal_leavers
from seriatim.attacks.proof_chain import Step

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
