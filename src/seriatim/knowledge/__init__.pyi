from seriatim.knowledge._posterior import posterior
from seriatim.knowledge.sequence_model import Revision, SequenceModel

__all__ = ["Revision", "SequenceModel", "posterior"]
