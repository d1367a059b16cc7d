"""Two chances, never one.

Attacks and measures draw from a seeded generator whose seed is in the report, so anyone can repeat them. Protective
randomness comes from the series' secret, which never leaves the ledger: an adversary who knew it could undo the
shuffle. It is keyed by (release, purpose), so a re-run gives the same release.
"""

from __future__ import annotations

import hashlib

import numpy as np


def open_chance(seed: int, purpose: str = "") -> np.random.Generator:
    """Return a generator for attacks and measures: anyone who reads the seed in the report can repeat it."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *purpose.encode()])))


def secret_chance(secret: bytes, release: int, purpose: str) -> np.random.Generator:
    """Return a generator for protection: only someone with the series' secret can repeat it."""
    digest = hashlib.blake2b(f"{release}/{purpose}".encode(), key=secret, digest_size=32).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
