"""Files and arguments made by hand to break a command: small for tests, at full size for ``./dev bench fuzz``.

A case makes its files in a folder that holds a view and its policy, and returns the command to run there. What breaks
by its size alone asks ``size`` for it: ``size(1_000_000)`` is a million in the benchmark, a thousand in a test.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from support.command_line import write_policy, write_view

from seriatim.tables.reader import read_table

Size = Callable[[int], int]
"""How many there are of something in this run."""
Case = Callable[[Path, Size], Sequence[str]]
CASES: dict[str, Case] = {}
ROWS = 24


def prepare(name: str, folder: Path, size: Size) -> list[str]:
    """Return the arguments of a case, once its files are made."""
    write_view(folder, ROWS)
    write_policy(folder)
    return [*CASES[name](folder, size)]


def small_cases(family: str) -> list[str]:
    """Return those of a family that a test runs: of all types of columns the ones that inner lines failed on."""
    of_family = [name for name in CASES if name.split("-")[0] == family]
    return [name for name in of_family if " as " not in name or name.partition(" as ")[2] not in TYPES.keys() - HARD]


def in_full(n: int) -> int:
    return n


def in_small(n: int) -> int:
    return max(n // 1_000, 2)


def case(make: Case) -> Case:
    CASES[make.__name__] = make
    return make


def each(variants: Mapping[str, Any]) -> Callable[[Callable[[Path, Size, Any], Sequence[str]]], None]:
    def add(make: Callable[[Path, Size, Any], Sequence[str]]) -> None:
        for name, value in variants.items():
            CASES[f"{make.__name__}-{name}"] = lambda folder, size, value=value: make(folder, size, value)

    return add


def say(folder: Path, old: str = "", new: str = "", more: str = "") -> None:
    """Change the policy: ``new`` in place of ``old``, and more at its end."""
    text = (folder / "policy.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "policy.toml").write_text((text.replace(old, new, 1) if old else text) + more, encoding="utf-8")


PUBLISH = ("publish", "view.csv", "-p", "policy.toml", "--dry-run")

# --- baselines of gates ---

BASELINE: dict[str, Any] = {
    "schema": "seriatim.gate.baseline/1", "target": "ill", "targets": ["flu", "gout"], "n_records": 4_000,
    "attributes": [{"name": "age", "values": ["20", "21"]}], "probabilities": [0.5, 0.5],
}  # fmt: skip
REPLAY = ("gate", "replay", "view.csv", "--baseline", "b.json")


def baseline_with(**changed: Any) -> bytes:
    return json.dumps({**BASELINE, **changed}).encode()


def two_valued(n: int) -> list[dict[str, Any]]:
    return [{"name": f"a{i}", "values": ["0", "1"]} for i in range(n)]


@each(
    {
        "not UTF-8": b"\xff\xfe\xfa" * 9,
        "400 digits": baseline_with(n_records=1).replace(b'"n_records": 1', b'"n_records": ' + b"9" * 400),
        "5000 digits": baseline_with(n_records=1).replace(b'"n_records": 1', b'"n_records": ' + b"9" * 5_000),
        "400 digits of a chance": baseline_with(probabilities=[10**400, 1]),
        "deep brackets": b"[" * 100_000 + b"]" * 100_000,
        "63 attributes": baseline_with(attributes=two_valued(63)),
        "70 attributes": baseline_with(attributes=two_valued(70)),
        "30 attributes": baseline_with(attributes=two_valued(30)),
        "infinite": baseline_with(n_records=1).replace(b'"n_records": 1', b'"n_records": Infinity'),
        "edges of text": baseline_with(attributes=[{"name": "age", "edges": ["nan", "inf"]}]),
        "nested values": baseline_with(attributes=[{"name": "age", "values": [[["x"]]]}]),
        "a list": b"[]",
        "half a character": baseline_with(target="\ud800"),
        "text for chances": baseline_with(probabilities="ab"),
        "nested chances": baseline_with(probabilities=[[0.5], [0.5]]),
        "other length": baseline_with(target_shares=[1.0]),
        "targets twice": baseline_with(targets=["flu", "flu"]),
        "no targets": baseline_with(targets=[]),
        "several of text": b'{"schema": "seriatim.gate.dependencies/1", "dependencies": ["x", 1, null]}',
        "nothing": b"",
    }
)
def baseline(folder: Path, size: Size, content: bytes) -> Sequence[str]:
    (folder / "b.json").write_bytes(content)
    return REPLAY


@each({"pipe": "pipe", "device": "/dev/zero", "folder": "."})
def baseline_from(folder: Path, size: Size, name: str) -> Sequence[str]:
    os.mkfifo(folder / "pipe")
    return "gate", "replay", "view.csv", "--baseline", name


def fill(path: Path, start: bytes, filled: bytes, n: int, end: bytes = b"") -> None:
    """Write a long file in pieces."""
    piece = filled * (1_000_000 // len(filled))
    with path.open("wb") as file:
        file.write(start)
        for left in range(n, 0, -len(piece)):
            file.write(piece[:left])
        file.write(end)


@case
def baseline_of_a_gigabyte(folder: Path, size: Size) -> Sequence[str]:
    fill(folder / "b.json", b'{"schema": "', b"a", size(1_000_000_000), b'"}')
    return REPLAY


# --- knowledge ---


@each(
    {
        "pairs as keys": '[pairs]\n"(1, 2)" = 3\nx = "y"\n',
        "pairs as a list": "pairs = [1, 2]\n",
        "pairs of lists": '[pairs]\n"1" = [1]\n',
        "huge pairs": f'[pairs]\n"{"9" * 400}" = {"9" * 400}\n',
        "digits": f'[pairs]\n"{"9" * 5_000}" = 1\n',
        "classes as a number": "classes = 3\n",
        "shares as text": 'shares = "ab"\n',
        "shares of text": 'shares = ["ab"]\n',
        "kind as a number": "kind = 3\n",
        "table as a number": "table = 3\n",
        "table elsewhere": 'table = "/dev/zero"\n',
        "shows nothing": 'shows = ["z"]\nstart = [5]\n',
        "start as text": 'shows = ["a", "b"]\nstart = ["x", "y"]\n',
        "huge start": f'shows = ["a", "b"]\nstart = [{10**30}, 0]\n',
        "zero bytes": 'table = "a\\u0000b"\n',
        "deep brackets": f"classes = {'[' * 5_000}{']' * 5_000}\n",
        "nothing strange": "",
    }
)
def knowledge(folder: Path, size: Size, more: str) -> Sequence[str]:
    (folder / "k.toml").write_text('format = "seriatim.knowledge/1"\nvalues = ["a", "b"]\n' + more)
    pq.write_table(chances(), folder / "k.parquet")
    return "knowledge", "show", "k.toml"


def chances(**changed: Any) -> pa.Table:
    good = {"gap": [0, 0, 1, 1, 1, 1], "class": [""] * 6, "past": [[], [], ["a"], ["a"], ["b"], ["b"]]}
    rest = {"next": ["a", "b"] * 3, "chance": [0.5] * 6}
    return pa.table({**good, **rest, **changed})


@each(
    {
        f"{name} as {what}": {name: column}
        for what, column in {
            "nulls": pa.nulls(6),
            "lists": pa.array([["a"]] * 6),
            "mappings": pa.array([{"a": 1}] * 6),
            "texts": pa.array(["x"] * 6),
            "numbers": pa.array([10.0**300] * 6),
            "infinity": pa.array([float("inf")] * 6),
        }.items()
        for name in ("gap", "class", "past", "next", "chance")
    }
)
def knowledge_table(folder: Path, size: Size, changed: dict[str, Any]) -> Sequence[str]:
    (folder / "k.toml").write_text('format = "seriatim.knowledge/1"\nvalues = ["a", "b"]\n')
    pq.write_table(chances(**changed), folder / "k.parquet")
    return "knowledge", "show", "k.toml"


@each({"device": "/dev/zero", "pipe": "pipe", "folder": ".", "nothing": "none.toml", "binary": "k.bin"})
def knowledge_from(folder: Path, size: Size, name: str) -> Sequence[str]:
    os.mkfifo(folder / "pipe")
    (folder / "k.bin").write_bytes(bytes(range(256)))
    return "knowledge", "show", name


@case
def knowledge_of_a_gigabyte(folder: Path, size: Size) -> Sequence[str]:
    fill(folder / "k.toml", b'format = "', b"a", size(1_000_000_000), b'"\n')
    return "knowledge", "show", "k.toml"


@each({"respondent": [0], "release": [1], "sensitive": [2], "everything": [0, 1, 2], "no rows": []})
def mined_from_nulls(folder: Path, size: Size, empty: list[int]) -> Sequence[str]:
    rows = [[f"p{i % 6}", str(i // 6), "flu"] for i in range(ROWS if empty else 0)]
    for row in rows:
        for place in empty:
            row[place] = ""
    (folder / "long.csv").write_text("\n".join(map(",".join, [["respondent", "release", "sensitive"], *rows])) + "\n")
    return "knowledge", "mine", "long.csv"


# --- columns of every type, wherever a command takes a table ---


def _in_zone(zone: str) -> pa.Array:
    return pa.array(range(ROWS), pa.int64()).cast(pa.timestamp("us", zone))


TEXTS = [("flu", "gout", "cold")[i % 3] for i in range(ROWS)]
TYPES: dict[str, Callable[[], pa.Array]] = {
    "lists": lambda: pa.array([[i % 3] for i in range(ROWS)]),
    "structs": lambda: pa.array([{"x": i % 3} for i in range(ROWS)]),
    "maps": lambda: pa.array([[("x", i % 3)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
    "text views": lambda: pa.array(TEXTS, pa.string_view()),
    "byte views": lambda: pa.array([text.encode() for text in TEXTS], pa.binary_view()),
    "large texts": lambda: pa.array(TEXTS, pa.large_string()),
    "words by number": lambda: pa.array(TEXTS).dictionary_encode(),
    "bytes": lambda: pa.array([text.encode() for text in TEXTS]),
    "fixed bytes": lambda: pa.array([b"ab"] * ROWS, pa.binary(2)),
    "nulls": lambda: pa.nulls(ROWS),
    "empty texts": lambda: pa.array([None] * ROWS, pa.string()),
    "unknown zone": lambda: _in_zone("Mars/Olympus"),
    "odd zone": lambda: _in_zone("+99:99"),
    "known zone": lambda: _in_zone("Europe/Berlin"),
    "far dates": lambda: pa.array([2**62 - i for i in range(ROWS)], pa.int64()).cast(pa.timestamp("us")),
    "far days": lambda: pa.array([2**31 - 1 - i for i in range(ROWS)], pa.int32()).cast(pa.date32()),
    "truth": lambda: pa.array([i % 2 == 0 for i in range(ROWS)]),
    "infinite": lambda: pa.array([float("inf")] * ROWS),
    "nan": lambda: pa.array([float("nan")] * ROWS),
    "halves": lambda: pa.array([i % 3 for i in range(ROWS)], pa.float16()),
    "decimals": lambda: pa.array([Decimal(10) ** 70 + i for i in range(ROWS)], pa.decimal256(76)),
    "large numbers": lambda: pa.array([2**64 - 1 - i for i in range(ROWS)], pa.uint64()),
    "lengths": lambda: pa.array([2**62 - i for i in range(ROWS)], pa.duration("s")),
    "one long text": lambda: pa.array(["9" * 50_000 + "x"] * ROWS),
}


HARD = {"lists", "maps", "text views", "words by number", "unknown zone", "far days", "large numbers", "one long text"}
"""Those that some command fell over."""


def _typed(folder: Path, name: str, kind: str, source: str = "view.csv") -> None:
    """Write the view as Parquet, with one column of another type."""
    table = read_table(folder / source).data
    place = table.column_names.index(name)
    made = TYPES[kind]()
    short = made.slice(0, table.num_rows) if len(made) >= table.num_rows else made
    pq.write_table(table.set_column(place, name, short), folder / "typed.parquet")


def _write_long(folder: Path) -> None:
    rows = "".join(f"{i // 6 + 1},p{i % 6},{i % 2},{TEXTS[i]}\n" for i in range(ROWS))
    (folder / "long.csv").write_text("release,respondent,group,ill\n" + rows)


def _write_months(folder: Path) -> None:
    (folder / "months").mkdir()
    (folder / "months" / "m1.parquet").write_bytes((folder / "typed.parquet").read_bytes())
    seats = "".join(f"m1,{row},p{row}\n" for row in range(ROWS))
    (folder / "who.csv").write_text("release,row,respondent\n" + seats)


ATTACK = ("attack", "--history", "months", "--respondents", "who.csv", "--sensitive", "ill", "--quasi", "age")


@each({f"{name} as {kind}": (name, kind) for name in ("who", "age", "zip", "ill", "note", "name") for kind in TYPES})
def view(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, *odd)
    say(folder, ', kind = "number"', "")
    return "publish", "typed.parquet", "-p", "policy.toml", "--dry-run"


@each({f"{name} as {kind}": (name, kind) for name in ("age", "ill") for kind in TYPES})
def audited(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, *odd)
    return "audit", "typed.parquet", "-p", "policy.toml", "--original", "view.csv", "--aligned"


@each({f"{name} as {kind}": (name, kind) for name in ("age", "ill") for kind in TYPES})
def original(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, *odd)
    return "audit", "view.csv", "-p", "policy.toml", "--original", "typed.parquet", "--aligned"


@each({kind: kind for kind in TYPES})
def compared(folder: Path, size: Size, kind: str) -> Sequence[str]:
    _typed(folder, "ill", kind)
    return "compare", "typed.parquet", "-p", "policy.toml", "--method", "median"


@each({kind: kind for kind in TYPES})
def first_policy(folder: Path, size: Size, kind: str) -> Sequence[str]:
    _typed(folder, "ill", kind)
    return "init", "typed.parquet", "--out", "new.toml"


@each({kind: kind for kind in TYPES})
def suggested(folder: Path, size: Size, kind: str) -> Sequence[str]:
    _typed(folder, "age", kind)
    return "gate", "suggest", "typed.parquet"


@each({f"{name} as {kind}": (name, kind) for name in ("age", "ill") for kind in TYPES})
def replayed(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, *odd)
    (folder / "b.json").write_bytes(baseline_with())
    return "gate", "replay", "typed.parquet", "--baseline", "b.json"


@each({f"{name} as {kind}": (name, kind) for name in ("age", "ill") for kind in TYPES})
def counted(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    """The table is its own baseline, so it must be long enough to be one."""
    _typed(folder, *odd)
    table = pq.read_table(folder / "typed.parquet")
    pq.write_table(pa.concat_tables([table] * 20), folder / "typed.parquet")
    return "gate", "replay", "typed.parquet", "--x", "age", "--y", "ill"


@each({f"{name} as {kind}": (name, kind) for name in ("respondent", "release", "ill", "group") for kind in TYPES})
def mined(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _write_long(folder)
    _typed(folder, *odd, "long.csv")
    return "knowledge", "mine", "typed.parquet", "--value", "ill", "--class", "group"


@each({f"{name} as {kind}": (name, kind) for name in ("respondent", "release", "ill", "group") for kind in TYPES})
def imported(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _write_long(folder)
    _typed(folder, *odd, "long.csv")
    return "ledger", "import", "typed.parquet", "-p", "policy.toml", "--ledger", "sqlite:///past.db"


@each({f"{name} as {kind}": (name, kind) for name in ("age", "ill") for kind in TYPES})
def attacked(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, *odd)
    _write_months(folder)
    return ATTACK


@each({f"{name} as {kind}": (name, kind) for name in ("release", "row", "respondent") for kind in TYPES})
def owners(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, "note", "truth")
    _write_months(folder)
    _typed(folder, *odd, "who.csv")
    return (*ATTACK[:4], "typed.parquet", *ATTACK[5:])


@each({f"{name} as {kind}": (name, kind) for name in ("respondent", "age") for kind in TYPES})
def register(folder: Path, size: Size, odd: tuple[str, str]) -> Sequence[str]:
    _typed(folder, "note", "truth")
    _write_months(folder)
    (folder / "people.csv").write_text("respondent,age\n" + "".join(f"p{i},{20 + i % 12}\n" for i in range(ROWS)))
    _typed(folder, *odd, "people.csv")
    return (*ATTACK, "--register", "typed.parquet")


# --- policies and arguments ---


@each({str(n): n for n in (2**31 - 1, 2**31, 2**53, 2**63, 10**30)})
def times(folder: Path, size: Size, n: int) -> Sequence[str]:
    known = f"sequence = {{ stay = 0.7 }}\ntimes = [{n - 1}, {n}]\nsure = 0.9\nsure_share = 0.1\n"
    say(folder, 'method = "median"\nsuppress = 0.1', 'method = "sequence"', f"[adversary]\n{known}")
    say(folder, "k = 3", "k = 3\nj = 0.3")
    return PUBLISH


@each({str(n): n for n in (10**9, 2**31, 2**53 - 1, 2**53, 2**63)})
def sequence_in_groups(folder: Path, size: Size, k: int) -> Sequence[str]:
    say(folder, 'method = "median"\nsuppress = 0.1', 'method = "sequence"', "[adversary]\nsequence = { stay = 0.7 }\n")
    say(folder, "k = 3", f"k = {k}\nj = 0.3")
    return PUBLISH


@each(
    {
        f"{key} in {method}": (method, key)
        for method in ("median", "curve", "lattice", "noise", "sample", "invariant", "historical", "lineage", "cohort")
        for key in ("k", "l", "m")
    }
)
def billions(folder: Path, size: Size, asked: tuple[str, str]) -> Sequence[str]:
    method, key = asked
    say(folder, "k = 3", f"{key} = {10**9}")
    say(folder, 'method = "median"', f'method = "{method}"')
    return PUBLISH


@each({"a list": '["median"]', "a table": "{ a = 1 }", "a number": "3", "a day": "1979-05-27", "nothing": '""'})
def method_as(folder: Path, size: Size, value: str) -> Sequence[str]:
    say(folder, 'method = "median"', f"method = {value}")
    return PUBLISH


@case
def a_hundred_thousand_levels(folder: Path, size: Size) -> Sequence[str]:
    say(folder, "[3, 2, 0]", str([*range(max(size(100_000), 1_000), 0, -1)]))
    return PUBLISH


@each(
    {
        "of dotted keys": lambda n: ".".join(["a"] * n) + " = 1\n",
        "of a header": lambda n: f"[{'.'.join(['a'] * n)}]\nb = 1\n",
        "of headers": lambda n: "".join(f"[{'.'.join(['a'] * i)}]\n" for i in range(1, int(n**0.5) * 4)),
        "of inline tables": lambda n: "a = " + "{b=" * n + "1" + "}" * n + "\n",
        "of arrays": lambda n: "a = " + "[" * n + "]" * n + "\n",
        "side by side": lambda n: "".join(f"k{i}.a.b.c = 1\n" for i in range(n)),
        "one below another": lambda n: "".join(f"a.b{i}.c = 1\n" for i in range(n)),
    }
)
def keys_in_a_policy(folder: Path, size: Size, made: Callable[[int], str]) -> Sequence[str]:
    (folder / "policy.toml").write_text(made(max(size(20_000), 2_000)))
    return PUBLISH


@each({"a text": b'name = "', "a comment": b"# ", "a bare key": b"", "a date": b"name = 1979", "a number": b"name = 1"})
def a_hundred_megabytes_of(folder: Path, size: Size, start: bytes) -> Sequence[str]:
    kind = b"a" if start[-1:] in (b'"', b" ", b"") else b"1"
    fill(folder / "policy.toml", b"[series]\n" + start, kind, size(100_000_000), b'"\n')
    return PUBLISH


@each({"policy": "policy.toml", "view": "view.csv", "hierarchy": "zip.csv", "adversary": "adversary.toml"})
def zero_bytes(folder: Path, size: Size, name: str) -> Sequence[str]:
    if name == "zip.csv":
        say(folder, "{ prefix = [3, 2, 0] }", '"zip.csv"')
    if name == "adversary.toml":
        say(folder, more='[adversary]\nfile = "adversary.toml"\n')
    with (folder / name).open("wb") as file:
        file.truncate(size(1_000_000_000))
    return PUBLISH


@each({"a": "a", "digits": "1", "blanks": " ", "quotes": '"', "minus": "-", "dots": "."})
def a_row_of_a_gigabyte_of(folder: Path, size: Size, mark: str) -> Sequence[str]:
    head = (folder / "view.csv").read_bytes()
    fill(folder / "view.csv", head + b"p,20,10100,flu,n,", mark.encode(), size(1_000_000_000), b"\n")
    return PUBLISH


@case
def a_header_of_a_gigabyte(folder: Path, size: Size) -> Sequence[str]:
    fill(folder / "view.csv", b"who,age,zip,ill,note,", b"a", size(1_000_000_000), b"\n1,1,1,1,1,1\n")
    return PUBLISH


@each({"commas": b",", "lines": b"\n", "quotes": b'"', "returns": b"\r"})
def half_a_gigabyte_of(folder: Path, size: Size, mark: bytes) -> Sequence[str]:
    fill(folder / "view.csv", (folder / "view.csv").read_bytes(), mark, size(500_000_000))
    return PUBLISH


@each(
    {"a letter": "9" * 50_000 + "x", "an e": "9" * 50_000 + "e", "dots": ("9" * 10 + ".") * 5_000, "e": "1e" * 25_000}
)
def many_digits_and(folder: Path, size: Size, cell: str) -> Sequence[str]:
    rows = (folder / "view.csv").read_text().splitlines()
    rows[1] = rows[1].replace(",20,", f",{cell},").replace(",flu,", f",{cell},")
    (folder / "view.csv").write_text("\n".join(rows) + "\n")
    return PUBLISH


@each({"number": "number", "guessed": "", "date": "date", "category": "category"})
def many_digits_as(folder: Path, size: Size, kind: str) -> Sequence[str]:
    many_digits_and = CASES["many_digits_and-a letter"]
    say(folder, ', kind = "number"', f', kind = "{kind}"' if kind else "")
    return many_digits_and(folder, size)


WIDE: dict[str, Sequence[str]] = {
    "publish": ("publish", "wide.csv", "-p", "policy.toml", "--dry-run"),
    "audit": ("audit", "wide.csv", "-p", "policy.toml"),
    "init": ("init", "wide.csv", "--out", "new.toml"),
    "compare": ("compare", "wide.csv", "-p", "policy.toml"),
    "suggest": ("gate", "suggest", "wide.csv"),
    "replay": ("gate", "replay", "wide.csv", "--x", "c1", "--y", "c2"),
    "mine": ("knowledge", "mine", "wide.csv", "--respondent", "c1", "--time", "c2", "--value", "c3"),
    "import": ("ledger", "import", "wide.csv", "-p", "policy.toml"),
}


def _write_wide(folder: Path, n: int, rows: int) -> None:
    lines = [
        ",".join(f"c{i}" for i in range(n)),
        *(",".join(str((i * 7 + row) % 9) for i in range(n)) for row in range(rows)),
    ]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")


@each(WIDE)
def a_hundred_thousand_columns(folder: Path, size: Size, command: Sequence[str]) -> Sequence[str]:
    _write_wide(folder, size(100_000), 40)
    return command


@each({name: WIDE[name] for name in ("publish", "audit", "init", "compare")})
def declared_columns(folder: Path, size: Size, command: Sequence[str]) -> Sequence[str]:
    n = size(100_000)
    _write_wide(folder, n, 40)
    columns = "".join(f'c{i} = {{ role = "{"quasi" if i else "sensitive"}" }}\n' for i in range(n))
    text = f'[series]\nname = "s"\n[columns]\n{columns}[promise]\nk = 2\n[defence]\nmethod = "median"\n'
    (folder / "policy.toml").write_text(text)
    return command


@each({"suggest": WIDE["suggest"], "replay": WIDE["replay"]})
def a_thousand_columns(folder: Path, size: Size, command: Sequence[str]) -> Sequence[str]:
    _write_wide(folder, max(size(1_000), 12), 400)
    return command


@each({"publish": "publish", "audit": "audit", "suggest": "suggest", "import": "import", "init": "init"})
def a_hundred_million_rows(folder: Path, size: Size, command: str) -> Sequence[str]:
    """A few kilobytes on disk, as every run of equal cells is kept once."""
    n = size(100_000_000)
    table = read_table(folder / "view.csv").data
    piece = pa.table({name: [table.column(name)[0].as_py()] * min(n, 1_000_000) for name in table.column_names})
    with pq.ParquetWriter(folder / "wide.csv.parquet", piece.schema) as file:
        for _ in range(-(-n // 1_000_000)):
            file.write_table(piece)
    return [word.replace("wide.csv", "wide.csv.parquet") for word in WIDE[command]]


@case
def a_text_of_a_gigabyte_in_parquet(folder: Path, size: Size) -> Sequence[str]:
    table = read_table(folder / "view.csv").data
    text = "a" * size(1_000_000_000)
    column = pa.array([text] + ["b"] * (ROWS - 1), pa.large_string())
    pq.write_table(table.set_column(4, "note", column), folder / "t.parquet")
    return "publish", "t.parquet", "-p", "policy.toml", "--dry-run"


@each({"columns": "col", "rows": "row"})
def parquet_that_lies_about(folder: Path, size: Size, what: str) -> Sequence[str]:
    pq.write_table(read_table(folder / "view.csv").data, folder / "t.parquet")
    data = bytearray((folder / "t.parquet").read_bytes())
    for place in range(len(data) - 400, len(data) - 8, 7 if what == "row" else 11):
        data[place] ^= 0x7F
    (folder / "t.parquet").write_bytes(data)
    return "publish", "t.parquet", "-p", "policy.toml", "--dry-run"


__all__ = ["CASES", "in_full", "in_small", "prepare", "small_cases"]
