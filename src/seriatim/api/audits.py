"""Audit one published table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.api.prepared import checked_as_policy
from seriatim.errors import Fault, InputError
from seriatim.model import Policy
from seriatim.model.audited import PriorKind
from seriatim.storage.durable_files import refuse_private_list, write_private_list
from seriatim.tables.writer import in_kind_of_source
from seriatim.wiring import wired_workers

if TYPE_CHECKING:
    import pyarrow as pa

    from seriatim.usecases.audit.audit import Audit


def audit(
    table: Any,
    policy: Policy,
    *,
    prior: PriorKind = "published",
    beside: Any = None,
    original: Any = None,
    aligned: bool = False,
    sampled: float | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    private: str | Path | None = None,
) -> Audit:
    """Audit a published table of any tool; the policy needs only roles.

    ``prior`` is what the adversary believed before; ``margin`` and ``conditional`` are those of ``beside``, or of the
    original. ``original`` is the table that this one was made from: with it, the audit says what was lost and, if rows
    are matched (``aligned``: row i was made from row i; or both have the respondent), how many records lead back to it.
    ``sampled`` is the share of the population in the table, if it is a sample. ``separator`` and ``encoding`` are those
    of CSV files (detected if omitted).
    ``private`` is a file for a list of the records that are exposed, and why; only its owner may read it.
    """
    from seriatim.tables.auditable import auditable, policy_to_audit_by, read_auditable
    from seriatim.usecases.audit import audit as audit_case

    checked_as_policy(policy)
    published = read_auditable(table, separator, encoding)
    policy = policy_to_audit_by(published, policy)
    source: OriginalSource | None = None
    if original is not None:
        from seriatim.tables.originals import OriginalSource

        source = OriginalSource(read_auditable(original, separator, encoding), aligned)
    if aligned and source is None:
        raise InputError(Fault("aligned", "needs the original table"))
    if beside is None and source is not None and prior in ("margin", "conditional"):
        beside = source.table
    other = None if beside is None else read_auditable(beside, separator, encoding)
    coded = auditable(published, policy, other, source)
    question = audit_case.AdversaryQuestion(prior, sampled)
    if private is not None:
        refuse_private_list(private)

    def dressed(arrow: pa.Table) -> Any:
        return in_kind_of_source(arrow, published, ())

    found = audit_case.audit(coded, policy, question, dressed, wired_workers())
    if private is not None:
        from seriatim.usecases.audit import audit_promises

        write_private_list(audit_promises.private_list(found), private)
    return found
