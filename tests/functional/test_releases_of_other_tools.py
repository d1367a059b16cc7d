"""A folder of releases as ARX, R, pandas, anonypy and spreadsheets write them is read alike, and told how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import Ran, seriatim

ILL = ("flu", "gastritis", "HIV", "asthma")
Rows = list[tuple[str, str, str, str]]
FIRST: Rows = [("[20, 40[", "481**", ILL[i % 3], f"p{i}") for i in range(6)]
FIRST += [("[40, 60[", "482**", ILL[(i + 1) % 4], f"q{i}") for i in range(6)]
LATER: Rows = [("[20, 30[", "481**", ILL[i % 3], f"p{i}") for i in (0, 1, 3, 4)]
LATER += [("[30, 60[", "48***", ILL[(i + 1) % 4], f"q{i}") for i in range(6)]
LATER += [("*", "*", "HIV", "p2"), ("*", "*", "HIV", "p5")]
# of the second release: four with two values left (p0, p1, p3, p4), two with one (p2, p5)
EXPOSED = [(12, 0, 0), (12, 6, 2)]


def csv(rows: Rows, mark: str = ";") -> str:
    lines = [mark.join(("age", "zip", "disease"))] + [mark.join(f'"{cell}"' for cell in row[:3]) for row in rows]
    return "\n".join(lines) + "\n"


def listed(first: int = 0, names: tuple[str, str] = ("m1", "m2")) -> str:
    lines = [
        f"{name},{at + first},{row[3]}"
        for name, rows in zip(names, (FIRST, LATER), strict=True)
        for at, row in enumerate(rows)
    ]
    return "release,row,respondent\n" + "\n".join(lines) + "\n"


def numbered(text: str, mark: str = ";") -> str:
    """Row numbers in a first column without a name, as R's write.csv and pandas' to_csv write them."""
    head, *lines = text.splitlines()
    return "\n".join([f'""{mark}{head}', *(f'"{at}"{mark}{line}' for at, line in enumerate(lines, 1))]) + "\n"


def attacked(folder: Path, tables: dict[str, str | bytes], who: str | bytes, *more: str) -> Ran:
    (folder / "monthly").mkdir(exist_ok=True)
    for name, content in {**{f"monthly/{name}": text for name, text in tables.items()}, "who.csv": who}.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return seriatim(folder, "attack", "--history", "monthly", "--respondents", "who.csv", "--json", *more)


def counts(ran: Ran, under: str = "releases") -> list[tuple[int, int, int]]:
    assert ran.code == 0, ran.err
    return [(found["n_people"], found["below"], found["single"]) for found in json.loads(ran.out)[under]]


def notes(ran: Ran) -> str:
    told: Any = json.loads(ran.out)["notes"]
    return "\n".join(told)


SHEET = b"\xef\xbb\xbf" + csv(FIRST).replace("\n", "\r\n").encode()
BOTH: dict[str, str | bytes] = {"m1.csv": csv(FIRST), "m2.csv": csv(LATER)}


@pytest.mark.parametrize(
    ("tables", "who"),
    [
        pytest.param(BOTH, listed(), id="ARX"),
        pytest.param({"m1.csv": numbered(csv(FIRST)), "m2.csv": numbered(csv(LATER))}, listed(1), id="R or pandas"),
        pytest.param({"m1.csv": SHEET, "m2.csv": csv(LATER)}, listed(1).replace(",", ";"), id="spreadsheet"),
        pytest.param(BOTH, listed(2), id="rows numbered with the header"),
        pytest.param(BOTH, listed().replace(",1,", ",1.0,"), id="row numbers of a spreadsheet"),
        pytest.param(BOTH, listed(names=("m1.csv", "M2")), id="releases by file name"),
        pytest.param(BOTH, listed().replace("release,row,respondent", "Release, Row ,RESPONDENT"), id="head"),
        pytest.param({"01.csv": csv(FIRST), "02.csv": csv(LATER)}, listed(names=("1", "2")), id="zeros lost"),
        pytest.param(
            {"2024-9.csv": csv(FIRST), "2024-10.csv": csv(LATER)}, listed(names=("2024-9", "2024-10")), id="9 before 10"
        ),
        pytest.param({"m1.csv": csv(FIRST), "m2.csv": csv(LATER).replace("flu", " flu ")}, listed(), id="blanks"),
        pytest.param(BOTH | {"._m1.csv": "\0", "notes.md": "x"}, listed(), id="files that are no releases"),
    ],
)
def test_every_tool_is_read_alike(tmp_path: Path, tables: dict[str, str | bytes], who: str) -> None:
    ran = attacked(tmp_path, tables, who)
    assert counts(ran) == EXPOSED
    assert "a different value" not in notes(ran)
    assert "counterfeits" not in notes(ran)


def test_csv_and_parquet_may_be_mixed_and_numbers_stay_numbers(tmp_path: Path) -> None:
    code = {"flu": "2.0", "gastritis": "3.5", "HIV": "4", "asthma": "1.25"}
    (tmp_path / "monthly").mkdir()
    columns = {"age": [r[0] for r in LATER], "zip": [r[1] for r in LATER]}
    number = pa.array([float(code[row[2]]) for row in LATER])
    pq.write_table(pa.table(columns | {"disease": number}), tmp_path / "monthly" / "m2.parquet")
    text = csv([(a, z, code[ill].replace(".", ","), who) for a, z, ill, who in FIRST])
    ran = attacked(tmp_path, {"m1.csv": text}, listed())
    assert counts(ran) == EXPOSED
    assert "a different value" not in notes(ran)


def test_joined_rows_with_a_count_are_spread_again(tmp_path: Path) -> None:
    lines, who = ["age,zip,disease,count"], ["release,row,respondent"]
    for name, rows in (("m1", FIRST), ("m2", LATER)):
        kinds = list(dict.fromkeys(row[:3] for row in rows))
        who += [f"{name},{kinds.index(row[:3])},{row[3]}" for row in rows]
        held = [sum(row[:3] == kind for row in rows) for kind in kinds]
        lines += [f'"{a}","{z}",{ill},{n}' for (a, z, ill), n in zip(kinds, held, strict=True)]
    split = lines.index(f'"[20, 30[","481**",{LATER[0][2]},2')
    tables: dict[str, str | bytes] = {
        "m1.csv": "\n".join(lines[:split]) + "\n",
        "m2.csv": "\n".join([lines[0], *lines[split:]]) + "\n",
    }
    assert counts(attacked(tmp_path, tables, "\n".join(who) + "\n")) == EXPOSED
    (tmp_path / "who.csv").write_text("\n".join([*who, "m2,0,one-too-many"]) + "\n")
    ran = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "who.csv")
    assert ran.code == 2
    assert "more respondents than their count" in ran.err


def test_the_list_may_lie_in_the_folder(tmp_path: Path) -> None:
    attacked(tmp_path, BOTH, listed())
    (tmp_path / "who.csv").rename(tmp_path / "monthly" / "who.csv")
    ran = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "monthly/who.csv", "--json")
    assert counts(ran) == EXPOSED


def test_what_was_assumed_is_told(tmp_path: Path) -> None:
    ran = attacked(tmp_path, BOTH, listed(1).rsplit("m2", 2)[0])
    assert "rows without a respondent, counted as counterfeits: 2 in m2" in notes(ran)
    assert "rows counted from 1" in notes(ran)
    assert "equal age, zip" in notes(ran)
    wrong = [line.split(",") for line in listed().splitlines()]
    turned = "\n".join(",".join([r, str((int(n) + 1) % 12) if r == "m2" else n, w]) for r, n, w in wrong[1:])
    ran = attacked(tmp_path, BOTH, "release,row,respondent\n" + turned + "\n")
    assert "people have a different value in a later release" in notes(ran)


def test_an_empty_release_and_a_single_one(tmp_path: Path) -> None:
    only = "\n".join(listed().splitlines()[:13]) + "\n"
    assert counts(attacked(tmp_path, {"m1.csv": csv(FIRST), "m2.csv": csv([])}, only)) == [(12, 0, 0), (0, 0, 0)]
    (tmp_path / "monthly" / "m2.csv").unlink()
    assert counts(attacked(tmp_path, {"m1.csv": csv(FIRST)}, only)) == [(12, 0, 0)]


def test_a_row_number_with_a_name_is_told_and_can_be_left_out(tmp_path: Path) -> None:
    tables: dict[str, str | bytes] = {name: numbered(str(text)).replace('""', "id", 1) for name, text in BOTH.items()}
    ran = attacked(tmp_path, tables, listed())
    assert counts(ran) == [(12, 12, 12), (12, 12, 12)]
    assert "column id differs in every row" in notes(ran)
    assert counts(attacked(tmp_path, tables, listed(), "--quasi", "age", "--quasi", "zip")) == EXPOSED


def test_a_register_of_people_stands_for_the_list_of_rows(tmp_path: Path) -> None:
    """p4 is 39: he fits the box of the later release that he is not in, so that four values stay possible."""
    people = [f"p{i},{21 if i < 4 else 39},48101" for i in range(6)] + [f"q{i},45,48201" for i in range(6)]
    (tmp_path / "people.csv").write_text("respondent,age,zip\n" + "\n".join(people) + "\n")
    ran = attacked(tmp_path, BOTH, listed(), "--register", "people.csv")
    # everybody fits * as well, so HIV stays possible with all who are in the later release
    assert counts(ran, "by_register") == [(12, 0, 0), (12, 0, 0)]
    # everybody of the register is in the first release, and no label needs an end that somebody holds to prove it
    assert json.loads(ran.out)["presence"]["share"] == 1.0
    assert "presence: 12 of 12 people of a release are proved to be in it" in notes(ran)
    (tmp_path / "people.csv").write_text("respondent,age,colour\n")
    ran = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "who.csv", "--register", "people.csv")
    assert ran.code == 2
    assert "column 'colour' is not in every release" in ran.err


@pytest.mark.parametrize("spell", [str, lambda label: f"['{label}']"], ids=["plain", "a list of one, as anonypy"])
def test_a_register_reads_labels_as_other_tools_spell_them(tmp_path: Path, spell: Any) -> None:
    """Nobody fitted such a label, so nobody was exposed, said the attack."""
    rows = [("20-29", "48101,48102", ILL[i % 2], f"p{i}") for i in range(4)]
    rows += [("30-39", "48201", ILL[2], f"q{i}") for i in range(4)]
    tables: dict[str, str | bytes] = {
        "m1.csv": csv([(spell(age), spell(code), ill, who) for age, code, ill, who in rows])
    }
    people = [f"p{i},21,4810{1 + i % 2}" for i in range(4)] + [f"q{i},31,48201" for i in range(4)]
    (tmp_path / "people.csv").write_text("respondent,age,zip\n" + "\n".join(people) + "\n")
    owners = "release,row,respondent\n" + "\n".join(f"m1,{at},{row[3]}" for at, row in enumerate(rows)) + "\n"
    ran = attacked(tmp_path, tables, owners, "--register", "people.csv")
    assert counts(ran, "by_register") == counts(ran) == [(8, 8, 4)]


def test_labels_that_cannot_be_read_are_no_all_clear(tmp_path: Path) -> None:
    people = [f"p{i},21,48101" for i in range(6)] + [f"q{i},45,48201" for i in range(6)]
    (tmp_path / "people.csv").write_text("respondent,age,zip\n" + "\n".join(people) + "\n")
    strange = [("young" if row[0].startswith("[20") else row[0], *row[1:]) for row in FIRST]
    ran = attacked(tmp_path, {"m1.csv": csv(strange), "m2.csv": csv(LATER)}, listed(), "--register", "people.csv")
    assert counts(ran, "by_register")[0] == (6, 0, 0)
    assert "6 people of the register fit no row of m1" in notes(ran)
    everyone = [("young", *row[1:]) for row in FIRST]
    (tmp_path / "monthly" / "m1.csv").write_text(csv(everyone))
    ran = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "who.csv", "--register", "people.csv")
    assert ran.code == 2
    assert "register: nobody fits a row of m1" in ran.err


def test_the_count_of_joined_rows_is_never_taken_for_the_sensitive_column(tmp_path: Path) -> None:
    lines = ["age,pain,count", "20-29,much,2", "30-39,none,1"]
    who = ["release,row,respondent", "m1,0,a", "m1,0,b", "m1,1,c"]
    tables: dict[str, str | bytes] = {"m1.csv": "\n".join(lines) + "\n"}
    ran = attacked(tmp_path, tables, "\n".join(who) + "\n")
    assert counts(ran) == [(3, 3, 3)]
    assert "sensitive column: pain" in notes(ran)
    named = attacked(tmp_path, tables, "\n".join(who) + "\n", "--sensitive", "count")
    assert named.code == 2
    assert "column 'count' says how many people a row stands for" in named.err


def test_the_page_names_the_releases(tmp_path: Path) -> None:
    ran = attacked(tmp_path, BOTH, listed(), "--out", "attack.html")
    page = (tmp_path / "attack.html").read_text()
    assert ran.code == 0
    assert ">m2<" in page
    assert "rows counted from 0" in page
    assert "HIV" not in page
    shown = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "who.csv")
    assert [line.split() for line in shown.out.splitlines() if line.startswith("     m")] == [
        ["m1", "12", "0", "0"],
        ["m2", "12", "6", "2"],
    ]


@pytest.mark.parametrize(
    ("tables", "who", "said"),
    [
        (BOTH, listed(names=("m1", "m3")), "12 rows name a release that does not exist"),
        (BOTH, listed() + "m2,0,q0\n", "1 respondents listed twice"),
        (BOTH, listed() + "m2,0,new\n", "1 rows listed twice"),
        (BOTH, listed(7), "row numbers outside the table"),
        (BOTH, listed().replace("m1,0,", "m1,zero,"), "not whole numbers"),
        (BOTH | {"m3.csv": "a,b\n1,2\n"}, listed(), "m3: no column disease"),
        (BOTH | {"m2.parquet": b""}, listed(), "2 files share a stem"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_remedy(
    tmp_path: Path, tables: dict[str, str | bytes], who: str, said: str
) -> None:
    ran = attacked(tmp_path, tables, who)
    assert ran.code == 2
    assert said in ran.err


def test_what_belongs_to_a_folder_is_not_forgotten_with_a_series(tmp_path: Path) -> None:
    ran = seriatim(tmp_path, "attack", "--series", "s", "--quasi", "age")
    assert ran.code == 2
    assert "use them with --history" in ran.err
