"""A baseline: the public distribution of X that released records must resemble, with a version of its own."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.attribute import UNKNOWN, Attribute, listed
from seriatim_gate.engine.inputs import FloatArray, LongArray, input_probabilities

SCHEMA = "seriatim.gate.baseline/1"
FEWEST, ENOUGH = 300, 3_000
UNSERVED, STRICT = 30, 100
"""The worst-direction test serves no target with fewer records than the first, and few records below the second."""
RARE = 0.02
BANDS = range(8, 13)
Column = Sequence[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Baseline:
    """P(X) over the product of its attributes, the targets Y and their shares. Ranges belong to the version."""

    attributes: tuple[Attribute, ...]
    probabilities: FloatArray
    target: str
    targets: tuple[str, ...]
    target_shares: FloatArray
    n_records: int
    others: str = ""
    """The target that requests for unknown targets count as; empty refuses them."""
    together: tuple[str, ...] = ()
    """The columns of Y where there are several; else its only column is ``target``."""

    def __post_init__(self) -> None:
        cells = math.prod(len(attribute) for attribute in self.attributes)
        p = input_probabilities(self.probabilities)
        if len(p) != cells:
            raise InputError(Fault("baseline", f"{len(p)} probabilities", f"{cells}, one per value of X"))
        shares = input_probabilities(self.target_shares, "target shares", 1)
        if len(shares) != len(self.targets) or len(set(self.targets)) != len(self.targets):
            raise InputError(Fault("baseline", "targets do not match their shares", "one share per target, named once"))
        if self.others and self.others not in self.targets:
            raise InputError(Fault("baseline", "the target for unknown ones is not one of its targets", "one of them"))
        object.__setattr__(self, "probabilities", p)
        object.__setattr__(self, "target_shares", shares)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Return the values of X by name: combinations of several attributes, the last one changing fastest."""
        return tuple(" / ".join(parts) for parts in product(*(attribute.labels for attribute in self.attributes)))

    def place_of(self, value: Any) -> int:
        """Return the place of a raw value (a tuple for several attributes), -1 where it is none."""
        parts = value if isinstance(value, tuple | list) else (value,)
        if len(parts) != len(self.attributes):
            return UNKNOWN
        place = 0
        for attribute, part in zip(self.attributes, parts, strict=True):
            own = attribute.place_of(part)
            if own == UNKNOWN:
                return UNKNOWN
            place = place * len(attribute) + own
        return place

    def codes(self, columns: Mapping[str, Column]) -> LongArray:
        """Return the place of every row of a table's columns, -1 where a value is unknown."""
        return _joint(self.attributes, columns)

    def target_codes(self, column: Column) -> LongArray:
        """Return the place of every target; of an unknown one that of ``others``, of a missing one -1."""
        codes = self._target_values.codes(column)
        if not self.others:
            return codes
        named = np.array([entry is not None for entry in column], dtype=bool)
        return np.where((codes < 0) & named, self.place_of_others, codes)

    def place_of_target(self, entry: Any) -> int:
        """Return the place of one target, as ``target_codes`` does."""
        own = self._target_values.place_of(entry)
        return self.place_of_others if own == UNKNOWN and entry is not None else own

    @cached_property
    def _target_values(self) -> Attribute:
        return Attribute(self.target, self.targets)

    @property
    def target_columns(self) -> tuple[str, ...]:
        return self.together or (self.target,)

    @property
    def place_of_others(self) -> int:
        """Return the place of the target that unknown ones count as, -1 if they are refused."""
        return self.targets.index(self.others) if self.others else UNKNOWN

    @cached_property
    def version(self) -> str:
        """Return a digest of everything in the baseline: equal versions judge alike."""
        return hashlib.sha256(json.dumps(self._content(), sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> str:
        return json.dumps({"schema": SCHEMA, "version": self.version, **self._content()}, indent=1, sort_keys=True)

    def _content(self) -> dict[str, Any]:
        return {
            "attributes": [
                {"name": a.name, "values": list(a.values), "edges": [repr(edge) for edge in a.edges]}
                for a in self.attributes
            ],
            "probabilities": [float(p) for p in self.probabilities],
            "target": self.target,
            "targets": list(self.targets),
            "target_shares": [float(share) for share in self.target_shares],
            "n_records": self.n_records,
            **({"others": self.others} if self.others else {}),
            **({"together": list(self.together)} if self.together else {}),
        }

    def advice(self, tests: Sequence[str] = ("kld",)) -> tuple[str, ...]:
        """Return what an officer should know before they rely on this baseline."""
        notes = []
        if self.n_records < ENOUGH:
            notes.append(f"the baseline rests on {self.n_records:,} records; {ENOUGH:,} or more judge reliably")
        rare = int((self.probabilities < RARE).sum())
        if rare:
            notes.append(f"{rare} of {len(self.probabilities)} values of X are rarer than 2%; merge them")
        if len(self.attributes) == 1 and self.attributes[0].edges and len(self.probabilities) not in BANDS:
            notes.append(f"{len(self.probabilities)} ranges; 8 to 12 with equal shares serve best")
        notes += self._advice_on_wdt() if "wdt" in tests else ()
        if any(name in tests for name in ("mis", "cst", "dqt")):
            notes.append("mis, cst and dqt depend on the order of requests; use them for study and comparison")
        if tuple(tests) == ("dqt",):
            notes.append("dqt alone releases most of an outlier; combine it with kld")
        return tuple(notes)

    @cached_property
    def target_sizes(self) -> LongArray:
        """Return how many records of the baseline's table each target had."""
        return np.rint(self.target_shares * self.n_records).astype(np.int64)

    def _advice_on_wdt(self) -> list[str]:
        notes, sizes = [], self.target_sizes
        if len(self.probabilities) > BANDS[-1]:
            notes.append(f"wdt serves up to {BANDS[-1]} values of X")
        unserved, small = int((sizes < UNSERVED).sum()), int(((sizes >= UNSERVED) & (sizes < STRICT)).sum())
        if unserved:
            notes.append(f"wdt does not serve {unserved} of {len(sizes)} targets: fewer than {UNSERVED} records")
        if small:
            notes.append(f"wdt releases little of {small} of {len(sizes)} targets: fewer than {STRICT} records")
        return notes

    def must_serve(self) -> None:
        """Refuse a baseline on too few records."""
        if self.n_records < FEWEST:
            found = f"a baseline of {self.n_records} records"
            raise InputError(Fault("baseline", found, f"{FEWEST} or more", "take a larger table"))

    def with_ranges_of(self, columns: Mapping[str, Column]) -> Baseline:
        """Return the next version: the same attributes and targets, counted on another table."""
        targets = target_column(self.target_columns, columns)
        return baseline_from(columns, self.attributes, self.target, targets, self.targets, self.others, self.together)


def baseline_from(
    columns: Mapping[str, Column],
    attributes: Sequence[Attribute],
    target: str,
    targets: Column,
    names: Sequence[str] | None = None,
    others: str = "",
    together: Sequence[str] = (),
) -> Baseline:
    """Count a baseline on a table: rows with an unknown value of X or no target do not count.

    ``others`` names the target that targets which are unknown today will count as. ``together`` are the columns of
    ``targets`` where there are several, joined by ``target_column``.
    """
    x = _joint(attributes, columns)
    target_names = tuple(names) if names is not None else listed(target, targets).values
    if others and others not in target_names:
        target_names += (others,)
    if not target_names:
        raise InputError(Fault(f"column {target!r}", "no target", "at least one"))
    y = Attribute(target, target_names).codes(targets)
    if len(x) != len(y):
        raise InputError(Fault("baseline", f"columns of {len(x)} and {len(y)} rows", "equally long columns"))
    used = (x >= 0) & (y >= 0)
    if not bool(used.any()):
        raise InputError(Fault("baseline", "no row with a value of X and a target", "at least one"))
    cells = math.prod(len(attribute) for attribute in attributes)
    p = np.bincount(x[used], minlength=cells) / used.sum()
    shares = np.bincount(y[used], minlength=len(target_names)) / used.sum()
    return Baseline(
        attributes=tuple(attributes),
        probabilities=p,
        target=target,
        targets=target_names,
        target_shares=shares,
        n_records=int(used.sum()),
        others=others,
        together=tuple(together),
    )


def target_column(names: Sequence[str], columns: Mapping[str, Column]) -> Column:
    """Return the targets of a table: of several columns each combination is one."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(Fault(f"column {missing[0]!r}", "missing", "the columns of Y"))
    if len(names) == 1:
        return columns[names[0]]
    return [joined_target(parts) for parts in zip(*(columns[name] for name in names), strict=True)]


def joined_target(parts: Sequence[Any]) -> Any:
    """Return the name of a target from its value in each column of Y; None where one is missing."""
    if len(parts) == 1:
        return parts[0]
    if any(part is None for part in parts):
        return None
    # a slash inside a value is doubled, so that no two combinations have one name
    return " / ".join(str(part).replace("/", "//") for part in parts)


def baseline_from_json(text: str) -> Baseline:
    """Read what ``Baseline.to_json`` wrote; a changed file is refused by its version.

    A file written by hand has no version, and may leave out the shares of the targets: they are then equal.
    """
    try:
        told = json.loads(text)
        attributes = tuple(
            Attribute(
                str(a["name"]), tuple(map(str, a.get("values", ()))), tuple(float(edge) for edge in a.get("edges", ()))
            )
            for a in told["attributes"]
        )
        targets = tuple(map(str, told["targets"]))
        shares = told.get("target_shares", [1 / max(len(targets), 1)] * len(targets))
        made = Baseline(
            attributes=attributes,
            probabilities=np.array(told["probabilities"], dtype=np.float64),
            target=str(told["target"]),
            targets=targets,
            target_shares=np.array(shares, dtype=np.float64),
            n_records=int(told["n_records"]),
            others=str(told.get("others", "")),
            together=tuple(map(str, told.get("together", ()))),
        )
        version, schema = told.get("version", made.version), told["schema"]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise InputError(Fault("baseline", "not a baseline file", f"a JSON file of {SCHEMA}")) from None
    if schema != SCHEMA or version != made.version:
        raise InputError(Fault("baseline", "the file was changed after it was written", "the file as it was written"))
    return made


def _joint(attributes: Sequence[Attribute], columns: Mapping[str, Column]) -> LongArray:
    place: LongArray | None = None
    for attribute in attributes:
        if attribute.name not in columns:
            raise InputError(Fault(f"column {attribute.name!r}", "missing", "the columns of X"))
        own = attribute.codes(columns[attribute.name])
        if place is None:
            place = own
        elif len(own) != len(place):
            raise InputError(Fault(f"column {attribute.name!r}", "not as long as the others", "equally long columns"))
        else:
            place = np.where((place < 0) | (own < 0), UNKNOWN, place * len(attribute) + own)
    if place is None:
        raise InputError(Fault("baseline", "no attribute of X", "at least one"))
    return place
