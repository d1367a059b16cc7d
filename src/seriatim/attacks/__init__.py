"""An adversary at work on releases. Each attack says who is exposed, and whether its inferences were right."""

from seriatim.attacks.excluding import Exclusion, exclusion, exclusion_share, prepare

__all__ = ["Exclusion", "exclusion", "exclusion_share", "prepare"]
