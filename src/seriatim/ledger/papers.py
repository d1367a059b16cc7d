"""Files written next to a release: the page to sign, and reports of refused drafts. Never a table.

They are the publisher's own (modes 0700 and 0600), and no manifest lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.ledger import shelf
from seriatim.ledger.destinations import destination_in
from seriatim.ports import PRIVATE, ReleaseRecord
from seriatim.storage.durable_files import kind_of_file, write_durably

if TYPE_CHECKING:
    from seriatim.report import SigningFacts, SignOff

TO_SIGN = f"{PRIVATE}/to-sign.html"
"""The page to sign, in the folder of a release."""
REFUSED = "refused"
_KIND = "page (Release to sign)"


def is_page_to_sign(path: Path) -> bool:
    """Return whether a file is a page to sign, and no other file under its name."""
    return path.is_file() and kind_of_file(path) == _KIND


def page_to_sign(report: Mapping[str, Any], record: ReleaseRecord) -> SignOff:
    """Return the page of a release, from its report's record and what the ledger says of it today."""
    from seriatim.report import SignOff, read_back

    read = read_back(report)  # a draft's report was written before anybody approved it
    return SignOff(replace(read, verdict=replace(read.verdict, approval=record.approval)), signed_facts(record))


def signed_facts(record: ReleaseRecord) -> SigningFacts:
    """Return what the page says beside the report."""
    from seriatim.report import SigningFacts

    return SigningFacts(
        date=f"{record.reserved_at[:16].replace('T', ' ')} UTC",
        version=record.version,
        input_name=record.input_name,
        input_sha256=record.input_sha256,
        chain=str(record.manifest["chain"]),
        recipients=record.recipients,
    )


def write_page_to_sign(out: Path, series: str, number: int, page: str) -> Path:
    """Write the page to sign into the private part of a release's folder."""
    path = destination_in(out, series, number) / TO_SIGN
    write_durably(path, page.encode("utf-8"))
    return path


def write_refusal(out: Path, series: str, number: int, page: str, record: str) -> tuple[Path, Path]:
    """Write the report of a refused draft, as a page and as JSON; ``number`` is the one it would have had."""
    folder = out / REFUSED
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = f"{shelf.slug(series)}-{number:04d}"
    attempt = 1
    while any((folder / f"{stem}-{attempt}{ending}").exists() for ending in (".html", ".json")):
        attempt += 1
    paths = folder / f"{stem}-{attempt}.html", folder / f"{stem}-{attempt}.json"
    for path, text in zip(paths, (page, record), strict=True):
        write_durably(path, text.encode("utf-8"))
    return paths
