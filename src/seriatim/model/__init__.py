"""Frozen values that all rooms share. They know nothing of files, frames or databases."""

from seriatim.model.adversary import Adversary
from seriatim.model.candidates import Candidates
from seriatim.model.chart import Axis, Bars, Chart, Heatmap, Histogram, Line, Lines, Threshold, histogram_chart
from seriatim.model.draft import Draft, Generalised, Grouping
from seriatim.model.epochs import check_epoch, check_epoch_columns
from seriatim.model.hierarchies.paths import TOP, Hierarchy, PathHierarchy
from seriatim.model.history import History, Past, SeriesState
from seriatim.model.methods import METHODS, Family, Method
from seriatim.model.policy import (
    ColumnRule,
    DefenceSettings,
    Kind,
    Missing,
    Options,
    Policy,
    Role,
    SeriesTerms,
    Terms,
    Thresholds,
    Unseen,
)
from seriatim.model.priors import Prior, PriorSets
from seriatim.model.release import Refusal, Release, release
from seriatim.model.scale import Scale, scale_of
from seriatim.model.verdict import Approval, Estimate, Finding, Measure, Verdict
from seriatim.model.view import Coded, Table, View

__all__ = [
    "METHODS",
    "TOP",
    "Adversary",
    "Approval",
    "Axis",
    "Bars",
    "Candidates",
    "Chart",
    "Coded",
    "ColumnRule",
    "DefenceSettings",
    "Draft",
    "Estimate",
    "Family",
    "Finding",
    "Generalised",
    "Grouping",
    "Heatmap",
    "Hierarchy",
    "Histogram",
    "History",
    "Kind",
    "Line",
    "Lines",
    "Measure",
    "Method",
    "Missing",
    "Options",
    "Past",
    "PathHierarchy",
    "Policy",
    "Prior",
    "PriorSets",
    "Refusal",
    "Release",
    "Role",
    "Scale",
    "SeriesState",
    "SeriesTerms",
    "Table",
    "Terms",
    "Threshold",
    "Thresholds",
    "Unseen",
    "Verdict",
    "View",
    "check_epoch",
    "check_epoch_columns",
    "histogram_chart",
    "release",
    "scale_of",
]
