"""What is known about a method is in its row: no other file of the package asks for a method by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import seriatim
from seriatim.model.methods import METHODS, MethodFamily, installed_rows, names_where, quoted_names
from seriatim.model.policy import DefenceOptions, DefenceSettings
from seriatim.promises.series.kept_over_time import rule_of_m

PACKAGE = Path(seriatim.__file__).parent
ROWS = "model/methods.py"
MARK = "a lasting number that is stored with rows"
KNOWLEDGE = "a key of [adversary]: how values follow each other"
ATTACK = "an attack's own name, in results"
OPTION = "a key of [defence]"
FIGURE = "a figure of a distribution"
CHANCE = "what a stream of chance is drawn for; another word would change published bytes"
DIVERSITY = "a kind of l: how many different values there are"
ELSEWHERE = {
    ("attacks/method.py", "lineage"): MARK,
    ("attacks/refusals.py", "lineage"): MARK,
    ("cli/demo.py", "cohort"): "a key of the demo's JSON: it tells what the demo publishes with",
    ("defences/series/memory.py", "lineage"): MARK,
    ("defences/series/sequence/grouping.py", "curve"): CHANCE,
    ("defences/series/shuffle.py", "lineage"): MARK,
    ("defences/single/sample.py", "sample"): CHANCE,
    ("defences/single/trim.py", "distinct"): DIVERSITY,
    ("knowledge/given_tables.py", "sequence"): KNOWLEDGE,
    ("knowledge/sequence_model.py", "sequence"): KNOWLEDGE,
    ("model/policy.py", "distinct"): DIVERSITY,
    ("model/policy.py", "noise"): OPTION,
    ("model/policy_in_force.py", "sequence"): KNOWLEDGE,
    ("model/policy_keys.py", "sequence"): KNOWLEDGE,
    ("model/promises.py", "distinct"): DIVERSITY,
    ("policies/adversary.py", "sequence"): KNOWLEDGE,
    ("policies/questions.py", "sequence"): KNOWLEDGE,
    ("policies/load.py", "sequence"): KNOWLEDGE,
    ("policies/promise_section.py", "distinct"): DIVERSITY,
    ("promises/series/fair_cells.py", "lineage"): MARK,
    ("promises/series/value_caps.py", "lineage"): MARK,
    ("promises/single/diversity.py", "distinct"): DIVERSITY,
    ("model/history.py", "lineage"): MARK,
    ("report/words.py", "sequence"): ATTACK,
    ("testing/ledger.py", "median"): "any method will do: a ledger is checked with a release of it",
    ("usecases/attack/attack.py", "lineage"): MARK,
    ("usecases/attack/attack.py", "sequence"): ATTACK,
    ("usecases/attack/attack_page.py", "sequence"): ATTACK,
    ("usecases/audit/audit_figures.py", "median"): FIGURE,
    ("usecases/audit/audit_numbers.py", "median"): FIGURE,
    ("usecases/publish/release_files.py", "noise"): "a key of the codebook",
    ("usecases/publish/followed_people.py", "sequence"): ATTACK,
    ("usecases/publish/judgement.py", "noise"): "the name of a measure",
    ("usecases/publish/relation_kept.py", "noise"): "a count of the draft: noise was added",
    ("usecases/publish/joined_own_tables.py", "sequence"): ATTACK,
}
"""Where a word is a method's name and another idea as well."""


def _texts(path: Path) -> Iterator[str]:
    """Yield the texts of a module, its documentation left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_only_the_rows_name_methods() -> None:
    found, names = set(), {*installed_rows(), "lineage"}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name != ROWS:
            found |= {(name, text) for text in _texts(path) if text in names}
    assert found == set(ELSEWHERE), "ask a question of the method's row instead, or say here what else the word means"


def test_a_method_stands_in_the_room_of_its_family() -> None:
    rooms = dict.fromkeys(MethodFamily, "series") | {MethodFamily.SINGLE: "single"}
    for row in METHODS.values():
        assert row.home.startswith(f"seriatim.defences.{rooms[row.family]}."), row.name


def test_a_sample_and_noise_are_those_of_the_method_only() -> None:
    options = DefenceOptions(rate=0.2, noise={"age": "10%"})
    read = {name: DefenceSettings(name, options=options) for name in METHODS}
    assert {name for name, settings in read.items() if settings.rate is not None} == {"sample"}
    assert {name for name, settings in read.items() if settings.noise} == {"noise"}
    assert read["sample"].allowed == 0.8
    assert read["median"].allowed == 0.0


def test_a_question_is_answered_by_the_rows() -> None:
    assert names_where(lambda row: row.family is MethodFamily.FOLLOWING) == ("sequence",)
    assert quoted_names(lambda row: row.blind_cuts) == '"median" or "curve"'


def test_a_rule_that_there_is_not_is_an_error() -> None:
    with pytest.raises(LookupError, match="fair_cells"):
        rule_of_m("misspelt")


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("median", ("both halves", "")),
        ("curve", ("along the order", "")),
        ("lattice", ("a level", "a level")),
        ("sequence", ("believed", "believed")),
        ("auto", ("which k", "which k")),
        ("cohort", ("", "")),
    ],
)
def test_a_method_says_what_it_looks_at_with_cuts_by_values_and_blind_ones(method: str, says: tuple[str, str]) -> None:
    for cuts, part in zip((None, "blind"), says, strict=True):
        looks = DefenceSettings(method, options=DefenceOptions(cuts=cuts)).looks
        assert part in looks
        assert bool(looks) == bool(part)
