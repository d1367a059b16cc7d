"""Recalls a release that nobody received: it no longer counts, and the chain keeps when, why and by whom.

The number is not used again. Groups, people and files stay on the shelf, since the chain vouches for them; what was
copied to the destination is removed, unless it was changed. The next draft is judged as if the release had never been
made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from seriatim.errors import Fault, InputError
from seriatim.ledger import catalogue, chain, people_index, seals
from seriatim.ledger.destinations import TO_SIGN, destination_of, discard_partial_destination, is_page_to_sign
from seriatim.ledger.manifests import refuse_behind_manifest
from seriatim.ledger.shelf import Shelf
from seriatim.model.names import visible_text
from seriatim.model.verdict import Approval
from seriatim.ports import ReleaseRecord
from seriatim.storage.database import Database
from seriatim.storage.durable_files import disk_errors


def take_back_release(database: Database, place: Shelf, series: str, number: int, why: Approval) -> ReleaseRecord:
    """Recall the newest release of a series; raise an error if anyone received it. ``why.override`` is the reason."""
    reason = visible_text("reason", why.override)
    with disk_errors(place.root), place.sealing():
        with database.writing() as connection:
            refuse_behind_manifest(connection, place, series)
            _refuse_lasting(series, number, catalogue.records(connection, series))
            facts = {"kind": chain.RECALLED, "series": series, "number": number, "reason": reason, "by": why.by}
            catalogue.append(connection, facts, catalogue.circumstances())
            catalogue.update_release(connection, series, number, state=chain.RECALLED)
            record = catalogue.record(connection, series, number)
            people_index.remove(place, series)
        assert record is not None
        clear_recalled([record])
    return record


def _refuse_lasting(series: str, number: int, records: Sequence[ReleaseRecord]) -> None:
    """Raise an error for a release that others hold or that a later one was judged together with."""
    where = f"series {series!r} release {number}"
    found = {record.number: record for record in records}.get(number)
    if found is None:
        raise InputError(Fault(f"series {series!r}", f"has no release {number}", "", "seriatim ledger show lists them"))
    later = [record.number for record in records if record.number > number and record.state != chain.RECALLED]
    said = {
        "was recalled already": found.state == chain.RECALLED,
        "was made before this ledger, which cannot know who holds it": found.state == chain.IMPORTED,
        f"was delivered to {len(found.recipients)} recipients: it cannot be taken back": bool(found.recipients),
        f"release {max(later, default=0)} was judged together with it: recall that first": bool(later),
    }
    for what, holds in said.items():
        if holds:
            raise InputError(Fault(where, what, "the newest release, if nobody has received it"))


def clear_recalled(records: Sequence[ReleaseRecord]) -> None:
    """Remove the copies of recalled releases at their destinations; what others put or changed there stays."""
    for record in records:
        target = destination_of(record)
        if record.state == chain.RECALLED and target is not None:
            for path in recalled_files(record):
                path.unlink(missing_ok=True)
            discard_partial_destination(target)
            _remove_empty(target)


def recalled_files(record: ReleaseRecord) -> list[Path]:
    """Return the files of a recalled release that still lie at its destination with the bytes that were sealed.

    The page to sign is in no manifest: it is taken for what its bytes say it is.
    """
    target = destination_of(record)
    if target is None or target.is_symlink() or not target.is_dir():
        return []
    own = {*record.manifest["files"], *seals.sealed_manifest_copies(record.manifest)}
    gone = own.intersection(seals.seal_differences(target, record.manifest))
    papers = [TO_SIGN] if is_page_to_sign(target / TO_SIGN) else []
    return [target / name for name in [*sorted(own - gone), *papers] if _lies_there(target, name)]


def _lies_there(folder: Path, name: str) -> bool:
    """Return whether a file is in the folder itself, not where a link leads."""
    return (folder / name).resolve() == folder.resolve() / name


def _remove_empty(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        for here, _, _ in os.walk(target, topdown=False):
            if not Path(here).is_symlink() and not any(Path(here).iterdir()):
                Path(here).rmdir()
