"""What an open draft holds, for whoever decides about it: its report, and in counts whom it is about."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError, LedgerDamaged
from seriatim.ledger import catalogue, drafts, people_index, pseudonyms, shelf
from seriatim.ledger.seals import REPORT
from seriatim.ledger.shelf import Shelf
from seriatim.ledger.stored_history import current_file, everyone_in, read_reserved
from seriatim.ports import DraftPeople


def report(connection: Connection, place: Shelf, series: str, digest: str) -> dict[str, Any]:
    """Return the record of a draft's report; raise an error if it is not the one that was judged."""
    draft = _open(connection, series, digest)
    path, wanted = place.draft(digest) / shelf.PUBLISHED / REPORT, draft.files[f"{shelf.PUBLISHED}/{REPORT}"]
    try:
        data = path.read_bytes()
    except OSError:
        data = b""
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        raise LedgerDamaged(f"{path}: not the file that was judged; decline the draft and make it again")
    found: dict[str, Any] = json.loads(data)
    return found


def people(connection: Connection, place: Shelf, series: str, digest: str) -> DraftPeople:
    """Count the people of a draft: since the newest release of its series, and in every other series."""
    draft, past = _open(connection, series, digest), catalogue.past(connection, series)
    folder = place.draft(digest).name
    groups = read_reserved(place, f"{folder}/{shelf.GROUPS}", draft.files[shelf.GROUPS])
    newcomers = read_reserved(place, f"{folder}/{shelf.PEOPLE}", draft.files[shelf.PEOPLE])
    known = everyone_in(place, series, past).known
    published, withheld = _published(groups)
    newest = past.counting[-1:]
    before = [_published(current_file(place, series, one, shelf.GROUPS, past.erased))[0] for one in newest]
    earlier = before[0] if before else published.slice(0, 0)
    named = pa.concat_tables([known, newcomers])
    everyone = named.filter(pc.is_in(named.column(pseudonyms.PERSON), value_set=pc.cast(published, pa.int64())))
    return DraftPeople(
        n_published=len(published),
        n_withheld=withheld,
        n_new=len(published) - _among(published, known.column(pseudonyms.PERSON).combine_chunks()),
        n_joined=len(published) - _among(published, earlier),
        n_left=len(earlier) - _among(earlier, published),
        n_elsewhere=people_index.in_other_series(connection, place, series, everyone.column(pseudonyms.RESPONDENT)),
    )


def _published(groups: pa.Table) -> tuple[pa.Array, int]:
    """Return the numbers of those published, each once, and how many people were withheld."""
    real = groups.filter(pc.is_valid(groups.column(pseudonyms.PERSON)))
    hidden = pc.or_(real.column(pseudonyms.SUPPRESSED), pc.is_null(real.column(pseudonyms.GROUP)))
    there = real.filter(pc.invert(hidden)).column(pseudonyms.PERSON).combine_chunks()
    return pc.unique(there), len(real) - len(there)


def _among(some: pa.Array, others: pa.Array) -> int:
    return int(pc.sum(pc.is_in(some, value_set=pc.cast(others, some.type))).as_py() or 0)


def _open(connection: Connection, series: str, digest: str) -> drafts.KeptDraft:
    draft = drafts.open_draft(connection, series)
    if draft is None or draft.entry.digest != digest:
        where, found = f"series {series!r}", "has no open draft of this digest"
        raise InputError(Fault(where, found, "", "seriatim ledger show lists them"))
    return draft
