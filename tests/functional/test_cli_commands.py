"""Every command: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim, seriatim_apart, write_policy, write_view

from seriatim.ledger import people_index

DEEP = ("numpy", "pyarrow", "numba", "sqlalchemy", "rich", "pandas", "polars", "scipy", "pydantic", "jinja2")
COMMANDS = [
    ("demo",),
    ("init",),
    ("publish",),
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "resume"),
    ("ledger", "import"),
    ("ledger", "deliver"),
]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_view(tmp_path)
    write_policy(tmp_path)
    return tmp_path


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_publish_show_verify_deliver_resume(desk: Path) -> None:
    made = seriatim_apart(
        desk, "publish", "view.csv", "-p", "policy.toml", "--to", "Dr Weber", "--approved-by", "A. Ortiz"
    )
    assert (made.code, made.err) == (0, "")
    assert "RELEASED" in made.out
    folder = desk / "releases" / "ward-visits-0001"
    public, private = (
        {"table.csv", "codebook.json", "report.html", "manifest.json"},
        {"report.html", "report.json", "to-sign.html"},
    )
    expected = {f"public/{name}" for name in public} | {f"private/{name}" for name in private | {"manifest.json"}}
    assert {path.relative_to(folder).as_posix() for path in folder.glob("*/*")} == expected
    for name in expected:
        assert str(Path("releases") / "ward-visits-0001" / name) in made.out

    again = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json", "--allow", "again")
    assert (again.code, again.err) == (0, "")
    assert json.loads(again.out)["released"] is True

    shown = seriatim(desk, "ledger", "show", "--json")
    records = json.loads(shown.out)
    assert [(record["series"], record["number"], record["state"]) for record in records] == [
        ("ward-visits", 1, "sealed"),
        ("ward-visits", 2, "sealed"),
    ]
    assert records[0]["recipients"] == ["Dr Weber"]
    assert records[0]["approval"]["by"] == "A. Ortiz"
    assert "ward-visits" in seriatim(desk, "ledger", "show").out

    delivered = seriatim(desk, "ledger", "deliver", "ward-visits", "2", "--to", "The office", "--json")
    assert (delivered.code, json.loads(delivered.out)["recipients"]) == (0, ["The office"])
    resumed = seriatim(desk, "ledger", "resume", "--json")
    assert (resumed.code, json.loads(resumed.out)) == (0, [])

    verified = seriatim(desk, "ledger", "verify", "--published", "releases", "--json")
    assert verified.code == 0
    assert json.loads(verified.out)["sound"] is True
    table = folder / "public" / "table.csv"
    table.write_bytes(table.read_bytes().replace(b"flu", b"fly", 1))
    damaged = seriatim_apart(desk, "ledger", "verify", "--published", "releases")
    assert damaged.code == 4
    assert "fault" in damaged.out
    assert seriatim(desk, "ledger", "verify", "--published", "releases", "--json").code == 4


def test_show_cuts_nothing_off(desk: Path) -> None:
    words = ["Dr Weber of the Institute for Epidemiology", "A. Ortiz, data protection officer", "asked by the court"]
    write_policy(desk, k=100, series="ward-visits-of-the-whole-hospital")
    made = seriatim(
        desk, "publish", "view.csv", "-p", "policy.toml", "--to", words[0], "--approved-by", words[1], "--override",
        words[2],
    )  # fmt: skip
    assert made.code == 0
    shown = seriatim(desk, "ledger", "show").out
    for word in (*words, "ward-visits-of-the-whole-hospital", "sealed"):
        assert word in shown
    assert "…" not in shown


def test_a_refusal_is_a_result_without_files(desk: Path) -> None:
    write_policy(desk, k=100)
    refused = seriatim_apart(desk, "publish", "view.csv", "-p", "policy.toml")
    assert refused.code == 3
    assert "REFUSED" in refused.out
    assert "because" in refused.out
    papers = [path.relative_to(desk / "releases") for path in (desk / "releases").rglob("*") if path.is_file()]
    assert {path.suffix for path in papers} == {".html", ".json"}, "a page and its figures, and never a table"
    assert {path.parts[0] for path in papers} == {"refused"}
    as_json = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json")
    assert as_json.code == 3
    assert json.loads(as_json.out)["released"] is False
    assert json.loads(seriatim(desk, "ledger", "show", "--json").out) == []


def test_an_override_needs_a_name_and_is_remembered(desk: Path) -> None:
    write_policy(desk, k=100)
    nameless = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--override", "asked by court")
    assert nameless.code == 2
    assert "--approved-by" in nameless.err
    assert left_in(desk) == {"view.csv", "policy.toml"}
    overridden = seriatim(
        desk, "publish", "view.csv", "-p", "policy.toml", "--override", "asked by court", "--approved-by", "A. Ortiz"
    )
    assert overridden.code == 0
    assert "OVERRIDE" in overridden.out
    (record,) = json.loads(seriatim(desk, "ledger", "show", "--json").out)
    assert record["approval"]["override"] == "asked by court"


@pytest.mark.parametrize("k", [3, 100])
def test_a_dry_run_leaves_nothing(desk: Path, k: int) -> None:
    write_policy(desk, k=k)
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--dry-run")
    assert ran.code == (0 if k == 3 else 3)
    assert "WOULD BE" in ran.out
    assert left_in(desk) == {"view.csv", "policy.toml"}


def test_bad_input_leaves_nothing_and_every_fault_has_its_line(desk: Path) -> None:
    text = (desk / "policy.toml").read_text().replace("name = {", "nome = {").replace("age = {", "agge = {")
    (desk / "policy.toml").write_text(text)
    ran = seriatim_apart(desk, "publish", "view.csv", "-p", "policy.toml")
    assert (ran.code, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("error: ") for line in lines)
    for column in ("age", "agge", "name", "nome"):
        assert sum(f"'{column}'" in line for line in lines) == 1
    assert left_in(desk) == {"view.csv", "policy.toml"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('role = "drop"', 'role = "hidden"'), "hidden"),
        (("[defence]", "[defense]"), "defense"),
        (("k = 3", "k = 0"), "k"),
        (("suppress = 0.1", "suppress = 0.1\nmode = 'sideways'"), "sideways"),
        (('method = "median"', 'method = "jitter"'), "jitter"),
        (('[defence]\nmethod = "median"\nsuppress = 0.1', ""), "defence"),
    ],
)
def test_a_bad_policy_leaves_no_ledger(desk: Path, change: tuple[str, str], message: str) -> None:
    text = (desk / "policy.toml").read_text()
    assert change[0] in text
    (desk / "policy.toml").write_text(text.replace(*change))
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml")
    assert ran.code == 2
    assert message in ran.err
    assert all(line.startswith("error: ") for line in ran.err.splitlines())
    assert left_in(desk) == {"view.csv", "policy.toml"}


def test_a_missing_file_or_ledger_is_one_line(desk: Path) -> None:
    for arguments in (("publish", "no.csv", "-p", "policy.toml"), ("publish", "view.csv", "-p", "no.toml")):
        ran = seriatim(desk, *arguments)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    for arguments in (
        ("ledger", "show"),
        ("ledger", "verify"),
        ("ledger", "resume"),
        ("ledger", "deliver", "ward-visits", "1", "--to", "x"),
        ("ledger", "erase", "ward-visits", "p1"),
        ("attack", "--series", "ward-visits"),
        ("forecast", "ward-visits"),
        ("ledger", "show", "--ledger", "mysql://host/db"),
        ("ledger", "show", "--ledger", "postgresql://host/db"),
    ):
        ran = seriatim(desk, *arguments)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), arguments
        assert ran.err.startswith("error: ")
    assert left_in(desk) == {"view.csv", "policy.toml"}


def test_a_series_that_is_not_there_is_not_a_safe_one(desk: Path) -> None:
    assert seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json").code == 0
    for arguments in (
        ("attack", "--series", "misspelt"),
        ("forecast", "misspelt"),
        ("ledger", "show", "misspelt"),
        ("ledger", "resume", "misspelt"),
    ):
        ran = seriatim(desk, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "series 'misspelt': not in this ledger; allowed: ward-visits" in ran.err


def test_a_release_person_or_column_that_is_not_there_is_bad_input(desk: Path) -> None:
    assert seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json").code == 0
    for arguments, told in (
        (("ledger", "deliver", "ward-visits", "9", "--to", "x"), "has no release 9"),
        (("ledger", "erase", "ward-visits", "p999"), "this respondent is not in the ledger"),
        (("attack", "--series", "ward-visits", "--sensitive", "height"), "sensitive column height"),
        (("ledger", "import", "past.csv", "-p", "policy.toml"), "already has releases of its own"),
    ):
        (desk / "past.csv").write_text("release,respondent,group,ill\n1,p1,1,flu\n1,p2,1,gout\n")
        ran = seriatim(desk, *arguments)
        assert (ran.code, ran.out) == (2, ""), arguments
        assert told in ran.err
        assert "p999" not in ran.err


def test_a_ledger_that_would_be_behind_is_not_made(desk: Path) -> None:
    assert seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json").code == 0
    for more in ((), ("--dry-run",)):
        ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--ledger", "sqlite:///other.db", *more)
        assert (ran.code, ran.out) == (4, "")
        assert "restore the newest one" in ran.err
        assert not [name for name in left_in(desk) if name.startswith("other")]


def test_the_remedy_for_an_undeclared_column_is_toml(desk: Path) -> None:
    view = desk / "view.csv"
    head, *rows = view.read_text().splitlines()
    view.write_text("\n".join([f"{head},pay in EUR", *(f"{row},1" for row in rows)]))
    ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml")
    assert ran.code == 2
    assert 'add [columns."pay in EUR"] with role' in ran.err


def test_a_damaged_ledger_ends_with_four(desk: Path) -> None:
    assert seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json").code == 0
    (desk / "ledger.db").write_bytes(b"not a database" * 400)
    for suffix in ("-wal", "-shm"):
        (desk / f"ledger.db{suffix}").unlink(missing_ok=True)
    for arguments in (("publish", "view.csv", "-p", "policy.toml"), ("ledger", "verify"), ("ledger", "show")):
        ran = seriatim(desk, *arguments)
        assert ran.code == 4, ran
        assert ran.err.startswith("error: ")


def test_init_writes_a_policy_that_publish_reads(desk: Path) -> None:
    made = seriatim(desk, "init", "view.csv", "--out", "guess.toml", "--series", "guessed", "--json")
    assert made.code == 0
    told = json.loads(made.out)
    assert told["columns"] == 6
    assert told["guesses"] == (desk / "guess.toml").read_text().count("# guess") > 0
    again = seriatim(desk, "init", "view.csv", "--out", "guess.toml")
    assert again.code == 2
    assert "--allow overwrite" in again.err
    assert seriatim(desk, "init", "view.csv", "--out", "guess.toml", "--allow", "overwrite").code == 0
    assert seriatim(desk, "publish", "view.csv", "-p", "guess.toml", "--dry-run").code in (0, 2, 3)


def test_import_takes_in_the_past(desk: Path) -> None:
    (desk / "past.csv").write_text("release,respondent,group,ill\n1,p1,1,flu\n1,p2,1,gout\n2,p1,1,flu\n2,p3,1,cold\n")
    taken = seriatim(desk, "ledger", "import", "past.csv", "-p", "policy.toml", "--json")
    assert taken.code == 0, taken.err
    assert [record["state"] for record in json.loads(taken.out)] == ["imported", "imported"]
    again = seriatim(desk, "ledger", "import", "past.csv", "-p", "policy.toml")
    assert (again.code, again.out) == (2, "")
    assert "2 of 2 releases are in the ledger already" in again.err
    assert seriatim(desk, "ledger", "import", "past.csv", "-p", "policy.toml", "--allow", "again").code == 0
    (desk / "bad.csv").write_text("release,group,ill\n1,1,flu\n")
    bad = seriatim(desk, "ledger", "import", "bad.csv", "-p", "policy.toml", "--ledger", "sqlite:///other.db")
    assert bad.code == 2
    assert "respondent" in bad.err
    assert not (desk / "other.db").exists()


def test_the_demo_shows_a_refusal_and_a_release(tmp_path: Path) -> None:
    ran = seriatim_apart(tmp_path, "demo", "--out", "here", "--patients", "400", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["refused"]
    assert told["released"]
    assert all(Path(tmp_path, path).exists() for path in told["files"])
    (tmp_path / "mine").mkdir()
    assert seriatim(tmp_path, "demo", "--out", "mine").code == 2


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_help_has_an_example(tmp_path: Path, command: tuple[str, ...]) -> None:
    ran = seriatim(tmp_path, *command, "--help")
    assert ran.code == 0
    assert f"Example: seriatim {' '.join(command)}" in " ".join(ran.out.split())


def test_help_waits_for_no_compiler_or_database(tmp_path: Path) -> None:
    look = f"import sys, seriatim.cli.app; print([name for name in {DEEP!r} if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path
    )
    assert ran.stdout.strip() == "[]"


def test_a_kernel_that_is_compiled_says_so() -> None:
    from numba import njit

    from seriatim.cli.output import compile_notice

    said: list[int] = []
    kernel = njit(lambda x: x + 1)
    with compile_notice(lambda: said.append(1)):
        assert kernel(1) == 2
    first = len(said)
    assert first >= 1
    with compile_notice(lambda: said.append(1)):
        assert kernel(1) == 2
    kernel(1.5)
    assert len(said) == first


def test_paths_in_names_stay_inside(desk: Path) -> None:
    for series in ("../x", "/abs", "a/b", "CON", "x" * 200, "Ünï çødé 日本", ".."):
        write_policy(desk, series=series)
        ran = seriatim(desk, "publish", "view.csv", "-p", "policy.toml", "--json", "--out", "sub/releases")
        assert ran.code == 0, (series[:20], ran.err)
    write_policy(desk, series="two\\nlines")
    assert seriatim(desk, "publish", "view.csv", "-p", "policy.toml").code == 2
    assert len(left_in(desk / "sub" / "releases")) == 7
    allowed = {"view.csv", "policy.toml", "sub", "ledger.db"}
    others = {name for name in left_in(desk) - allowed if not name.startswith("ledger.db")}
    assert all("shelf" in name for name in others), others
    assert left_in(desk / "sub") == {"releases"}


def test_erasing_names_other_series_and_erases_there_if_asked(desk: Path) -> None:
    plan = (desk / "policy.toml").read_text()
    assert seriatim(desk, "publish", "view.csv", "-p", "policy.toml").code == 0
    (desk / "second.toml").write_text(plan.replace('"ward-visits"', '"second-series"'))
    assert seriatim(desk, "publish", "view.csv", "-p", "second.toml").code == 0
    ran = seriatim(desk, "ledger", "erase", "ward-visits", "p1")
    assert ran.code == 0, ran.err
    assert "other series still know this person: second-series" in ran.out
    ran = seriatim(desk, "ledger", "erase", "ward-visits", "p2", "--all-series", "--json")
    told = json.loads(ran.out)
    assert (told["series"], told["still_known_in"]) == (["ward-visits", "second-series"], [])
    assert told["rewritten"] >= 2
    ran = seriatim(desk, "ledger", "erase", "second-series", "p2")
    assert (ran.code, "p2" in ran.err) == (2, False)
    forget, calls = people_index.remove, list[str]()

    def failing_at_the_second(place: Any, series: str) -> None:
        calls.append(series)
        if len(calls) == 2:
            raise OSError("no space")
        forget(place, series)

    with pytest.MonkeyPatch.context() as patch:  # what fails amid the series ends when it is repeated
        patch.setattr(people_index, "remove", failing_at_the_second)
        assert seriatim(desk, "ledger", "erase", "ward-visits", "p3", "--all-series").code != 0
    ran = seriatim(desk, "ledger", "erase", "ward-visits", "p3", "--all-series", "--json")
    assert (ran.code, json.loads(ran.out)["still_known_in"]) == (0, [])
    assert seriatim(desk, "ledger", "verify").code == 0
