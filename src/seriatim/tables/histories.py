"""Reads histories: anyone's releases as one long table can be attacked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, TableError
from seriatim.model import History, PastRelease, Table
from seriatim.model.classes import class_text_codes
from seriatim.model.history import WithheldPeople
from seriatim.model.table_faults import check_header, check_single_cells, several_records_fault
from seriatim.tables.reader import read_table

COLUMNS = ("release", "respondent", "group", "sensitive")


def table_history(source: Any) -> History:
    """Read a long table with columns release (int), respondent (null for a counterfeit), group and sensitive.

    A row without a group was withheld from its release, as in ``release.groups``.
    """
    table = read_table(source)
    _check(table)
    shown = pc.is_valid(table.data.column("group"))
    out = table.data.filter(pc.invert(shown))
    table = replace(table, data=table.data.filter(shown))
    release = table.data.column("release").to_numpy()
    people, respondents = class_text_codes(table.data.column("respondent"))
    values, domain = class_text_codes(table.data.column("sensitive"))
    group, _ = class_text_codes(table.data.column("group"))
    pasts = [_past(int(n), release == n, people, group, values) for n in np.unique(release)]
    return _with_withheld(History(respondents, domain, tuple(pasts)), out)


def _with_withheld(history: History, out: pa.Table) -> History:
    """Return the history with the people who were withheld from each release; those never published come last."""
    out = out.filter(pc.is_valid(out.column("respondent")))
    if not len(out):
        return history
    codes, ids = class_text_codes(out.column("respondent"))
    fresh = ids.filter(pc.is_null(pc.index_in(ids, value_set=history.respondents)))
    respondents = pa.concat_arrays([history.respondents, fresh])
    person = pc.index_in(ids, value_set=respondents).to_numpy()[codes]
    values, domain = class_text_codes(out.column("sensitive"))
    release = out.column("release").to_numpy()
    pasts = [
        replace(past, withheld=WithheldPeople(person[at].astype(np.int32), domain.take(pa.array(values[at]))))
        for past in history
        for at in (np.flatnonzero(release == past.number),)
    ]
    return History(respondents, history.values, tuple(pasts))


def _past(number: int, rows: Any, people: Any, group: Any, values: Any) -> PastRelease:
    _, within = np.unique(group[rows], return_inverse=True)
    return PastRelease(number, person=people[rows], group=within.astype(np.int32), value=values[rows])


def _check(table: Table) -> None:
    check_header(table.name, table.data, COLUMNS)
    names = table.data.column_names
    faults = [
        Fault(f"{table.name}, column {name!r}", "missing", "columns " + ", ".join(COLUMNS), "add it")
        for name in COLUMNS
        if name not in names
    ]
    check_single_cells(table.name, table.data, COLUMNS)
    if not faults and table.data.num_rows and not pat.is_integer(table.data.schema.field("release").type):
        faults.append(Fault(f"{table.name}, column 'release'", "not whole numbers", "1, 2, 3, ...", "number them"))
    for name in ("release", "sensitive"):
        if not faults and (empty := table.data.column(name).null_count):
            faults.append(Fault(f"{table.name}, column {name!r}", f"{empty} missing cells", "none", "fill them"))
    if not faults:
        faults.extend(_twice(table))
    if faults:
        raise TableError(faults)


def _twice(table: Table) -> list[Fault]:
    real = table.data.filter(pc.is_valid(table.data.column("respondent")))
    pairs = pa.table({"r": real.column("release"), "p": real.column("respondent")})
    counts = pairs.group_by(["r", "p"]).aggregate([([], "count_all")])
    most = counts.group_by("p").aggregate([("count_all", "max")]).column("count_all_max").to_numpy()
    fault = several_records_fault(f"{table.name}, column 'respondent', in one release", most)
    return [] if fault is None else [fault]
