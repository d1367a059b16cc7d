"""Types of cells that are no single value, or that nothing can be done with: told before an inner line fails on one."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, TableError
from seriatim.model.header import some_header_faults


def check_single_cells(where: str, table: pa.Table, names: Iterable[str]) -> None:
    """Raise for columns whose cells are lists, structures, maps or bytes: they are neither compared nor written."""
    kinds = {field.name: field.type for field in table.schema}
    faults = [
        Fault(f"{where}, column {name!r}", f"the column holds {kinds[name]}", "cells that hold one value",
              "turn it into text, or leave it out")
        for name in names if name in kinds and _is_several(kinds[name])
    ]  # fmt: skip
    if faults:
        raise TableError(some_header_faults(faults, where))


def check_time_zones(where: str, table: pa.Table) -> None:
    """Raise for a time zone that this machine does not know: no cell of such a column can be read."""
    faults = [
        Fault(f"{where}, column {field.name!r}", "its time zone is not known here", "UTC, or a zone such as Asia/Tokyo",
              "write its times in another zone")
        for field in table.schema if not _zone_is_known(_words(field.type))
    ]  # fmt: skip
    if faults:
        raise TableError(some_header_faults(faults, where))


def without_views(data: pa.Table) -> tuple[pa.Table, dict[str, pa.DataType]]:
    """Return a table with plain texts and bytes for views, from which Arrow cannot pick rows; and what they were."""
    kinds = {}
    for place, field in enumerate(data.schema):
        if pat.is_string_view(field.type) or pat.is_binary_view(field.type):
            kinds[field.name] = field.type
            plain = pa.large_string() if pat.is_string_view(field.type) else pa.large_binary()
            data = data.set_column(place, field.name, data.column(place).cast(plain))
    return data, kinds


def _words(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pat.is_dictionary(kind) else kind


def _is_several(kind: pa.DataType) -> bool:
    kind = _words(kind)
    return bool(
        pat.is_nested(kind) or pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind)
    )


def _zone_is_known(kind: pa.DataType) -> bool:
    if not pat.is_timestamp(kind) or kind.tz is None:
        return True
    try:
        pc.cast(pa.array([0], kind), pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True
