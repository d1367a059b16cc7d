from seriatim_gate.api import (
    gate_baseline,
    gate_hold,
    gate_replay,
    gate_requests,
    gate_show,
    gate_store,
    gate_suggest,
    gate_verify,
)
from seriatim_gate.engine.baseline import Baseline, baseline_from, baseline_from_json
from seriatim_gate.engine.decision import Decision, Outcome
from seriatim_gate.engine.gate import Gate, JointGate, replay
from seriatim_gate.engine.limits import critical_tables, dixon_critical
from seriatim_gate.engine.statistics import divergences, dixon, mutual_information, pearson

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
    "gate_baseline",
    "gate_hold",
    "gate_replay",
    "gate_requests",
    "gate_show",
    "gate_store",
    "gate_suggest",
    "gate_verify",
    "mutual_information",
    "pearson",
    "replay",
]
