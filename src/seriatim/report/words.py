"""Words and numbers as reports write them: people by count, shares, and what each measure is called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

UNMEASURED = "could not be measured"


def format_count(value: int) -> str:
    return f"{value:,}"


def format_people(value: int, one: str = "record", many: str = "records") -> str:
    return f"{value:,} {one if value == 1 else many}"


def format_percent(share: float) -> str:
    """Write a share as a percentage; a small one never becomes 0%, nor a nearly whole one 100%."""
    if not math.isfinite(share):
        return UNMEASURED
    if 0 < share < 0.0001:
        return "below 0.01%"
    if 0.9999 < share < 1:
        return "above 99.99%"
    digits = 0 if share in (0.0, 1.0) else 2 if share < 0.01 or share > 0.99 else 1
    text = f"{share * 100:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def format_bits(value: float) -> str:
    return "1 bit" if value == 1 else f"{format_number(value)} bits"


def format_number(value: float) -> str:
    """Write whole numbers whole and others with three significant digits."""
    if math.isnan(value):
        return UNMEASURED
    if math.isinf(value):
        return "unbounded" if value > 0 else "minus unbounded"
    if value == math.floor(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_with_unit(value: float, unit: str) -> str:
    if unit in ("share", "percent", "%"):
        return format_percent(value)
    return f"{format_number(value)} {unit}".rstrip() if math.isfinite(value) else format_number(value)


def format_plain(value: Any) -> Any:
    """Return a value in types that JSON has; numbers that are not finite become "inf", "-inf" or "nan"."""
    if isinstance(value, (np.generic, np.ndarray)):
        return format_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): format_plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [format_plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((format_plain(entry) for entry in value), key=str)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"a report holds numbers, texts and lists of them, not {type(value).__name__}")


ATTACKS: dict[str, str] = {
    "exclusion": "Rules out values by comparing releases",
    "intersection": "Keeps the values common to all groups a person was in",
    "twins": "Finds people who must hold the same value",
    "sequence": "Uses which values usually follow one another",
    "belief": "Assumes people are exchangeable and infers values from group counts",
    "columns together": "Combines the tables of two sensitive columns, knowing how their values are related",
    "refused exits": "Knows when leavers are given up, and that some had to wait",
    "withheld": "Guesses the value of people who are in the view and not in the release",
}

ROLES: dict[str, str] = {
    "respondent": "the person; never published",
    "quasi": "a neighbour could know it; generalised",
    "sensitive": "the value to protect",
    "plain": "published as it is",
    "weight": "the people a record stands for; published as it is",
    "drop": "not published",
}

PUBLISHED: dict[str, str] = {"respondent": "–", "drop": "–", "quasi": "generalised where needed"}
"""How a column is published when its form is not known."""

FORMS: dict[str, str] = {
    "interval": "intervals, as [20,39]",
    "set": "sets, as {x,y}",
    "node": "levels of its hierarchy",
    "shuffled": "the values of its group, in another order",
    "intervals": "intervals, as [20,39]",
    "buckets": "groups and their values in separate tables",
    "exact": "as it is, beside the number of its group",
}

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("Series", "One table that is published repeatedly: every month, at each refresh, after a re-run."),
    ("Release", "One publication in a series: the table, its manifest, its codebook and this report."),
    ("Group", "People whom the method published together. Groups that look alike are one class."),
    ("Class", "Records that look alike in every column a neighbour could know: what a reader of the table sees."),
    ("Box", "The ranges, sets and terms that stand for the people of a group in those columns."),
    ("Counterfeit", "A row that belongs to nobody; how many there are in each group is published."),
    ("Generalised", "A cell is replaced by a range, a set or a wider term, such as 34 by [30,39]."),
    ("Withheld", "Not published in this release, because the record fits no class without breaking a promise."),
    (
        "Promise",
        "A condition in the policy, checked on the finished table by code that shares nothing with the method.",
    ),
    ("Value", "What a sensitive column says about a person, and nobody may learn."),
    (
        "Small changes between two extracts",
        "When someone joins or leaves between two releases, the difference can reveal that person. "
        "Only promises over the whole series prevent that.",
    ),
    ("Epoch", "A stretch of the series under one policy. The next epoch keeps the whole history."),
    ("Policy fingerprint", "Changes when anything in the policy or its hierarchies changes."),
)


@dataclass(frozen=True, slots=True)
class TitledMeasure:
    """A measure in plain English."""

    title: str
    meaning: str


MEASURES: dict[str, TitledMeasure] = {
    "gcp": TitledMeasure(
        "Detail lost (GCP)", "0% keeps every cell as it was, 100% keeps nothing; the mean over all cells."
    ),
    "ncp": TitledMeasure("Detail lost (NCP)", "How wide the published cells are, as a share of their column's range."),
    "discernibility": TitledMeasure(
        "Discernibility",
        "Pairs of records that cannot be told apart; a withheld one counts as alike to all. Lower is better.",
    ),
    "average_class_size": TitledMeasure(
        "Average class size", "Records that look alike. If it is close to k, little detail was lost without need."
    ),
    "classes": TitledMeasure("Classes", "Sets of records that look alike in every column a neighbour could know."),
    "suppressed_share": TitledMeasure("Withheld share", "Records withheld from the release to protect people."),
    "noise_spread": TitledMeasure(
        "Standard deviation of the noise",
        "About an eighth of the amount in the policy, which is the most that noise moves a value either way.",
    ),
    "noise_near": TitledMeasure(
        "Noise still near the truth",
        "The share of values that one noisy number comes near to (within 5% unless said otherwise).",
    ),
    "noise_hit_chance": TitledMeasure(
        "Best guess behind the noise",
        "How often an attacker who knows the population and how noise is drawn comes near; beside it, the same without "
        "any release.",
    ),
    "fresh_noise_near": TitledMeasure(
        "If every release had fresh noise",
        "The share of values that the mean of 8 releases would come near to. It does not happen here: a person with "
        "the same value has the same noise in every release of the series.",
    ),
    "odds_in_group": TitledMeasure(
        "Odds in a group",
        "How much a group, read alone, raises the odds that its people hold a frequent value, at most.",
    ),
    "own_part": TitledMeasure(
        "Own part",
        "How much somebody's own group raises the odds of a frequent value beyond what all other groups show of people "
        "like them, for 99 in 100 people.",
    ),
    "relation_kept": TitledMeasure(
        "Relation kept",
        "How much of what ties values to columns a reader finds who joins all groups (`reading.relation`): 100% as in "
        "the truth, 0% as if everyone's value were drawn from the whole table. The mean over the columns.",
    ),
    "margin_error": TitledMeasure(
        "Values off by (total variation)",
        "How far the published shares of the values are from the true ones; the worst column. 0% is the truth.",
    ),
    "margin_worst_ratio": TitledMeasure(
        "Worst value off by a factor", "The frequent value whose published share is farthest from the true one."
    ),
    "value_query_error": TitledMeasure(
        "Typical error of counts with a value,",
        "The median relative error when counting people with one of the frequent values in random ranges.",
    ),
    "query_error": TitledMeasure(
        "Typical error of counts",
        "The median relative error when counting people in random ranges of the published columns.",
    ),
}


def titled_measure(name: str) -> TitledMeasure | None:
    """Return the words of a measure; ``query_error_5%`` is the query error of counts of about 5% of the people."""
    if name in MEASURES:
        return MEASURES[name]
    stem, _, share = name.rpartition("_")
    if stem in MEASURES and share.endswith("%"):
        return TitledMeasure(f"{MEASURES[stem].title} about {share} of people", MEASURES[stem].meaning)
    return None
