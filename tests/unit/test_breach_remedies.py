"""What would pass, where several series were judged together."""

import pytest

from seriatim.model import Estimate
from seriatim.model.history import JudgedHistory, nothing_published
from seriatim.promises.series.breach_bounds import SimulatedShare


@pytest.mark.parametrize(("share", "undecided", "told"), [(0.0, 40, "40 people checked stay"), (0.2, 0, '"cohort"')])
def test_a_remedy_for_several_series_fits_what_was_found(share: float, undecided: int, told: str) -> None:
    """Cohorts were advised where cohorts were refused, since the solver had decided about too few of their people."""
    detail = {"beside": ("one",), "alone": 0.0, "undecided": undecided, "asked": 50}
    estimate = Estimate("exclusion", share, share, 1.0, n_people=100, wrong=0, detail=detail)
    finding = SimulatedShare(0.01, "ill").check(JudgedHistory(nothing_published(), estimate=estimate))
    assert not finding.kept
    assert told in finding.remedy
    assert finding.remedy.startswith("publish these people in one series with 'one'")
