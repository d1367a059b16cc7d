from seriatim.measures._equivocation import Equivocation, equivocation
from seriatim.measures._leakage import Leakage, leakage
from seriatim.measures.equivocation_rows import Equivocations, equivocations

__all__ = ["Equivocation", "Equivocations", "Leakage", "equivocation", "equivocations", "leakage"]
