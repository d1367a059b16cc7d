"""A CSV file without its header line: said in counts, by every command, and never with the record that stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import POLICY, Ran, seriatim, write_policy, write_view

import seriatim as sr
from seriatim.cli.app import typer_for
from seriatim.model.table_faults import header_of
from seriatim.tables.reader import read_table

CANARY = re.compile(r"canary|97531|1907-0", re.IGNORECASE)
RECORD = "canary-who-{0},97531{0},canary-zip,canary-ill,canary-note-{0},canary-name-{0}"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_policy(tmp_path)
    lines = [RECORD.format(i % 10) for i in range(40)]
    (tmp_path / "view.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def assert_told(ran: Ran) -> None:
    assert ran.code == 2, ran
    assert CANARY.search(ran.out + ran.err) is None, ran
    assert len(ran.err.splitlines()) == 1, ran.err
    assert "header line seems to be missing" in ran.err


@pytest.mark.parametrize("command", ["publish", "audit", "compare"])
def test_a_view_without_its_header(desk: Path, command: str) -> None:
    assert_told(seriatim(desk, command, "view.csv", "-p", "policy.toml"))


def test_the_original_and_the_table_beside(desk: Path) -> None:
    write_view(desk, name="named.csv")
    for option in ("--original", "--beside"):
        more = ("--prior", "margin") if option == "--beside" else ()
        ran = seriatim(desk, "audit", "named.csv", "-p", "policy.toml", option, "view.csv", *more)
        assert ran.code == 2, ran
        assert CANARY.search(ran.out + ran.err) is None, ran


def test_a_long_table_of_past_releases(desk: Path) -> None:
    rows = [f"1,canary-{i},97531,canary-ill" for i in range(6)]
    (desk / "past.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert_told(seriatim(desk, "ledger", "import", "past.csv", "-p", "policy.toml"))
    with pytest.raises(sr.TableError, match="header line seems to be missing") as caught:
        sr.History.from_frame(desk / "past.csv")
    assert CANARY.search(str(caught.value)) is None


@pytest.mark.parametrize("headless", ["releases", "respondents", "register"])
def test_an_attack_on_a_folder(desk: Path, headless: str) -> None:
    folder = desk / "months"
    folder.mkdir()
    rows = [f"97531{i % 3},canary-zip-{i % 2},canary-ill-{i % 3}" for i in range(6)]
    seats = [f"m{month},{row},canary-who-{row}" for month in (1, 2) for row in range(6)]
    people = [f"canary-who-{row},97531{row % 3}" for row in range(6)]
    for month in (1, 2):
        head = [] if headless == "releases" else ["age,zip,ill"]
        (folder / f"m{month}.csv").write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    head = [] if headless == "respondents" else ["release,row,respondent"]
    (desk / "who.csv").write_text("\n".join([*head, *seats]) + "\n", encoding="utf-8")
    head = [] if headless == "register" else ["respondent,age"]
    (desk / "people.csv").write_text("\n".join([*head, *people]) + "\n", encoding="utf-8")
    ran = seriatim(desk, "attack", "--history", "months", "--respondents", "who.csv", "--register", "people.csv")
    assert ran.code == 2, ran
    assert CANARY.search(ran.out + ran.err) is None, ran
    assert "header line seems to be missing" in ran.err
    if headless == "releases":
        ran = seriatim(
            desk, "attack", "--history", "months", "--respondents", "who.csv", "--sensitive", "ill", "--quasi", "age"
        )
        assert ran.code == 2, ran
        assert CANARY.search(ran.out + ran.err) is None, ran


def test_init_writes_no_policy_of_cells(desk: Path) -> None:
    assert_told(seriatim(desk, "init", "view.csv", "--out", "new.toml"))
    assert not (desk / "new.toml").exists()
    assert seriatim(desk, "init", "view.csv", "--out", "new.toml", "--allow", "header").code == 0
    assert "canary-ill" in (desk / "new.toml").read_text(encoding="utf-8")


def test_names_that_stand_several_times_are_counted(desk: Path) -> None:
    (desk / "view.csv").write_text("canary,0,0,1,0,0,0\ncanary,1,0,1,0,0,1\n", encoding="utf-8")
    for command in (("publish", "view.csv", "-p", "policy.toml"), ("init", "view.csv", "-o", "new.toml")):
        ran = seriatim(desk, *command)
        assert ran.code == 2
        assert "canary" not in ran.err
        assert "columns 2 and 3 and 3 more have the same name" in ran.err
        assert "'0'" not in ran.err


def test_one_strange_name_among_many_known_ones_is_named_by_its_place(desk: Path) -> None:
    write_view(desk)
    head, *rows = (desk / "view.csv").read_text().splitlines()
    (desk / "view.csv").write_text("\n".join([f"{head},canary", *(f"{row},canary" for row in rows)]))
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml")
    assert ran.code == 2
    assert "column 7 (its name looks like a cell): not declared in the policy" in ran.err
    assert "canary" not in ran.err


def test_a_table_of_another_policy_is_not_listed_column_by_column(desk: Path) -> None:
    (desk / "view.csv").write_text("a,b,c,d\n1,2,3,4\n", encoding="utf-8")
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml")
    assert ran.code == 2
    assert "0 of 6 expected columns are among its 4 names" in ran.err
    assert "this is another table" in ran.err


def test_thousands_of_strange_columns_do_not_fill_the_screen(desk: Path) -> None:
    write_view(desk)
    head, *rows = (desk / "view.csv").read_text().splitlines()
    more = ",".join(f"x{i}" for i in range(500))
    (desk / "view.csv").write_text("\n".join([f"{head},{more}", *(f"{row}{',1' * 500}" for row in rows)]))
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml")
    assert len(ran.err.splitlines()) == 21
    assert "480 more faults" in ran.err


@pytest.mark.parametrize(
    ("names", "cells"),
    [
        (["age", "zip", "ill"], []),
        (["0", "1", "2"], []),
        (["39", "zip", "flu"], [0, 2]),
        (["1.5", "2026-01-31", "31.12.1990"], [0, 1, 2]),
        (["2e5", "-3", "1.200,5"], [0, 1, 2]),
        (["x39", "flu2", "ill 3"], []),
    ],
)
def test_which_names_look_like_cells(names: list[str], cells: list[int]) -> None:
    table = pa.table([[1, 2], ["a", "b"], ["flu", "gout"]], names=names)
    assert sorted(header_of("t", table).cells) == cells


def test_a_table_of_numbered_columns_is_published_when_they_are_declared(tmp_path: Path) -> None:
    (tmp_path / "view.csv").write_text("who,2019,2020\n" + "".join(f"p{i},2019,{i % 2}\n" for i in range(8)))
    policy = POLICY.format(series="s", k=2)
    head = policy[: policy.index("[columns]")]
    (tmp_path / "p.toml").write_text(
        head + '[columns]\n2019 = { role = "quasi" }\n2020 = { role = "sensitive" }\n[promise]\nk = 2\n'
        '[defence]\nmethod = "median"\n'
    )
    assert read_table(tmp_path / "view.csv").data.column_names == ["who", "2019", "2020"]
    assert seriatim(tmp_path, "publish", "view.csv", "-p", "p.toml", "--dry-run").code == 0


HEADLESS_TABLES = {
    ("publish", "table"): ("publish", "{t}", "-p", "policy.toml"),
    ("publish", "corrections"): ("publish", "named.csv", "-p", "policy.toml", "--corrections", "{t}"),
    ("check", "table"): ("check", "policy.toml", "{t}"),
    ("audit", "table"): ("audit", "{t}", "-p", "policy.toml"),
    ("audit", "original"): ("audit", "named.csv", "-p", "policy.toml", "--original", "{t}"),
    ("audit", "beside"): ("audit", "named.csv", "-p", "policy.toml", "--beside", "{t}", "--prior", "margin"),
    ("init", "tables"): ("init", "{t}", "--out", "new.toml"),
    ("compare", "tables"): ("compare", "{t}", "-p", "policy.toml"),
    ("attack", "history"): ("attack", "--history", "months", "--respondents", "named.csv"),
    ("attack", "respondents"): ("attack", "--history", "named", "--respondents", "{t}"),
    ("attack", "register"): (
        "attack", "--history", "named", "--respondents", "owners.csv", "--sensitive", "ill", "--register", "{t}",
    ),
    ("attack", "view"): ("attack", "--series", "ward-visits", "--view", "{t}", "-p", "policy.toml"),
    ("ledger import", "table"): ("ledger", "import", "{t}", "-p", "policy.toml"),
    ("ledger import", "respondents"): (
        "ledger", "import", "named", "--respondents", "{t}", "-p", "policy.toml",
    ),
    ("knowledge mine", "table"): ("knowledge", "mine", "{t}", "--value", "ill"),
    ("gate replay", "table"): ("gate", "replay", "{t}", "--x", "age", "--y", "ill"),
    ("gate baseline", "table"): ("gate", "baseline", "{t}", "--x", "age", "--y", "ill"),
    ("study cor-split", "data"): ("study", "cor-split", "--quick", "--data", "{t}", "--columns", "age ~> ill"),
    ("study leakage", "table"): ("study", "leakage", "--table", "{t}", "--policy", "policy.toml"),
    ("study safe-release", "table"): ("study", "safe-release", "{t}", "--dependency", "age ~> ill"),
    ("gate suggest", "table"): ("gate", "suggest", "{t}", "--out", "page.html"),
    ("gate hold", "table"): ("gate", "hold", "{t}", "--respondent", "who", "--gate", "g"),
}  # fmt: skip
OTHER_FILES = {"policy", "out", "shelf", "private", "adversary", "knowledge", "baseline", "published"}
OTHER_FILES |= {"head", "released", "junit", "sarif"}
OR_ADDRESSES = {"table", "tables", "view"}
"""A path, or the address of a database."""
OF_STUDIES = {("study leakage", "adult"), ("study equivocation", "pums"), ("study js-reduce", "data")}
"""Public data of their own, or a folder that is written to."""


def commands(group: Any, words: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{words}{name} ")
        else:
            yield f"{words}{name}", command


def test_every_table_of_every_command_is_tried_without_its_header() -> None:
    found = {
        (words, parameter.name)
        for words, command in commands(typer_for(()))
        for parameter in command.params
        if ("Path" in str(parameter.type_descriptor.annotation) or parameter.name in OR_ADDRESSES)
        and parameter.name not in OTHER_FILES
        and (words, parameter.name) not in OF_STUDIES
    }
    assert found == set(HEADLESS_TABLES)


FOLDERS = {
    ("ledger import", "folder"): ("ledger", "import", "months", "--respondents", "owners.csv", "-p", "policy.toml")
}
"""A table of these commands may be a folder of tables as well."""
HEADLESS = HEADLESS_TABLES | FOLDERS


@pytest.mark.parametrize("arguments", HEADLESS.values(), ids=map(" ".join, HEADLESS))
def test_no_table_shows_its_first_record(desk: Path, arguments: tuple[str, ...]) -> None:
    """Not on the screen, not as JSON, not on a page."""
    write_view(desk, name="named.csv")
    seats = [f"m1,{row},p{row}" for row in range(6)]
    (desk / "owners.csv").write_text("release,row,respondent\n" + "\n".join(seats) + "\n", encoding="utf-8")
    rows = [f"97531{i % 3},canary-zip-{i % 2},canary-ill-{i % 3}" for i in range(6)]
    for folder, head in (("months", []), ("named", ["age,zip,ill"])):
        (desk / folder).mkdir()
        (desk / folder / "m1.csv").write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    if "--view" in arguments:
        assert seriatim(desk, "publish", "named.csv", "-p", "policy.toml").code == 0
    before = set(desk.rglob("*"))
    for more in ((), ("--json",)):
        ran = seriatim(desk, *(word.format(t="view.csv") for word in arguments), *more)
        assert ran.code == 2, ran
        assert CANARY.search(ran.out + ran.err) is None, ran
    for path in set(desk.rglob("*")) - before:
        assert path.is_dir() or CANARY.search(path.read_text(encoding="utf-8", errors="replace")) is None, path


@pytest.mark.parametrize("headless", ["m1-values", "m2-values", "m1", "m2"])
@pytest.mark.parametrize("command", ["attack", "import"])
def test_one_file_of_a_folder_of_buckets(desk: Path, headless: str, command: str) -> None:
    """The column of the values is guessed from the names of all files: a file without names must not be asked."""
    (desk / "months").mkdir()
    for name in ("m1", "m2", "m1-values", "m2-values"):
        values = name.endswith("values")
        head = ["group,diag" if values else "group,age"][name == headless :]
        rows = [f"97531{i % 2},canary-{i}" for i in range(4)]
        (desk / "months" / f"{name}.csv").write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    rows = [f"m{m},97531{i % 2},p{i},canary-{i}" for m in (1, 2) for i in range(4)]
    (desk / "who.csv").write_text("release,group,respondent,diag\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (desk / "p.toml").write_text(POLICY.format(series="s", k=2).replace("ill", "diag"), encoding="utf-8")
    words = ("attack",) if command == "attack" else ("ledger", "import", "-p", "p.toml")
    ran = seriatim(desk, *words, "--history", "months", "--respondents", "who.csv")
    assert ran.code == 2, ran
    assert CANARY.search(ran.out + ran.err) is None, ran


def test_one_release_of_a_folder_without_its_header(desk: Path) -> None:
    (desk / "months").mkdir()
    for name, head in (("m1", ["age,diag"]), ("m2", [])):
        rows = [f"97531{i % 2},canary-{i % 3}" for i in range(6)]
        (desk / "months" / f"{name}.csv").write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    rows = [f"m{m},{i},p{i}" for m in (1, 2) for i in range(5)]
    (desk / "who.csv").write_text("release,row,respondent\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert_told(seriatim(desk, "attack", "--history", "months", "--respondents", "who.csv"))


def test_knowledge_says_which_columns_it_looks_for(desk: Path) -> None:
    assert_told(seriatim(desk, "knowledge", "mine", "view.csv"))
    (desk / "t.csv").write_text("id,release,sensitive\na,1,x\na,2,y\n", encoding="utf-8")
    ran = seriatim(desk, "knowledge", "mine", "t.csv")
    assert "column 'respondent': missing; allowed: id, release, sensitive" in ran.err
