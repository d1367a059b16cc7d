"""A census of made-up people, shaped like the Adult file, with a postcode and a date of birth.

Adult has no column with many values, so a method that works on distinct rows looks better on it than it is.
Here the margins and the strongest correlations are like Adult's (age with marital status, education with
occupation and salary, race with country), a postcode of up to 100,000 codes is skewed within each
area, and the date of birth fits the age on the reference day. Diseases follow age and sex.

Every draw is one 16-bit number looked up in a table of 65,536 entries, so chances are multiples of 1/65,536.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

REFERENCE_DAY = datetime.date(2026, 1, 1)
"""The day on which people have their age in the table."""

_STEPS = 1 << 16
_YOUNGEST, _OLDEST = 17, 90
_AREAS, _DISTRICTS = 100, 1000

_SEX = {"Male": 20380, "Female": 9782}
_RACE = {"White": 25933, "Black": 2817, "Asian-Pac-Islander": 895, "Amer-Indian-Eskimo": 286, "Other": 231}
_MARITAL = {  # chances by age band: under 25, under 35, under 50, under 65, older
    "Never-married": (88, 42, 14, 6, 5),
    "Married-civ-spouse": (8, 44, 60, 66, 56),
    "Divorced": (2, 9, 19, 19, 10),
    "Separated": (1, 3.5, 4, 3, 1.5),
    "Widowed": (0.05, 0.3, 1.5, 5, 26),
    "Married-spouse-absent": (0.9, 1.1, 1.4, 1, 1.5),
    "Married-AF-spouse": (0.1, 0.1, 0.06, 0.03, 0.03),
}
_EDUCATION = {  # chances by the same age bands
    "HS-grad": (33, 32, 32, 36, 33),
    "Some-college": (38, 22, 19, 17, 15),
    "Bachelors": (9, 22, 19, 13, 11),
    "Masters": (0.4, 4, 8, 8, 7),
    "Assoc-voc": (3, 5, 5, 3.5, 2),
    "11th": (8, 2.5, 2, 3, 3.5),
    "Assoc-acdm": (2.5, 4, 4, 2.5, 1.5),
    "10th": (4, 1.8, 1.8, 4, 6),
    "7th-8th": (0.8, 0.8, 1, 4, 9),
    "Prof-school": (0.1, 1.6, 2.5, 2.4, 3),
    "9th": (1.2, 1.2, 1, 2, 3),
    "12th": (2, 1.2, 0.9, 1, 1),
    "Doctorate": (0.02, 0.6, 1.7, 2.2, 2.5),
    "5th-6th": (0.6, 0.9, 0.8, 1.3, 2),
    "1st-4th": (0.2, 0.4, 0.4, 0.8, 1.4),
    "Preschool": (0.1, 0.1, 0.1, 0.2, 0.2),
}
_SCHOOLING = (1, 1, 2, 3, 1, 0, 1, 0, 0, 3, 0, 0, 3, 0, 0, 0)
"""For each education: school unfinished, finished, bachelor, beyond."""
_COUNTRY = {  # chances by race
    "United-States": (93, 91, 31, 95, 46),
    "Mexico": (2.1, 0.1, 0, 2, 11),
    "Philippines": (0, 0, 21, 0, 0.5),
    "Germany": (0.5, 0.2, 0.1, 0, 0.2),
    "Puerto-Rico": (0.3, 0.3, 0, 0, 10),
    "Canada": (0.4, 0, 0.1, 0.5, 0.2),
    "India": (0.05, 0.1, 9, 0, 1),
    "El-Salvador": (0.35, 0.1, 0, 0, 3),
    "Cuba": (0.35, 0.1, 0, 0, 0.5),
    "England": (0.3, 0.3, 0.1, 0, 0),
    "Jamaica": (0.01, 2.7, 0, 0, 0.5),
    "South": (0, 0, 8, 0, 0),
    "Italy": (0.26, 0, 0, 0, 0),
    "China": (0, 0, 7.5, 0, 0),
    "Dominican-Republic": (0.12, 0.6, 0, 0, 8),
    "Vietnam": (0, 0, 7, 0, 0),
    "Guatemala": (0.2, 0.1, 0, 1, 3),
    "Japan": (0.05, 0.1, 5, 0, 0),
    "Poland": (0.22, 0, 0, 0, 0),
    "Columbia": (0.17, 0.05, 0, 0.5, 5),
    "Iran": (0.13, 0, 0.5, 0, 2),
    "Taiwan": (0, 0, 4.7, 0, 0),
    "Haiti": (0, 1.5, 0, 0, 0),
    "Portugal": (0.13, 0, 0, 0, 0.3),
    "Nicaragua": (0.1, 0.1, 0, 0, 1.3),
    "Peru": (0.08, 0, 0, 0.5, 2),
    "Greece": (0.11, 0, 0, 0, 0),
    "Ecuador": (0.08, 0, 0, 0.5, 2),
    "France": (0.1, 0.05, 0, 0, 0),
    "Ireland": (0.09, 0, 0, 0, 0),
    "Hong": (0, 0, 2, 0, 0),
    "Cambodia": (0, 0, 2, 0, 0),
    "Trinadad&Tobago": (0.01, 0.5, 0.1, 0, 1),
    "Thailand": (0, 0, 1.8, 0, 0),
    "Laos": (0, 0, 1.8, 0, 0),
    "Yugoslavia": (0.06, 0, 0, 0, 0),
    "Outlying-US(Guam-USVI-etc)": (0.02, 0.1, 0.5, 0, 1),
    "Hungary": (0.05, 0, 0, 0, 0),
    "Honduras": (0.03, 0.1, 0, 0, 0.5),
    "Scotland": (0.04, 0, 0, 0, 0),
    "Holand-Netherlands": (0.004, 0, 0, 0, 0),
}
_WORKCLASS = {  # chances by age band
    "Private": (88, 80, 71, 67, 62),
    "Self-emp-not-inc": (2, 5, 9, 12, 20),
    "Local-gov": (4, 6, 8, 9, 8),
    "State-gov": (5, 4, 4.3, 4, 3),
    "Self-emp-inc": (0.5, 2, 4.2, 5, 6),
    "Federal-gov": (1, 2.7, 3.7, 3.7, 1.5),
    "Without-pay": (0.05, 0.02, 0.02, 0.05, 0.3),
}
_OCCUPATION = {  # chances by schooling, men then women
    "Prof-specialty": (1, 4, 24, 60, 1, 6, 33, 65),
    "Craft-repair": (27, 24, 5, 1, 3, 2, 0.7, 0.3),
    "Exec-managerial": (4, 11, 27, 20, 4, 11, 19, 13),
    "Adm-clerical": (3, 7, 6, 2, 14, 31, 20, 8),
    "Sales": (6, 12, 18, 7, 12, 13, 11, 5),
    "Other-service": (12, 7, 3, 1, 31, 19, 6, 3),
    "Machine-op-inspct": (14, 9, 1, 0.5, 20, 6, 1, 0.3),
    "Transport-moving": (13, 9, 1, 0.4, 1.5, 0.9, 0.2, 0.1),
    "Handlers-cleaners": (12, 7, 1, 0.3, 4, 1.5, 0.3, 0.1),
    "Farming-fishing": (10, 4, 3, 1, 1.5, 0.6, 0.5, 0.2),
    "Tech-support": (0.4, 3, 5, 2, 0.4, 4, 5, 2),
    "Protective-serv": (1.5, 3, 3, 0.7, 0.6, 0.8, 0.5, 0.3),
    "Priv-house-serv": (0.1, 0.05, 0.02, 0.01, 7, 1, 0.3, 0.1),
    "Armed-Forces": (0.02, 0.06, 0.03, 0.02, 0.01, 0.01, 0.01, 0.01),
}
_DISEASE = {  # chances by age band, men then women
    "flu": (30, 22, 14, 9, 7, 29, 21, 14, 9, 7),
    "asthma": (16, 13, 8, 5, 4, 17, 15, 10, 6, 4),
    "allergy": (18, 15, 9, 4, 2, 18, 15, 9, 5, 2),
    "back pain": (6, 14, 18, 15, 9, 6, 12, 16, 15, 10),
    "hypertension": (1, 4, 13, 20, 21, 1, 3, 10, 18, 22),
    "diabetes": (1.5, 3, 7, 11, 12, 1.5, 3, 6, 9, 11),
    "migraine": (6, 6, 4, 2, 1, 10, 13, 11, 5, 2),
    "depression": (7, 8, 8, 5, 4, 9, 11, 11, 7, 5),
    "bronchitis": (4, 4, 5, 6, 6, 4, 4, 4, 5, 5),
    "gastritis": (4, 5, 6, 5, 4, 4, 5, 5, 5, 4),
    "coronary disease": (0.1, 0.5, 3, 9, 15, 0.1, 0.3, 1, 4, 10),
    "arthritis": (0.2, 0.7, 2, 5, 9, 0.3, 0.9, 3, 8, 13),
    "cataract": (0.05, 0.1, 0.3, 1.5, 5, 0.05, 0.1, 0.3, 1.6, 6),
    "hepatitis": (0.6, 0.9, 0.9, 0.6, 0.3, 0.4, 0.6, 0.6, 0.4, 0.3),
    "HIV": (0.5, 0.8, 0.6, 0.3, 0.05, 0.1, 0.2, 0.2, 0.1, 0.02),
    "breast cancer": (0.001, 0.002, 0.01, 0.02, 0.03, 0.02, 0.3, 1.4, 2.6, 2.8),
    "prostate cancer": (0.001, 0.002, 0.1, 1.2, 3, 0, 0, 0, 0, 0),
    "lung cancer": (0.01, 0.03, 0.3, 1.2, 1.9, 0.01, 0.03, 0.2, 0.8, 1.2),
    "stroke": (0.03, 0.1, 0.5, 1.6, 3.5, 0.03, 0.1, 0.4, 1.3, 3.5),
    "epilepsy": (1, 0.8, 0.7, 0.6, 0.6, 1, 0.8, 0.7, 0.6, 0.5),
}

Codes = npt.NDArray[np.uint8]


def adultlike(n: int, seed: int) -> pa.Table:
    """Return ``n`` made-up people; equal arguments give equal tables."""
    rng = np.random.Generator(np.random.PCG64(seed))
    years = np.arange(_YOUNGEST, _OLDEST + 1)
    since = years - _YOUNGEST
    age_code = _draw(rng, [since.clip(1, 6) ** 0.5 * np.exp(-((since / 34.0) ** 1.8))], n)
    band_of_age = np.searchsorted([25, 35, 50, 65], years, side="right").astype(np.uint8)
    band = band_of_age[age_code]
    sex = _draw(rng, [list(_SEX.values())], n)
    race = _draw(rng, [list(_RACE.values())], n)
    marital = _draw(rng, _by_condition(_MARITAL), n, band)
    education = _draw(rng, _by_condition(_EDUCATION), n, band)
    schooling = np.array(_SCHOOLING, dtype=np.uint8)[education]
    occupation = _draw(rng, _by_condition(_OCCUPATION), n, schooling + 4 * sex)
    married = (marital == 1).astype(np.uint8)
    columns = {
        "age": pa.array(years.astype(np.int64)[age_code]),
        "sex": _texts(_SEX, sex),
        "race": _texts(_RACE, race),
        "marital-status": _texts(_MARITAL, marital),
        "education": _texts(_EDUCATION, education),
        "native-country": _texts(_COUNTRY, _draw(rng, _by_condition(_COUNTRY), n, race)),
        "workclass": _texts(_WORKCLASS, _draw(rng, _by_condition(_WORKCLASS), n, band)),
        "occupation": _texts(_OCCUPATION, occupation),
        "postcode": _postcodes(rng, race),
        "birth-date": _birth_dates(rng, years, age_code),
        "salary-class": _texts(("<=50K", ">50K"), _draw(rng, _salaries(), n, band + 5 * schooling + 20 * married)),
        "disease": _texts(_DISEASE, _draw(rng, _by_condition(_DISEASE), n, band + 5 * sex)),
    }
    return pa.table(columns)


def _by_condition(chances: Mapping[str, tuple[float, ...]]) -> npt.NDArray[np.float64]:
    return np.array(list(chances.values()), dtype=np.float64).T


def _draw(
    rng: np.random.Generator, chances: npt.ArrayLike, n: int, given: npt.NDArray[np.integer] | None = None
) -> Codes:
    """Draw one value for each person; row ``given`` of ``chances`` has the weights that apply to them."""
    weights = np.asarray(chances, dtype=np.float64)
    upto = np.round(np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True) * _STEPS).astype(np.int64)
    table = np.stack([np.searchsorted(row, np.arange(_STEPS), side="right") for row in upto])
    lots = rng.integers(0, _STEPS, n, dtype=np.uint16)
    narrow = table.astype(np.uint8 if weights.shape[1] <= 256 else np.uint16)
    drawn: Codes = narrow[0][lots] if given is None else narrow[given, lots]
    return drawn


def _salaries() -> npt.NDArray[np.float64]:
    """Return the chance of a small and of a large salary, by marriage, schooling and age band."""
    of_band = np.array([0.04, 0.7, 1.0, 1.0, 0.7])
    of_schooling = np.array([[0.03, 0.08, 0.2, 0.35], [0.2, 0.4, 0.68, 0.78]])
    large = (of_schooling[:, :, None] * of_band[None, None, :]).reshape(-1)
    return np.stack([1 - large, large], axis=1)


def _postcodes(rng: np.random.Generator, race: Codes) -> pa.Array:
    """Draw an area by race (each has its own crowded areas) and a district by skewed ranks."""
    rank = np.arange(1, _AREAS + 1)
    areas = np.stack([np.roll(1.0 / rank**0.8, 17 * r) for r in range(len(_RACE))])
    area = _draw(rng, areas, len(race), race).astype(np.uint32)
    district = _draw(rng, [1.0 / np.arange(4, _DISTRICTS + 4) ** 0.9], len(race)).astype(np.uint32)
    district = (district + area * 37) % _DISTRICTS
    names = pa.array([f"{code:05d}" for code in range(_AREAS * _DISTRICTS)])
    return _spelt(names, (area * _DISTRICTS + district).astype(np.int32))


def _birth_dates(rng: np.random.Generator, years: npt.NDArray[np.int64], age_code: Codes) -> pa.Array:
    """Draw a day on which someone of that age on the reference day can have been born."""
    day_zero = datetime.date(1970, 1, 1)
    birthdays = [REFERENCE_DAY.replace(year=REFERENCE_DAY.year - int(age)) for age in years]
    latest = np.array([(day - day_zero).days for day in birthdays], dtype=np.int32)
    back = rng.integers(0, 365, len(age_code), dtype=np.uint16)
    return pa.array(latest[age_code] - back, pa.date32())


def _texts(names: Iterable[str], codes: Codes) -> pa.Array:
    return _spelt(pa.array(list(names), pa.string()), codes.astype(np.int8))


def _spelt(names: pa.Array, codes: npt.NDArray[np.signedinteger]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes), names).cast(pa.string())
