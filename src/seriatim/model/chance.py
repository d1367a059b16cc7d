"""Two chances, never one.

Attacks and measures draw from a seeded generator whose seed is in the report, so anyone can repeat them. Protective
randomness comes from the series' secret, which never leaves the ledger: an adversary who knew it could undo the
shuffle. It is keyed by (release, purpose), so a re-run gives the same release.
"""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.doors import whole_argument
from seriatim.model.scale import FloatArray
from seriatim.model.view import View

_WORDS = float(1 << 53)


def open_chance(seed: int, purpose: str = "") -> np.random.Generator:
    """Return a generator for attacks and measures: anyone who reads the seed in the report can repeat it."""
    whole_argument("seed", seed, 0)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *purpose.encode()])))


def secret_chance(secret: bytes, release: int, purpose: str) -> np.random.Generator:
    """Return a generator for protection: only someone with the series' secret can repeat it."""
    digest = hashlib.blake2b(f"{release}/{purpose}".encode(), key=secret, digest_size=32).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


# Fresh noise in every release would average away, and fresh samples would in the end show everyone: what is drawn for
# a person follows from the secret and the person's id.
def lasting_names(view: View) -> list[str]:
    """Return a name for every record that stays the same from release to release.

    A record without a respondent is named by all its cells, and equal records by their number among equals.
    """
    if view.respondent is not None:
        return [repr(cell) for cell in _texts(view.cells(view.respondent))]
    cells = list(zip(*(_texts(view.cells(name)) for name in view.names), strict=True))
    seen: Counter[str] = Counter()
    names = []
    for cell in cells:
        name = repr(cell)
        names.append(f"{name}/{seen[name]}")
        seen[name] += 1
    return names


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Return cells as text: 5, "5" and 5.0 are one person, whatever type a column has in one month or another."""
    try:
        return list(pc.cast(column, pa.string()).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [str(cell) for cell in column.to_pylist()]


def uniform_of(secret: bytes, purpose: str, names: list[str]) -> FloatArray:
    """Return a number from 0 to 1 for each name: the same for the same secret, purpose and name."""
    key = hashlib.blake2b(purpose.encode(), key=secret, digest_size=32).digest()
    digests = b"".join(hashlib.blake2b(name.encode(), key=key, digest_size=8).digest() for name in names)
    return np.asarray((np.frombuffer(digests, dtype="<u8") >> 11) / _WORDS)
