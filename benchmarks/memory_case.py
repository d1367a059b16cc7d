"""A process of its own that publishes a large file and tells its peak memory; see oneshot."""

import json
import resource
import sys
from pathlib import Path

import pyarrow as pa

import seriatim as sr
from benchmarks.oneshot import policy_for
from seriatim_papers.worlds.adultlike import adultlike


def peak() -> int:
    """Of this process alone: what getrusage says also remembers the larger process it was started from."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    policy = policy_for({"k": 5})
    # a small release first: libraries loaded and kernels compiled are the idle process, not the table's cost
    small = sr.Ledger.open(folder / "small.db")
    assert isinstance(small.records(), list | tuple)
    sr.publish(pa.table(adultlike(2_000, 1)), policy, small)
    idle = peak()
    ledger = sr.Ledger.open(folder / "ledger.db")
    release = sr.publish(path, policy, ledger, out=folder / "out")
    assert release.verdict.released, release.verdict.reasons
    print(json.dumps({"idle": idle, "peak": peak()}))


if __name__ == "__main__":
    main()
