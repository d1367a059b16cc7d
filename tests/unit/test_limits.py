"""A limit is said once: pydantic, messages, the reference page and the arguments of Python agree on both ends of it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic.fields import FieldInfo

import seriatim as sr
from seriatim.model.policy_keys import ARGUMENT_LIMITS, LARGEST, NumberLimits, PolicySection
from seriatim.policies import policy_from_dict
from seriatim.policies.questions import forecast_question, stated_plan
from seriatim.policies.shapes import rows_of, shape_of

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
SECTIONS = [one for one in PolicySection if one not in (PolicySection.HIERARCHY, PolicySection.NOWHERE)]
ROWS = {key: row for section in SECTIONS for key, row in rows_of(section).items()}
NUMBERS = [(row.section.value, key) for key, row in ROWS.items() if row.limits]
BESIDE: dict[str, dict[str, Any]] = {
    "n": {"m": LARGEST},
    "odds": {"m": 2},
    "l_c": {"l": 2.0, "l_kind": "recursive"},
}
"""What a key needs beside it."""


def limits_of(key: str) -> NumberLimits:
    found = ROWS[key].limits
    assert found is not None
    return found


def ends(limits: NumberLimits) -> tuple[list[float], list[float]]:
    """Return the last numbers that are allowed, and the first that are not."""
    step = 1 if limits.whole else 1e-9
    inside = [limits.least, limits.most, *(b + step for b in [limits.above] if b is not None)]
    inside += [b - step for b in [limits.below] if b is not None]
    outside = [b - step for b in [limits.least] if b is not None] + [b + step for b in [limits.most] if b is not None]
    outside += [limits.above, limits.below]
    return [one for one in inside if one is not None], [one for one in outside if one is not None]


def asked(section: str, key: str, value: float) -> dict[str, Any]:
    series = {"name": "s", "respondent": "id"}
    column = {"role": "quasi", "hierarchy": {"interval": [5, 10]}} if key == "level" else {"role": "sensitive"}
    sections: dict[str, dict[str, Any]] = {"promise": {}, "defence": {"method": "historical"}, "adversary": {}}
    if section == "columns":
        column[key] = value
    elif section == "series":
        series[key] = value
    else:
        sections[section] |= {**BESIDE.get(key, {}), key: value}
    return {"series": series, "columns": {"c": column, "d": {"role": "sensitive"}}, **sections}


@pytest.mark.parametrize(("section", "key"), NUMBERS)
def test_both_ends_of_a_number(section: str, key: str) -> None:
    inside, outside = ends(limits_of(key))
    assert inside
    assert outside
    for value in inside:
        policy_from_dict(asked(section, key, value))
        assert limits_of(key).allow(value)
    for value in (*outside, math.nan, math.inf, True):
        with pytest.raises(sr.PolicyError) as caught:
            policy_from_dict(asked(section, key, value))
        assert limits_of(key).words in str(caught.value)
        assert not limits_of(key).allow(value)


@pytest.mark.parametrize(("section", "key"), NUMBERS)
def test_the_reference_says_both_ends(section: str, key: str) -> None:
    (line,) = re.findall(rf"^\| `{key}` \| (.*) \|$", PAGE, re.MULTILINE)
    limits = limits_of(key)
    said = limits.range.removesuffix(" to 2^53").replace("to m", "to `m`")
    assert re.search(rf"\b{re.escape(said)}(?! to\b)", line[0].lower() + line[1:]), f"{key}: {said}"
    assert "Whole numbers are at most 2^53" in PAGE


def test_no_shape_bounds_a_number_in_another_way() -> None:
    """A bound on a key itself; the elements of lists and tables are their own matter."""
    bounded = set()
    for section in SECTIONS:
        for key, field in shape_of(rows_of(section).values()).model_fields.items():
            if _bounds(field):
                limits = limits_of(key)
                own = (limits.least, limits.above, limits.most, limits.below)
                assert _bounds(field) == [one for one in own if one is not None]
                bounded.add(key)
    assert bounded == {key for _, key in NUMBERS}


def _bounds(field: FieldInfo) -> list[float]:
    """Return the bounds of a field, and of the members of its union."""
    inner = [mark for member in get_args(field.annotation) for mark in getattr(member, "__metadata__", ())]
    marks = [*field.metadata, *(mark for one in inner for mark in getattr(one, "metadata", ()))]
    found = ((getattr(mark, name, None) for mark in marks) for name in ("ge", "gt", "le", "lt"))
    return [bound for each in found for bound in each if bound is not None]


@pytest.mark.parametrize("key", ["m", "n", "odds", "compromised", "sure_share", "sure", "raised", "window"])
def test_a_forecast_has_the_limits_of_the_policy(key: str) -> None:
    beside = {"m": LARGEST} if key == "n" else {}
    _check_both_ends(key, limits_of(key), lambda value: forecast_question(3, {**beside, key: value}))


@pytest.mark.parametrize("key", ["compromised", "sure", "raised", "window"])
def test_an_attack_has_the_limits_of_the_policy(key: str) -> None:
    _check_both_ends(key, limits_of(key), lambda value: stated_plan({key: value}))


@pytest.mark.parametrize("key", ["least", "repetitions"])
def test_the_arguments_of_an_attack(key: str) -> None:
    _check_both_ends(key, ARGUMENT_LIMITS[key], lambda value: stated_plan({key: value}))


def test_the_releases_of_a_forecast() -> None:
    _check_both_ends("releases", ARGUMENT_LIMITS["releases"], lambda value: forecast_question(value, None))


def _check_both_ends(key: str, limits: NumberLimits, call: Any) -> None:
    inside, outside = ends(limits)
    for value in inside:
        call(value)
    for value in (*outside, math.nan, math.inf, 10**400, True, "1"):
        with pytest.raises(sr.AdversaryError, match=re.escape(limits.words)) as caught:
            call(value)
        assert key in str(caught.value)


def test_a_degree_is_at_most_m() -> None:
    columns = {"c": {"role": "sensitive"}, "d": {"role": "sensitive"}}
    shape = {"series": {"name": "s", "respondent": "id"}, "columns": columns, "defence": {"method": "historical"}}
    for promise, key in (
        ({"m": 3, "n": 7}, r"\[promise\] n is 7 with m = 3"),
        ({"m": 8, "n": 7, "d": {"m": 3}}, r"\[promise.d\] n is 7 with m = 3"),
        ({"m": 3, "d": {"n": 4}}, r"\[promise.d\] n is 4 with m = 3"),
    ):
        with pytest.raises(sr.PolicyError, match=key + "; allowed: a whole number from 1 to m") as caught:
            policy_from_dict({**shape, "promise": promise})
        assert len(caught.value.faults) == 1
    policy_from_dict({**shape, "promise": {"m": 3, "n": 3}})
    # a cohort has no degree: n is not read, which the verdict notes
    policy_from_dict({**shape, "defence": {"method": "cohort"}, "promise": {"m": 3, "n": 7}})
