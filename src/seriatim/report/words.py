"""What attacks, roles and forms of columns mean, and the report's glossary."""

from __future__ import annotations

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
