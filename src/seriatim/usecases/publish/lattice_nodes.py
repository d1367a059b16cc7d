"""All minimal nodes of a lattice: every way to generalise whole columns just enough, not only the cheapest."""

from __future__ import annotations

from seriatim.defences import loaded
from seriatim.errors import Fault, PolicyError
from seriatim.model import View
from seriatim.model.methods import method_named, quoted_methods
from seriatim.ports import Workers
from seriatim.usecases.publish.plan import Plan


def lattice_nodes(view: View, plan: Plan, workers: Workers) -> tuple[dict[str, int], ...]:
    """Return the height of every quasi-identifier in each minimal node; 0 is the value itself."""
    settings = plan.settled.defence
    row = method_named(settings.method) if settings is not None else None
    if row is None or not row.nodes:
        found = "another method" if settings is not None else "no method"
        allowed = f"{quoted_methods(lambda other: bool(other.nodes))}, whose nodes are listed"
        raise PolicyError(Fault("[defence] method", found, allowed, "change it"))
    names = [column.name for column in view.quasi]
    nodes = loaded(row.nodes)(view, plan.settled, workers)
    return tuple({name: int(height) for name, height in zip(names, node, strict=True)} for node in nodes)
