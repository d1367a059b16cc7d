"""Canaries in every cell: none may sing in an error, a log, a report, a record or a repr."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.command_line import Ran, seriatim

import seriatim as sr
from seriatim import api
from seriatim.policies import policy_from_dict
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of

N = 24
# digits and letters that occur nowhere else, also not in a digest
CANARY = re.compile(r"canary|quartz|97531\d\d|86420\.\d|1907-0", re.IGNORECASE)

POLICY: dict[str, Any] = {
    "series": {"name": "songs", "respondent": "who"},
    "columns": {
        "age": {"role": "quasi", "kind": "number"},
        "zip": {"role": "quasi", "kind": "category", "on_unseen": "suppress"},
        "town": {"role": "quasi", "hierarchy": {"prefix": [2, 0]}},
        "born": {"role": "quasi", "kind": "date", "hierarchy": {"date": ["month", "year"]}},
        "ill": {"role": "sensitive"},
        "cost": {"role": "sensitive", "kind": "number"},
        "note": {"role": "plain"},
        "name": {"role": "drop"},
    },
    "promise": {"k": 3, "ill": {"l": 2, "t": 0.9}, "cost": {"t": 0.9, "t_distance": "ordered"}},
    "defence": {"method": "median", "suppress": 0.5},
}

POLICY_TOML = """
[series]
name = "songs"
respondent = "who"
[columns]
age = { role = "quasi", kind = "number" }
zip = { role = "quasi", kind = "category" }
town = { role = "quasi", hierarchy = { prefix = [2, 0] } }
born = { role = "quasi", kind = "date", hierarchy = { date = ["month", "year"] } }
ill = { role = "sensitive" }
cost = { role = "sensitive", kind = "number" }
note = { role = "plain" }
name = { role = "drop" }
[promise]
k = 3
ill = { l = 2, t = 0.9 }
cost = { t = 0.9, t_distance = "ordered" }
[defence]
method = "median"
suppress = 0.5
"""


def cells() -> dict[str, list[Any]]:
    return {
        "who": [f"canary-who-{i}" for i in range(N)],
        "age": [9_753_100 + i for i in range(N)],
        "zip": [f"canary-zip-{i % 5}" for i in range(N)],
        "town": [f"quartz{i % 4}" for i in range(N)],
        "born": [f"1907-0{1 + i % 9}-1{i % 10}" for i in range(N)],
        "ill": [f"canary-ill-{i % 3}" for i in range(N)],
        "cost": [86_420 + i / 10 for i in range(N)],
        "note": [f"canary-note-{i}" for i in range(N)],
        "name": [f"canary-name-{i}" for i in range(N)],
    }


def silent(text: str) -> None:
    found = CANARY.search(text)
    assert found is None, f"a cell value in: {text[max(0, found.start() - 200) : found.end() + 50]}"


def write_csv(folder: Path, change: Callable[[dict[str, list[Any]]], object] = lambda _: None) -> None:
    columns = cells()
    change(columns)
    lines = [",".join(columns), *(",".join("" if c is None else str(c) for c in row) for row in zip(*columns.values()))]  # noqa: B905
    (folder / "view.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def put(column: str, row: int, cell: Any) -> Callable[[dict[str, list[Any]]], None]:
    def change(columns: dict[str, list[Any]]) -> None:
        columns[column][row] = cell

    return change


def run(folder: Path, policy: str = POLICY_TOML, *more: str) -> Ran:
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    return seriatim(folder, "publish", "view.csv", "-p", "policy.toml", *more)


CHANGES = {
    "a word among numbers": put("age", 3, "canary-age"),
    "a number beyond floats": put("age", 3, "9753100" * 60),
    "infinity": put("cost", 3, "inf"),
    "a missing cell": put("age", 3, None),
    "a missing respondent": put("who", 3, None),
    "a star": put("zip", 3, "*"),
    "no date": put("born", 3, "1907-02-31"),
    "a ragged row": put("note", 3, "canary-note,canary-more"),
    "an undeclared column": lambda columns: columns.update(extra=["canary"] * N),
    "a wrong quote": put("note", 3, '"canary'),
    "a column too few": lambda columns: columns.pop("name"),
    "one person twice": put("who", 3, "canary-who-4"),
    "few people": lambda columns: [cells.__delitem__(slice(2, None)) for cells in columns.values()],
}
POLICIES = {
    "a hierarchy that does not know": (
        'zip = { role = "quasi", kind = "category" }',
        'zip = { role = "quasi", hierarchy = { group = [["a"], ["b"]] } }',
    ),
    "an order that does not know": (
        'zip = { role = "quasi", kind = "category" }',
        'zip = { role = "quasi", order = ["a", "b"] }',
    ),
    "text as dates": ('ill = { role = "sensitive" }', 'ill = { role = "sensitive", kind = "date" }'),
    "text as numbers": ('ill = { role = "sensitive" }', 'ill = { role = "sensitive", kind = "number" }'),
    "intervals of words": (
        'zip = { role = "quasi", kind = "category" }',
        'zip = { role = "quasi", hierarchy = { interval = [5] } }',
    ),
    "too much asked": ("k = 3", "k = 3000"),
    "unseen values suppressed": (
        'zip = { role = "quasi", kind = "category" }',
        'zip = { role = "quasi", order = ["canary-zip-1"], on_unseen = "top" }',
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["words", "json"])
def test_bad_cells_are_counted_not_quoted(tmp_path: Path, change: str, form: tuple[str, ...]) -> None:
    write_csv(tmp_path, CHANGES[change])  # type: ignore[arg-type]
    ran = run(tmp_path, POLICY_TOML, *form)
    assert ran.code in (0, 2, 3), ran.err
    silent(ran.out + ran.err)


@pytest.mark.parametrize("change", POLICIES)
def test_a_policy_that_does_not_fit_quotes_no_cell(tmp_path: Path, change: str) -> None:
    write_csv(tmp_path)
    old, new = POLICIES[change]
    assert old in POLICY_TOML
    ran = run(tmp_path, POLICY_TOML.replace(old, new))
    assert ran.code in (0, 2, 3), ran.err
    silent(ran.out + ran.err)


def test_a_release_shows_cells_in_its_table_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_csv(tmp_path)
    with caplog.at_level(logging.DEBUG):
        ran = run(tmp_path, POLICY_TOML, "--to", "office")
    assert ran.code == 0, ran.err
    silent(ran.out + ran.err + caplog.text)
    (folder,) = (tmp_path / "releases").iterdir()
    names = {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
    public = {f"public/{name}" for name in ("table.csv", "codebook.json", "report.html", "manifest.json")}
    private = ("report.html", "report.json", "manifest.json", "to-sign.html")
    assert names == public | {f"private/{name}" for name in private}
    for name in names - {"public/table.csv"}:
        silent((folder / name).read_text(encoding="utf-8"))
    table = (folder / "public" / "table.csv").read_text(encoding="utf-8")
    assert "canary-ill" in table
    assert "canary-note" in table
    for gone in ("canary-who", "canary-name"):
        assert gone not in table
    for command in (("show",), ("verify",), ("show", "--json"), ("verify", "--json"), ("resume", "--json")):
        shown = seriatim(tmp_path, "ledger", *command)
        silent(shown.out + shown.err)


def test_damage_is_told_without_cells(tmp_path: Path) -> None:
    write_csv(tmp_path)
    assert run(tmp_path).code == 0
    shelf = [path for path in tmp_path.rglob("*") if path.is_file() and "shelf" in str(path)]
    assert shelf
    for path in shelf:
        path.chmod(0o600)
        path.write_bytes(b"canary" + path.read_bytes()[6:])
    for arguments in (("ledger", "verify"), ("ledger", "show"), ("ledger", "verify", "--json")):
        ran = seriatim(tmp_path, *arguments)
        silent(ran.out + ran.err)
    silent(run(tmp_path).err)
    (tmp_path / "ledger.db").write_bytes(b"canary" * 2000)
    ran = seriatim(tmp_path, "ledger", "show")
    assert ran.code == 4
    silent(ran.out + ran.err)


def test_an_error_of_our_own_making_says_where_but_not_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("canary-ill-1 is out of range")

    write_csv(tmp_path)
    monkeypatch.delenv("SERIATIM_DEBUG", raising=False)
    monkeypatch.setattr(api, "publish", broken)
    ran = run(tmp_path)
    assert ran.code == 1
    assert "unexpected ValueError in broken" in ran.err
    silent(ran.out + ran.err)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame], ids=["arrow", "pandas", "polars"])
def test_reprs_show_counts_not_rows(tmp_path: Path, make: Callable[[Any], Any]) -> None:
    policy = policy_from_dict(POLICY)
    table = read_table(make(cells()))
    view = view_of(table, policy)
    release = sr.publish(make(cells()), policy, sr.Ledger.open(tmp_path / "ledger.db"))
    draft = release.release.draft
    values = [table, view, *view.quasi, *view.sensitive, *(column.scale for column in view.quasi), draft]
    values += [draft.grouping, *draft.generalised, release, release.release, release.verdict, release.report, policy]
    history = sr.Ledger.open(tmp_path / "ledger.db").history("songs")
    shown = [
        text for value in [*values, history, sr.audit(make(cells()), policy)] for text in (repr(value), str(value))
    ]
    assert all(shown)
    silent("\n".join([*shown, release._repr_html_()]))


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame], ids=["arrow", "pandas", "polars"])
@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("age", "canary-age"),
        ("age", object()),
        ("zip", 9_753_100),
        ("zip", None),
        ("ill", [9_753_100, "canary"]),
        ("ill", b"canary"),
        ("born", "1907-02-31"),
        ("who", None),
        ("cost", float("inf")),
    ],
)
def test_errors_in_a_notebook_quote_no_cell(
    tmp_path: Path, make: Callable[[Any], Any], column: str, cell: object
) -> None:
    columns = cells()
    columns[column][5] = cell
    try:
        frame = make(columns)
    except Exception:  # noqa: BLE001 - the library itself does not take such a column
        pytest.skip("no such frame")
    try:
        made = sr.publish(frame, policy_from_dict(POLICY), sr.Ledger.open(tmp_path / "ledger.db"))
    except sr.SeriatimError as error:
        text = "".join(traceback.format_exception(error))
        silent("\n".join(line for line in text.splitlines() if not line.startswith("  ")))  # our source lines apart
    else:  # such a cell may be taken as text; then the report must be as silent as an error
        assert made.verdict.findings
        silent(made.report.to_json())
