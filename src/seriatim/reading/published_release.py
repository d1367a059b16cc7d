"""Answers questions about a release: how many people of these ages, from there, with that value?

Rows of a serial release are not records: values are shuffled inside each group, and some rows are counterfeits. So
people are counted per group: its real people, spread evenly over their boxes, times the share of the value in the
group.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from seriatim.errors import Fault, TableError
from seriatim.kernels.check.box_counts import expected_in_ranges
from seriatim.model.own_tables import folder_of_column
from seriatim.ports import PUBLIC
from seriatim.reading.published_boxes import (
    COUNTERFEITS,
    GROUP,
    Axis,
    Boxes,
    FloatArray,
    IntArray,
    Range,
    box_real_rows,
    covered_boxes,
)
from seriatim.reading.relation import Relation


@dataclass(frozen=True, eq=False, repr=False)
class PublishedRelease:
    """A published table, the table that counts its counterfeits, and the axes to read its labels on."""

    table: pa.Table
    counterfeits: pa.Table | None
    axes: Mapping[str, Axis]
    _: KW_ONLY
    plain: pa.Table | None = None
    """The columns published as they are, beside boxes alone; None if they are in ``table``."""
    told: Mapping[str, Mapping[str, Any]] | None = None
    """What the codebook says about each quasi column; None if the axes were named instead."""
    weight: str | None = None
    """The column of a survey that says how many people a record stands for; every count is of these people."""

    @property
    def n_people(self) -> int:
        """Return the rows without the counterfeits."""
        made_up = None if self.counterfeits is None else pc.sum(self.counterfeits.column(COUNTERFEITS)).as_py()
        return int(self.table.num_rows - (made_up or 0))

    def count(self, where: Mapping[str, Range], having: Mapping[str, object] | None = None) -> float:
        """Estimate the number of people with every column of ``where`` in its range and the values in ``having``.

        ``having`` names a column that is published as it is, and a value: {"disease": "asthma"}.
        """
        axes = {name: self._axis(name) for name in where} or dict(list(self.axes.items())[:1])
        boxes = self._boxes(axes, having or {})
        spans = [axis.range_of(name, where.get(name, "*")) for name, axis in axes.items()]
        ends = np.array(spans, dtype=np.int32).reshape(1, len(axes), 2)
        return float(count_in_ranges(boxes, RangeQueries(ends[:, :, 0].copy(), ends[:, :, 1].copy()))[0])

    def count_values(self, column: str, people: int | None = None) -> dict[str | None, float]:
        """Estimate how many people hold each value of a column, without counterfeits.

        A counterfeit keeps the value of somebody who left, and nobody can tell which of a group is whose: the
        real people of each group are given its values by their shares there. That has no bias if leaving does not
        depend on the value. ``people`` is how many were in the view, if that is known: those withheld then count as
        the others do.
        """
        table = self.table_with([column])
        shown = table.column(column)
        shown = shown.cast(shown.type.value_type) if pa.types.is_dictionary(shown.type) else shown
        coded = shown.cast(pa.string()).dictionary_encode(null_encoding="encode").combine_chunks()
        weights = self._real_share_of_rows() if table is self.table else np.ones(table.num_rows)
        if self.weight is not None and table is self.table:
            weights = weights * self.weights
        found = np.bincount(coded.indices.to_numpy(), weights=weights, minlength=len(coded.dictionary))
        scale = 1.0 if people is None or not found.sum() else people / found.sum()
        return {value: float(n * scale) for value, n in zip(coded.dictionary.to_pylist(), found, strict=True)}

    def relation(self, sensitive: str, earlier: Sequence[PublishedRelease] = ()) -> Relation:
        """Return how the values of a sensitive column go with the quasi columns, read from all cells joined.

        ``earlier`` are earlier releases of the series: they have cells that this one no longer has. Axes that were
        not named then span the labels of all of them.
        """
        newest = self
        if len(earlier) and self.told is not None and all(one.told is not None for one in earlier):
            newest = replace(self, axes=_axes_told([*earlier, self]))
        return Relation((*earlier, newest), sensitive)

    @property
    def weights(self) -> np.ndarray:
        """Return how many people each row stands for: 1 without survey weights."""
        if self.weight is None:
            return np.ones(self.table.num_rows)
        return np.asarray(self.table.column(self.weight).to_numpy())

    def _real_share_of_rows(self) -> np.ndarray:
        """Return for each row the share of its group's rows that are real people."""
        if GROUP not in self.table.column_names or self.counterfeits is None:
            return np.ones(self.table.num_rows)
        names = pc.unique(self.table.column(GROUP))
        number = pc.index_in(self.table.column(GROUP), value_set=names).to_numpy()
        rows = np.bincount(number, minlength=len(names))
        of_box = pc.index_in(self.counterfeits.column(GROUP), value_set=names).to_numpy()
        counterfeits = np.bincount(
            of_box, weights=self.counterfeits.column(COUNTERFEITS).to_numpy(), minlength=len(names)
        )
        return np.asarray((1 - counterfeits / np.maximum(rows, 1))[number])

    def table_with(self, names: Iterable[str]) -> pa.Table:
        """Return the table that has all of these columns; raise an error if none has."""
        tables = [self.table, *([] if self.plain is None else [self.plain])]
        known = [name for table in tables for name in table.column_names]
        strange = [name for name in names if name not in known]
        if strange:
            allowed = ", ".join(dict.fromkeys(known))
            raise TableError([Fault(f"column {name!r}", "not in the release", allowed) for name in strange])
        for table in tables:
            if {*names} <= {*table.column_names}:
                return table
        found, allowed = "these columns are in different tables", "columns of one of them"
        raise TableError(Fault(", ".join(names), found, allowed, "ask separately: nothing links their rows"))

    def _axis(self, name: str) -> Axis:
        if name not in self.axes:
            raise TableError(Fault(f"column {name!r}", "has no axis", ", ".join(self.axes), "add its axis"))
        return self.axes[name]

    def _boxes(self, axes: Mapping[str, Axis], having: Mapping[str, object]) -> Boxes:
        table = self.table_with(list(having))
        meant = _meant(table, having)
        if GROUP not in table.column_names:  # without groups a row is a record
            weight = self.weight if table is self.table else None
            return covered_boxes(box_real_rows(table.filter(meant), None, list(axes), weight), axes)
        rows = box_real_rows(self.table, self.counterfeits, list(axes))
        boxes = covered_boxes(rows, axes)
        return replace(boxes, people=boxes.people * _shares(self.table, meant, rows.column(GROUP)))


def open_release(
    folder: str | Path, axes: Mapping[str, Axis] | None = None, sensitive: str | None = None
) -> PublishedRelease:
    """Open the folder of a release as delivered: table, counterfeits and plain columns, as CSV or Parquet.

    Without ``axes`` the quasi columns are those of the codebook, on axes that span what the labels say. ``sensitive``
    names the column whose table to open, where each sensitive column has a table of its own.
    """
    place = Path(folder)
    if (place / PUBLIC).is_dir():
        place = place / PUBLIC
    path = place / "codebook.json"
    codebook = path.read_bytes() if path.is_file() else None
    if codebook is not None:  # where each sensitive column has a table of its own, in a folder of its own
        place = place / folder_of_column(codebook, str(place), sensitive)
    table = _read(place, "table")
    if table is None:
        raise TableError(
            Fault(str(folder), "no table.csv or table.parquet", "the folder of a release", "check the path")
        )
    values = _read(place, "values")
    if values is not None:  # buckets: which value of a group is whose is secret, so any of them will do
        table = table.sort_by(GROUP)
        for name in values.drop_columns(GROUP).column_names:
            table = table.append_column(name, values.sort_by(GROUP).column(name))
    beside = _read(place, "counterfeits"), _read(place, "plain")
    if axes is not None:
        return PublishedRelease(table, beside[0], axes, plain=beside[1])
    if codebook is None:
        remedy = "name the axes of its columns"
        raise TableError(Fault(str(folder), "no codebook.json", "the folder of a release", remedy))
    return release_told(table, beside[0], beside[1], json.loads(codebook))


def release_told(
    table: pa.Table, counterfeits: pa.Table | None, plain: pa.Table | None, codebook: Mapping[str, Any]
) -> PublishedRelease:
    """Return a release whose axes span what its labels say, as its codebook explains them."""
    names = table.column_names
    columns = [one for one in codebook["columns"] if one["name"] in names]
    told = {one["name"]: one for one in columns if one["role"] == "quasi"}
    weight = next((one["name"] for one in columns if one["role"] == "weight"), None) if GROUP not in names else None
    if weight is not None:  # where values are shuffled in groups, no row's weight belongs to its value
        place = table.column_names.index(weight)
        table = table.set_column(place, weight, table.column(weight).cast(pa.float64()))
    release = PublishedRelease(table, counterfeits, {}, plain=plain, told=told, weight=weight)
    return replace(release, axes=_axes_told([release]))


def _axes_told(releases: Sequence[PublishedRelease]) -> dict[str, Axis]:
    """Return the axes that the labels of all releases span, in the order that the newest one's codebook declares."""
    found = {}
    for name, column in (releases[-1].told or {}).items():
        holders = [(one.table.column(name), one.told[name]) for one in releases if one.told and name in one.told]
        labels = {label for shown, _ in holders for label in pc.unique(shown.cast(pa.string())).to_pylist()}
        nodes: dict[str, set[str]] = {}
        for label, members in (item for _, told in holders for item in (told.get("labels") or {}).items()):
            nodes.setdefault(label, set()).update(members)
        found[name] = Axis.of_labels(labels, column.get("order", ()), {key: sorted(nodes[key]) for key in nodes})
    return found


def _read(folder: Path, stem: str) -> pa.Table | None:
    if (folder / f"{stem}.parquet").is_file():
        return pq.read_table(folder / f"{stem}.parquet")
    path = folder / f"{stem}.csv"
    if not path.is_file():
        return None
    mark, names = _mark_and_names(path)
    # as text, so that postcodes keep leading zeros
    kinds = {name: pa.int64() if name in (GROUP, COUNTERFEITS) else pa.string() for name in names}
    parse, convert = pacsv.ParseOptions(delimiter=mark), pacsv.ConvertOptions(column_types=kinds)
    return pacsv.read_csv(path, parse_options=parse, convert_options=convert)


def _mark_and_names(path: Path) -> tuple[str, list[str]]:
    """Return the separator, which is that of the publisher's own file, and the names of the columns."""
    heads = {}
    for mark in ",;\t|":
        with path.open(encoding="utf-8", newline="") as file:
            heads[mark] = next(csv.reader(file, delimiter=mark), [])
    return max(heads.items(), key=lambda head: len(head[1]))


def _meant(table: pa.Table, having: Mapping[str, object]) -> pa.Array:
    meant = pa.array(np.ones(table.num_rows, dtype=np.bool_))
    for name, value in having.items():
        column = table.column(name)
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        same = pc.fill_null(pc.equal(plain.cast(pa.string()), str(value)), False)
        meant = pc.and_(meant, same.combine_chunks())
    return meant


def _shares(table: pa.Table, meant: pa.Array, groups: pa.ChunkedArray) -> np.ndarray:
    """Return the share of the chosen rows in each group."""
    number = pc.index_in(table.column(GROUP), value_set=pc.unique(table.column(GROUP))).to_numpy()
    rows = np.bincount(number)
    held = np.bincount(number, weights=np.asarray(meant.to_numpy(zero_copy_only=False), dtype=np.float64))
    share = held / np.maximum(rows, 1)
    return np.asarray(share[pc.index_in(groups, value_set=pc.unique(table.column(GROUP))).to_numpy()])


@dataclass(frozen=True, slots=True, eq=False)
class RangeQueries:
    """Queries 'how many people have every column between low and high', both included; one row per query."""

    from_: IntArray
    to: IntArray

    def __len__(self) -> int:
        return len(self.from_)


def count_in_ranges(boxes: Boxes, queries: RangeQueries) -> FloatArray:
    """Estimate the number of people for each query."""
    return np.asarray(expected_in_ranges(boxes.low, boxes.high, boxes.people, queries.from_, queries.to))
