"""Nobody stands in a smaller crowd than the policy demands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.kernels.check.classes import class_of_rows
from seriatim.model import Draft, Finding, History
from seriatim.model.published import draft_classes, text_codes
from seriatim.model.scale import IntArray
from seriatim.promises.naming import worst_classes


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
            remedy=f"k = {int(worst)} would pass" if short.any() and worst >= 1 else "",
            classes=worst_classes(short, -found.astype(np.float64)),
        )


def people_by_class(draft: Draft) -> npt.NDArray[np.int64] | None:
    """How many different people each class holds; None when the policy names no respondent."""
    respondents = draft.groups.column("respondent")
    if len(respondents) and respondents.null_count == len(respondents):
        return None
    if draft.serial:
        return _people_by_group(draft)
    class_of_group = _class_of_groups(draft)
    n_classes = int(class_of_group.max(initial=-1)) + 1
    person, names = text_codes(respondents)
    inside = (draft.grouping.group >= 0) & (person >= 0)
    classes = class_of_group[draft.grouping.group[inside]]
    if len(names) < int(inside.sum()):  # somebody has several records
        pairs = np.unique(classes.astype(np.int64) * len(names) + person[inside])
        classes = (pairs // len(names)).astype(np.int32)
    return np.bincount(classes, minlength=n_classes).astype(np.int64)


def _people_by_group(draft: Draft) -> npt.NDArray[np.int64]:
    """Serial releases publish their groups; a counterfeit is nobody."""
    group = draft.groups.column("group").to_numpy(zero_copy_only=False)
    real = ~draft.groups.column("counterfeit").to_numpy(zero_copy_only=False) & ~np.isnan(group)
    return np.bincount(group[real].astype(np.int64), minlength=len(draft_classes(draft))).astype(np.int64)


def _class_of_groups(draft: Draft) -> IntArray:
    """Groups with equal labels are one class to a reader; it must be the class the published table shows."""
    by_name = {column.name: column for column in draft.generalised}
    codes = np.empty((draft.grouping.n_groups, len(draft.quasi)), dtype=np.int32)
    for place, name in enumerate(draft.quasi):
        column = by_name[name]
        alike, _ = text_codes(pa.chunked_array([pa.array(column.labels, pa.string())]))
        codes[:, place] = alike[column.label_of_group]
    found, n_classes = class_of_rows(codes)
    group = draft.grouping.group
    sizes = np.bincount(found[group[group >= 0]], minlength=n_classes)
    if not np.array_equal(np.sort(sizes), np.sort(draft_classes(draft).sizes)):
        raise AssertionError("the groups of a draft are not the classes of its table")
    return np.asarray(found)
