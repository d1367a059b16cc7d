"""Hostile runs of the command line, drawn from a seed: what must end with a documented exit code, never with a bug."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from support.command_line import Ran, seriatim, write_policy, write_view

from seriatim.tables.reader import read_table

CODES = (0, 2, 3, 4, 5)
WORDS = [
    "",
    "*",
    "nan",
    "inf",
    "-0",
    "1e999",
    "0x10",
    "\0",
    "é",
    "\u202e",
    '"',
    "'",
    ",",
    ";",
    "\t",
    "=1+1",
    "9" * 50,
    "[1,2]",
]
VALUES = [
    "-1",
    "0",
    "1",
    "1e400",
    "nan",
    "inf",
    str(2**63),
    str(10**40),
    '""',
    '"x"',
    "[]",
    "{}",
    "true",
    "1979-05-27",
    '["a", 1]',
]


def run_one(folder: Path, seed: int) -> Ran:
    """Make a desk with one thing or several wrong, and run one command on it."""
    chance = random.Random(seed)
    view, policy = write_view(folder, rows=chance.choice([0, 1, 5, 24])), write_policy(folder)
    for _ in range(chance.randrange(1, 4)):
        path = chance.choice([view, view, policy])
        path.write_bytes(chance.choice(_CHANGES)(path.read_bytes(), chance))
    name = _perhaps_parquet(view, chance)
    command = [part.format(view=name) for part in chance.choice(_COMMANDS)]
    for old in ("new.toml", "page.html"):
        (folder / old).unlink(missing_ok=True)
    return seriatim(folder, *command, *chance.choice([(), (), ("--json",)]))


def is_bug(ran: Ran) -> bool:
    return ran.code not in CODES or "unexpected" in ran.err or "Traceback" in ran.err


_COMMANDS: list[tuple[str, ...]] = [
    ("publish", "{view}", "-p", "policy.toml", "--dry-run"),
    ("publish", "{view}", "-p", "policy.toml", "--dry-run", "--csv", ";"),
    ("publish", "{view}", "-p", "policy.toml", "--dry-run", "--csv", "utf-16"),
    ("audit", "{view}", "-p", "policy.toml"),
    ("audit", "{view}", "-p", "policy.toml", "--original", "{view}", "--aligned"),
    ("audit", "{view}", "-p", "policy.toml", "--beside", "{view}", "--prior", "conditional"),
    ("init", "{view}", "--out", "new.toml"),
    ("init", "{view}", "--out", "new.toml", "--allow", "header"),
    ("ledger", "import", "{view}", "-p", "policy.toml", "--ledger", "sqlite:///never.db"),
    ("attack", "--history", ".", "--respondents", "{view}", "--sensitive", "ill"),
]


def _flipped(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _repeated(data: bytes, chance: random.Random) -> bytes:
    at, size = chance.randrange(len(data) + 1), chance.randrange(1, 40)
    return data[:at] + data[at : at + size] * chance.randrange(2, 5) + data[at + size :]


def _word_put(data: bytes, chance: random.Random) -> bytes:
    parts = data.split(b",")
    parts[chance.randrange(len(parts))] = chance.choice(WORDS).encode()
    return b",".join(parts)


def _value_put(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    set_at = [at for at, line in enumerate(lines) if b"=" in line]
    if not set_at:
        return data
    at = chance.choice(set_at)
    lines[at] = lines[at].split(b"=")[0] + b"= " + chance.choice(VALUES).encode()
    return b"\n".join(lines)


def _line_gone(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[chance.choice([0, chance.randrange(len(lines))])]
    return b"\n".join(lines)


def _recoded(data: bytes, chance: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode(chance.choice(["utf-16", "utf-32", "utf-8-sig", "utf-16-le"]))


def _line_ends(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice([b"\r", b"\r\n", b"\n\n", b"\n\r", b"\0"]))


_CHANGES: list[Callable[[bytes, random.Random], bytes]] = [
    _flipped, _cut, _repeated, _word_put, _word_put, _value_put, _value_put, _line_gone, _recoded, _line_ends,
]  # fmt: skip


def _perhaps_parquet(view: Path, chance: random.Random) -> str:
    if chance.random() > 0.1:
        return view.name
    try:
        table = read_table(view).data
    except Exception:  # noqa: BLE001 - then it stays what it is
        return view.name
    other = view.with_suffix(".parquet")
    pq.write_table(table, other)
    other.write_bytes(_flipped(other.read_bytes(), chance) if chance.random() < 0.7 else other.read_bytes())
    return other.name
