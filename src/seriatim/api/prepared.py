"""Read a view and check it under its policy, before any ledger is opened."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.errors import Fault, InputError, PolicyError
from seriatim.model import Policy, View
from seriatim.tables.reader import is_address, read_table
from seriatim.tables.views import view_of

if TYPE_CHECKING:
    from seriatim.usecases.publish.plan import Plan


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file by name and SHA-256; a table that was never a file has no fingerprint."""

    name: str = "a table in memory"
    sha256: str = ""


def source_file_of(source: Any) -> SourceFile:
    """Return the name and SHA-256 of a file that was read."""
    if is_address(source):
        return SourceFile("a query of a database")
    if not isinstance(source, str | Path):
        return SourceFile()
    with Path(source).open("rb") as file:
        return SourceFile(Path(source).name, hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prepared:
    """A view and the plan to publish it under, both checked: :func:`publish` takes it instead of a table."""

    view: View
    plan: Plan
    source: SourceFile = field(default_factory=SourceFile)

    def begin(self) -> None:
        """Raise the errors of a first release before a ledger is made for it."""
        from seriatim.usecases.publish.plan import check_first_view

        check_first_view(self.view, self.plan)


def prepare(source: Any, policy: Policy, separator: str | None = None, encoding: str | None = None) -> Prepared:
    """Check a policy and read a table under it: all bad input shows here, before any ledger is opened."""
    from seriatim.usecases.publish.plan import checked_policy

    plan = checked_policy(checked_as_policy(policy))
    view = source if isinstance(source, View) else view_of(read_table(source, separator, encoding), policy)
    return Prepared(view, plan, source_file_of(source))


def ready_under(view: Any, policy: Policy, separator: str | None = None, encoding: str | None = None) -> Prepared:
    """Return a view that is prepared under this policy; one that was prepared under another is an error."""
    if not isinstance(view, Prepared):
        return prepare(view, policy, separator, encoding)
    own, asked = view.plan.policy, checked_as_policy(policy)
    if (own.digest, own.epoch) != (asked.digest, asked.epoch):
        found, remedy = "not the one that the view was prepared under", "prepare the view under it"
        raise PolicyError(Fault("policy", found, f"the policy of {own.series!r} that prepare took", remedy))
    return view


def checked_as_policy(policy: Any) -> Policy:
    if isinstance(policy, Policy):
        return policy
    found = f"a {type(policy).__name__}"
    raise PolicyError(Fault("policy", found, "a policy", "sr.Policy.load(path) or sr.Policy.from_dict(mapping)"))


def refuse_other_than_ledger(ledger: Any) -> None:
    if not hasattr(ledger, "records") or not hasattr(ledger, "state"):
        raise InputError(Fault("ledger", f"a {type(ledger).__name__}", "a ledger", "open one with sr.Ledger.open"))
