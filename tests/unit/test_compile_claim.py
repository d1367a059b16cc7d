"""Two processes that need the same kernel: one compiles, the other waits and loads; a dead one holds nobody up."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from seriatim.kernels import compiled
from seriatim.kernels.compiled import CompileClaim

pytestmark = pytest.mark.skipif(os.name == "nt", reason="claims are not used there")


def dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    return done.pid


def test_the_first_compiles(tmp_path: Path) -> None:
    claim = CompileClaim(tmp_path / "kernel.making")
    assert claim.take()
    assert (tmp_path / "kernel.making").read_text() == str(os.getpid())
    claim.leave()
    assert list(tmp_path.iterdir()) == []


def test_the_second_waits_until_the_first_is_done(tmp_path: Path) -> None:
    path = tmp_path / "kernel.making"
    path.write_text(str(os.getppid()))  # somebody who lives
    begin, other = time.monotonic(), threading.Timer(0.3, path.unlink)
    other.start()
    assert not CompileClaim(path).take()
    assert time.monotonic() - begin >= 0.3, "it came back before the other was done"
    other.join()
    assert not path.exists()


@pytest.mark.parametrize("text", ["dead", "own"])
def test_nobody_waits_for_the_dead_or_for_themselves(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kernel.making"
    path.write_text(str(dead_process() if text == "dead" else os.getpid()))
    assert CompileClaim(path).take()


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "PATIENCE", 0.1)
    path = tmp_path / "kernel.making"
    path.write_text(str(os.getppid()))
    assert CompileClaim(path).take()
    assert path.exists(), "it belongs to somebody else"


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    assert CompileClaim(tmp_path / "absent" / "kernel.making").take()


def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    """Both need it at the same moment; one finds what the other has kept, and no claim is left."""
    code = (
        "import numpy as np\n"
        "from seriatim.kernels.check.class_figures import leakage_of_random_classes as kernel\n"
        "kernel(np.zeros(1, np.int32), np.ones(1), np.zeros((1, 1)))\n"
        "print(len(kernel.stats.cache_hits))\n"
    )
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120)[0].strip() for process in both]
    assert sorted(said) == ["0", "1"]
    assert not list(tmp_path.rglob("*.making"))
