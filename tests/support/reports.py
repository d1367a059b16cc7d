"""Made-up verdicts as a hospital might get them: for tests of the report and for its picture in the docs."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from seriatim.model import (
    Approval,
    Bars,
    Chart,
    ChartAxis,
    ColumnRule,
    DefenceSettings,
    Estimate,
    Finding,
    Heatmap,
    Kind,
    Line,
    Lines,
    Measure,
    PathHierarchy,
    Policy,
    PromiseTerms,
    Role,
    Threshold,
    Thresholds,
    Verdict,
    histogram_of,
)
from seriatim.report import Facts, Report, reported_columns

DIGEST = "9f2c41d07be85a6633d10e4fbb6f0a3c5d7e8190a2b4c6d8e0f1a3b5c7d9eb0f"


def policy(series: str = "ward-visits", sensitive: str = "diagnosis", quasi: str = "age") -> Policy:
    rules = (
        ColumnRule(quasi, Role.QUASI, kind=Kind.NUMBER, unit="years"),
        ColumnRule("postcode", Role.QUASI, kind=Kind.CATEGORY, hierarchy=PathHierarchy("postcode.csv", "aa", {})),
        ColumnRule(
            "admitted",
            Role.QUASI,
            kind=Kind.DATE,
            hierarchy=PathHierarchy("date parts: month, quarter, year", "bb", {}),
        ),
        ColumnRule("sex", Role.QUASI, kind=Kind.CATEGORY),
        ColumnRule(sensitive, Role.SENSITIVE, kind=Kind.CATEGORY),
        ColumnRule("charge", Role.SENSITIVE, kind=Kind.NUMBER, unit="EUR"),
        ColumnRule("ward", Role.PLAIN),
        ColumnRule("insurer_note", Role.DROP),
    )
    per_column = {sensitive: Thresholds(l=3, t=0.25), "charge": Thresholds(t=0.3, t_distance="ordered")}
    return Policy(
        series=series,
        columns=MappingProxyType({rule.name: rule for rule in rules}),
        terms=PromiseTerms(k=5, per_column=MappingProxyType(per_column)),
        defence=DefenceSettings("median", suppress=0.05, mode="strict", form="intervals"),
        respondent="patient",
        digest=DIGEST,
    )


def findings(sensitive: str = "diagnosis") -> tuple[Finding, ...]:
    return (
        Finding("k", True, 5, 5, detail="records in the smallest class"),
        Finding("l", True, 3, 3, column=sensitive, detail="distinct values in the least varied class"),
        Finding("t", True, 0.2314, 0.25, column=sensitive, detail="equal distance of the farthest class"),
        Finding("t", True, 0.1872, 0.3, column="charge", detail="ordered distance of the farthest class"),
        Finding("suppress", True, 107 / 12_408, 0.05, detail="share of records that are not published"),
    )


def broken(sensitive: str = "diagnosis") -> tuple[Finding, ...]:
    remedy = "raise suppress to 0.11, or coarsen postcode to level 2"
    kept = findings(sensitive)
    return (
        kept[0],
        replace(kept[1], kept=False, worst=1, n_classes=41, n_people=236, remedy=remedy),
        replace(kept[2], kept=False, worst=0.6113, n_classes=87, n_people=519, remedy="allow t = 0.62"),
        *kept[3:],
    )


def measures() -> tuple[Measure, ...]:
    return (
        Measure("gcp", 0.1734, "share"),
        Measure("average_class_size", 6.553, "records"),
        Measure("discernibility", 1_624_310.0),
        Measure("suppressed_share", 0.008_623, "share"),
        Measure("query_error_1%", 0.1321, "share", {"queries": 1000, "seed": 20_261}),
        Measure("query_error_5%", 0.0917, "share", {"queries": 1000, "seed": 20_261}),
    )


def class_charts(sensitive: str = "diagnosis", n_low: int = 0) -> dict[str, Chart]:
    chance = np.random.default_rng(7)
    sizes = 5 + chance.binomial(6, 0.26, 1877)
    variety = np.minimum(sizes, 3 + chance.binomial(4, 0.35, 1877))
    variety[:n_low] = 1 + chance.integers(0, 2, n_low)
    distance = 0.25 * chance.beta(4, 3, 1877)
    distance[:n_low] = 0.25 + 0.36 * chance.beta(2, 3, n_low)
    return {
        "class_sizes": Chart(
            "How many people look alike",
            histogram_of(sizes),
            x=ChartAxis("records in a class"),
            y=ChartAxis("classes"),
            caption="Each class holds records that no neighbour could tell apart. Small classes stand on the left.",
            threshold=Threshold(5, "required: 5 or more", "at least"),
        ),
        f"l:{sensitive}": Chart(
            f"Different values in a class: {sensitive}",
            histogram_of(variety),
            x=ChartAxis("different values"),
            y=ChartAxis("classes"),
            caption="Someone who finds a person's class still faces this many possible values.",
            threshold=Threshold(3, "required: 3 or more", "at least"),
        ),
        f"t:{sensitive}": Chart(
            f"Distance from the whole table: {sensitive}",
            histogram_of(distance),
            x=ChartAxis("distance (0 is the same spread)"),
            y=ChartAxis("classes"),
            caption="How far a class's mix of values is from the whole table's.",
            threshold=Threshold(0.25, "required: 0.25 or less", "at most"),
        ),
        "t:charge": Chart(
            "Distance from the whole table: charge",
            histogram_of(0.19 * chance.beta(2, 4, 1877)),
            x=ChartAxis("distance (0 is the same spread)"),
            y=ChartAxis("classes"),
            caption="Amounts close to one another count as close values.",
            threshold=Threshold(0.3, "required: 0.3 or less", "at most"),
        ),
    }


def use_charts(quasi: str = "age") -> dict[str, Chart]:
    error = (0.214, 0.1321, 0.0917, 0.0574, 0.0312)
    return {
        "loss": Chart(
            "Detail lost in each column",
            Bars((quasi, "postcode", "admitted", "sex"), (0.118, 0.263, 0.201, 0.0)),
            x=ChartAxis("column"),
            y=ChartAxis("detail lost", "percent"),
            caption="0% keeps every cell as it was; 100% tells nothing.",
            topic="usefulness",
        ),
        "query_error": Chart(
            "Error of counts, by how many people they ask about",
            Lines(
                (
                    Line("median error", (0.005, 0.01, 0.02, 0.05, 0.1), error),
                    Line("nine in ten are below", (0.005, 0.01, 0.02, 0.05, 0.1), tuple(3.1 * e for e in error)),
                )
            ),
            x=ChartAxis("share of people a query asks about", "percent", log=True),
            y=ChartAxis("relative error", "percent"),
            caption="1,000 random range counts per point, against the original table.",
            topic="usefulness",
        ),
    }


def series_charts() -> dict[str, Chart]:
    months = tuple(float(month) for month in range(1, 13))
    few = tuple(0.002 * month**1.4 for month in months)
    chance = np.random.default_rng(3)
    cells = np.sort(chance.beta(1, 8, (6, 12)), axis=1)
    cells[4, 2] = np.nan
    return {
        "few_candidates": Chart(
            "People with few possible values left",
            Lines(
                (
                    Line(
                        "two or fewer", months, few, low=tuple(0.8 * f for f in few), high=tuple(1.25 * f for f in few)
                    ),
                    Line("certain", months, tuple(f / 6 for f in few)),
                )
            ),
            x=ChartAxis("release"),
            y=ChartAxis("share of people", "percent"),
            caption="What someone who kept every release could rule out.",
            threshold=Threshold(0.05, "bound: 5%", "at most"),
            topic="series",
        ),
        "leakage": Chart(
            "Leakage by age band and release",
            Heatmap(
                ("0-17", "18-29", "30-44", "45-59", "60-74", "75 and over"),
                tuple(str(int(month)) for month in months),
                tuple(tuple(float(cell) for cell in line) for line in cells),
            ),
            x=ChartAxis("release"),
            y=ChartAxis("age band"),
            value=ChartAxis("leakage", "percent"),
            caption="Darker cells leak more.",
            topic="series",
        ),
    }


def facts(asked: Policy, number: int | None = 3) -> Facts:
    forms = {"age": "interval", "postcode": "node", "admitted": "node", "sex": "set"}
    return Facts(
        series=asked.series,
        number=number,
        epoch=1,
        policy_digest=DIGEST,
        n_records=12_408,
        n_published=12_301,
        n_suppressed=107,
        n_groups=1_877,
        columns=reported_columns(asked, forms),
        seed=20_261,
    )


def released() -> Report:
    asked = policy()
    verdict = Verdict(
        findings=findings(), estimates=(), measures=measures(), reasons=(), charts=class_charts() | use_charts()
    )
    return Report(asked, replace(verdict, approval=Approval("Dr. I. Okafor")), facts(asked))


def refused() -> Report:
    asked = policy()
    verdict = Verdict(
        findings=broken(),
        estimates=(),
        measures=measures(),
        reasons=(
            "l = 3 on diagnosis is broken in 41 classes (236 records).",
            "t = 0.25 on diagnosis is broken in 87 classes (519 records).",
        ),
        remedies=("Raise suppress to 0.11.", "Or coarsen postcode to level 2 (three digits)."),
        charts=class_charts(n_low=87) | use_charts(),
    )
    return Report(asked, verdict, facts(asked, None))


def overridden() -> Report:
    """Return a release despite a refusal, with attacks and charts of the whole series."""
    asked = refused()
    estimates = (
        Estimate("exclusion", 0.0312, 0.0254, 0.0379, n_people=3_200, wrong=0, detail={"releases": 12, "seed": 20_261}),
        Estimate("intersection", 0.0007, 0.0001, 0.0021, n_people=3_200, wrong=2),
    )
    verdict = replace(
        asked.verdict,
        estimates=estimates,
        approval=Approval("Dr. I. Okafor", "Outbreak team needs ward counts tonight; recipients signed terms."),
        charts=dict(asked.verdict.charts) | series_charts(),
    )
    return replace(asked, verdict=verdict, facts=replace(asked.facts, number=4))
