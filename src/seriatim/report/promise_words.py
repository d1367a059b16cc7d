"""What promises mean, in the words of the report.

A promise that is not listed here appears under its own name.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from seriatim.report.words import format_bits, format_number, format_percent


@dataclass(frozen=True, slots=True)
class PromiseWords:
    """A promise in plain English. ``requires`` has a gap for the threshold."""

    title: str
    meaning: str
    _: KW_ONLY
    side: Literal["at least", "at most"]
    requires: str
    found: str
    """What the worst figure describes."""
    share: bool = False
    bits: bool = False

    def required(self, threshold: float) -> str:
        return self.requires.format(format_bits(threshold) if self.bits else self.write(threshold))

    def write(self, value: float) -> str:
        return format_percent(value) if self.share else format_number(value)


PROMISE_WORDS: dict[str, PromiseWords] = {
    "k": PromiseWords(
        "No one stands alone",
        "Enough people share everything that a neighbour could know.",
        side="at least",
        requires="at least {} people in each class",
        found="smallest class",
    ),
    "l": PromiseWords(
        "No class reveals a value",
        "Someone who finds a person's class still faces several possible values.",
        side="at least",
        requires="at least {} different values in each class",
        found="least varied class",
    ),
    "l entropy": PromiseWords(
        "No class reveals a value",
        "Someone who finds a person's class still faces several values, none of them much likelier.",
        side="at least",
        requires="as varied as {} equally likely values in each class",
        found="least varied class",
    ),
    "l recursive": PromiseWords(
        "No class reveals a value",
        "The most frequent value of a class does not outweigh the rarer ones.",
        side="at least",
        requires="rarer values outweigh the commonest (slack above {})",
        found="slack of the worst class",
    ),
    "t": PromiseWords(
        "No class stands out",
        "Every class's mix of values stays close to the whole table's.",
        side="at most",
        requires="at most {} away from the whole table",
        found="farthest class",
    ),
    "suppress": PromiseWords(
        "Few records are withheld",
        "Only a small share of the records is withheld to protect people.",
        side="at most",
        requires="at most {} withheld",
        found="withheld",
        share=True,
    ),
    "m_uniqueness": PromiseWords(
        "Many values in every group",
        "Each group holds enough people, all with different values.",
        side="at least",
        requires="at least {} different values in each group",
        found="least varied group",
    ),
    "weak_m_uniqueness": PromiseWords(
        "Many values in every group",
        "Each group holds enough different values, each equally often.",
        side="at least",
        requires="at least {} different values in each group",
        found="least varied group",
    ),
    "m_invariance": PromiseWords(
        "The same values over time",
        "A person's group shows the same set of values in every release.",
        side="at least",
        requires="{} values that never change",
        found="smallest set",
    ),
    "weak_m_invariance": PromiseWords(
        "The same values over time",
        "A person's group shows the same set of values in every release.",
        side="at least",
        requires="{} values that never change",
        found="smallest set",
    ),
    "hc_safety": PromiseWords(
        "Comparing groups over time reveals nothing",
        "Two groups of different releases never differ in only a few people.",
        side="at least",
        requires="groups differ in at least {} people",
        found="closest pair",
    ),
    "union_safety": PromiseWords(
        "Joining groups reveals nothing",
        "Joined groups of different releases never differ in only a few people.",
        side="at least",
        requires="joined groups differ in at least {} people",
        found="closest join",
    ),
    "subtraction": PromiseWords(
        "Subtracting groups reveals nothing",
        "No group consists of another group and a few people more.",
        side="at most",
        requires="{} groups inside another",
        found="found",
    ),
    "lifespan": PromiseWords(
        "Nobody is published too often",
        "A person is published a limited number of times.",
        side="at most",
        requires="at most {} releases per person",
        found="most often",
    ),
    "fair_cells": PromiseWords(
        "No belief exceeds its bound",
        "People who came and went together hold enough different values, so their value can only be guessed.",
        side="at most",
        requires="at most {} of a cell share a value",
        found="largest share",
        share=True,
    ),
    "possible_values": PromiseWords(
        "Impossible values protect nobody",
        "Values that a person cannot have do not count; enough others remain.",
        side="at least",
        requires="at least {} values that a person can have",
        found="fewest",
    ),
    "eligible_table": PromiseWords(
        "No value is too frequent for the method",
        "The method has no room for a value that more people share; withholding them would reveal it.",
        side="at most",
        requires="at most {} of the people share a value",
        found="most frequent value",
        share=True,
    ),
    "coverage": PromiseWords(
        "The table agrees with its groups",
        "Every box covers its people, everyone appears once, and counterfeits are counted correctly.",
        side="at most",
        requires="{} people or groups shown wrongly",
        found="found",
    ),
    "breach_share": PromiseWords(
        "All releases together breach few people",
        "Simulates an attacker who keeps every release and builds on each finding.",
        side="at most",
        requires="at most {} of people breached",
        found="upper end of the interval",
        share=True,
    ),
    "withheld_leak": PromiseWords(
        "Being withheld reveals no value",
        "Someone who knows that a person is in the view and not in the release cannot guess their value well.",
        side="at most",
        requires="at most {} times what a group may have of a value",
        found="lower end of the interval",
    ),
    "j": PromiseWords(
        "Beliefs about the people of a class are similar",
        "An attacker who knows how values usually change believes much the same about everyone in a class.",
        side="at most",
        requires="a divergence of at most {}",
        found="largest",
    ),
    "sure_share": PromiseWords(
        "Few people's values can be inferred with certainty",
        "Simulates an attacker who keeps every release, knows how values usually change, and looks back.",
        side="at most",
        requires="at most {} of people inferred with certainty",
        found="inferred",
        share=True,
    ),
    "alpha_k": PromiseWords(
        "No value dominates a class",
        "No value is held by too many people of a class.",
        side="at most",
        requires="at most {} of a class share a value",
        found="most uniform class",
        share=True,
    ),
    "beta": PromiseWords(
        "No value becomes much likelier",
        "Seeing a class raises no value's likelihood far above the whole table's.",
        side="at most",
        requires="relative gain of at most {}",
        found="largest gain",
    ),
    "delta": PromiseWords(
        "No value's odds shift far",
        "Each value is about as frequent in a class as in the whole table.",
        side="at most",
        requires="log ratio of at most {}",
        found="largest shift",
    ),
    "value_bounds": PromiseWords(
        "Chosen values stay within their bounds",
        "Values named in the policy are neither too likely nor ruled out in any class.",
        side="at most",
        requires="bounds missed by at most {}",
        found="missed by at most",
    ),
    "distribution_leakage": PromiseWords(
        "No class changes a belief much",
        "Seeing a class changes what one would guess about its people only a little.",
        side="at most",
        requires="at most {} away from the whole table",
        found="farthest class",
    ),
    "entropy_leakage": PromiseWords(
        "No class makes anyone much surer",
        "Seeing a class adds or removes only a little certainty.",
        side="at most",
        requires="at most {} gained or lost",
        found="worst class, in bits",
        bits=True,
    ),
    "max_hit_chance_at": PromiseWords(
        "No one comes near a number",
        "The best guess at a person's number rarely comes near it, beyond what it would for anyone.",
        side="at most",
        requires="near with a chance of at most {}",
        found="best guess",
        share=True,
    ),
    "min_entropy_at": PromiseWords(
        "Even an approximate guess stays uncertain",
        "Even someone content with a rough number still faces several that are far apart.",
        side="at least",
        requires="at least {} in each class",
        found="least uncertain class",
        bits=True,
    ),
    "min_area": PromiseWords(
        "Numbers of a class are far apart",
        "The numbers of a class spread over a wide range, in units x bits.",
        side="at least",
        requires="an area of at least {} in each class",
        found="smallest area",
    ),
    "m": PromiseWords(
        "Months together do not narrow it down",
        "A person's class offers the same set of values in every release.",
        side="at least",
        requires="at least {} values, the same in each release",
        found="fewest",
    ),
    "breach": PromiseWords(
        "A breach is unlikely",
        "The chance that the declared adversary learns someone's value stays low.",
        side="at most",
        requires="chance of at most {}",
        found="highest chance",
        share=True,
    ),
}


def promise_words(rule: str, detail: str) -> PromiseWords | None:
    """Return the words of a promise, for the kind its finding names; None if it is not listed."""
    kinds = {"entropy": "entropy" in detail, "recursive": detail.startswith("recursive")}
    named = next((f"{rule} {kind}" for kind, meant in kinds.items() if meant), rule)
    return PROMISE_WORDS.get(named) or PROMISE_WORDS.get(rule)
