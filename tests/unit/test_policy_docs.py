"""The reference page names every key and every word that a policy may hold."""

import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import BaseModel

from seriatim.policies import policy_from_dict, shapes
from seriatim.policies.faults import Faults

DOCS = Path(__file__).parents[2] / "docs" / "reference"
SHAPES = sorted(
    (
        *(s for s in vars(shapes).values() if isinstance(s, type) and issubclass(s, BaseModel) and s.model_fields),
        shapes.defence_shape(),
    ),
    key=lambda shape: shape.__name__,
)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_key_and_word_is_explained(shape: type[BaseModel]) -> None:
    page = (DOCS / "policy.md").read_text(encoding="utf-8")
    for key, field in shape.model_fields.items():
        assert f"`{key}`" in page, key
        extra = field.json_schema_extra
        for word in extra["choices"] if isinstance(extra, dict) else ():  # type: ignore[union-attr]
            assert f"`{word}`" in page or f'`"{word}"`' in page, f"{key} = {word}"


def test_every_key_says_what_is_allowed() -> None:
    assert len(SHAPES) >= 8
    assert all(field.description for shape in SHAPES for field in shape.model_fields.values())


def test_the_examples_of_the_hierarchy_page() -> None:
    page = (DOCS / "hierarchies.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2:4] for line in page.splitlines() if line.startswith("| ") and "→" in line]
    assert len(rows) == 6
    for builder, labels in rows:
        first, *expected = (part.strip().strip("`") for part in labels.split("→"))
        text = dedent(f"x = {builder.strip().strip('`')}")
        column = {"role": "quasi", "hierarchy": _table(text)}
        if "group =" in text:
            column["order"] = ["a", "b", "c", "d", "e"]
        policy = policy_from_dict({"series": {"name": "s"}, "columns": {"c": column}})
        made = policy.columns["c"].hierarchy
        assert made is not None
        assert made.paths([first]) == [tuple(expected)]


def _table(text: str) -> object:
    return tomllib.loads(text)["x"]


def test_a_shape_that_is_broken_names_its_key_once() -> None:
    faults = Faults("policy")
    assert faults.check(shapes.PromiseShape, {"n": 1.5}, ("promise",)) is None
    assert len(faults.found) == 1
