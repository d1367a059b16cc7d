"""What an audit adds when it has the original table: what was lost, whether it is true, whom it leads to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seriatim.measures.against_original import (
    class_boxes,
    label_bits,
    label_steps,
    label_widths,
    linkage_of_points,
    linkage_points,
    mean_of_records,
    untrue_share,
)
from seriatim.measures.exposure import exposed_domain_size
from seriatim.measures.information_loss import LEVELS, WIDTHS
from seriatim.measures.query_error import errors_of_boxes
from seriatim.model import Measure
from seriatim.model.audited import AuditedOriginal, AuditedQuasi, AuditedTable


def compared(audited: AuditedTable) -> tuple[Measure, ...]:
    """Return no measure without an original."""
    original = audited.original
    if original is None:
        return ()
    return (
        *_loss(original, len(audited)),
        *_queries(original),
        *_withheld(audited, original),
        *_matched(original),
    )


def remarks(audited: AuditedTable) -> tuple[str, ...]:
    """Return what could not be compared, and what would help."""
    original = audited.original
    if original is None:
        return ()
    notes = [
        f"{column.name}: {column.n_unread} published labels cover no value of the original, so its loss is not measured"
        for column in original.facing if column.n_unread
    ]  # fmt: skip
    if original.match is None:
        notes.append(
            "records of the table and of the original were not matched, so distance linkage is not measured: "
            "use --aligned (aligned=True) if row i was made from row i, or add the respondent to both tables"
        )
    return tuple(notes)


def _before_after(column: AuditedQuasi) -> tuple[int, int]:
    """Count the values that the original and the published table show; '*' is not a value."""
    before = int((column.before.counts() > 0).sum())
    everything = [c is not None and len(c) == len(column.before.scale) > 1 for c in column.covers]
    stars = everything.index(True) if True in everything else -1
    return before, exposed_domain_size(column.codes, len(column.covers), stars)


def _loss(original: AuditedOriginal, n_published: int) -> Iterator[Measure]:
    withheld = max(original.n_records - n_published, 0)
    in_place = int(_nothing_said(original).sum())
    share = (withheld + in_place) / max(original.n_records, 1)
    yield Measure("suppressed_share", share, "share", {"left_out": withheld, "all_star": in_place})
    widths = {c.name: mean_of_records(label_widths(c), c, withheld, 1.0) for c in original.facing}
    gcp = float(np.mean(list(widths.values())))
    if np.isfinite(gcp):
        yield Measure("gcp", gcp, "share", {"meaning": "mean of ncp over columns; a withheld record counts 1"})
    for column in original.facing:
        before, after = _before_after(column)
        yield Measure("domain_size", float(after), "values", {"column": column.name, "before": before})
        if column.n_unread:
            continue
        steps = label_steps(column)
        kept = 1.0 - (widths[column.name] if steps is None else mean_of_records(steps, column, withheld, 1.0))
        bits, whole = label_bits(column), _entropy(column)
        detail = {"column": column.name, "of": whole}
        yield Measure("ncp", widths[column.name], "share", {"column": column.name})
        yield Measure("precision", kept, "share", {"column": column.name, "by": WIDTHS if steps is None else LEVELS})
        yield Measure("non_uniform_entropy", mean_of_records(bits, column, withheld, whole), "bits per record", detail)


def _nothing_said(original: AuditedOriginal) -> np.ndarray:
    """Return the records with '*' in every quasi-identifier: suppressed in place, as some tools do."""
    silent = np.ones(len(original.facing[0].codes), dtype=bool)
    for column in original.facing:
        n = len(column.before.scale)
        silent &= np.array([c is not None and len(c) == n > 1 for c in column.covers])[column.codes]
    return silent


def _entropy(column: AuditedQuasi) -> float:
    shares = column.before.counts() / max(len(column.before.codes), 1)
    held = shares[shares > 0]
    return float(-(held * np.log2(held)).sum()) + 0.0


def _queries(original: AuditedOriginal) -> tuple[Measure, ...]:
    boxes = class_boxes(original)
    return () if boxes is None else errors_of_boxes(tuple(c.before for c in original.facing), boxes)


def _withheld(audited: AuditedTable, original: AuditedOriginal) -> Iterator[Measure]:
    """Measure the withheld records, which original margin minus published margin reveals: a class like any other."""
    for column, (before, after) in zip(audited.sensitive, original.margins, strict=True):
        gone = before - after
        if (gone < 0).any() or not gone.sum():
            continue  # values were changed, or nothing was withheld
        gap = gone / gone.sum() - before / before.sum()
        detail = {"column": column.name, "records": int(gone.sum()), "values": int((gone > 0).sum())}
        yield Measure("withheld_l_d", float(np.linalg.norm(gap)), "", detail)


def _matched(original: AuditedOriginal) -> Iterator[Measure]:
    match = original.match
    if match is None or not (match >= 0).any():
        return
    for column in original.facing:
        yield Measure("untrue_share", untrue_share(column, match), "share", {"column": column.name})
    before, after, left_out = linkage_points(original.facing, match)
    if before.shape[1]:
        found = linkage_of_points(before, after)
        detail = {"second": found.second, "by_luck": found.by_luck, "tried": found.tried, "left_out": list(left_out)}
        yield Measure("distance_linkage", found.linked, "share", detail)
