"""A short form of ``./dev bench fuzz``: hostile input ends with a documented exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fuzz import is_bug, run_one

SHORT = 200


@pytest.mark.timeout(600)
def test_no_hostile_input_is_a_bug(tmp_path: Path) -> None:
    bugs = {}
    for seed in range(SHORT):
        folder = tmp_path / str(seed)
        folder.mkdir()
        ran = run_one(folder, seed)
        if is_bug(ran):
            bugs[seed] = (ran.code, ran.err.strip()[-200:])
    assert bugs == {}
