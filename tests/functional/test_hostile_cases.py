"""Cases made by hand end with a documented exit code; ``./dev bench fuzz --by-hand`` runs all of them at full size."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import seriatim
from support.fuzz import is_bug
from support.hostile_cases import CASES, in_small, prepare, small_cases

COMPILED = {"billions", "sequence_in_groups"}
"""What waits for compilers or chains: the benchmark has these."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("family", sorted({name.split("-")[0] for name in CASES} - COMPILED))
def test_no_case_made_by_hand_is_a_bug(tmp_path: Path, family: str) -> None:
    bugs = {}
    for number, name in enumerate(small_cases(family)):
        folder = tmp_path / str(number)
        folder.mkdir()
        ran = seriatim(folder, *prepare(name, folder, in_small))
        if is_bug(ran) or (ran.code == 2 and not ran.err.startswith("error: ")):
            bugs[name] = (ran.code, ran.err.strip()[-200:])
    assert bugs == {}
