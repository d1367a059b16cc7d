"""Only a Release can be written, and only release(draft, verdict) makes one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from seriatim.model import Approval, Draft, Grouping, Refusal, Release, Verdict, release
from seriatim.tables.writer import CsvWriter, ParquetWriter

TABLE = pa.table({"age": ["[30,39]", "[30,39]"]})
SIDE = pa.table({"group": [1], "counterfeits": [1]})
LET_OUT = Verdict(findings=(), estimates=(), measures=(), reasons=())
REFUSED = Verdict(findings=(), estimates=(), measures=(), reasons=("k: found 1, required 2",))


def draft() -> Draft:
    grouping = Grouping(np.zeros(2, dtype=np.int32), 1)
    files = {"table": TABLE, "counterfeits": SIDE}
    return Draft(files=files, quasi=("age",), sensitive={}, grouping=grouping, generalised=(), groups=pa.table({}))


def test_a_refused_draft_is_no_release() -> None:
    made = release(draft(), REFUSED)
    assert isinstance(made, Refusal)
    assert (made.table, made.number, made.manifest, made.codebook) == (None, None, None, None)
    assert not hasattr(made, "files")


def test_an_override_lets_out() -> None:
    assert isinstance(release(draft(), replace(REFUSED, approval=Approval("Dr Who", "needed"))), Release)
    assert isinstance(release(draft(), replace(REFUSED, approval=Approval("Dr Who"))), Refusal)


def test_nobody_else_makes_a_release() -> None:
    made = release(draft(), LET_OUT)
    with pytest.raises(TypeError, match="release"):
        Release(key=object(), draft=draft(), verdict=LET_OUT)
    with pytest.raises(ValueError, match="key"):
        replace(made, draft=draft())


@pytest.mark.parametrize(("writer", "suffix"), [(CsvWriter(), ".csv"), (ParquetWriter(), ".parquet")])
def test_every_file_of_a_release_is_written_and_nothing_else(
    writer: CsvWriter | ParquetWriter, suffix: str, tmp_path: Path
) -> None:
    for other in (draft(), release(draft(), REFUSED), TABLE):
        with pytest.raises(TypeError, match="only a Release can be written"):
            writer(other, tmp_path)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    made = release(draft(), LET_OUT)
    assert isinstance(made, Release)
    writer(made, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"counterfeits{suffix}", f"table{suffix}"]
