"""Names and reasons are text that can be seen, at every door: what the ledger keeps for good must say who and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim, write_policy, write_view
from support.ledgers import publish

import seriatim as sr
from seriatim import api
from seriatim.errors import InputError
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim_gate.journal.tokens import TokenBook

UNSEEN = {
    "nothing": "",
    "spaces": "  ",
    "zero width": "\u200b",
    "zero width inside": "A\u200bnn",
    "right to left": "Ann\u202egnp.exe",
    "terminal": "Ann\x1b[31m",
    "line": "Ann\nBob",
    "filler": "\u3164",
    "blank braille": "\u2800",
    "marks alone": "\ufe0f",
    "long": "A" * 10_000,
    "accent without a letter": " \u0301",
}
PUBLISH = ("publish", "view.csv", "-p", "policy.toml")
COMMANDS = {
    "override": (*PUBLISH, "--approved-by", "Ann", "--override", "{}"),
    "approved": (*PUBLISH, "--approved-by", "{}", "--override", "needed"),
    "approved alone": (*PUBLISH, "--approved-by", "{}"),
    "to": (*PUBLISH, "--to", "Bob", "--to", "{}"),
    "deliver": ("ledger", "deliver", "ward-visits", "1", "--to", "{}"),
    "draft": (*PUBLISH, "--draft", "{}"),
    "approve": ("ledger", "approve", "ward-visits", "--approved-by", "{}"),
    "decline": ("ledger", "decline", "ward-visits", "--reason", "{}", "--declined-by", "Ann"),
    "declined": ("ledger", "decline", "ward-visits", "--reason", "needed", "--declined-by", "{}"),
    "recalled": ("ledger", "recall", "ward-visits", "1", "--reason", "needed", "--approved-by", "{}"),
    "desk": ("desk", "--user", "{}"),
    "recall": ("ledger", "recall", "ward-visits", "1", "--reason", "{}"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    write_view(folder)
    write_policy(folder)
    assert seriatim(folder, *PUBLISH).code == 0
    write_policy(folder, k=30)
    return folder


@pytest.mark.parametrize("unseen", [name for name in UNSEEN if name != "line"])
@pytest.mark.parametrize("command", COMMANDS)
def test_on_the_command_line(desk: Path, command: str, unseen: str) -> None:
    entries = api.open_ledger(desk / "ledger.db").entries()
    ran = seriatim(desk, *(word.format(UNSEEN[unseen]) for word in COMMANDS[command]))
    assert (ran.code, "allowed: visible text, at most 200 characters" in ran.err) == (2, True), ran
    assert "Ann" not in ran.out + ran.err
    assert api.open_ledger(desk / "ledger.db").entries() == entries


@pytest.mark.parametrize("unseen", UNSEEN)
def test_in_python(tmp_path: Path, unseen: str) -> None:
    ledger, text = open_ledger(tmp_path / "l.db"), UNSEEN[unseen]
    publish(ledger)
    shape = {"series": {"name": "s"}, "columns": {"a": {"role": "quasi"}}, "promise": {"k": 3}}
    policy, table = sr.Policy.from_dict({**shape, "defence": {"method": "median"}}), {"a": [1, 2]}
    doors: list[Callable[[], Any]] = [
        lambda: ledger.deliver("ward", 1, [text]),
        lambda: ledger.deliver("ward", 1, to=["lab", text]),
        lambda: ledger.deliver("ward", 1, "lab", approved_by=text),
        lambda: ledger.deliver("ward", 1, "lab", approved_by="Ann", override=text),
        lambda: ledger.recall("ward", 1, text),
        lambda: sr.publish(table, policy, ledger, recipients=text),
        lambda: sr.publish(table, policy, ledger, approval=sr.Approval(text, "needed")),
        lambda: sr.publish(table, policy, ledger, approval=sr.Approval("Ann", text)),
        lambda: sr.Policy.from_dict({"series": {"name": text}, "columns": {"a": {"role": "quasi"}}}),
    ]
    if text:
        tokens: Any = TokenBook(ledger.database, lambda *_: 0)
        doors.append(lambda: tokens.make_token("gate", "officer", text))
    before = ledger.entries()
    for door in doors:
        with pytest.raises(InputError, match="visible text, at most 200 characters"):
            door()
    assert ledger.entries() == before


@pytest.mark.parametrize("name", ["Dr Weber", "Zoë Ångström", "李雷", "דנה", "علي", "O'Neil & Söhne (KG)", "A" * 200])
def test_names_of_any_tongue_are_kept_as_they_are(tmp_path: Path, name: str) -> None:
    ledger: SqlLedger = open_ledger(tmp_path / "l.db")
    publish(ledger)
    assert ledger.deliver("ward", 1, [name], approved_by=name).recipients == ("office", name)
    assert ledger.verify().sound
