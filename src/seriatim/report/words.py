"""The words of the report: what promises, measures and roles mean to those who read it.

A promise or a measure that is not listed here is shown under its own name: other rooms may add theirs at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seriatim.report.formats import number, percent


@dataclass(frozen=True, slots=True)
class RuleWords:
    """A promise in plain English. ``asks`` has one place for the threshold."""

    title: str
    meaning: str
    side: Literal["at least", "at most"]
    asks: str
    found: str
    """What the worst figure is the figure of."""
    share: bool = False

    def ask(self, threshold: float) -> str:
        return self.asks.format(self.write(threshold))

    def write(self, value: float) -> str:
        return percent(value) if self.share else number(value)


RULES: dict[str, RuleWords] = {
    "k": RuleWords(
        "No one stands alone",
        "Everyone shares all the columns a neighbour could know with enough others.",
        "at least",
        "at least {} records alike",
        "smallest class",
    ),
    "l": RuleWords(
        "No class gives the answer away",
        "Whoever finds a person's class still faces several possible answers.",
        "at least",
        "at least {} different answers in each class",
        "least varied class",
    ),
    "l entropy": RuleWords(
        "No class gives the answer away",
        "Whoever finds a person's class still faces several answers, none of them much likelier.",
        "at least",
        "as varied as {} equally likely answers in each class",
        "least varied class",
    ),
    "l recursive": RuleWords(
        "No class gives the answer away",
        "The most frequent answer of a class does not outweigh the rarer ones.",
        "at least",
        "rarer answers outweigh the commonest (slack above {})",
        "slack of the worst class",
    ),
    "t": RuleWords(
        "No class stands out",
        "The answers in a class are spread much like those of the whole table.",
        "at most",
        "at most {} away from the whole table",
        "farthest class",
    ),
    "suppress": RuleWords(
        "Few are withheld",
        "Only a small share of the records is left out to protect people.",
        "at most",
        "at most {} withheld",
        "withheld",
        share=True,
    ),
    "m_uniqueness": RuleWords(
        "Many answers in every group",
        "Each group holds enough people, all with different answers.",
        "at least",
        "at least {} different answers in each group",
        "poorest group",
    ),
    "weak_m_uniqueness": RuleWords(
        "Many answers in every group",
        "Each group holds enough different answers, each equally often.",
        "at least",
        "at least {} different answers in each group",
        "poorest group",
    ),
    "m_invariance": RuleWords(
        "The same answers over time",
        "In every release a person stands among the same set of answers.",
        "at least",
        "{} answers that never change",
        "smallest set",
    ),
    "weak_m_invariance": RuleWords(
        "The same answers over time",
        "In every release a person stands among the same set of answers.",
        "at least",
        "{} answers that never change",
        "smallest set",
    ),
    "hc_safety": RuleWords(
        "Comparing groups over time tells nothing",
        "Two groups of different months never differ in only a few people.",
        "at least",
        "groups differ in at least {} people",
        "closest pair",
    ),
    "union_safety": RuleWords(
        "Joining groups tells nothing",
        "Several groups together never differ in only a few people from several others.",
        "at least",
        "joined groups differ in at least {} people",
        "closest join",
    ),
    "subtraction": RuleWords(
        "Taking groups apart tells nothing",
        "No group is another one and a few people more.",
        "at most",
        "{} groups inside another",
        "found",
    ),
    "lifespan": RuleWords(
        "Nobody is shown too often",
        "A person is published a limited number of times.",
        "at most",
        "at most {} releases a person",
        "most often",
    ),
    "group_cap": RuleWords(
        "Nobody moves too often",
        "A person stands in a limited number of different groups.",
        "at most",
        "at most {} groups a person",
        "most",
    ),
    "closed_lineages": RuleWords(
        "Nobody changes group",
        "People stay in one lineage for good, so a breach cannot spread.",
        "at most",
        "{} groups that mix or split lineages",
        "found",
    ),
    "fair_lineages": RuleWords(
        "No answer dominates a lineage",
        "In every lineage, batch, drop and remainder no answer has more than its share.",
        "at most",
        "at most {} of a lineage share an answer",
        "largest share",
        share=True,
    ),
    "lasting_places": RuleWords(
        "Places are passed on in crowds",
        "People who left are replaced or dropped many at once, and nobody's follower can be told.",
        "at most",
        "{} groups that pass places on unsafely",
        "found",
    ),
    "possible_values": RuleWords(
        "What cannot be is no cover",
        "Answers that a person cannot have do not count; enough of the others remain.",
        "at least",
        "at least {} answers that a person can have",
        "fewest",
    ),
    "coverage": RuleWords(
        "The table says what was grouped",
        "Every range covers the people in it, everyone stands once, and counterfeits are counted right.",
        "at most",
        "{} people or groups shown wrongly",
        "found",
    ),
    "breach_share": RuleWords(
        "All releases together give few away",
        "Somebody who keeps every release and goes on from what was found was simulated.",
        "at most",
        "at most {} of people given away",
        "upper end of the interval",
        share=True,
    ),
    "alpha_k": RuleWords(
        "No answer dominates a class",
        "No single answer is held by too many of a class.",
        "at most",
        "at most {} of a class share an answer",
        "most uniform class",
        share=True,
    ),
    "beta": RuleWords(
        "No answer becomes much likelier",
        "Seeing the class raises no answer's likelihood too far above the whole table's.",
        "at most",
        "relative gain of at most {}",
        "largest gain",
    ),
    "delta": RuleWords(
        "No answer's odds shift far",
        "Each answer is about as frequent in a class as in the whole table.",
        "at most",
        "log ratio of at most {}",
        "largest shift",
    ),
    "value_bounds": RuleWords(
        "Chosen answers stay within their bounds",
        "Answers named in the policy are neither too likely nor ruled out in any class.",
        "at most",
        "bounds missed by at most {}",
        "missed by at most",
    ),
    "distribution_leakage": RuleWords(
        "No class moves a belief far",
        "Seeing a class changes what one would guess about its people only a little.",
        "at most",
        "at most {} away from the whole table",
        "farthest class",
    ),
    "entropy_leakage": RuleWords(
        "No class makes anyone much surer",
        "Seeing a class adds or takes only a little certainty.",
        "at most",
        "at most {} bits gained or lost",
        "worst class, in bits",
    ),
    "m": RuleWords(
        "Months together do not narrow it down",
        "A person's class offers the same set of answers in every release.",
        "at least",
        "at least {} answers, the same in each release",
        "fewest",
    ),
    "breach": RuleWords(
        "A breach is unlikely",
        "The chance that the stated adversary learns someone's answer stays low.",
        "at most",
        "chance of at most {}",
        "highest chance",
        share=True,
    ),
}


def rule_words(rule: str, detail: str) -> RuleWords | None:
    """The words of a promise in the reading its finding names; None for one that is not listed."""
    readings = {"entropy": "entropy" in detail, "recursive": detail.startswith("recursive")}
    named = next((f"{rule} {reading}" for reading, meant in readings.items() if meant), rule)
    return RULES.get(named) or RULES.get(rule)


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """A measure in plain English."""

    title: str
    meaning: str


MEASURES: dict[str, MeasureWords] = {
    "gcp": MeasureWords(
        "Detail lost (GCP)", "0% keeps every value as it was, 100% says nothing any more; the mean over all cells."
    ),
    "ncp": MeasureWords(
        "Detail lost (NCP)", "How wide the published values are, as a share of the whole range of their column."
    ),
    "discernibility": MeasureWords(
        "Discernibility",
        "Pairs of records that cannot be told apart; a withheld record counts against all. Lower is sharper.",
    ),
    "average_class_size": MeasureWords(
        "Average class size", "Records that look alike. Close to what was asked means little detail was wasted."
    ),
    "classes": MeasureWords("Classes", "Groups of records that look alike in every column a neighbour could know."),
    "suppressed_share": MeasureWords("Withheld share", "Records left out of the release to protect the others."),
    "query_error": MeasureWords(
        "Typical error of counts",
        "The median relative error when counting people in random ranges of the published columns.",
    ),
}


def measure_words(name: str) -> MeasureWords | None:
    """``query_error_5%`` is the query error for questions about 5% of the people."""
    if name in MEASURES:
        return MEASURES[name]
    stem, _, share = name.rpartition("_")
    if stem in MEASURES and share.endswith("%"):
        return MeasureWords(f"{MEASURES[stem].title} about {share} of people", MEASURES[stem].meaning)
    return None


ATTACKS: dict[str, str] = {
    "exclusion": "Rules out answers by comparing releases",
    "intersection": "Follows a person through the releases and keeps what is common",
    "twins": "Compares classes that differ by one person",
    "sequence": "Uses how answers usually follow one another",
}

ROLES: dict[str, str] = {
    "respondent": "the person; never published",
    "quasi": "a neighbour could know it; made coarser",
    "sensitive": "the answer to protect; published as it is",
    "plain": "published as it is",
    "drop": "not published",
}

PUBLISHED: dict[str, str] = {"respondent": "–", "drop": "–", "quasi": "coarser where needed"}
"""How a column leaves when no form is known."""

FORMS: dict[str, str] = {
    "interval": "intervals, as [20,39]",
    "set": "sets, as {x,y}",
    "node": "levels of its hierarchy",
    "intervals": "intervals, as [20,39]",
    "buckets": "groups and their answers apart",
}

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("Series", "One table that is published again and again: every month, at each refresh, after a re-run."),
    ("Release", "One publication in a series: the table, its manifest, its codebook and this report."),
    ("Class", "Records that look the same in every column a neighbour could know. Also called a group."),
    ("Made coarser", "A value is replaced by a range, a set or a wider term, such as 34 by [30,39]."),
    ("Withheld", "A record left out because no class could take it in without breaking a promise."),
    ("Promise", "A rule the policy asks for. It was checked on the finished table, by code the method does not share."),
    ("Answer", "The value in a sensitive column: what must not be learnt about a person."),
    (
        "Small changes between two extracts",
        "When someone joins or leaves between two releases, the difference can show that person. "
        "Only promises over the whole series guard against it.",
    ),
    ("Epoch", "A stretch of the series under one unchanged policy. A new epoch keeps the whole history."),
    ("Policy fingerprint", "Changes when anything in the policy or its hierarchies changes."),
)
