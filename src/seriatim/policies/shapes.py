"""The shape of a policy file, section by section. A description says what is allowed; messages repeat it."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from seriatim.model.methods import METHODS, method_named, method_options
from seriatim.model.nearness import nearness_of
from seriatim.model.number_limits import LARGEST
from seriatim.model.policy_keys import Form, Setting
from seriatim.model.promises import PROMISES, promise_key_limits
from seriatim.model.visible_text import VISIBLE, is_visible_text


def _clean(text: str) -> str:
    if not text.strip() or any(
        ord(mark) < 32 or 127 <= ord(mark) < 160 or 0xD800 <= ord(mark) < 0xE000 for mark in text
    ):
        raise ValueError("empty or with control characters")
    return text


def _visible(text: str) -> str:
    if not is_visible_text(text):
        raise ValueError("not visible text")
    return text


def _as_text(value: Any) -> Any:
    return str(value) if type(value) is int else value


def _pair(bounds: list[float]) -> list[float]:
    if len(bounds) != 2 or not 0 <= bounds[0] <= bounds[1] <= 1:
        raise ValueError("not a range of shares")
    return bounds


def _rising(edges: list[float]) -> list[float]:
    if not edges or any(low >= high for low, high in pairwise(edges)):
        raise ValueError("not rising")
    return edges


def _widths(bounds: dict[str, float]) -> dict[str, float]:
    for width in bounds:
        nearness_of(width)
    return bounds


def _amounts(amounts: dict[str, str]) -> dict[str, str]:
    known = all(re.fullmatch(r"\d+(\.\d+)?%?", amount) for amount in amounts.values())
    if not known or not all(float(amount.rstrip("%")) > 0.0 for amount in amounts.values()):
        raise ValueError("not an amount")
    return amounts


def _method(name: str) -> str:
    if method_named(name) is None:
        raise ValueError("not a method")
    return name


def _finite(value: Any) -> Any:
    """Reject NaN in tables whose keys are not known here: it has no canonical text."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            _finite(inner)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not finite")
    return value


def storable_shape(value: Any) -> bool:
    """Return whether a value of unknown shape has a canonical text."""
    if isinstance(value, dict | list):
        return all(storable_shape(inner) for inner in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


Name = Annotated[str, AfterValidator(_clean)]
SeriesName = Annotated[str, AfterValidator(_visible)]
FreeTable = Annotated[dict[str, Any], AfterValidator(_finite)]
Value = Annotated[str, BeforeValidator(_as_text)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1, le=LARGEST)]

RoleName = Literal["quasi", "sensitive", "plain", "drop"]
KindName = Literal["number", "category", "date"]
MissingName = Literal["error", "value", "suppress"]
UnseenName = Literal["error", "suppress", "top"]
LKind = Literal["distinct", "entropy", "recursive"]
TDistance = Literal["equal", "ordered", "hierarchical"]
BetaKind = Literal["basic", "enhanced"]
HitChanceKind = Literal["lift", "chance"]
Method = Annotated[str, AfterValidator(_method)]
Base = Literal["nats", "bits"]
DatePart = Literal["day", "month", "quarter", "year", "decade"]


def _key(allowed: str, *, default: Any = None) -> Any:
    return Field(default=default, description=allowed)


def _promise(key: str, *, default: Any = None) -> Any:
    return Field(default=default, description=PROMISES[key].allowed)


def _within(key: str) -> Any:
    """Return the limits of a number as pydantic checks them."""
    limits = promise_key_limits(key)
    assert limits is not None
    return Field(ge=limits.least, gt=limits.above, le=limits.most, lt=limits.below)


def _number(key: str, more: str = "", *, default: Any = None) -> Any:
    limits = promise_key_limits(key)
    assert limits is not None
    return Field(default=default, description=limits.words + more)


def _word(choices: Any, *, default: Any = None) -> Any:
    words = list(get_args(choices))
    return Field(default=default, description=", ".join(words), json_schema_extra={"choices": words})


class _Shape(BaseModel):
    # a shape is built when it is first used: a policy has few of the sections, and pydantic takes milliseconds for each
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True, defer_build=True)


class SeriesShape(_Shape):
    """[series]"""

    name: SeriesName = Field(description=VISIBLE)
    respondent: Annotated[str, Field(min_length=1)] | None = _key("the column that identifies the person")
    epoch: Annotated[int, _within("epoch")] = _number("epoch", default=1)
    head: Name | None = _key("the path of a file")


class ColumnShape(_Shape):
    """[columns.NAME]"""

    role: RoleName = _word(RoleName, default=...)
    kind: KindName | None = _word(KindName)
    hierarchy: Any = _key("the path of a hierarchy file, or a builder such as { interval = [5, 10] }")
    order: list[Value] | None = _key("a list of texts, each once, from low to high")
    unit: Name | None = _key("a text")
    missing: MissingName = _word(MissingName, default="error")
    on_unseen: UnseenName = _word(UnseenName, default="error")
    bands: Annotated[list[float], AfterValidator(_rising)] | None = _key("numbers that rise: the edges of the bands")
    rounding: Annotated[float, _within("rounding")] | None = _number("rounding")
    level: Annotated[int, _within("level")] | None = _number("level", ": a level of the hierarchy, below its last")


class BuilderShape(_Shape):
    """The table form of ``hierarchy``: exactly one builder, and origin beside interval."""

    interval: list[Positive] | None = _key("positive widths, each a greater multiple of the one before")
    origin: float | None = _key("a number, beside interval only")
    prefix: list[Annotated[int, Field(ge=0)]] | None = _key("numbers of characters to keep, falling")
    group: list[Count] | None = _key("sizes of runs of the order, each a greater multiple of the one before")
    groups: list[list[Value]] | None = _key("lists of values, each value once")
    date: list[DatePart] | None = _key("day, month, quarter, year, decade: some of them, from fine to coarse")


class ThresholdShape(_Shape):
    """What [promise] requires per sensitive column of every class."""

    l: Annotated[float, _within("l")] | None = _promise("l")  # noqa: E741
    l_kind: LKind | None = _word(LKind)
    l_c: Annotated[float, _within("l_c")] | None = _number("l_c", ", with l_kind = recursive only")
    t: Annotated[float, _within("t")] | None = _promise("t")
    t_distance: TDistance | None = _word(TDistance)
    alpha_k: Annotated[float, _within("alpha_k")] | None = _promise("alpha_k")
    beta: Annotated[float, _within("beta")] | None = _promise("beta")
    beta_kind: BetaKind | None = _word(BetaKind)
    delta: Annotated[float, _within("delta")] | None = _promise("delta")
    value_bounds: dict[str, Annotated[list[float], AfterValidator(_pair)]] | None = _promise("value_bounds")
    distribution_leakage: Annotated[float, _within("distribution_leakage")] | None = _promise("distribution_leakage")
    entropy_leakage: Annotated[float, _within("entropy_leakage")] | None = _promise("entropy_leakage")
    min_area: Annotated[float, _within("min_area")] | None = _promise("min_area")
    min_entropy_at: Annotated[dict[str, Amount], AfterValidator(_widths)] | None = _promise("min_entropy_at")
    max_hit_chance_at: Annotated[dict[str, Share], AfterValidator(_widths)] | None = _promise("max_hit_chance_at")
    hit_chance_kind: HitChanceKind | None = _word(HitChanceKind)


class ColumnPromiseShape(ThresholdShape):
    """[promise.COLUMN]: the thresholds, and what the series of a column with a table of its own must keep."""

    m: Annotated[int, _within("m")] | None = _promise("m")
    n: Annotated[int, _within("n")] | Literal["choose"] | None = Field(
        default=None, description=PROMISES["n"].allowed, json_schema_extra={"choices": ["choose"]}
    )
    odds: Annotated[float, _within("odds")] | None = _number("odds", "; used only together with m")
    withheld_leak: Annotated[float, _within("withheld_leak")] | None = _promise("withheld_leak")


class PromiseShape(ColumnPromiseShape):
    """[promise]: the thresholds, and what the whole release or series must keep."""

    k: Annotated[int, _within("k")] | None = _promise("k")
    j: Annotated[float, _within("j")] | None = _promise("j")
    j_base: Base | None = _word(Base)


class DefenceShape(_Shape):
    """[defence]: what every method reads."""

    method: Method = Field(description="the name of a method")
    suppress: Annotated[float, _within("suppress")] | None = _promise("suppress")


def defence_shape() -> type[BaseModel]:
    """Return the shape of [defence] with the options of every method, those of other packages among them."""
    return _defence_shape(tuple(METHODS), method_options())


@cache
def _defence_shape(methods: tuple[str, ...], options: tuple[Setting, ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {option.key: (_type_of(option) | None, _key(option.allowed)) for option in options}
    method = Field(description=", ".join(methods), json_schema_extra={"choices": [*methods]})
    return create_model("AnyDefence", __base__=DefenceShape, method=(Method, method), **fields)


def _type_of(setting: Setting) -> Any:
    """Return what pydantic checks; which words a method knows is checked once the method is known."""
    limits = setting.limits
    if limits is not None:
        bounds = Field(ge=limits.least, gt=limits.above, le=limits.most, lt=limits.below)
        return Annotated[int if limits.whole else float, bounds]
    return _TYPES[setting.form] if setting.form is not None else Name


_TYPES: dict[Form, Any] = {
    Form.TEXT: Name,
    Form.FLAG: bool,
    Form.TEXTS: list[Name],
    Form.AMOUNTS: Annotated[dict[str, str], AfterValidator(_amounts)],
}


class AdversaryShape(_Shape):
    """[adversary], inline or in its own file."""

    compromised: Annotated[float, _within("compromised")] | None = _number("compromised")
    lifespan: Annotated[int, _within("lifespan")] | None = _promise("lifespan")
    breach: Annotated[float, _within("breach")] | None = _promise("breach")
    breach_share: Annotated[float, _within("breach_share")] | None = _promise("breach_share")
    sure: Annotated[float, _within("sure")] | None = _number("sure", ": beliefs above it are certain")
    sure_share: Annotated[float, _within("sure_share")] | None = _promise("sure_share")
    raised: Annotated[float, _within("raised")] | None = _number("raised", ": how many times the odds must have grown")
    harmless: list[Value] | None = _key("a list of values whose disclosure does no harm")
    window: Annotated[int, _within("window")] | None = _number(
        "window", ": how many bands either side of the truth count as near it"
    )
    collusion: Annotated[int, _within("collusion")] | None = _number(
        "collusion", ": recipients who put their releases together"
    )
    attributes: list[Name] | None = _key("a list of column names the attacker knows")
    priors: Name | dict[Value, list[Value]] | None = _promise("priors")
    impossible: dict[Name, dict[str, list[Value]]] | None = _key(
        "tables [adversary.impossible.COLUMN] of cell = [values nobody with that cell can have]"
    )
    value_priors: FreeTable | None = _key("a table of value = chance")
    classes: Name | FreeTable | None = _key("a CSV file with the columns respondent and class, or a table id = class")
    sequence: Name | FreeTable | None = _key("a file of seriatim knowledge mine, or a table such as { stay = 0.77 }")
    times: Annotated[list[int], AfterValidator(_rising)] | None = _key("rising whole numbers, one for each release")


class AdversaryFileShape(_Shape):
    """[adversary] that points to a file."""

    file: Name = Field(description="the path of an adversary file, alone")
