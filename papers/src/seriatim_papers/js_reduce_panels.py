"""The sequence attack on real panels, under the product's own methods: the table that the made-up worlds lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from seriatim.attacks.belief_figures import belief_calibration, sequence_figures
from seriatim.attacks.sequence_knowledge import SequenceBeliefs, sequence
from seriatim.errors import SeriatimError
from seriatim.model.history import History
from seriatim.ports import Progress, no_progress
from seriatim.report import Grid
from seriatim_papers.update_graph import values_left
from seriatim_papers.worlds.panels import Panel, panel_nlswork, panel_rwm5yr, panel_wages

PANELS: dict[str, Callable[[], Panel]] = {
    "nls occupation": panel_nlswork,
    "nls industry": lambda: panel_nlswork("ind_code"),
    "wp occupation": panel_wages,
    "inc": lambda: panel_rwm5yr("hhninc"),
    "vis": lambda: panel_rwm5yr("docvis"),
    "hosp": lambda: panel_rwm5yr("hospvis"),
}
_NEARLY = 0.99


@dataclass(frozen=True, slots=True)
class PanelMethod:
    """A method of the product with its promises."""

    name: str
    method: str
    k: int
    l: float | None = 3  # noqa: E741 - the field's own name
    options: dict[str, Any] = field(default_factory=dict)
    looks_back: bool = False
    """Whether it groups by all earlier releases; ``options`` are its promises then."""

    def published(self, panel: Panel) -> tuple[History, float]:
        """Return a panel's releases under the method, and their loss."""
        if self.looks_back:
            return panel.looking_back(self.method, **self.options)
        return panel.published(self.method, self.k, self.l, **self.options)


METHODS = (
    PanelMethod("median k 5 l 3", "median", 5),
    PanelMethod("median k 10 l 3", "median", 10),
    PanelMethod("median k 20 l 3", "median", 20),
    PanelMethod("optimal k 10 l 3", "sequence", 10, options={"mode": "optimal"}),
    PanelMethod("optimal k 20 l 3", "sequence", 20, options={"mode": "optimal"}),
    PanelMethod("greedy k 20 t 0.5 l 3", "sequence", 20, options={"mode": "greedy", "t": 0.5}),
    PanelMethod("m-Distinct m 3", "distinct", 0, None, {"m": 3}, looks_back=True),
    PanelMethod("cohort m 3, odds 2", "cohort", 0, None, {"m": 3, "odds": 2, "episodes": True}, looks_back=True),
)
"""m-Distinct is for values that change; cohort is told of each new value as of somebody new, as its policy says."""
SKEWED = (
    PanelMethod("median k 2 l 2", "median", 2, 2),
    PanelMethod("median k 5 l 2", "median", 5, 2),
)
"""For hospital visits, 91 % of which are 0: three values in every group are not to be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOutcome:
    """What one method gave away and lost on one panel."""

    panel: str
    method: str
    loss: float = float("nan")
    beliefs: tuple[float, ...] = ()
    """In the truth: before any release, after one, after the series, looking back."""
    gain: float = float("nan")
    sure: float = float("nan")
    """People ever believed right above .9 with odds raised tenfold."""
    plainly: float = float("nan")
    """The same, whatever their odds were before."""
    hit_rate: float = float("nan")
    log_loss: tuple[float, ...] = ()
    """Forward, and looking back."""
    nearly: int = 0
    """Beliefs above .99, and the share of them that is right."""
    nearly_right: float = float("nan")
    propagated: float = float("nan")
    one_left: float = float("nan")
    """People of whom one value is left in some release, by what may follow what alone (update graphs)."""
    counterfeits: float = 0.0
    """As a share of rows."""
    why: str = ""
    """Why the method refused the panel."""


def js_reduce_on_panels(
    panels: tuple[str, ...] = (), seed: int = 1, progress: Progress = no_progress
) -> tuple[PanelOutcome, ...]:
    """Publish each panel under each method, and attack it with steps by class, looking back.

    The people are given; another seed draws another secret, which decides between equal records.
    """
    return tuple(_outcomes(panels or tuple(PANELS), progress, seed))


def _outcomes(names: tuple[str, ...], progress: Progress, seed: int) -> Iterator[PanelOutcome]:
    for at, name in enumerate(names):
        panel = PANELS[name]()
        panel = panel if seed == 1 else replace(panel, secret=f"panel {seed}".encode())
        for method in SKEWED if name == "hosp" else METHODS:
            progress(f"{name}: {method.name}", at / len(names))
            yield js_reduce_on_panel(name, panel, method)


def js_reduce_on_panel(name: str, panel: Panel, asked: PanelMethod) -> PanelOutcome:
    """Publish one panel under one method and attack it."""
    try:
        history, loss = asked.published(panel)
    except SeriatimError as error:
        return PanelOutcome(panel=name, method=asked.name, why=str(error))
    found = sequence(history, panel.adversary(), "back")
    figures = sequence_figures(found)
    losses = [belief_calibration(found, beliefs).log_loss for beliefs in (found.forward.beliefs, found.beliefs)]
    nearly, right = _nearly_certain(found)
    return PanelOutcome(
        panel=name,
        method=asked.name,
        loss=loss,
        beliefs=(figures.before, figures.one, figures.series, figures.back or float("nan")),
        gain=figures.gain,
        sure=figures.sure.share,
        plainly=figures.sure.plainly / max(figures.n_people, 1),
        hit_rate=figures.sure.hit_rate,
        log_loss=tuple(losses),
        nearly=nearly,
        nearly_right=right,
        propagated=figures.propagated,
        one_left=float(np.mean([min(left) == 1 for _, left in values_left(history, panel.follows(history))])),
        counterfeits=float(np.mean(np.concatenate([past.person < 0 for past in history]))),
    )


def _nearly_certain(found: SequenceBeliefs) -> tuple[int, float]:
    """Count the beliefs above .99, and return the share of them that is right."""
    beliefs = found.beliefs[found.judged]
    certain = beliefs.max(axis=1, initial=0.0) > _NEARLY
    right = beliefs.argmax(axis=1) == found.rows.value[found.judged]
    return int(certain.sum()), float(right[certain].mean()) if certain.any() else float("nan")


def js_reduce_panel_grid(outcomes: tuple[PanelOutcome, ...]) -> Grid:
    """Return the table of panels."""
    head = ("panel", "method", "loss", "before", "one release", "series", "looking back", "gain back", "people sure",
            "hit rate", "log-loss", "looking back", "above .99", "right", "one value left", "counterfeits")  # fmt: skip
    rows = (*(_row(one) for one in outcomes), _all(outcomes))
    return Grid("Belief in the truth", head, rows, frozenset(range(2, len(head))))


def _all(outcomes: tuple[PanelOutcome, ...]) -> tuple[str, ...]:
    """Return the beliefs above .99 of all rows together, with the exact interval of the share that is right."""
    from scipy.stats import binomtest

    told = [one for one in outcomes if one.nearly]
    n, right = sum(one.nearly for one in told), sum(round(one.nearly * one.nearly_right) for one in told)
    if not n:
        return ("all", *[""] * 15)
    ends = binomtest(right, n).proportion_ci()
    return ("all", *[""] * 11, f"{n:,}", f"{right / n:.1%} ({ends.low:.1%} to {ends.high:.1%})", "", "")


def _row(one: PanelOutcome) -> tuple[str, ...]:
    if one.why:
        return (one.panel, f"{one.method}: {one.why}", *[""] * 14)
    shares = (f"{one.sure:.1%}", f"{one.hit_rate:.0%}" if np.isfinite(one.hit_rate) else "")
    right = f"{round(one.nearly * one.nearly_right):,}" if one.nearly else ""
    figures = (f"{one.loss:.3f}", *(f"{belief:.3f}" for belief in one.beliefs), f"{one.gain:.3f}")
    return (
        one.panel, one.method, *figures, *shares, *(f"{loss:.2f}" for loss in one.log_loss), f"{one.nearly:,}", right,
        f"{one.one_left:.1%}", f"{one.counterfeits:.1%}",
    )  # fmt: skip
