"""What promises, measures and roles mean, in the words of the report.

A promise or measure that is not listed here appears under its own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seriatim.report.formats import format_number, format_percent


@dataclass(frozen=True, slots=True)
class PromiseWords:
    """A promise in plain English. ``requires`` has a gap for the threshold."""

    title: str
    meaning: str
    side: Literal["at least", "at most"]
    requires: str
    found: str
    """What the worst figure describes."""
    share: bool = False

    def required(self, threshold: float) -> str:
        return self.requires.format(self.write(threshold))

    def write(self, value: float) -> str:
        return format_percent(value) if self.share else format_number(value)


PROMISE_WORDS: dict[str, PromiseWords] = {
    "k": PromiseWords(
        "No one stands alone",
        "Enough people share everything that a neighbour could know.",
        "at least",
        "at least {} people in each class",
        "smallest class",
    ),
    "l": PromiseWords(
        "No class reveals a value",
        "Someone who finds a person's class still faces several possible values.",
        "at least",
        "at least {} different values in each class",
        "least varied class",
    ),
    "l entropy": PromiseWords(
        "No class reveals a value",
        "Someone who finds a person's class still faces several values, none of them much likelier.",
        "at least",
        "as varied as {} equally likely values in each class",
        "least varied class",
    ),
    "l recursive": PromiseWords(
        "No class reveals a value",
        "The most frequent value of a class does not outweigh the rarer ones.",
        "at least",
        "rarer values outweigh the commonest (slack above {})",
        "slack of the worst class",
    ),
    "t": PromiseWords(
        "No class stands out",
        "Every class's mix of values stays close to the whole table's.",
        "at most",
        "at most {} away from the whole table",
        "farthest class",
    ),
    "suppress": PromiseWords(
        "Few records are withheld",
        "Only a small share of the records is withheld to protect people.",
        "at most",
        "at most {} withheld",
        "withheld",
        share=True,
    ),
    "m_uniqueness": PromiseWords(
        "Many values in every group",
        "Each group holds enough people, all with different values.",
        "at least",
        "at least {} different values in each group",
        "least varied group",
    ),
    "weak_m_uniqueness": PromiseWords(
        "Many values in every group",
        "Each group holds enough different values, each equally often.",
        "at least",
        "at least {} different values in each group",
        "least varied group",
    ),
    "m_invariance": PromiseWords(
        "The same values over time",
        "A person's group shows the same set of values in every release.",
        "at least",
        "{} values that never change",
        "smallest set",
    ),
    "weak_m_invariance": PromiseWords(
        "The same values over time",
        "A person's group shows the same set of values in every release.",
        "at least",
        "{} values that never change",
        "smallest set",
    ),
    "hc_safety": PromiseWords(
        "Comparing groups over time reveals nothing",
        "Two groups of different releases never differ in only a few people.",
        "at least",
        "groups differ in at least {} people",
        "closest pair",
    ),
    "union_safety": PromiseWords(
        "Joining groups reveals nothing",
        "Joined groups of different releases never differ in only a few people.",
        "at least",
        "joined groups differ in at least {} people",
        "closest join",
    ),
    "subtraction": PromiseWords(
        "Subtracting groups reveals nothing",
        "No group consists of another group and a few people more.",
        "at most",
        "{} groups inside another",
        "found",
    ),
    "lifespan": PromiseWords(
        "Nobody is published too often",
        "A person is published a limited number of times.",
        "at most",
        "at most {} releases per person",
        "most often",
    ),
    "group_cap": PromiseWords(
        "Nobody changes groups too often",
        "A person is in a limited number of different groups.",
        "at most",
        "at most {} groups per person",
        "most",
    ),
    "closed_lineages": PromiseWords(
        "Nobody changes lineage",
        "People stay in one lineage for good, so a breach cannot spread.",
        "at most",
        "{} groups that mix or split lineages",
        "found",
    ),
    "fair_lineages": PromiseWords(
        "No value dominates a lineage",
        "No value exceeds its share in any lineage, batch, drop or remainder.",
        "at most",
        "at most {} of a lineage share a value",
        "largest share",
        share=True,
    ),
    "fair_cells": PromiseWords(
        "No belief exceeds its bound",
        "People who came and went together hold enough different values, so their value can only be guessed.",
        "at most",
        "at most {} of a cell share a value",
        "largest share",
        share=True,
    ),
    "lasting_places": PromiseWords(
        "Slots change hands many at once",
        "People who leave are replaced or dropped in batches, so nobody can tell who took whose slot.",
        "at most",
        "{} groups that pass slots on unsafely",
        "found",
    ),
    "possible_values": PromiseWords(
        "Impossible values protect nobody",
        "Values that a person cannot have do not count; enough others remain.",
        "at least",
        "at least {} values that a person can have",
        "fewest",
    ),
    "eligible_table": PromiseWords(
        "No value is too frequent for the method",
        "The method has no room for a value that more people share; withholding them would give it away.",
        "at most",
        "at most {} of the people share a value",
        "most frequent value",
        share=True,
    ),
    "coverage": PromiseWords(
        "The table agrees with its groups",
        "Every box covers its people, everyone is in it once, and counterfeits are counted right.",
        "at most",
        "{} people or groups shown wrongly",
        "found",
    ),
    "breach_share": PromiseWords(
        "All releases together breach few people",
        "Simulates an attacker who keeps every release and builds on each finding.",
        "at most",
        "at most {} of people breached",
        "upper end of the interval",
        share=True,
    ),
    "withheld_leak": PromiseWords(
        "Being withheld gives no value away",
        "Someone who knows that a person is in the view and not in the release cannot guess their value well.",
        "at most",
        "at most {} times what a group may have of a value",
        "lower end of the interval",
    ),
    "j": PromiseWords(
        "People of a class are believed alike",
        "What someone who knows how values follow each other believes about the people of a class differs by little.",
        "at most",
        "a divergence of at most {}",
        "largest",
    ),
    "sure_share": PromiseWords(
        "Few people are believed right with certainty",
        "Simulates an attacker who keeps every release, knows how values follow each other, and looks back.",
        "at most",
        "at most {} of people believed right with certainty",
        "believed right",
        share=True,
    ),
    "alpha_k": PromiseWords(
        "No value dominates a class",
        "No value is held by too many people of a class.",
        "at most",
        "at most {} of a class share a value",
        "most uniform class",
        share=True,
    ),
    "beta": PromiseWords(
        "No value becomes much likelier",
        "Seeing a class raises no value's likelihood far above the whole table's.",
        "at most",
        "relative gain of at most {}",
        "largest gain",
    ),
    "delta": PromiseWords(
        "No value's odds shift far",
        "Each value is about as frequent in a class as in the whole table.",
        "at most",
        "log ratio of at most {}",
        "largest shift",
    ),
    "value_bounds": PromiseWords(
        "Chosen values stay within their bounds",
        "Values named in the policy are neither too likely nor ruled out in any class.",
        "at most",
        "bounds missed by at most {}",
        "missed by at most",
    ),
    "distribution_leakage": PromiseWords(
        "No class changes a belief much",
        "Seeing a class changes what one would guess about its people only a little.",
        "at most",
        "at most {} away from the whole table",
        "farthest class",
    ),
    "entropy_leakage": PromiseWords(
        "No class makes anyone much surer",
        "Seeing a class adds or removes only a little certainty.",
        "at most",
        "at most {} bits gained or lost",
        "worst class, in bits",
    ),
    "max_hit_chance_at": PromiseWords(
        "No one comes near a number",
        "The best guess at a person's number rarely comes near it, beyond what it would for anyone.",
        "at most",
        "near with a chance of at most {}",
        "best guess",
        share=True,
    ),
    "min_entropy_at": PromiseWords(
        "A near guess stays open",
        "Even someone content with a rough number still faces several that are far apart.",
        "at least",
        "at least {} bits in each class",
        "least open class",
    ),
    "min_area": PromiseWords(
        "Numbers of a class are far apart",
        "The numbers of a class spread over a wide range, in units x bits.",
        "at least",
        "an area of at least {} in each class",
        "smallest area",
    ),
    "m": PromiseWords(
        "Months together do not narrow it down",
        "A person's class offers the same set of values in every release.",
        "at least",
        "at least {} values, the same in each release",
        "fewest",
    ),
    "breach": PromiseWords(
        "A breach is unlikely",
        "The chance that the declared adversary learns someone's value stays low.",
        "at most",
        "chance of at most {}",
        "highest chance",
        share=True,
    ),
}


def promise_words(rule: str, detail: str) -> PromiseWords | None:
    """Return the words of a promise, for the kind its finding names; None if it is not listed."""
    kinds = {"entropy": "entropy" in detail, "recursive": detail.startswith("recursive")}
    named = next((f"{rule} {kind}" for kind, meant in kinds.items() if meant), rule)
    return PROMISE_WORDS.get(named) or PROMISE_WORDS.get(rule)


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """A measure in plain English."""

    title: str
    meaning: str


MEASURES: dict[str, MeasureWords] = {
    "gcp": MeasureWords(
        "Detail lost (GCP)", "0% keeps every cell as it was, 100% tells nothing; the mean over all cells."
    ),
    "ncp": MeasureWords("Detail lost (NCP)", "How wide the published cells are, as a share of their column's range."),
    "discernibility": MeasureWords(
        "Discernibility",
        "Pairs of records that cannot be told apart; a withheld one counts as alike to all. Lower is better.",
    ),
    "average_class_size": MeasureWords(
        "Average class size", "Records that look alike. If it is close to k, little detail was lost without need."
    ),
    "classes": MeasureWords("Classes", "Sets of records that look alike in every column a neighbour could know."),
    "suppressed_share": MeasureWords("Withheld share", "Records withheld from the release to protect people."),
    "noise_near": MeasureWords(
        "Noise still near the truth",
        "The share of values that one noisy number comes near to (within 5 % unless said otherwise).",
    ),
    "fresh_noise_near": MeasureWords(
        "If every release had fresh noise",
        "The share of values that the mean of 8 releases would come near to. It does not happen here: a person with "
        "the same value has the same noise in every release of the series.",
    ),
    "margin_error": MeasureWords(
        "Values off by (total variation)",
        "How far the published shares of the values are from the true ones; the worst column. 0% is the truth.",
    ),
    "margin_worst_ratio": MeasureWords(
        "Worst value off by a factor", "The frequent value whose published share is farthest from the true one."
    ),
    "value_query_error": MeasureWords(
        "Typical error of counts with a value,",
        "The median relative error when counting people with one of the frequent values in random ranges.",
    ),
    "query_error": MeasureWords(
        "Typical error of counts",
        "The median relative error when counting people in random ranges of the published columns.",
    ),
}


def measure_words(name: str) -> MeasureWords | None:
    """Return the words of a measure; ``query_error_5%`` is the query error of counts of about 5% of the people."""
    if name in MEASURES:
        return MEASURES[name]
    stem, _, share = name.rpartition("_")
    if stem in MEASURES and share.endswith("%"):
        return MeasureWords(f"{MEASURES[stem].title} about {share} of people", MEASURES[stem].meaning)
    return None


ATTACKS: dict[str, str] = {
    "exclusion": "Rules out values by comparing releases",
    "intersection": "Keeps the values common to all groups a person was in",
    "twins": "Finds people who must hold the same value",
    "sequence": "Uses which values usually follow one another",
    "withheld": "Guesses the value of people who are in the view and not in the release",
}

ROLES: dict[str, str] = {
    "respondent": "the person; never published",
    "quasi": "a neighbour could know it; generalised",
    "sensitive": "the value to protect",
    "plain": "published as it is",
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
