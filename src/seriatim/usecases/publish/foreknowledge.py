"""What the adversary holds possible beforehand, passed from the policy to promises and attacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, PolicyError, TableError
from seriatim.model import History, Policy, View


def check_priors(policy: Policy) -> None:
    """Raise an error for priors that nothing would judge: they are about one column and need a promise."""
    if policy.adversary.priors is None:
        return
    where, faults = "[adversary] priors", []
    if policy.respondent is None:
        faults.append(Fault(where, "priors need a respondent column", "[series] respondent", "add it"))
    if len(policy.sensitive) != 1:
        found = f"{len(policy.sensitive)} sensitive columns"
        faults.append(Fault(where, found, "exactly one, since priors describe one column", "one series for each"))
    if not policy.looks_back:
        remedy = "add one of them"
        faults.append(Fault(where, "no promise judges them", "[promise] m or [adversary] breach_share", remedy))
    if faults:
        raise PolicyError(faults)


def refuse_untrue(view: View, policy: Policy) -> None:
    """Raise an error for a prior that excludes the truth, or that is about a column the table lacks."""
    if policy.adversary.priors is None:
        return
    missing = [name for name in policy.adversary.priors.impossible if name not in view.names]
    if missing:
        faults = [Fault(f"column {name!r}", "missing", "[adversary] impossible names it") for name in missing]
        raise TableError(faults)
    number, priors = policy.adversary.priors.of_rows(view)
    value = pc.cast(_plain(view.cells(view.sensitive[0].name)), pa.string())
    kinds = pc.unique(value)
    place = pc.index_in(value, value_set=kinds).to_numpy()
    flags = np.array([prior.flags(kinds) for prior in priors], dtype=np.bool_).reshape(len(priors), len(kinds))
    wrong = int((~flags[number, place] & ~view.suppressed).sum()) if len(place) else 0
    if wrong:
        remedy = "correct the priors: the true value must be possible"
        raise TableError(Fault("priors", f"{wrong} records whose value is not in their prior", "none", remedy))


def by_person(view: View, policy: Policy, history: History) -> dict[Any, frozenset[Any]] | None:
    """Return the possible values by respondent id, for the attack. Rules on cells apply only to people in the view.

    That loses nothing under a method that respects priors: the values of a leaver's groups were possible for them.
    """
    if policy.adversary.priors is None:
        return None
    found = policy.adversary.priors.of_history(history)
    if not policy.adversary.priors.impossible or view.respondent is None:
        return found
    number, priors = policy.adversary.priors.of_rows(view)
    sets = [prior.among(history.values) for prior in priors]
    who = pc.cast(_plain(view.cells(view.respondent)), history.respondents.type).to_pylist()
    return found | {person: sets[at] for person, at in zip(who, number.tolist(), strict=True)}


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
