"""Nobody stands in a smaller crowd than the policy demands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.kernels.check.classes import class_of_rows
from seriatim.model import Draft, Finding, History
from seriatim.model.classes import draft_classes, text_codes
from seriatim.model.scale import IntArray
from seriatim.promises.single.remedies import withheld_alone
from seriatim.promises.single.worst_classes import worst_classes


@dataclass(frozen=True, slots=True)
class Crowd:
    """k-anonymity (Samarati, Sweeney 1998): every class of equal published quasi values has at least k people.

    Without a respondent column every record counts as a person. With one, a person's several records hide nobody:
    a class of k records of one patient is a crowd of one.
    """

    k: int
    rule: str = "k"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002 - a law of one release
        counts = draft_classes(draft).sizes
        people = people_by_class(draft)
        found, detail = (counts, "records") if people is None else (people, "different people")
        short = found < self.k
        worst = float(found.min()) if len(found) else float("inf")
        return Finding(
            self.rule,
            not short.any(),
            worst,
            float(self.k),
            n_classes=int(short.sum()),
            n_people=int(found[short].sum()),
            detail=f"{detail} in the smallest class",
            remedy=self._remedy(draft, short, worst) if short.any() else "",
            # a serial release's groups carry random numbers, which say nothing of the table's order
            classes=() if draft.serial else worst_classes(short, -found.astype(np.float64)),
        )

    def _remedy(self, draft: Draft, short: npt.NDArray[np.bool_], worst: float) -> str:
        """A group of a series cannot be withheld alone: its people are in other releases, too."""
        ways = [f"k = {int(worst)} would pass"] if worst >= 1 else []
        ways += [] if draft.serial else [withheld_alone(draft_classes(draft).sizes, short)]
        if (draft_classes(draft).sizes[short] >= self.k).any():
            ways.append("one record per person, or method median or curve, which count people")
        return "; ".join(ways)


def people_by_class(draft: Draft) -> npt.NDArray[np.int64] | None:
    """How many different people each class holds, counterfeits not among them; None when nobody is named."""
    if "respondent" not in draft.groups.column_names:
        return None
    respondents = draft.groups.column("respondent")
    if len(respondents) and respondents.null_count == len(respondents):
        return None
    person, names = text_codes(respondents)
    inside = (person >= 0) & draft.groups.column("group").is_valid().to_numpy()
    classes = draft.groups.column("group").fill_null(0).to_numpy()[inside].astype(np.int64)
    if not draft.serial:
        classes = _class_of_groups(draft)[classes].astype(np.int64)
    if len(names) < int(inside.sum()):  # somebody has several records
        classes = np.unique(classes * len(names) + person[inside]) // len(names)
    return np.bincount(classes, minlength=len(draft_classes(draft))).astype(np.int64)


def _class_of_groups(draft: Draft) -> IntArray:
    """Groups with equal labels are one class to a reader: the number of that class in the published table."""
    shown = draft_classes(draft)
    first = pa.array(shown.rows[shown.starts[:-1]])
    by_name = {column.name: column for column in draft.generalised}
    codes = np.empty((len(shown) + draft.grouping.n_groups, len(draft.quasi)), dtype=np.int32)
    for place, name in enumerate(draft.quasi):
        column = by_name[name]
        of_groups = pa.array(column.labels, pa.string()).take(pa.array(column.label_of_group))
        codes[:, place], _ = text_codes(
            pa.chunked_array([*draft.table.column(name).take(first).cast(pa.string()).chunks, of_groups])
        )
    found, n_classes = class_of_rows(codes)
    if n_classes != len(shown):
        raise AssertionError("the groups of a draft are not the classes of its table")
    return np.asarray(found[len(shown) :])
