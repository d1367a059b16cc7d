"""A command ends its process at once; what Python does before it ends is done all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STILL_TO_DO = """
import atexit, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from seriatim.cli import program

left = ThreadPoolExecutor(1)  # its idle thread ends only if it is woken
left.submit(int).result()
threading.Thread(target=lambda: (time.sleep(0.2), Path("thread").touch())).start()
atexit.register(Path("registered").touch)
sys.argv = ["seriatim", *sys.argv[1:]]
program()
"""


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize(("word", "code"), [("--version", 0), ("--no-such-word", 2)])
def test_threads_are_waited_for_and_what_is_registered_is_done(
    tmp_path: Path, word: str, code: int, debug: str
) -> None:
    around = {**os.environ, "SERIATIM_DEBUG": debug}
    command = [sys.executable, "-c", STILL_TO_DO, word]
    ended = subprocess.run(command, cwd=tmp_path, env=around, capture_output=True, text=True, timeout=120)
    assert ended.returncode == code, ended.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"thread", "registered"}
    assert ended.stdout or ended.stderr
