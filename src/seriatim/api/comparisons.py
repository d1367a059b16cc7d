"""Compare methods on one table or series."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from seriatim import wiring
from seriatim.api.prepared import ready_under
from seriatim.errors import Fault, InputError
from seriatim.model import Policy
from seriatim.ports import Progress, no_progress

if TYPE_CHECKING:
    from seriatim.usecases.compare.compare_page import Comparison


def compare(
    view: Any,
    policy: Policy,
    methods: Iterable[str] | None = None,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare several methods on the same view, in dry runs of a first release.

    ``view`` may be a list of views of a series, in order: each method then publishes all of them into a temporary
    ledger, is judged by its own promises, and faces the same attack. By default every method of the policy's family is
    tried. Nothing is recorded; the same input gives the same figures.
    """
    from seriatim.usecases.compare import compare as compare_case
    from seriatim.usecases.compare.compare_page import Comparison
    from seriatim.usecases.publish import publish as publish_case

    views = view if isinstance(view, list | tuple) else [view]
    if not views:
        raise InputError(Fault("compare", "no view", "one or more", "name a table"))
    ready = [ready_under(one, policy, separator, encoding) for one in views]
    chosen = (methods,) if isinstance(methods, str) else None if methods is None else tuple(methods)
    parts = wiring.wired_publishing(wiring.wired_without_ledger(), ready[0].view.source, progress)
    orders = [publish_case.ReleaseOrder(one.view, one.plan, again=True) for one in ready]
    found = compare_case.compare(orders, parts, wiring.wired_scratch_ledger, chosen)
    return Comparison(policy.series, found, len(orders))
