"""Notes about a draft beside its view: what promises do not see, and a reader of a green verdict should know."""

from __future__ import annotations

import numpy as np
import pyarrow.types as pat

from seriatim.model import Draft, Policy, View
from seriatim.model.classes import classes_of
from seriatim.model.draft import PLAIN


def view_notes(view: View, draft: Draft, policy: Policy) -> tuple[str, ...]:
    """Return notes about values withheld whole, values that differ in capitals, plain columns and a single class."""
    return (*_withheld_whole(view, draft, policy), *_capitals(view), *_plain_columns(view, draft, policy), *_one(draft))


def _withheld_whole(view: View, draft: Draft, policy: Policy) -> list[str]:
    """Report values that nobody is published with, and how many of the people who are missing hold one of them."""
    if policy.defence is None or policy.defence.rate is not None:  # a sample leaves people out by chance
        return []
    found, published = [], draft.grouping.group >= 0
    for column in view.sensitive:
        here = np.bincount(column.codes[~view.suppressed], minlength=len(column.scale))
        left = np.bincount(column.codes[published], minlength=len(column.scale))
        gone = (here > 0) & (left == 0)
        if gone.any() and published.any():
            held, missing = int(here[gone].sum()), int((here - left).sum())
            told = "whoever is missing holds one of them" if held == missing else f"{held} of the {missing} missing"
            found.append(
                f"column {column.name!r}: all {held} records of {gone.sum()} values are withheld: {told}; "
                "[promise] withheld_leak bounds what that tells"
            )
    return found


def _capitals(view: View) -> list[str]:
    """Report sensitive values that differ only in capitals: they count as different."""
    found = []
    for column in view.sensitive:
        texts = [text for text in column.scale.texts.to_pylist() if isinstance(text, str)]
        n = len(texts) - len({text.casefold() for text in texts})
        if n:
            found.append(
                f"column {column.name!r}: {n} values differ from another one only in capitals and count as different"
            )
    return found


def _plain_columns(view: View, draft: Draft, policy: Policy) -> list[str]:
    """Report how small classes are to someone who knows the plain columns too."""
    k, table = policy.terms.k, draft.files.get(PLAIN, draft.table)
    plain = [
        name for name in view.plain if name in table.column_names and not pat.is_nested(table.schema.field(name).type)
    ]
    if not k or not plain or not table.num_rows:
        return []
    names = [name for name in table.column_names if name in draft.quasi or name in plain]
    classes = classes_of(table, names)
    sizes = classes.sizes[classes.of_record]
    below, alone = int((sizes < k).sum()), int((sizes == 1).sum())
    if not below:
        return []
    known = f"with plain {', '.join(repr(name) for name in plain)} known too"
    return [f"{known}, {alone:,} of {len(sizes):,} rows are alone and {below:,} in classes below k = {k}"]


def _one(draft: Draft) -> list[str]:
    if draft.grouping.n_groups != 1 or len(draft.quasi) == 0 or draft.n_records < 2:
        return []
    return ["all records are in one class: the quasi-identifiers tell nothing about anyone, and nothing to a reader"]
