"""Values of releases with different bands, in the finest bands that all of them share.

A new epoch may publish ``[1000,2000)`` where the one before said ``<2000``, or bands where it said numbers. By their
labels everybody's value would have changed; in common bands it stays, or has really changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from seriatim.model.scale import IntArray, Span, span_of


def common_bands(values: pa.Array, shown: Iterable[IntArray]) -> tuple[pa.Array, IntArray] | None:
    """Return the finest common bands and the band of each value; None if none differ, or nothing finer is common.

    ``shown`` has the values of each release, as positions in ``values``.
    """
    if not pa.types.is_string(values.type):
        return None
    texts = values.to_pylist()
    spans = _spans(texts)
    if spans is None:
        return None
    found = _joined(spans.items())
    if len(found) == len(spans) or len(found) < 2:
        return None
    for codes in shown:
        here = [(code, spans[code]) for code in np.unique(codes).tolist() if code in spans]
        if len(_joined(here)) < len(here):
            return None  # labels that overlap in one release are no bands
    names: list[str | None] = []
    place = np.zeros(len(texts), dtype=np.int32)
    for band in found:
        place[[code for code, _ in band]] = len(names)
        names.append(_name([texts[code] for code, _ in band], [span for _, span in band]))
    if len(spans) < len(texts):
        place[[code for code in range(len(texts)) if code not in spans]] = len(names)
        names.append(None)
    return pa.array(names, pa.string()), place


def _spans(texts: Sequence[str | None]) -> dict[int, Span] | None:
    """Return the span of each label by its position; None if one of them is no span."""
    found: dict[int, Span] = {}
    for code, text in enumerate(texts):
        span = None if text is None else span_of(text)
        if span is not None:
            found[code] = span
        elif text is not None:
            return None
    return found


def bands_within(labels: Iterable[str | None], bands: Iterable[str | None]) -> dict[str | None, str | None]:
    """Return which of the bands holds each label; labels that none of them holds whole are left out."""
    known = {band: span_of(band) for band in bands if band is not None}
    found: dict[str | None, str | None] = {}
    for label in labels:
        span = None if label is None else span_of(label)
        if span is not None:
            holds = [band for band, around in known.items() if around is not None and _within(span, around)]
            found |= {label: holds[0]} if len(holds) == 1 else {}
    return found


def _joined(spans: Iterable[tuple[int, Span]]) -> list[list[tuple[int, Span]]]:
    """Return the spans, from low to high, those together that overlap directly or through others."""
    found: list[list[tuple[int, Span]]] = []
    high, is_open = -math.inf, True
    for code, span in sorted(spans, key=lambda one: (one[1].low, one[1].low_open)):
        meets = span.low < high or (span.low == high and not (span.low_open or is_open))
        if found and meets:
            found[-1].append((code, span))
        else:
            found.append([(code, span)])
            high, is_open = span.high, span.high_open
        if span.high > high or (span.high == high and not span.high_open):
            high, is_open = span.high, span.high_open
    return found


def _within(span: Span, around: Span) -> bool:
    low = span.low > around.low or (span.low == around.low and (span.low_open or not around.low_open))
    high = span.high < around.high or (span.high == around.high and (span.high_open or not around.high_open))
    return low and high


def _name(labels: list[str], spans: list[Span]) -> str:
    """Return the label of a band: of the widest of its parts, or one as the builder of bands writes it."""
    low = min(spans, key=lambda span: (span.low, span.low_open))
    high = max(spans, key=lambda span: (span.high, not span.high_open))
    for label, span in zip(labels, spans, strict=True):
        if _within(low, span) and _within(high, span):
            return label
    ends = [f"{end:.15g}" for end in (low.low, high.high)]
    if math.isinf(low.low):
        return f"<{'' if high.high_open else '='}{ends[1]}"
    if math.isinf(high.high):
        return f">{'' if low.low_open else '='}{ends[0]}"
    return f"{'(' if low.low_open else '['}{ends[0]},{ends[1]}{')' if high.high_open else ']'}"
