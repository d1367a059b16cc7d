from seriatim.gate.baseline import Baseline, baseline_from, baseline_from_json
from seriatim.gate.decision import Decision, Outcome
from seriatim.gate.gate import Gate, JointGate, replay
from seriatim.gate.limits import critical_tables, dixon_critical
from seriatim.gate.statistics import divergences, dixon, mutual_information, pearson

__all__ = [
    "Baseline",
    "Decision",
    "Gate",
    "JointGate",
    "Outcome",
    "baseline_from",
    "baseline_from_json",
    "critical_tables",
    "divergences",
    "dixon",
    "dixon_critical",
    "mutual_information",
    "pearson",
    "replay",
]
