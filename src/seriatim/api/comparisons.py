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
    from seriatim.usecases.compare.compare_page import Comparison, RiskMap
    from seriatim.usecases.compare.risk_map import MapWish


def compare_lattice_nodes(view: Any, policy: Policy) -> tuple[dict[str, int], ...]:
    """Return every minimal node of the method ``lattice``: the height of each quasi-identifier, 0 for the value."""
    from seriatim.usecases.compare.compare import lattice_nodes

    ready = ready_under(view, policy)
    return lattice_nodes(ready.view, ready.plan, wiring.wired_workers())


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


def compare_on_map(
    view: Any, policy: Policy, wish: MapWish | None = None, *, progress: Progress = no_progress
) -> RiskMap:
    """Put techniques and their parameters on one map of risk against usefulness.

    ``seriatim.api.MapWish`` chooses column and axes and may bring the user's own statistics: a name, and
    a function from columns of numbers to a number. Nothing is published or recorded.
    """
    from seriatim.usecases.compare.compare_page import RiskMap
    from seriatim.usecases.compare.risk_map import MapWish, risk_map, settled_wish

    ready = ready_under(view, policy)
    asked = settled_wish(ready.view, wish or MapWish())
    parts = wiring.wired_publishing(wiring.wired_without_ledger(), ready.view.source, progress)
    return RiskMap(policy.series, risk_map(ready.view, policy, parts.workers, asked, progress), asked)
