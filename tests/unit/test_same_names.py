"""Every option of the command line has the same name in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import pytest

import seriatim as sr
from seriatim import api
from seriatim.cli.app import typer_for
from seriatim.cli.demo import publish_months
from seriatim.cli.options import csv_form
from seriatim.ledger.sql_ledger import SqlLedger
from seriatim.model.policy_keys import ARGUMENT_LIMITS, LARGEST, LARGEST_WORD
from seriatim.policies.questions import LEAST
from seriatim.web.desk.application import serve as serve_desk
from seriatim_gate.journal.sql_journal import SqlJournal, open_journal
from seriatim_gate.journal.tokens import TokenBook
from seriatim_gate.web.server import serve
from seriatim_gate.web.settings import Settings
from seriatim_papers.cor_split_page import study_cor_split_page
from seriatim_papers.equivocation import study_equivocation
from seriatim_papers.js_reduce_page import study_js_reduce_page, write_js_reduce_page_data
from seriatim_papers.leakage import study_leakage
from seriatim_papers.safe_release_compare import compare_tests
from seriatim_papers.safe_release_page import study_safe_release_page

OF_OUTPUT = {"as_json", "help", "schema"}
"""What a command prints: Python returns the thing itself, with to_json and to_html."""
OF_STUDIES = {"as_printed"}
"""A study of its own in Python: ``study_js_reduce_printed``."""
OF_LEDGERS = {"ledger": "url", "journal": "url"}
"""Where the ledger or journal is: Python opens it with sr.Ledger.open(url, shelf) or open_journal(url)."""
SEVERAL = {"allow", "csv"}
"""One option of words for several parameters: the switches of ``WORDS``, and a separator and an encoding."""
SINGULAR = {
    "method": "methods",
    "tables": "view",
    "table": "view",
    "test": "tests",
    "part": "parts",
    "dependency": "dependencies",
    "world": "worlds",
    "respondent": "respondents",
}
"""An option that may be repeated names one of them; a table is what Python calls a view until it is published."""
TWINS: dict[str, tuple[Callable[..., Any], ...]] = {
    "demo": (publish_months,),
    "init": (api.first_policy, api.policy_schema),
    "publish": (sr.publish, api.open_ledger),
    "audit": (sr.audit, api.open_ledger),
    "attack": (sr.attack, api.attack_history_of_folder, api.attack_report, api.open_ledger),
    "compare": (sr.compare,),
    "forecast": (sr.forecast, api.open_ledger),
    "gate baseline": (api.gate_baseline,),
    "check": (api.publish, api.load_policy, api.prepare, api.ledger_to_publish),
    "gate replay": (api.gate_requests, api.gate_replay, api.gate_store),
    "gate suggest": (api.gate_suggest,),
    "gate hold": (api.gate_hold,),
    "gate show": (api.gate_show,),
    "gate verify": (api.gate_verify,),
    "gate serve": (Settings.of, open_journal, serve),
    "gate token make": (TokenBook.make_token, open_journal),
    "gate token rotate": (TokenBook.rotate_token, open_journal),
    "gate token revoke": (TokenBook.revoke_token, open_journal),
    "gate token list": (SqlJournal.tokens, open_journal),
    "knowledge mine": (api.mine_knowledge_file, api.ledger_history, api.open_ledger),
    "knowledge show": (api.show_knowledge_file,),
    "ledger show": (api.ledger_records, api.open_ledger),
    "ledger verify": (SqlLedger.verify, api.open_ledger),
    "ledger resume": (SqlLedger.resume, api.open_ledger),
    "ledger import": (SqlLedger.import_history, api.ledger_pasts, api.ledger_pasts_of_folder, api.open_ledger),
    "ledger deliver": (SqlLedger.deliver, api.open_ledger),
    "ledger approve": (SqlLedger.approve, api.open_ledger),
    "ledger decline": (SqlLedger.decline, api.open_ledger),
    "ledger sign-off": (api.sign_off_in_ledger, api.open_ledger),
    "ledger recall": (SqlLedger.recall, api.open_ledger),
    "ledger erase": (SqlLedger.erase, api.open_ledger),
    "desk": (serve_desk, api.open_ledger),
    "study leakage": (study_leakage,),
    "study cor-split": (study_cor_split_page,),
    "study equivocation": (study_equivocation,),
    "study safe-release": (study_safe_release_page, api.gate_requests, compare_tests),
    "study js-reduce": (study_js_reduce_page, write_js_reduce_page_data),
}
WITH_A_REPORT = (
    "audit", "attack", "compare", "forecast", "ledger sign-off", "gate suggest", "study leakage",
    "study cor-split", "study equivocation", "study safe-release", "study js-reduce",
)  # fmt: skip
WRITES = {
    **{command: {"out"} for command in WITH_A_REPORT},
    "check": {"junit", "sarif"},
    "gate baseline": {"out"},
    "gate replay": {"out"},
    "init": {"out"},
}
"""Options that name a file for what Python returns: a report, a page, a policy, a baseline."""


def commands_of(group: Any, before: str = "") -> dict[str, Any]:
    """Every command of the command line by its whole name."""
    found = {}
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found |= {before + name: command} if inner is None else commands_of(command, f"{before}{name} ")
    return found


COMMANDS = commands_of(typer_for(()))


def python_name(command: str, name: str) -> str:
    """What Python calls an option; of several tables ``init`` guesses from the last, and from those ``earlier``."""
    return "table" if (command, name) == ("init", "tables") else SINGULAR.get(name, name)


def test_every_command_has_a_twin() -> None:
    assert set(TWINS) == set(COMMANDS)


WORDS = {
    "publish": {"again": "again", "empty": "empty"},
    "init": {"header": "header_is_right", "overwrite": None},
    "ledger import": {"again": "again"},
}
"""What --allow takes, and what Python calls it; Python returns the policy, so that nothing is overwritten."""


@pytest.mark.parametrize("command", WORDS)
def test_a_word_of_allow_is_a_switch_of_python(command: str) -> None:
    (allow,) = (parameter for parameter in COMMANDS[command].params if parameter.name == "allow")
    switches = {name: p.default for twin in TWINS[command] for name, p in inspect.signature(twin).parameters.items()}
    for word, name in WORDS[command].items():
        assert f"{word} (" in allow.help
        assert name is None or switches[name] is False
    assert {name for name, command in COMMANDS.items() if "allow" in {one.name for one in command.params}} == set(WORDS)


def test_csv_is_a_separator_and_an_encoding_of_python() -> None:
    for command in (name for name, command in COMMANDS.items() if "csv" in {one.name for one in command.params}):
        twins = (*TWINS[command], *((api.read_table,) if command in ("init", "publish", "compare") else ()))
        names = {name for twin in twins for name in inspect.signature(twin).parameters}
        assert {"separator", "encoding"} <= names, command
    assert csv_form("; cp1252") == csv_form("cp1252 ;") == (";", "cp1252")
    assert (csv_form(None), csv_form("tab"), csv_form("utf-16")) == ((None, None), ("\t", None), (None, "utf-16"))
    with pytest.raises(sr.InputError, match=r"--csv: two of a kind \(separator\)"):
        csv_form("; ,")


@pytest.mark.parametrize("command", TWINS)
def test_an_option_has_the_same_name_in_python(command: str) -> None:
    names = {name for twin in TWINS[command] for name in inspect.signature(twin).parameters}
    asked = (
        {parameter.name for parameter in COMMANDS[command].params}
        - OF_OUTPUT
        - OF_STUDIES
        - SEVERAL
        - WRITES.get(command, set())
    )
    missing = {name for name in asked if not {name, OF_LEDGERS.get(name, name), python_name(command, name)} & names}
    assert asked
    assert missing == set()


def test_deliver_names_recipients_as_publish_does() -> None:
    assert {"to", "recipients"} <= set(inspect.signature(SqlLedger.deliver).parameters)
    assert {"to", "recipients"} <= set(inspect.signature(sr.publish).parameters)


BELOW = {"attack": {"least": LEAST}}
"""Parameters that are None in Python, since a mapping may have them, too: what counts if neither does."""
_SOMEWHERE = "a command must put its files somewhere; Python returns them"
_REPEATED = "an option that may be repeated has no default of its own: Python's counts"
OTHERWISE: dict[str, dict[str, str]] = {
    "demo": {"out": _SOMEWHERE},
    "publish": {"out": _SOMEWHERE},
    "knowledge mine": {"out": _SOMEWHERE},
    "gate replay": {"test": _REPEATED},
    "study cor-split": {"part": _REPEATED},
    "study js-reduce": {
        "world": _REPEATED,
        "panels": "a flag for all panels, which Python names",
    },
}
"""Defaults that differ, and why."""
BOUNDS: dict[str, tuple[str, ...]] = {
    "attack": ("least",),
    "forecast": ("releases",),
    "gate baseline": ("bands",),
    "gate suggest": ("most",),
}
"""Options that are numbers with limits of their own."""


def defaults_of(command: str) -> dict[str, Any]:
    """The default of every parameter of a command's twins, by its name on the command line."""
    found: dict[str, Any] = {}
    for twin in TWINS[command]:
        for name, parameter in inspect.signature(twin).parameters.items():
            found.setdefault(name, parameter.default)
    return found | BELOW.get(command, {})


def written(value: Any) -> Any:
    """A default as both sides write it: nothing is None, an empty list or an empty text; a path is its text."""
    if isinstance(value, str | PurePath):
        return str(value) or None
    return (tuple(value) or None) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("command", TWINS)
def test_an_option_has_the_same_default_in_python(command: str) -> None:
    known, differing = defaults_of(command), set()
    for parameter in COMMANDS[command].params:
        if parameter.name in OF_OUTPUT | OF_STUDIES | SEVERAL | WRITES.get(command, set()) | set(OF_LEDGERS):
            continue
        name = parameter.name if parameter.name in known else python_name(command, parameter.name)
        default = inspect.Parameter.empty if parameter.required else parameter.default
        alike = written(default) == written(known[name])
        # a command with several twins chooses by what is given; Python has both recipients and to
        chosen = len(TWINS[command]) > 1 and inspect.Parameter.empty in (default, known[name])
        if not alike and not chosen:
            differing.add((parameter.name, default, known[name]))
    assert {name for name, *_ in differing} == set(OTHERWISE.get(command, {})), differing


@pytest.mark.parametrize("command", BOUNDS)
def test_an_option_has_the_limits_of_python(command: str) -> None:
    for parameter in COMMANDS[command].params:
        if parameter.name not in BOUNDS[command]:
            assert getattr(parameter, "min", None) is None, parameter.name
            continue
        limits = ARGUMENT_LIMITS.get(parameter.name)
        assert limits is not None
        unbounded = limits.most in (LARGEST, LARGEST_WORD)
        assert (parameter.min, parameter.max) == (limits.least, None if unbounded else limits.most)


def test_a_service_has_the_limits_of_its_settings() -> None:
    (days,) = (parameter for parameter in COMMANDS["gate serve"].params if parameter.name == "expire_days")
    assert days.min is None, "typer has no bound that is not allowed itself, so the settings refuse 0"
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(sr.InputError, match="expire_days: out of range; allowed: more than 0"):
            Settings.of("g", wrong)
    assert Settings.of("g", 1e-3).expire == 86_400
