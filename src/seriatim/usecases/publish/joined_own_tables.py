"""Joins the drafts and verdicts of sensitive columns that have a table of their own into one release.

Each was made and judged as if the others did not exist. The release leaves if every one of them may.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Adversary, Draft, Estimate, Finding, Measure, Verdict
from seriatim.model.chart import Chart
from seriatim.model.draft import groups_of_columns
from seriatim.model.own_tables import folders_by_column
from seriatim.usecases.publish.judgement import reason_told

if TYPE_CHECKING:
    from seriatim.attacks.columns_together import ColumnGroups

COLUMN = "column"
_APART = (
    'drop one of the two columns, publish them as one column, or start a new series with method = "cohort", '
    "whose groups are large"
)
MOST_WEIGHED = 30_000_000
"""Groups times values of a column, beyond which its tables are not weighed together."""


def drafts_as_one(drafts: Mapping[str, Draft]) -> Draft:
    """Return one draft with the files of all: a folder for each column."""
    folders = folders_by_column(tuple(drafts))
    first = next(iter(drafts.values()))
    memory: dict[str, pa.Table] = {}
    for own in drafts.values():
        memory |= own.memory
    return replace(
        first,
        files={f"{folders[name]}/{file}": table for name, own in drafts.items() for file, table in own.files.items()},
        sensitive={name: own.sensitive[name] for name, own in drafts.items()},
        groups=groups_of_columns({name: own.groups for name, own in drafts.items()}),
        memory=memory,
        own_tables=drafts,
    )


def verdicts_as_one(verdicts: Mapping[str, Verdict], drafts: Mapping[str, Draft], known: Adversary) -> Verdict:
    """Return one verdict: what was found about each column, under its name, and about all tables together."""
    each, linked = list(verdicts.values()), _linked(drafts, known.certain_above)
    together = [
        finding for name, found in linked.items() for finding in _judged_together(name, found, verdicts[name], known)
    ]
    broken = [finding for finding in together if not finding.kept]
    return Verdict(
        findings=(*(finding for one in each for finding in one.findings), *together),
        estimates=tuple(
            replace(estimate, detail={**estimate.detail, COLUMN: name})
            for name, one in verdicts.items()
            for estimate in (*one.estimates, *([linked[name]] if name in linked else []))
        ),
        measures=tuple(_named(measure, name) for name, one in verdicts.items() for measure in one.measures),
        reasons=(*(reason for one in each for reason in one.reasons), *map(reason_told, broken)),
        remedies=tuple(
            dict.fromkeys(
                (
                    *(remedy for one in each for remedy in one.remedies),
                    *(f"{one.rule} of {one.column!r}: {one.remedy}" for one in broken),
                )
            )
        ),
        approval=each[0].approval,
        charts={key: chart for name, one in verdicts.items() for key, chart in _charts(name, one).items()},
        notes=(*_notes({name: one.notes for name, one in verdicts.items()}), *_linked_notes(linked)),
    )


def _linked(drafts: Mapping[str, Draft], sure: float) -> dict[str, Estimate]:
    """Return for each column what is believed with the table of that other column that reveals most.

    Nothing is returned if there are too many groups and values to weigh.
    """
    from seriatim.attacks.columns_together import columns_together

    # weighing takes a table of groups by values for each column
    size = max(_n_groups(own) * len(own.sensitive[name].scale) for name, own in drafts.items())
    groups = {name: _column_groups(name, draft) for name, draft in drafts.items()} if size <= MOST_WEIGHED else {}
    return {
        name: max(
            (columns_together(own, groups[other], other, sure) for other in groups if other != name),
            key=lambda found: (found.share, found.detail["mean_belief"]),
        )
        for name, own in groups.items()
    }


def _judged_together(name: str, found: Estimate, own: Verdict, known: Adversary) -> Iterator[Finding]:
    """Yield the bounds of the policy with the people added whom only two tables together expose, if there are any.

    Believed right above ``sure`` counts against ``sure_share``; one value left counts against ``breach_share``.
    """
    n = max(found.n_people, 1)
    by_one = {one.attack: one for one in own.estimates}
    believed = by_one.get("belief", by_one.get("sequence"))
    counted = (
        ("sure_share", known.sure_share, found.detail["people"], 0.0 if believed is None else believed.share),
        (
            "breach_share",
            known.breach_share,
            found.detail["one_value_left"],
            by_one["exclusion"].high if "exclusion" in by_one else 0.0,
        ),
    )
    for rule, allowed, people, before in counted:
        if allowed is not None and people:
            # people whom one table exposes already are counted before: these come on top
            worst = before + people / n
            yield Finding(
                rule,
                worst <= allowed,
                worst,
                allowed,
                column=name,
                n_people=people,
                detail=f"including {people} people exposed only by combining this table with that of "
                f"{found.detail['beside']!r}, to an attacker who knows how the two columns are related",
                remedy="" if worst <= allowed else _APART,
            )


def _n_groups(draft: Draft) -> int:
    return (pc.max(draft.groups.column("group")).as_py() or 0) + 1


def _linked_notes(linked: Mapping[str, Estimate]) -> list[str]:
    if not linked:
        return ["too many groups and values: an attack that combines the tables was not tried"]
    return [
        f"{found.detail['people']} people: an attacker who knows how {name!r} and {found.detail['beside']!r} are "
        f"related can infer {name!r} from both tables together, but not from either alone; drop one of the columns, or "
        "join them"
        for name, found in linked.items()
        if found.detail["people"]
    ]


def _column_groups(name: str, draft: Draft) -> ColumnGroups:
    """Return everyone's group and value in the order of the source, and the values that each group shows."""
    from seriatim.attacks.columns_together import ColumnGroups

    groups, n = draft.groups_by_source, draft.n_records
    coded = pc.cast(_plain(groups.column(name)), pa.string()).combine_chunks().dictionary_encode(null_encoding="encode")
    value = coded.indices.to_numpy().astype(np.int32)
    group = groups.column("group").fill_null(-1).to_numpy().astype(np.int32)
    shown = np.zeros((int(group.max(initial=-1)) + 1, max(len(coded.dictionary), 1)))
    np.add.at(shown, (group[group >= 0], value[group >= 0]), 1.0)
    return ColumnGroups(group[:n], value[:n], shown)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _named(measure: Measure, column: str) -> Measure:
    return replace(measure, detail={**measure.detail, COLUMN: column})


def _charts(column: str, verdict: Verdict) -> dict[str, Chart]:
    """Return the charts under names and titles that say the column; those about its values say it already."""
    about = f" of {column}"
    said = {key: chart for key, chart in verdict.charts.items() if key.endswith(about)}
    others = {key: chart for key, chart in verdict.charts.items() if key not in said}
    return said | {
        f"{key}{about}": replace(chart, title=f"{chart.title}: table{about}") for key, chart in others.items()
    }


def _notes(notes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what holds for all tables once, and the rest with its column."""
    shared = [note for note in next(iter(notes.values())) if all(note in others for others in notes.values())]
    own = [f"table of {name!r}: {note}" for name, said in notes.items() for note in said if note not in shared]
    return (*shared, *own)
