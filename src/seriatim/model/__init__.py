"""Frozen values: what the house talks about. They know nothing of files, frames or databases."""

from seriatim.model.draft import Draft, Generalised, Grouping
from seriatim.model.epochs import check_epoch
from seriatim.model.hierarchy import TOP, Hierarchy, PathHierarchy
from seriatim.model.history import History, Past, SeriesState
from seriatim.model.policy import ColumnRule, DefenceSettings, Kind, Missing, Policy, Role, Terms, Thresholds, Unseen
from seriatim.model.release import Release, release
from seriatim.model.scale import Scale, scale_of
from seriatim.model.verdict import Approval, Estimate, Finding, Measure, Verdict
from seriatim.model.view import Coded, Table, View

__all__ = [
    "TOP",
    "Approval",
    "Coded",
    "ColumnRule",
    "DefenceSettings",
    "Draft",
    "Estimate",
    "Finding",
    "Generalised",
    "Grouping",
    "Hierarchy",
    "History",
    "Kind",
    "Measure",
    "Missing",
    "Past",
    "PathHierarchy",
    "Policy",
    "Release",
    "Role",
    "Scale",
    "SeriesState",
    "Table",
    "Terms",
    "Thresholds",
    "Unseen",
    "Verdict",
    "View",
    "check_epoch",
    "release",
    "scale_of",
]
