"""The record gate: release single records on demand while everything released stays unremarkable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.gate._gate import Gate, replay
    from seriatim.gate.baseline import Baseline, baseline_from, baseline_from_json
    from seriatim.gate.critical_values import critical_tables
    from seriatim.gate.decision import Decision, Outcome
    from seriatim.gate.dixon_values import dixon_critical
    from seriatim.gate.joint import JointGate
    from seriatim.gate.statistics import divergences, dixon, mutual_information, pearson

# loaded when first asked for: the kernels behind them bring a compiler along
_HOMES = {
    "Baseline": "baseline",
    "Decision": "decision",
    "Gate": "_gate",
    "JointGate": "joint",
    "Outcome": "decision",
    "baseline_from": "baseline",
    "baseline_from_json": "baseline",
    "critical_tables": "critical_values",
    "divergences": "statistics",
    "dixon": "statistics",
    "dixon_critical": "dixon_values",
    "mutual_information": "statistics",
    "pearson": "statistics",
    "replay": "_gate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.gate' has no attribute {name!r}")
    value = getattr(import_module(f"seriatim.gate.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


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
