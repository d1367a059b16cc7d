"""A made-up hospital: patients, where they live, and why they came. Nobody in it exists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

DISEASES = (
    "influenza", "gastritis", "hypertension", "diabetes", "asthma", "migraine", "depression", "pneumonia",
    "hepatitis", "angina", "epilepsy", "HIV",
)  # fmt: skip
_USUAL = np.array([18, 14, 13, 11, 10, 9, 8, 6, 4, 3, 2.5, 1.5])
# age group (0-29, 30-59, 60+) changes how common each is
_BY_AGE = np.array(
    [
        [1.6, 1.1, 0.2, 0.3, 1.5, 1.4, 1.3, 0.7, 0.8, 0.1, 1.2, 1.2],
        [1.0, 1.1, 1.0, 1.0, 0.9, 1.1, 1.2, 0.8, 1.2, 0.8, 0.9, 1.3],
        [0.6, 0.8, 1.8, 1.7, 0.8, 0.4, 0.6, 1.6, 0.8, 2.2, 0.9, 0.4],
    ]
)
POLICY = """\
# What is published, and under which promises.
[series]
name = "ward-visits"
respondent = "patient"

[columns.age]
role = "quasi"
kind = "number"
unit = "years"

[columns.sex]
role = "quasi"

[columns.postcode]
role = "quasi"
kind = "category"
hierarchy = { prefix = [4, 3, 2, 0] }

[columns.ward]
role = "plain"

[columns.disease]
role = "sensitive"

[promise]
k = 5           # every class has at least five people
l = 3           # with at least three different diseases
t = 0.5         # and its mix of diseases stays close to the whole table's

[defence]
method = "median"
suppress = 0.05
"""


SERIES = POLICY.replace(
    """k = 5           # every class has at least five people
l = 3           # with at least three different diseases
t = 0.5         # and its mix of diseases stays close to the whole table's
""",
    """m = 3           # three diseases stay possible for everyone, over all releases
odds = 2        # and in a group the odds of a common disease are at most twice those in the table
""",
).replace('method = "median"\nsuppress = 0.05', 'method = "cohort"')
"""The same columns under a promise that holds over time."""


def hospital_months(patients: int, n: int, churn: float = 0.1, seed: int = 1) -> list[pa.Table]:
    """Return the views of ``n`` months: every month a share of the patients leave and as many new ones join."""
    chance = np.random.default_rng([seed, 2])
    everyone = hospital(patients + round(patients * churn + 1) * n, seed)
    present, fresh = np.arange(patients), patients
    views = []
    for _ in range(n):
        views.append(everyone.take(pa.array(present)))
        stay = present[chance.random(patients) >= churn]
        came = np.arange(fresh, fresh + patients - len(stay))
        present, fresh = np.concatenate((stay, came)), fresh + len(came)
    return views


def hospital(patients: int, seed: int = 1) -> pa.Table:
    """Return one visit per patient: patient, age, sex, postcode, ward, disease."""
    chance = np.random.default_rng(seed)
    age = np.clip(chance.gamma(4.2, 11.5, patients), 0, 99).astype(np.int64)
    # three towns of unequal size, districts of unequal size inside them
    town = chance.choice(3, patients, p=(0.55, 0.30, 0.15))
    district = np.minimum(chance.geometric(0.12, patients), 40)
    postcode = np.array([1070, 1120, 2340])[town] * 10 + district % 10 + district // 10 * 100
    weights = _USUAL * _BY_AGE[np.digitize(age, (30, 60))]
    reach = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    disease = (chance.random((patients, 1)) > reach).sum(axis=1)
    return pa.table(
        {
            "patient": [f"P{number:06d}" for number in chance.permutation(patients)],
            "age": age,
            "sex": np.array(["female", "male"])[chance.integers(0, 2, patients)],
            "postcode": [f"{code:05d}" for code in postcode],
            "ward": np.array(["north", "south", "day clinic"])[chance.integers(0, 3, patients)],
            "disease": np.array(DISEASES)[np.minimum(disease, len(DISEASES) - 1)],
        }
    )
