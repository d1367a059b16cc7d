"""A private list overwrites an earlier list of its own kind, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import seriatim as sr
from seriatim.api import refuse_private_list


def test_a_private_list_never_overwrites_a_table_or_a_ledger(tmp_path: Path) -> None:
    other, earlier = tmp_path / "month-1.csv", tmp_path / "exposed.csv"
    other.write_text("patient,age\n1,30\n")
    earlier.write_text('"respondent","promise"\n')
    with pytest.raises(sr.InputError, match="not a private list"):
        refuse_private_list(other)
    refuse_private_list(earlier)
    refuse_private_list(tmp_path / "new.csv")
    assert other.read_text() == "patient,age\n1,30\n"
