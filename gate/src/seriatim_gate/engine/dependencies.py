"""The dependencies X ~> Y that one gate guards together: a baseline for each, under one version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.baseline import Baseline, Column, baseline_from_json, joined_target, target_column
from seriatim_gate.engine.inputs import Codes, LongArray, Places

SCHEMA = "seriatim.gate.dependencies/1"


@dataclass(frozen=True)
class Dependencies:
    """One baseline or more. Of a single one, version and file are the baseline's own."""

    baselines: tuple[Baseline, ...]

    def __post_init__(self) -> None:
        if not self.baselines:
            raise InputError(Fault("dependencies", "none", "one or more"))
        if len(set(self.names)) != len(self.names):
            raise InputError(Fault("dependencies", "one is listed twice", "each X ~> Y once"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return each dependency by its columns, such as ``age, sex ~> ward``."""
        return tuple(
            f"{', '.join(attribute.name for attribute in one.attributes)} ~> {one.target}" for one in self.baselines
        )

    @cached_property
    def columns_of(self) -> tuple[frozenset[str], ...]:
        """Return the columns of each dependency."""
        return tuple(
            frozenset((*(part.name for part in one.attributes), *one.target_columns)) for one in self.baselines
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that a record must have, each once."""
        named = ([*(attribute.name for attribute in one.attributes), *one.target_columns] for one in self.baselines)
        return tuple(dict.fromkeys(name for names in named for name in names))

    @cached_property
    def codes(self) -> Codes:
        return Codes([(len(one.probabilities), len(one.targets)) for one in self.baselines])

    @cached_property
    def version(self) -> str:
        """Return a digest of everything in the baselines: equal versions judge alike."""
        if len(self.baselines) == 1:  # a single one is known, stored and written as itself
            return self.baselines[0].version
        return hashlib.sha256(" ".join(one.version for one in self.baselines).encode()).hexdigest()[:16]

    def places(self, columns: Mapping[str, Column]) -> Places:
        """Return x and y of every row for each dependency, -1 where a value or a target is unknown."""
        return [
            (one.codes(columns), one.target_codes(target_column(one.target_columns, columns))) for one in self.baselines
        ]

    def cells(self, columns: Mapping[str, Column]) -> tuple[LongArray, LongArray]:
        """Return the pair of numbers that stands for every row's cells."""
        return self.codes.pack(self.places(columns))

    def cell_of(self, values: Mapping[str, Any]) -> tuple[int, int]:
        """Return the pair of numbers that stands for the cells of one record."""
        found = [
            (
                one.place_of(tuple(values[a.name] for a in one.attributes)),
                one.place_of_target(joined_target([values[name] for name in one.target_columns])),
            )
            for one in self.baselines
        ]
        if len(found) == 1:
            return found[0]
        x, y = self.codes.pack([(np.array([x]), np.array([y])) for x, y in found])
        return int(x[0]), int(y[0])

    def recounted(self, columns: Mapping[str, Column]) -> Dependencies:
        """Return the next version: the same values, ranges and targets, counted on another table."""
        return Dependencies(tuple(one.with_ranges_of(columns) for one in self.baselines))

    def must_serve(self) -> None:
        """Refuse a baseline on too few records, or too many combinations of cells."""
        _ = self.codes
        for one in self.baselines:
            one.must_serve()

    def advice(self, tests: Sequence[str] = ("kld",)) -> tuple[str, ...]:
        """Return what an officer should know before they rely on these baselines."""
        if len(self.baselines) == 1:
            return self.baselines[0].advice(tests)
        told = zip(self.names, (one.advice(tests) for one in self.baselines), strict=True)
        return tuple(f"{name}: {note}" for name, notes in told for note in notes)

    def to_json(self) -> str:
        if len(self.baselines) == 1:
            return self.baselines[0].to_json()
        parts = [json.loads(one.to_json()) for one in self.baselines]
        return json.dumps({"schema": SCHEMA, "version": self.version, "baselines": parts}, indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Dependencies:
        """Read what ``to_json`` or ``Baseline.to_json`` wrote; a changed file is refused by its version."""
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict) or told.get("schema") != SCHEMA:
            return cls((baseline_from_json(text),))
        if not isinstance(told.get("baselines"), list):
            raise InputError(Fault("baseline", "not a baseline file", f"a JSON file of {SCHEMA}"))
        made = cls(tuple(baseline_from_json(json.dumps(part)) for part in told["baselines"]))
        if told.get("version") != made.version:
            raise InputError(
                Fault("baseline", "the file was changed after it was written", "the file as it was written")
            )
        return made


def pairs_named(texts: Iterable[str], columns: Iterable[str]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Read dependencies written as ``x ~> y`` or ``x, x2 ~> y, y2``; a column's name may itself have commas."""
    known, found = set(columns), []
    for text in texts:
        x, arrow, y = text.rpartition("~>")
        sides = [
            (side.strip(),) if side.strip() in known else tuple(part.strip() for part in side.split(","))
            for side in (x, y)
        ]
        if not arrow or not all(map(all, sides)):
            raise InputError(Fault("dependencies", "not of the form X ~> Y", "columns, such as 'age, sex ~> ward'"))
        found.append((sides[0], sides[1]))
    return tuple(found)
