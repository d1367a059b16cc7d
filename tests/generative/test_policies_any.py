"""Any mapping gives a Policy or a PolicyError; any table gives a guess that loads; any document has positions."""

import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from seriatim.errors import Fault, PolicyError
from seriatim.model.policy_keys import PolicySection
from seriatim.policies import ColumnSketch, guess_policy, load_policy, policy_from_dict
from seriatim.policies.faults import SECTIONS
from seriatim.policies.policy_files import key_positions
from seriatim.policies.shapes import rows_of

BOUNDED = settings(max_examples=150, deadline=None)
KEYS = sorted({key for section in PolicySection for key in rows_of(section)} | {*SECTIONS, "file", "a", "b", "id"})
WORDS = ["quasi", "sensitive", "drop", "number", "median", "recursive", "ordered", "a", "b", "", "*", "choose", "id"]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=4),
    st.dates(),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)


def section(one: PolicySection) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(sorted(rows_of(one))) | st.sampled_from(KEYS), VALUES, max_size=5)


MAPPINGS = st.fixed_dictionaries(
    {},
    optional={
        "series": section(PolicySection.SERIES) | VALUES,
        "columns": st.dictionaries(st.sampled_from(["a", "b", "id", "k"]), section(PolicySection.COLUMNS), max_size=3)
        | VALUES,
        "promise": section(PolicySection.PROMISE) | VALUES,
        "defence": section(PolicySection.DEFENCE) | VALUES,
        "adversary": section(PolicySection.ADVERSARY) | VALUES,
        "more": VALUES,
    },
)


@BOUNDED
@given(MAPPINGS)
def test_any_mapping_is_a_policy_or_has_faults(mapping: dict[str, Any]) -> None:
    faults, digest = _outcome(mapping)
    assert bool(faults) != bool(digest)
    assert all("\n" not in str(fault) for fault in faults)
    assert len(set(faults)) == len(faults)
    assert _outcome(mapping) == (faults, digest)


def _outcome(mapping: dict[str, Any]) -> tuple[tuple[Fault, ...], str]:
    try:
        return (), policy_from_dict(mapping).digest
    except PolicyError as error:
        return error.faults, ""


@st.composite
def sketches(draw: st.DrawFn) -> list[ColumnSketch]:
    odd = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    spoken = st.sampled_from(["id", "patient", "name", "age", "zip", "salary", "k", "l", "role", "a.b", 'q"q', "x y"])
    names = draw(st.lists(odd | spoken, min_size=1, max_size=6, unique=True))
    return [_sketch(draw, name) for name in names]


def _sketch(draw: st.DrawFn, name: str) -> ColumnSketch:
    n_rows = draw(st.integers(0, 50))
    n_missing = draw(st.integers(0, n_rows))
    n_distinct = draw(st.integers(0, n_rows - n_missing) | st.just(n_rows - n_missing))
    kind = draw(st.sampled_from(["number", "category", "date", None]))
    return ColumnSketch(
        name,
        kind=kind,
        n_distinct=n_distinct,
        n_missing=n_missing,
        n_rows=n_rows,
        looks=draw(st.sampled_from(["", "code", "prose", "contact"])),
    )


@BOUNDED
@given(sketches(), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_any_guess_loads_and_declares_every_column(columns: list[ColumnSketch], series: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(guess_policy(columns, series), encoding="utf-8", newline="")
        policy = load_policy(path)
    declared = {*policy.columns, *([policy.respondent] if policy.respondent is not None else [])}
    assert declared == {sketch.name for sketch in columns}


NAMES = st.sampled_from(["a", "b-1", "c d", "é", 'q"q', "x.y", "#", "[t]"])


def _text(key: str, draw: st.DrawFn) -> str:
    bare = key.replace("-", "").isascii() and key.replace("-", "").isalnum()
    styles = ([key] if bare else []) + ['"' + key.replace('"', '\\"') + '"'] + ["'" + key + "'"]
    return draw(st.sampled_from(styles))


SCALARS = ["1", '"s # ]}"', "'t, ='", '"""m\n[no]\n"""', "'''\nn = 1'''", "2020-01-01 10:00:00", "true", "-1.5e3"]


def _value(draw: st.DrawFn, depth: int) -> str:
    form = draw(st.sampled_from(["scalar", "array", "inline"] if depth else ["scalar"]))
    if form == "scalar":
        return draw(st.sampled_from(SCALARS))
    if form == "array":
        gap = draw(st.sampled_from(["", " ", "\n", " # note ]\n"]))
        return "[" + gap + ("," + gap).join(_value(draw, depth - 1) for _ in range(draw(st.integers(0, 3)))) + gap + "]"
    keys = draw(st.lists(NAMES, max_size=3, unique=True))
    return "{ " + ", ".join(f"{_text(key, draw)} = {_value(draw, depth - 1)}" for key in keys) + " }"


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines = []
    for table in draw(st.lists(st.lists(NAMES, min_size=1, max_size=2).map(tuple), max_size=3, unique=True)):
        lines.append("[" + " . ".join(_text(key, draw) for key in table) + "] # [x]")
        for key in draw(st.lists(NAMES, max_size=3, unique=True)):
            dotted = draw(st.sampled_from(["", ".z", " . 'z z'"]))
            lines.append(draw(st.sampled_from(["", "  "])) + f"{_text(key, draw)}{dotted} = {_value(draw, 2)}")
    return "\n".join(lines) + "\n"


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {path} if path else set()
    return found.union(*(_paths(child, (*path, key)) for key, child in inner))


@BOUNDED
@given(documents())
def test_every_key_of_a_document_has_its_position(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        reject()  # two tables of one name: not a document
    positions = key_positions(text)
    assert set(positions) == _paths(document)
    lines = text.split("\n")
    for path, (line, column) in positions.items():
        rest, key = lines[line - 1][column - 1 :], path[-1]
        if isinstance(key, str):
            escaped = key.replace('"', '\\"')
            assert rest.startswith((key, f'"{escaped}"', f"'{key}'"))
