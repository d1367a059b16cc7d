"""Two chances, never one.

Attacks and measures draw from a seeded generator whose seed stands in the report, so anyone can repeat
them. Protective randomness comes from the series' secret, which never leaves the ledger: an adversary who
knew it could undo the shuffle. It is keyed per (release, purpose), so a re-run gives the same release.
"""

from __future__ import annotations

import hashlib

import numpy as np


def open_chance(seed: int, purpose: str = "") -> np.random.Generator:
    """For attacks and measures: repeatable by anyone who reads the seed in the report."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *purpose.encode()])))


def secret_chance(secret: bytes, release: int, purpose: str) -> np.random.Generator:
    """For protection: repeatable only by the holder of the series' secret."""
    digest = hashlib.blake2b(f"{release}/{purpose}".encode(), key=secret, digest_size=32).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
