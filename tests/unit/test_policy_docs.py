"""The reference page names every key and every word that a policy may hold."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from textwrap import dedent

import pytest
from jsonschema_rs import Draft7Validator

from seriatim.model.methods import installed_rows
from seriatim.model.policy_keys import PolicySection, Setting
from seriatim.policies import policy_from_dict, policy_schema
from seriatim.policies.faults import Faults
from seriatim.policies.shapes import rows_of


def _options(section: PolicySection) -> tuple[Setting, ...]:
    """Return the options of every method, each with its own words."""
    return (
        [option for row in installed_rows().values() for option in row.options]
        if section is PolicySection.DEFENCE
        else ()
    )


DOCS = Path(__file__).parents[2] / "docs" / "reference"
ROWS = [row for section in PolicySection for row in (*rows_of(section).values(), *_options(section))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_every_key_and_word_is_explained(row: Setting) -> None:
    page = (DOCS / "policy.md").read_text(encoding="utf-8")
    assert row.section is PolicySection.NOWHERE or f"`{row.key}`" in page, row.key
    for word in row.words:
        assert f"`{word}`" in page or f'`"{word}"`' in page, f"{row.key} = {word}"


def test_the_tables_are_those_of_the_rows() -> None:
    spec = spec_from_file_location("make_policy_page", DOCS.parent / "make_policy_page.py")
    assert spec is not None
    assert spec.loader is not None
    maker = module_from_spec(spec)
    spec.loader.exec_module(maker)
    page = (DOCS / "policy.md").read_text(encoding="utf-8")
    assert maker.policy_page(page) == page, "write it anew: ./dev policy-page"


SCHEMA = Draft7Validator(policy_schema())
FENCED = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = sorted((*DOCS.parent.rglob("*.md"), DOCS.parents[1] / "README.md"))
POLICIES = [
    pytest.param(block, id=f"{page.name}-{at}")
    for page in PAGES
    for at, block in enumerate(
        re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )
    if block.lstrip().startswith("[series]") and "[columns." in block
]


@pytest.mark.parametrize("text", POLICIES)
def test_the_schema_for_editors_takes_the_policies_of_the_pages(text: str) -> None:
    assert list(SCHEMA.iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("promise", {"k": 0}),
        ("promise", {"kk": 5}),
        ("promise", {"ill": {"k": 5}}),
        ("promise", {"n": "some"}),
        ("defence", {"method": "guess"}),
        ("defence", {"method": "median", "mode": "fast"}),
        ("defence", {}),
        ("columns", {"a": {"kind": "number"}}),
        ("columns", {"a": {"role": "quasi", "hierarchy": {"groups": [["a"]]}}}),
        ("adversary", {"breach_share": 2}),
        ("more", {}),
    ],
)
def test_the_schema_marks_what_a_policy_may_not_say(section: str, wrong: dict[str, object]) -> None:
    whole = {"series": {"name": "s"}, "columns": {"a": {"role": "quasi"}}}
    assert not list(SCHEMA.iter_errors(whole))
    assert list(SCHEMA.iter_errors({**whole, section: wrong}))


def test_every_key_says_what_is_allowed() -> None:
    assert len(ROWS) >= 60
    assert all(row.allowed and row.summary for row in ROWS)


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
    assert faults.check(rows_of(PolicySection.PROMISE), {"n": 1.5}, ("promise",)) is None
    assert len(faults.found) == 1
