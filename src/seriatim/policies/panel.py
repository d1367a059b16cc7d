"""What several files of one panel say about their columns: which change, which stay, and which say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_HARDLY = 0.01
"""Values of so few people may change by mistake in a column that stays."""
_FEWEST = 3
"""Two columns with fewer values each are alike by chance."""


@dataclass(frozen=True, slots=True)
class PanelSketch:
    """Columns of a panel by name, and shares of people; no values."""

    n_files: int
    n_people: int
    """Who is in more than one file."""
    changing: dict[str, float]
    """For each column that changes the share of these people whose value does."""
    missing: tuple[str, ...]
    """Columns that some files lack."""
    same: dict[str, str]
    """Columns that say the same as an earlier one in other words, as a logarithm does."""

    def splits(self, sensitive: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the sensitive columns whose values stay, and those whose values change."""
        stay = [name for name in sensitive if self.changing.get(name, 0.0) <= _HARDLY]
        return stay, [name for name in sensitive if name not in stay]


def sketch_panel(files: Sequence[pa.Table], respondent: str) -> PanelSketch:
    """Compare the files of a panel, in which a column identifies the person."""
    names = list(dict.fromkeys(name for data in files for name in data.column_names))
    everywhere = [name for name in names if all(name in data.column_names for data in files)]
    texts = [pa.table([_texts(data.column(name)) for name in everywhere], names=everywhere) for data in files]
    whole = pa.concat_tables(texts)
    several = _people_in_several(texts, respondent)
    followed = whole.filter(pc.is_in(whole.column(respondent), value_set=several))
    return PanelSketch(
        len(files),
        len(several),
        {name: share for name in everywhere if name != respondent and (share := _changed(followed, respondent, name))},
        tuple(name for name in names if name not in everywhere),
        _same(whole.drop_columns(respondent)),
    )


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return column.cast(kind).cast(pa.string())


def _people_in_several(files: Sequence[pa.Table], respondent: str) -> pa.Array:
    each = pa.concat_arrays([pc.unique(data.column(respondent)) for data in files])
    counted = pa.table({"who": each}).group_by("who").aggregate([("who", "count")])
    return counted.filter(pc.greater(counted.column("who_count"), 1)).column("who").combine_chunks()


def _changed(followed: pa.Table, respondent: str, name: str) -> float:
    """Return the share of people who have several values in a column; empty cells say nothing."""
    told = followed.select([respondent, name]).drop_null()
    counted = told.group_by(respondent).aggregate([(name, "count_distinct")]).column(f"{name}_count_distinct")
    return float(pc.mean(pc.greater(counted, 1)).as_py() or 0.0) if len(counted) else 0.0


def _same(whole: pa.Table) -> dict[str, str]:
    """Return the columns each of whose values stands for one value of an earlier column, and the other way round."""
    sizes = {name: len(pc.unique(whole.column(name))) for name in whole.column_names}
    found: dict[str, str] = {}
    for at, name in enumerate(whole.column_names):
        for other in whole.column_names[:at]:
            alike = other not in found and sizes[other] == sizes[name] and _FEWEST <= sizes[name] < whole.num_rows
            if alike and whole.select([other, name]).group_by([other, name]).aggregate([]).num_rows == sizes[name]:
                found[name] = other
                break
    return found
