"""A draft: a candidate release. It cannot be written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.scale import Form, IntArray
from seriatim.model.view import Coded


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouping:
    """The assignment of a view's records to groups that share generalised quasi-identifiers."""

    group: IntArray
    """For each record its group, 0 .. n_groups - 1; -1 when suppressed."""
    n_groups: int

    def __repr__(self) -> str:
        return f"Grouping({len(self.group)} records in {self.n_groups} groups, {self.n_suppressed} suppressed)"

    @property
    def n_suppressed(self) -> int:
        return int((self.group < 0).sum())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Generalised:
    """A quasi-identifier as published: one label for each group."""

    name: str
    form: Form
    label_of_group: IntArray
    labels: tuple[str | None, ...]
    loss_of_group: npt.NDArray[np.float64]
    """Normalised certainty penalty of the label: 0 for a single value, 1 for everything."""
    low: IntArray | None = None
    """The first code that each group's label covers; None where labels are sets of the values present."""
    high: IntArray | None = None
    """The last one."""

    def of_groups(self, kept: IntArray) -> Generalised:
        """Return the labels of these groups alone, in this order."""
        return Generalised(
            self.name,
            self.form,
            self.label_of_group[kept],
            self.labels,
            self.loss_of_group[kept],
            None if self.low is None else self.low[kept],
            None if self.high is None else self.high[kept],
        )

    def __repr__(self) -> str:
        return f"Generalised({self.name!r}, {self.form}, {len(self.labels)} labels)"


TABLE, COUNTERFEITS = "table", "counterfeits"
"""Names of files: the published table, and the number of counterfeits per published group beside it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True, kw_only=True)
class Draft:
    """What would be published, and the publisher's own knowledge of it."""

    files: Mapping[str, pa.Table]
    """What would be written out, by name: always ``table``; serial methods add ``counterfeits``."""
    quasi: tuple[str, ...]
    sensitive: Mapping[str, Coded]
    """The sensitive columns row by row as in ``table``, each on the scale of its values."""
    grouping: Grouping
    generalised: tuple[Generalised, ...]
    groups: pa.Table
    """release.groups: respondent, group, the sensitive columns as published, counterfeit, suppressed."""
    serial: bool = False
    """Whether the table carries a column ``group``; elsewhere a class is equal quasi values."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """What the method counted on its way: counterfeits, people withheld and why."""
    memory: Mapping[str, pa.Table] = field(default_factory=dict)
    """What the method wants to know of people at the next release: a column ``respondent`` and any others."""

    def __repr__(self) -> str:
        names = f"quasi {[*self.quasi]}, sensitive {[*self.sensitive]}"
        return f"Draft({self.table.num_rows} rows, {names}, {self.grouping!r})"

    @property
    def table(self) -> pa.Table:
        """The published rows in the order in which they would leave."""
        return self.files[TABLE]

    @property
    def counterfeits(self) -> pa.Table | None:
        """Counterfeits per published group: the side table of serial methods."""
        return self.files.get(COUNTERFEITS)

    @property
    def n_records(self) -> int:
        return len(self.grouping.group)

    @property
    def suppressed_share(self) -> float:
        return self.grouping.n_suppressed / self.n_records if self.n_records else 0.0
