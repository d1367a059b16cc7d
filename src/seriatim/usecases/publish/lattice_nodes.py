"""All minimal nodes of a lattice: every way to generalise whole columns just enough, not only the cheapest."""

from __future__ import annotations

from seriatim.errors import Fault, PolicyError
from seriatim.model import View
from seriatim.ports import Workers
from seriatim.usecases.publish.plan import Plan

METHOD = "lattice"


def lattice_nodes(view: View, plan: Plan, workers: Workers) -> tuple[dict[str, int], ...]:
    """Return the height of every quasi-identifier in each minimal node; 0 is the value itself."""
    settings = plan.settled.defence
    if settings is None or settings.method != METHOD:
        found = "another method" if settings is not None else "no method"
        raise PolicyError(Fault("[defence] method", found, f'"{METHOD}", whose nodes are listed', "change it"))
    from seriatim.defences.single.lattice.generalisation import minimal_generalisations

    names = [column.name for column in view.quasi]
    nodes = minimal_generalisations(view, plan.settled, workers)
    return tuple({name: int(height) for name, height in zip(names, node, strict=True)} for node in nodes)
