"""Manifests found on disk: each must be known to the chain, or the database is behind what was published."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError, LedgerBehind
from seriatim.ledger import catalogue, chain, shelf
from seriatim.ledger.destinations import destination_in, every_destination
from seriatim.ledger.shelf import Shelf
from seriatim.ports import PRIVATE, PUBLIC, ReleaseRecord
from seriatim.storage.durable_files import HEAD, kind_of_bytes, refuse_foreign_file, write_whole

_KEY = "[series] head"


def files_of_series(connection: Connection, series: str) -> list[Path]:
    """Return every file that the heads of a series were written to."""
    told = connection.execute(catalogue.CIRCUMSTANCES, {"series": series}).scalars()
    return sorted({Path(head) for text in told if (head := json.loads(text).get("head"))})


def refuse_behind_head(path: Path, series: str, known: Container[str]) -> None:
    """Refuse a head that the chain does not know; ``known`` are its digests."""
    head = read_head(path)
    if head is not None and head["series"] == series and head["chain"] not in known:
        raise LedgerBehind(
            f"{path}: release {head['release']} of series {series!r} was published, but this ledger does not know it; "
            "an old backup was restored or this is another ledger: restore the newest one"
        )


def refuse_unusable_head(path: Path, series: str) -> None:
    """Refuse a file that holds something else, or the head of another series."""
    refuse_foreign_file(path, _KEY, HEAD)
    head = read_head(path)
    if head is not None and head["series"] != series:
        raise InputError(Fault(_KEY, "names the head of another series", "a file for each series", "name another"))


def write_head(connection: Connection, record: ReleaseRecord) -> None:
    """Write the head that the policy of a release named, unless a later release has been there."""
    asked = {"series": record.series, "digest": record.manifest["chain"]}
    named = json.loads(connection.execute(catalogue.CIRCUMSTANCE, asked).scalar_one()).get("head")
    if named is None:
        return
    there = read_head(Path(named))
    if there is None or there["release"] < record.number:
        write_whole({Path(named): head_bytes(record)}, _KEY)


def head_bytes(record: ReleaseRecord) -> bytes:
    """Return the line of a release."""
    told = {"schema": "seriatim.head/1", "series": record.series, "release": record.number}
    return chain.text({**told, "chain": record.manifest["chain"]}).encode() + b"\n"


def read_head(path: Path) -> dict[str, Any] | None:
    """Return what a head says; None if there is no head."""
    try:
        data = path.read_bytes() if path.is_file() else b""
        found: dict[str, Any] | None = json.loads(data) if kind_of_bytes(data) == HEAD else None
    except (OSError, ValueError):
        return None
    return found


_PLACES = (shelf.MANIFEST, f"{PRIVATE}/{shelf.MANIFEST}", f"{PUBLIC}/{shelf.MANIFEST}")
_AHEAD = 3
"""So many releases further a ledger that is behind finds one beside its destinations; one or two may be recalled."""
_HEAD, _DIGEST = b'{"chain":"', 64
"""How manifests begin (their keys are sorted), and the length of what follows."""


def refuse_behind_manifest(
    connection: Connection, place: Shelf, series: str, destination: Path | None = None, head: Path | None = None
) -> None:
    """Refuse a manifest of this series that the chain does not know: a newer state of this ledger published it.

    Every folder that the ledger ever published to is looked at, and the folders beside them: each release may have one
    of its own. So are the heads that policies of the series ever named.
    """
    known, destinations = catalogue.release_digests(connection, series), every_destination(connection)
    last = [] if destination is None else [destination.absolute()]
    for folder in dict.fromkeys([place.series(series), *destinations, *last]):
        refuse_published_manifest(folder, series, known)
    names = [destination_in(Path(), series, len(known) + ahead).name for ahead in range(1, _AHEAD + 1)]
    for beside in beside_destinations(destinations):
        if any(_unknown_manifests(beside, names, known)) and not is_foreign(beside, series, known):
            _refuse_manifests(beside, names, series, known)
    heads = dict.fromkeys(files_of_series(connection, series))
    if head is not None:
        refuse_unusable_head(head, series)
        heads[head.absolute()] = None
    for path in heads:
        refuse_behind_head(path, series, known)


def beside_destinations(destinations: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders beside destinations that are none themselves."""
    own = {str(folder) for folder in destinations}
    for parent in sorted({folder.parent for folder in destinations}):
        with suppress(OSError), os.scandir(parent) as found:
            yield from sorted(Path(one.path) for one in found if one.is_dir() and one.path not in own)


def is_foreign(folder: Path, series: str, known: Collection[str]) -> bool:
    """Return whether a folder beside ours holds an unknown release under a number that this ledger has given itself."""
    own = {destination_in(Path(), series, number + 1).name for number in range(len(known))}
    return any(_unknown_manifests(folder, sorted(own.intersection(_release_names(folder, series))), known))


def refuse_published_manifest(folder: Path, series: str, known: Container[str] = ()) -> None:
    """Check one folder; a ledger that does not exist yet knows nothing. ``known`` are digests of the chain.

    Every publication looks at the manifests of all releases, so of most no more is read than how they begin.
    """
    _refuse_manifests(folder, _release_names(folder, series), series, known)


def _refuse_manifests(folder: Path, names: Sequence[str], series: str, known: Container[str]) -> None:
    for path in _unknown_manifests(folder, names, known):
        _refuse_unknown(Path(path), series, known)


def _unknown_manifests(folder: Path, names: Sequence[str], known: Container[str]) -> Iterator[str]:
    """Yield the paths in releases' folders of what does not begin like a manifest that the chain knows."""
    for name in names:
        for place in _PLACES:
            path = f"{folder}/{name}/{place}"
            digest = _chain_at_head(path)
            if digest is not None and digest not in known:
                yield path


def _refuse_unknown(path: Path, series: str, known: Container[str]) -> None:
    manifest = read_manifest(path) if path.is_file() else None
    if manifest and manifest["series"] == series and manifest["chain"] not in known:
        raise LedgerBehind(
            f"{path}: release {manifest['release']} of series {series!r} was published, but this ledger does "
            "not know it; an old backup was restored or this is another ledger: restore the newest one"
        )


def _chain_at_head(path: str) -> str | None:
    """Return the digest that a manifest of ours begins with, or any text; None if there is nothing to read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe may lie there
    except OSError:
        return None
    try:
        return os.read(handle, len(_HEAD) + _DIGEST).removeprefix(_HEAD).decode("ascii", "replace")
    except OSError:
        return None
    finally:
        os.close(handle)


def found_in(folder: Path, series: str) -> Iterator[Path]:
    """Yield the manifests of a series' releases, in its shelf folder or at a destination."""
    for name in _release_names(folder, series):
        yield from _manifests_of(folder / name)


def _release_names(folder: Path, series: str) -> list[str]:
    """Return the names of what may be folders of a series' releases."""
    if not folder.is_dir():
        return []
    slug = f"{shelf.slug(series)}-"
    names = os.listdir(folder)  # noqa: PTH208 - a long series has hundreds of these
    return sorted(name for name in names if name.removeprefix(slug).isdecimal())


def read_manifest(path: Path) -> Mapping[str, Any] | None:
    """Return a manifest of ours, or None if the file is something else."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, OSError):
        return None
    shape = {"format": int, "series": str, "release": int, "files": dict, "chain": str}
    ours = isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in shape.items())
    return found if ours else None


def every_manifest_in(folder: Path) -> Iterator[Path]:
    """Yield the manifest of a release's folder, or of every release one folder down."""
    if folder.is_dir():
        for path in (folder, *sorted(folder.iterdir())):
            if not path.name.startswith("."):
                yield from _manifests_of(path)


def _manifests_of(release: Path) -> Iterator[Path]:
    """Yield the manifests in a release's folder: on the shelf and before 0.2 one, else one of each part."""
    for place in _PLACES:
        path = os.path.join(release, place)  # noqa: PTH118 - a long series has hundreds of these
        if os.path.isfile(path):  # noqa: PTH113
            yield Path(path)
