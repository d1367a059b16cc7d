from seriatim.attacks.belief_figures import SequenceFigures, sequence_figures
from seriatim.attacks.complete_search import Complete, candidates, complete, complete_sample, complete_share
from seriatim.attacks.exclusion_rules import (
    Exclusion,
    estimate_once,
    estimate_share,
    exclusion,
    exclusion_share,
    prepare,
)
from seriatim.attacks.group_intersection import intersection, intersection_by_register, shrinking, shrinking_by_register
from seriatim.attacks.learnt_guesses import LearntGuesses, learnt
from seriatim.attacks.leavers import reveal_leavers
from seriatim.attacks.proof_chain import Step
from seriatim.attacks.proved_presence import ProvedPresence, presence
from seriatim.attacks.sampled_belief import Beliefs, belief
from seriatim.attacks.sequence_knowledge import SequenceBeliefs, sequence
from seriatim.attacks.twin_sets import determined, twins
from seriatim.attacks.withheld_guesses import WithheldGuess, WithheldGuesses, withheld

__all__ = [
    "Beliefs",
    "Complete",
    "Exclusion",
    "LearntGuesses",
    "ProvedPresence",
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
    "learnt",
    "prepare",
    "presence",
    "reveal_leavers",
    "sequence",
    "sequence_figures",
    "shrinking",
    "shrinking_by_register",
    "twins",
    "withheld",
]
