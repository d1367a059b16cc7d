"""./dev bench [NAME ...]: run the named benchmarks, or all that are quick enough to run by default."""

from __future__ import annotations

import sys
from importlib import import_module

CASES = {
    "oneshot": "median cuts against a sort, anonypy, memory at 10 M rows, start-up time",
    "serial": "grouping one of many releases against a sort, large and late against small and early",
    "faults": "500 kills in the middle of publishing",
}


def main() -> None:
    names = sys.argv[1:] or list(CASES)
    unknown = [name for name in names if name.lstrip("-") not in CASES and not name.startswith("--")]
    if unknown:
        print("benchmarks:", *(f"\n  {name:10} {what}" for name, what in CASES.items()))
        sys.exit(2)
    options = [name for name in names if name.startswith("--")]
    for name in names:
        if not name.startswith("--"):
            import_module(f"benchmarks.{name}").run(options)


if __name__ == "__main__":
    main()
