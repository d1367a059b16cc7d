"""A method of another package: found by its entry point, listed with ours, missed with what to install."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

import seriatim as sr
from seriatim.model import methods

SHAPE: dict[str, Any] = {
    "series": {"name": "ward", "respondent": "who"},
    "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "promise": {"m": 2},
}


def policy(method: str, **defence: Any) -> sr.Policy:
    return sr.Policy.from_dict({**SHAPE, "defence": {"method": method, **defence}})


def registered(patch: pytest.MonkeyPatch, **points: str) -> None:
    """Let only these be installed."""
    found = [EntryPoint(name, value, methods.GROUP) for name, value in points.items()]
    patch.setattr(methods, "entry_points", lambda **asked: EntryPoints(found).select(**asked))


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch)
    for method in ("invariant", "historical"):
        with pytest.raises(sr.PolicyError, match=r'pip install "seriatim\[papers\]"') as caught:
            policy(method, sticky=False)
        assert len(caught.value.faults) == 1
    with pytest.raises(sr.PolicyError, match=r"unknown key \[defence\] sticky"):
        policy("cohort", sticky=False)
    assert methods.names_looking_back() == ("cohort",)


def test_a_package_that_cannot_be_used_is_named_and_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, lost="no_such_module:ROW", wrong="seriatim.model.methods:GROUP")
    assert policy("cohort").defence.serial
    for method, why in (("lost", "cannot be loaded"), ("wrong", "is no row of a method")):
        with pytest.raises(sr.PolicyError, match=why):
            policy(method)


def test_keys_of_an_installed_method_are_known_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert policy("historical", sticky=False).unread == ()
    assert policy("cohort", sticky=False).unread == ("[defence] sticky is not read by method cohort",)
    with pytest.raises(sr.PolicyError, match="repair, greedy"):
        policy("historical", mode="strict")
    assert {"historical", "invariant"} < {*methods.names_looking_back()}
    registered(monkeypatch)
    assert policy("cohort", cohort_size=400).unread == ()


def test_a_policy_of_ours_loads_no_other_package() -> None:
    code = (
        "import sys, seriatim as sr\n"
        "shape = {'series': {'name': 's'}, 'columns': {'a': {'role': 'quasi'}}, 'promise': {'k': 2},\n"
        "         'defence': {'method': 'median', 'mode': 'relaxed', 'suppress': 0.1}}\n"
        "sr.Policy.from_dict(shape)\n"
        "print([name for name in sys.modules if name.startswith('seriatim_papers')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
