"""The record gate: release single records on demand while everything released stays unremarkable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seriatim.lazy_names import public_names

if TYPE_CHECKING:
    from seriatim.gate.baseline import Baseline, baseline_from, baseline_from_json
    from seriatim.gate.critical_values import critical_tables
    from seriatim.gate.decision import Decision, Outcome
    from seriatim.gate.dixon_values import dixon_critical
    from seriatim.gate.gate import Gate, JointGate, replay
    from seriatim.gate.statistics import divergences, dixon, mutual_information, pearson

# loaded when first asked for: the kernels behind them bring a compiler along
_HOMES = {
    "Baseline": "seriatim.gate.baseline",
    "Decision": "seriatim.gate.decision",
    "Gate": "seriatim.gate.gate",
    "JointGate": "seriatim.gate.gate",
    "Outcome": "seriatim.gate.decision",
    "baseline_from": "seriatim.gate.baseline",
    "baseline_from_json": "seriatim.gate.baseline",
    "critical_tables": "seriatim.gate.critical_values",
    "divergences": "seriatim.gate.statistics",
    "dixon": "seriatim.gate.statistics",
    "dixon_critical": "seriatim.gate.dixon_values",
    "mutual_information": "seriatim.gate.statistics",
    "pearson": "seriatim.gate.statistics",
    "replay": "seriatim.gate.gate",
}


__getattr__ = public_names(__name__, _HOMES)

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
