"""Canaries in the steward's own files and options: hierarchies and priors are full of values and ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import seriatim, write_policy, write_view

import seriatim as sr

HIERARCHIES = {
    "two paths": "canary-a;canary-x;*\ncanary-a;canary-y;*\n",
    "crossing labels": "canary-a;canary-x;canary-n;*\ncanary-b;canary-x;canary-s;*\n",
    "another width": "canary-a;canary-x;*\ncanary-b;*\n",
    "an empty label": "canary-a;canary-x;*\ncanary-b;;*\n",
    "an open quote": 'canary-a;canary-x;*\n"canary-b;canary-x;*\n',
    "values nobody has": "canary-a;canary-x;*\ncanary-b;canary-x;*\n",
}
PRIORS = {
    "no header": "canary-who,canary-ill\ncanary-two,canary-ill\n",
    "a short line": "respondent,value\ncanary-who\n",
    "an open quote": 'respondent,value\n"canary-who,canary-ill\n',
}


@pytest.mark.parametrize("fault", HIERARCHIES)
def test_a_hierarchy_file_is_told_by_its_lines(tmp_path: Path, fault: str) -> None:
    write_view(tmp_path)
    policy = write_policy(tmp_path)
    policy.write_text(policy.read_text().replace("{ prefix = [3, 2, 0] }", '"zip.csv"'))
    (tmp_path / "zip.csv").write_text(HIERARCHIES[fault])
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--json")
    assert ran.code == 2, ran
    assert "canary" not in ran.out + ran.err


@pytest.mark.parametrize("fault", PRIORS)
def test_a_file_of_priors_is_told_by_its_lines(tmp_path: Path, fault: str) -> None:
    write_view(tmp_path)
    policy = write_policy(tmp_path)
    policy.write_text(policy.read_text() + '\n[adversary]\npriors = "priors.csv"\n')
    (tmp_path / "priors.csv").write_text(PRIORS[fault])
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--json")
    assert ran.code == 2, ran
    assert "canary" not in ran.out + ran.err


def test_a_person_named_in_an_option_is_not_repeated(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path)
    assert seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml").code == 0
    ran = seriatim(tmp_path, "ledger", "erase", "ward-visits", "canary-who")
    assert ran.code == 2, ran
    assert "canary" not in ran.out + ran.err


def test_the_public_rooms_are_listed() -> None:
    assert {"attacks", "measures", "reading", "publish", "audit"} <= set(dir(sr))
