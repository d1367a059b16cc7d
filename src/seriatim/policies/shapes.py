"""What the rows of policy keys allow, as pydantic checks it: section by section, and as a schema for editors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    create_model,
)

from seriatim.model.methods import AUTO, CHOOSING, METHODS, Method, installed_rows, method_named
from seriatim.model.names import is_visible_text
from seriatim.model.nearness import window_of
from seriatim.model.policy_keys import LARGEST, PLAIN_KEYS, Form, PolicySection, Setting, are_times
from seriatim.model.promises import PROMISES


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


def _times(times: list[int]) -> list[int]:
    if not times or not are_times(times):
        raise ValueError("not rising")
    return times


def _widths(bounds: dict[str, float]) -> dict[str, float]:
    for width in bounds:
        window_of(width)
    return bounds


def _amounts(amounts: dict[str, str]) -> dict[str, str]:
    known = all(re.fullmatch(r"\d+(\.\d+)?%?", amount) for amount in amounts.values())
    if not known or not all(float(amount.rstrip("%")) > 0.0 for amount in amounts.values()):
        raise ValueError("not an amount")
    return amounts


def _method(name: str) -> str:
    if method_named(name) is None:  # one that was withdrawn says so itself
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


_Text = Annotated[str, AfterValidator(_clean)]
_Value = Annotated[str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "integer"]})]
_Table = Annotated[dict[str, Any], AfterValidator(_finite)]
_Amount = Annotated[float, Field(ge=0)]
_TYPES: dict[Form, Any] = {
    Form.TEXT: _Text,
    Form.VISIBLE: Annotated[str, AfterValidator(_visible)],
    Form.COLUMN: Annotated[str, Field(min_length=1)],
    Form.FILE: _Text,
    Form.FLAG: bool,
    Form.NUMBER: float,
    Form.ANYTHING: Any,
    Form.METHOD: Annotated[str, AfterValidator(_method)],
    Form.TEXTS: list[_Text],
    Form.VALUES: list[_Value],
    Form.EDGES: Annotated[list[float], AfterValidator(_rising)],
    Form.TIMES: Annotated[list[int], AfterValidator(_times)],
    Form.WIDTHS: list[Annotated[float, Field(gt=0)]],
    Form.LENGTHS: list[Annotated[int, Field(ge=0)]],
    Form.RUNS_OR_SETS: list[Annotated[int, Field(ge=1, le=LARGEST)]] | list[list[_Value]],
    Form.PARTS: list[Literal["day", "month", "quarter", "year", "decade"]],
    Form.AMOUNTS: Annotated[dict[str, str], AfterValidator(_amounts)],
    Form.SHARES: dict[str, Annotated[list[float], AfterValidator(_pair)]],
    Form.ENTROPIES: Annotated[dict[str, _Amount], AfterValidator(_widths)],
    Form.CHANCES: Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], AfterValidator(_widths)],
    Form.PRIORS: _Text | dict[_Value, list[_Value]],
    Form.RULES: dict[_Text, dict[str, list[_Value]]],
    Form.TABLE: _Table,
    Form.FILE_OR_TABLE: _Text | _Table,
}


class _Shape(BaseModel):
    # a shape is built when it is first used: a policy has few of the sections, and pydantic takes milliseconds for each
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True, defer_build=True)


def _type_of(row: Setting) -> Any:
    limits, words = row.limits, Literal[row.words] if row.words and row.form is None else None
    if limits is not None:
        bounds = Field(ge=limits.least, gt=limits.above, le=limits.most, lt=limits.below)
        number: Any = Annotated[int if limits.whole else float, bounds]
        return number | words if words else number
    # which words a method knows is checked once the method is known
    return words or _TYPES[row.form or Form.TEXT]


@cache
def _shape_of(rows: tuple[Setting, ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for row in rows:
        kind = _type_of(row)
        words: Any = {"enum": [*row.words]} if row.words and row.form is not None else None
        told = f"{row.summary} ({row.allowed})"
        more = Field(default=... if row.required else row.default, description=told, json_schema_extra=words)
        fields[row.key] = (kind if row.required else kind | None, more)
    return create_model("Section", __base__=_Shape, **fields)


def shape_of(rows: Iterable[Setting]) -> type[BaseModel]:
    """Return what checks a table with these keys."""
    return _shape_of(tuple(rows))


Rows = Mapping[str, Setting]
"""The rows of a table of the policy, by key."""


def rows_of(section: PolicySection) -> Rows:
    """Return the rows of a section, those of other packages' methods among them."""
    rows = [row for row in PLAIN_KEYS if row.section is section]
    if section is PolicySection.DEFENCE:
        return _rows_of_defence()
    for promise in PROMISES.values():
        if promise.section is section:
            rows += [promise, *promise.parameters]
    return {row.key: row for row in rows}


def rows_by_column() -> Rows:
    """Return the rows of [promise.COLUMN]: thresholds, and what the series of a table of its own must keep."""
    rows = [row for row in PROMISES.values() if row.section is PolicySection.PROMISE]
    rows = [row for row in rows if row.per_column or row.per_series]
    return {one.key: one for row in rows for one in (row, *row.parameters)}


def rows_of_defence(section: Mapping[str, Any]) -> Rows:
    """Return the rows of our methods' [defence]; of every package's if something in the section is not of ours."""
    ours = _rows_of_defence(METHODS)
    return ours if section.get("method") in (*METHODS, AUTO) and section.keys() <= ours.keys() else _rows_of_defence()


def _rows_of_defence(methods: Mapping[str, Method] | None = None) -> Rows:
    """Return a row for each key: one that several methods read takes any word here, as they know different ones."""
    methods = installed_rows() if methods is None else methods
    method = Setting(
        key="method", words=(*methods, AUTO), form=Form.METHOD, required=True, summary="what makes the table safe"
    )
    known = (method, *(row for row in PROMISES.values() if row.section is PolicySection.DEFENCE))
    rows: dict[str, Setting] = {row.key: row for row in known}
    options = [option for row in (*methods.values(), CHOOSING) for option in row.options]
    for option in options:
        words = tuple(dict.fromkeys(word for one in options if one.key == option.key for word in one.words))
        rows.setdefault(option.key, replace(option, form=Form.TEXT, words=words) if words else option)
    return rows
