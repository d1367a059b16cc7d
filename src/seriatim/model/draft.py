"""A draft: a candidate release. It cannot be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.scale import Form, IntArray
from seriatim.model.view import CodedColumn

SENSITIVE = "sensitive"
"""The column of ``release.groups`` that says to which sensitive column's table a row belongs."""
_FIRST, _LAST = ("respondent", "group"), ("counterfeit", "suppressed")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouping:
    """The assignment of a view's records to groups that share generalised quasi-identifiers."""

    group: IntArray
    """The group of each record, 0 .. n_groups - 1; -1 if suppressed."""
    n_groups: int

    def __repr__(self) -> str:
        return f"Grouping({len(self.group)} records in {self.n_groups} groups, {self.n_suppressed} suppressed)"

    @property
    def n_suppressed(self) -> int:
        return int((self.group < 0).sum())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Generalised:
    """A quasi-identifier as published: one label per group."""

    name: str
    form: Form
    _: KW_ONLY
    label_of_group: IntArray
    labels: tuple[str | None, ...]
    loss_of_group: npt.NDArray[np.float64]
    """Normalised certainty penalty of the label: 0 for a single value, 1 for ``*``."""
    low: IntArray | None = None
    """The first code that each group's label covers; None if labels are sets of the values present."""
    high: IntArray | None = None
    """The last code that each group's label covers."""

    def of_groups(self, kept: IntArray) -> Generalised:
        """Return only the labels of these groups, in this order."""
        return Generalised(
            self.name,
            self.form,
            label_of_group=self.label_of_group[kept],
            labels=self.labels,
            loss_of_group=self.loss_of_group[kept],
            low=None if self.low is None else self.low[kept],
            high=None if self.high is None else self.high[kept],
        )

    def __repr__(self) -> str:
        return f"Generalised({self.name!r}, {self.form}, {len(self.labels)} labels)"


def groups_of_columns(groups: Mapping[str, pa.Table]) -> pa.Table:
    """Return release.groups of several tables, one after the other; a column ``sensitive`` says which is which."""
    named = [table.append_column(SENSITIVE, pa.array([name] * len(table))) for name, table in groups.items()]
    whole = pa.concat_tables(named, promote_options="default")
    last = [name for name in whole.column_names if name not in (*_FIRST, *groups, *_LAST)]
    return whole.select([*_FIRST, *groups, *_LAST, *last])


TABLE, COUNTERFEITS, VALUES, PLAIN = "table", "counterfeits", "values", "plain"
"""Names of files: the published table, the number of counterfeits in each published group, the values of buckets, and
the plain columns by box where they may not be beside the group."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Draft:
    """What would be published, and what only the publisher knows about it."""

    files: Mapping[str, pa.Table]
    """The files that would be written, by name: always ``table``; serial methods add ``counterfeits``, and those whose
    boxes cross groups ``plain``."""
    quasi: tuple[str, ...]
    sensitive: Mapping[str, CodedColumn]
    """The sensitive columns, row by row as in ``table``, each on the scale of its values."""
    grouping: Grouping
    generalised: tuple[Generalised, ...]
    groups: pa.Table
    """release.groups: respondent, group, the sensitive columns as published, counterfeit, suppressed."""
    serial: bool = False
    """Whether the table has a column ``group``; otherwise a class has equal quasi values."""
    buckets: bool = False
    """Whether it is written as two tables, quasi-identifiers and values, joined by ``group``."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """What the method counted: counterfeits, people withheld and why."""
    source_rows: npt.NDArray[np.int64] | None = None
    """The row of the source table that each record was; None if the records were not put in another order."""
    memory: Mapping[str, pa.Table] = field(default_factory=dict)
    """What the method remembers about people for the next release: a column ``respondent`` and any others."""
    notes: tuple[str, ...] = ()
    """What the method says about this draft, for the verdict: counts and figures, no values."""
    own_tables: Mapping[str, Draft] = field(default_factory=dict)
    """The drafts by sensitive column, where each column has a table of its own; all else is then of the first."""

    def __repr__(self) -> str:
        names = f"quasi {[*self.quasi]}, sensitive {[*self.sensitive]}"
        return f"Draft({self.table.num_rows} rows, {names}, {self.grouping!r})"

    @property
    def table(self) -> pa.Table:
        """Return the published rows in the order in which they would be written; of the first of several tables."""
        return next(iter(self.own_tables.values())).table if self.own_tables else self.files[TABLE]

    @property
    def tables(self) -> Mapping[str | None, Draft]:
        """Return the drafts whose tables are published: by sensitive column, or this one alone."""
        return dict(self.own_tables.items()) if self.own_tables else {None: self}

    @property
    def by_group(self) -> bool:
        """Return whether the table says who is together by a column ``group``."""
        return self.serial or self.buckets

    @property
    def counterfeits(self) -> pa.Table | None:
        """Return the counterfeits in each published group: the second table of serial methods."""
        return self.files.get(COUNTERFEITS)

    @property
    def groups_by_source(self) -> pa.Table:
        """Return release.groups with the records in the order of the source table, counterfeits after them."""
        if self.own_tables:
            return groups_of_columns({name: own.groups_by_source for name, own in self.own_tables.items()})
        if self.source_rows is None:
            return self.groups
        back = np.argsort(self.source_rows)
        counterfeits = np.arange(len(back), len(self.groups))
        return self.groups.take(pa.array(np.concatenate((back, counterfeits))))

    @property
    def n_records(self) -> int:
        return len(self.grouping.group)

    @property
    def suppressed_share(self) -> float:
        return self.grouping.n_suppressed / self.n_records if self.n_records else 0.0
