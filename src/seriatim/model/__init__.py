"""Frozen values that all rooms share. They know nothing of files, frames or databases."""

from seriatim.model.adversary import Adversary, Prior, PriorSets
from seriatim.model.chart import Bars, Chart, ChartAxis, Heatmap, Histogram, Line, Lines, Threshold, histogram_of
from seriatim.model.draft import Draft, Generalised, Grouping
from seriatim.model.hierarchies import Hierarchy, PathHierarchy
from seriatim.model.history import History, PastRelease, SeriesState
from seriatim.model.methods import METHODS, Method, MethodFamily
from seriatim.model.policy import (
    ColumnRule,
    DefenceOptions,
    DefenceSettings,
    Kind,
    Missing,
    Policy,
    PromiseTerms,
    Role,
    SeriesTerms,
    Thresholds,
    Unseen,
)
from seriatim.model.policy_in_force import check_epoch, check_epoch_columns
from seriatim.model.release import Refusal, Release, release
from seriatim.model.scale import TOP, Scale, scale_of
from seriatim.model.verdict import Approval, Estimate, Finding, Measure, Verdict
from seriatim.model.view import CodedColumn, ColumnLabels, Table, View

__all__ = [
    "METHODS",
    "TOP",
    "Adversary",
    "Approval",
    "Bars",
    "Chart",
    "ChartAxis",
    "CodedColumn",
    "ColumnLabels",
    "ColumnRule",
    "DefenceOptions",
    "DefenceSettings",
    "Draft",
    "Estimate",
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
    "MethodFamily",
    "Missing",
    "PastRelease",
    "PathHierarchy",
    "Policy",
    "Prior",
    "PriorSets",
    "PromiseTerms",
    "Refusal",
    "Release",
    "Role",
    "Scale",
    "SeriesState",
    "SeriesTerms",
    "Table",
    "Threshold",
    "Thresholds",
    "Unseen",
    "Verdict",
    "View",
    "check_epoch",
    "check_epoch_columns",
    "histogram_of",
    "release",
    "scale_of",
]
