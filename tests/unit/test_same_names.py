"""Every option of the command line has the same name in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import typer

import seriatim as sr
from seriatim import api
from seriatim.cli.app import app
from seriatim.ledger import SqlLedger
from seriatim.usecases.compare.risk_map import MapWish

OF_OUTPUT = {"as_json", "help", "nodes"}
"""What a command prints: Python returns the thing itself, with to_json and to_html."""
OF_LEDGERS = {"ledger": "url"}
"""Where the ledger is: Python opens it with sr.Ledger.open(url, shelf)."""
SINGULAR = {"method": "methods", "statistic": "statistics", "tables": "view", "table": "view"}
"""An option that may be repeated names one of them; a table is what Python calls a view until it is published."""
TWINS: dict[str, tuple[Callable[..., Any], ...]] = {
    "publish": (sr.publish, api.open_ledger),
    "audit": (sr.audit, api.open_ledger),
    "attack": (sr.attack, api.history_of_folder, api.attack_report, api.open_ledger),
    "compare": (sr.compare, MapWish),
    "forecast": (sr.forecast, api.open_ledger),
    "ledger verify": (SqlLedger.verify, api.open_ledger),
    "ledger resume": (SqlLedger.resume, api.open_ledger),
    "ledger erase": (SqlLedger.erase, api.open_ledger),
    "ledger show": (api.records_in, api.open_ledger),
}
WRITES_A_REPORT = {"audit", "attack", "compare", "forecast"}
"""Their --out is a file for the report, which Python returns."""


def options_of(command: str) -> set[str]:
    found = typer.main.get_command(app)
    for name in command.split():
        found = found.commands[name]  # type: ignore[attr-defined]
    return {parameter.name for parameter in found.params} - OF_OUTPUT


@pytest.mark.parametrize("command", TWINS)
def test_an_option_has_the_same_name_in_python(command: str) -> None:
    names = {name for twin in TWINS[command] for name in inspect.signature(twin).parameters}
    asked = options_of(command) - ({"out"} if command in WRITES_A_REPORT else set())
    missing = {name for name in asked if not {name, OF_LEDGERS.get(name, name), SINGULAR.get(name, name)} & names}
    assert len(asked) >= 3
    assert missing == set()


def test_deliver_names_recipients_as_publish_does() -> None:
    assert "recipients" in inspect.signature(SqlLedger.deliver).parameters
    assert {"to", "recipients"} <= set(inspect.signature(sr.publish).parameters)
