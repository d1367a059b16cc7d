"""CSV and Parquet files as they are found in the wild: read whole, or turned away with a reason."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.publication import DROP, PLAIN, QUASI, SENSITIVE, publish, published_file

import seriatim as sr
from seriatim.tables.reader import read_table


def written(folder: Path, text: str | bytes, name: str = "view.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_and_used_again(tmp_path: Path, separator: str) -> None:
    odd = 'a,b;c\td|e "f"\ng'
    with (tmp_path / "view.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows([["age", "note"], *([str(30 + i), odd] for i in range(4))])
    release = publish(tmp_path / "view.csv", {"age": QUASI, "note": PLAIN}, tmp_path)
    with published_file(tmp_path).open(newline="") as file:
        rows = list(csv.reader(file, delimiter=separator))
    assert rows[0] == ["age", "note"]
    assert sorted(rows[1:]) == sorted([[row["age"], odd] for row in release.table.to_pylist()])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param('a,b\n1,"x\ny"\n2,z\n', {"a": [1, 2], "b": ["x\ny", "z"]}, id="newline in quotes"),
        pytest.param(b"\xef\xbb\xbfa,b\n1,x\n", {"a": [1], "b": ["x"]}, id="byte order mark"),
        pytest.param("a,b\n1,ä\n".encode("utf-16"), {"a": [1], "b": ["ä"]}, id="utf-16"),
        pytest.param("a,b\n1,x\n".encode("utf-16-le"), {"a": [1], "b": ["x"]}, id="utf-16 without a mark"),
        pytest.param("a,b\n1,ä€\n".encode("cp1252"), {"a": [1], "b": ["ä€"]}, id="cp1252"),
        pytest.param("a,b\r\n1,x\r\n", {"a": [1], "b": ["x"]}, id="windows lines"),
        pytest.param("a,b\r1,x\r", {"a": [1], "b": ["x"]}, id="old mac lines"),
        pytest.param('"a\nz",b\n1,2\n', {"a\nz": [1], "b": [2]}, id="newline in a name"),
        pytest.param("a,b\n1,2\n\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}, id="blank lines"),
        pytest.param("a\nx\n\ny\n", {"a": ["x", None, "y"]}, id="a blank line is a missing cell of a single column"),
        pytest.param("a,b\n", {"a": [], "b": []}, id="header only"),
        pytest.param("a,b", {"a": [], "b": []}, id="header without a line end"),
        pytest.param("a\n007\n08\n", {"a": ["007", "08"]}, id="leading zeros"),
        pytest.param("a\nNA\nnull\nNaN\n", {"a": ["NA", "null", "NaN"]}, id="NA is a value"),
        pytest.param('a,b\n"",\n', {"a": [""], "b": [None]}, id="quoted nothing is a text"),
        pytest.param("a\n1.50\n2\n", {"a": ["1.50", "2"]}, id="decimals stay as written"),
        pytest.param("a\n-0\n+1\n", {"a": ["-0", "+1"]}, id="odd signs stay as written"),
        pytest.param(f"a\n{10**30}\n1\n", {"a": [str(10**30), "1"]}, id="beyond 64 bits"),
        pytest.param("a,b\n" + "x" * 3_000_000 + ",1\n", {"a": ["x" * 3_000_000], "b": [1]}, id="a long cell"),
        pytest.param("a,b\n,1\n,2\n", {"a": [None, None], "b": [1, 2]}, id="an empty column"),
    ],
)
def test_a_csv_file_is_read_as_it_is_meant(tmp_path: Path, raw: str | bytes, expected: dict[str, list[object]]) -> None:
    assert read_table(written(tmp_path, raw)).data.to_pydict() == expected


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("a,b\n1,2,3\n", "more or fewer cells"),
        ("a,b\n1\n", "more or fewer cells"),
        ("a,b,a\n1,2,3\n", "columns 1 and 3 have the same name"),
        ("a,,b\n1,2,3\n", "a column without a name"),
        (b"a,b\n\x81\x8d,1\n", "cannot be read as"),
    ],
)
def test_a_broken_csv_file_is_turned_away_in_one_line(tmp_path: Path, raw: str | bytes, message: str) -> None:
    with pytest.raises(sr.TableError) as caught:
        read_table(written(tmp_path, raw))
    assert message in str(caught.value)
    assert "view.csv" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("separator", ["::", "", '"', "\n"])
def test_a_separator_is_one_plain_character(tmp_path: Path, separator: str) -> None:
    path = written(tmp_path, "a,b\n1,2\n")
    if separator:
        with pytest.raises(sr.TableError, match="separator"):
            read_table(path, separator=separator)
    else:
        assert read_table(path, separator=separator).separator == ","


def test_an_unknown_or_wrong_encoding_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,ä\n")
    for encoding in ("no-such", "ascii"):
        with pytest.raises(sr.TableError, match=encoding):
            read_table(path, encoding=encoding)
    assert read_table(path, encoding="latin-1").data.column("b").to_pylist() == ["Ã¤"]


def test_no_file_a_folder_and_a_false_parquet_file(tmp_path: Path) -> None:
    with pytest.raises(sr.TableError, match="does not exist"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(sr.TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(sr.TableError, match="Parquet"):
        read_table(written(tmp_path, "a,b\n1,2\n", "view.parquet"))


def test_leading_zeros_survive_publication(tmp_path: Path) -> None:
    path = written(tmp_path, "zip,ward,name\n" + "".join(f"0{i % 2}123,007,n{i}\n" for i in range(8)))
    release = publish(path, {"zip": QUASI, "ward": SENSITIVE, "name": DROP}, tmp_path)
    assert set(release.table.column("zip").to_pylist()) == {"00123", "01123"}
    assert "007" in published_file(tmp_path).read_text()


def test_parquet_goes_to_parquet_with_names_order_and_types(tmp_path: Path) -> None:
    kinds = {
        "who": pa.string(),
        "visits": pa.uint8(),
        "age": pa.int16(),
        "seen": pa.timestamp("ms", "Europe/Berlin"),
        "ward": pa.dictionary(pa.int32(), pa.string()),
        "cost": pa.decimal128(10, 2),
        "tags": pa.list_(pa.string()),
        "text": pa.large_string(),
    }
    cells = {
        "who": [f"w{i}" for i in range(8)],
        "visits": list(range(8)),
        "age": [30, 30, 31, 31, 40, 40, 41, 41],
        "seen": [1_600_000_000_000 + i for i in range(8)],
        "ward": ["a", "b"] * 4,
        "cost": [None] * 8,
        "tags": [["=x"]] * 8,
        "text": ["=1+1"] * 8,
    }
    table = pa.table({name: pa.array(cells[name], kind) for name, kind in kinds.items()})
    pq.write_table(table, tmp_path / "view.parquet")
    columns = dict.fromkeys(["visits", "seen", "cost", "tags", "text"], PLAIN) | {"age": QUASI, "ward": SENSITIVE}
    publish(tmp_path / "view.parquet", columns, tmp_path, series={"respondent": "who"})
    path = published_file(tmp_path)
    assert path.suffix == ".parquet"
    out = pq.read_table(path)
    assert out.column_names == ["visits", "age", "seen", "ward", "cost", "tags", "text"]
    assert out.schema.field("age").type == pa.string()
    for name in ("visits", "seen", "cost", "tags", "text"):
        assert out.schema.field(name).type == kinds[name], name
    assert out.column("text").to_pylist() == ["=1+1"] * 8
    assert set(zip(out["visits"].to_pylist(), out["seen"].to_pylist(), strict=True)) == set(
        zip(table["visits"].to_pylist(), table["seen"].to_pylist(), strict=True)
    )


RISKY = ["=1+1", "+x", "-y", "@z", "\t=x", "＝x", "+49 171"]
HARMLESS = ["-3.5", "+7", "1e-3", "a=b", "[-3,5]", "plain"]


@pytest.mark.parametrize("role", [PLAIN, SENSITIVE, QUASI], ids=lambda role: role["role"])
def test_no_published_csv_cell_runs_as_a_formula(tmp_path: Path, role: dict[str, str]) -> None:
    cells = [cell for cell in RISKY + HARMLESS for _ in range(2)]
    table = pa.table({"x": cells})
    publish(table, {"x": role}, tmp_path, k=2 if role is QUASI else 1)
    with published_file(tmp_path).open(newline="") as file:
        (_, *rows) = csv.reader(file)
    assert sorted({row[0] for row in rows}) == sorted([*("'" + cell for cell in RISKY), *HARMLESS])


@pytest.mark.parametrize("name", ["=cmd", "+x", "-y", "@z", "＝x"])
def test_a_header_that_runs_as_a_formula_is_refused_unless_it_is_dropped(tmp_path: Path, name: str) -> None:
    table = pa.table({"x": ["a", "b"], name: ["c", "d"]})
    with pytest.raises(sr.PolicyError, match="would run this name as a formula"):
        publish(table, {"x": PLAIN, name: PLAIN}, tmp_path)
    publish(table, {"x": PLAIN, name: {"role": "drop"}}, tmp_path)


def test_formulas_stay_what_they_are_in_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": RISKY * 2, "q": RISKY * 2}), tmp_path / "view.parquet")
    publish(tmp_path / "view.parquet", {"x": PLAIN, "q": QUASI}, tmp_path)
    out = pq.read_table(published_file(tmp_path))
    assert sorted(out.column("x").to_pylist()) == sorted(RISKY * 2)
    assert set(out.column("q").to_pylist()) == set(RISKY)


def test_words_of_withheld_people_do_not_travel_in_a_dictionary(tmp_path: Path) -> None:
    words = pa.array(["seen", "seen", "canary-withheld"]).dictionary_encode()
    table = pa.table({"q": pa.array([1, 1, None]), "note": words, "s": words})
    pq.write_table(table, tmp_path / "view.parquet")
    columns = {"q": {"role": "quasi", "missing": "suppress"}, "note": PLAIN, "s": SENSITIVE}
    publish(tmp_path / "view.parquet", columns, tmp_path)
    assert b"canary-withheld" not in published_file(tmp_path).read_bytes()


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        pytest.param('a,b\n1,x\n2,"secret\n3,z\n4,z\n', 3, id="to the end of the file"),
        pytest.param('a,b\n1,x\n2,"secret\n3,z\n4,"y"\n5,z\n', 3, id="to the next quote"),
        pytest.param('a,b\n1,x\n2,"secret\n3,"z\n4,z\n', 3, id="two of them"),
        pytest.param('a,b\n"1\n2","x"\n2,"secret\n3,z\n4,"y"\n', 4, id="after a cell of two lines"),
        pytest.param('a,b\r\n1,x\r\n2,"secret\r\n3,z\r\n', 3, id="Windows"),
        pytest.param('a,"b\n1,x\n2,y\n', 1, id="in the header"),
        pytest.param('a,b\n1,x\n2,"secret\n3,z\n4,z\n'.encode("utf-16"), 3, id="utf-16"),
        pytest.param('a,b\n"secret,1\n3,z\n4,z\n', 2, id="too few cells"),
    ],
)
def test_a_quote_that_is_not_closed_swallows_no_lines(tmp_path: Path, raw: str | bytes, line: int) -> None:
    with pytest.raises(sr.TableError, match=f"view.csv: line {line} opens a quote that is not closed") as caught:
        read_table(written(tmp_path, raw))
    assert "secret" not in str(caught.value)


def test_quotes_that_harm_nobody_are_read(tmp_path: Path) -> None:
    raw = 'a,b\n5" pipe,x\n"two\nlines","say ""hi"""\n"odd" end,z\n' + f'"{"long " * 40_000}",1\n'
    data = read_table(written(tmp_path, raw)).data
    assert data.num_rows == 4
    assert data.column("b").to_pylist()[1] == 'say "hi"'


def test_a_word_among_numbers_is_no_category_by_silence(tmp_path: Path) -> None:
    ages = [str(20 + i) for i in range(40)]
    path = written(tmp_path, "\n".join(["age", *ages, "unknown"]) + "\n")
    with pytest.raises(sr.TableError, match="1 of 41 cells are not numbers, so the column would be read") as caught:
        publish(path, {"age": QUASI}, tmp_path)
    assert "unknown" not in str(caught.value)
    assert publish(path, {"age": {**QUASI, "kind": "category"}}, tmp_path).verdict.released
    # codes, and columns that are mostly words, stay what they are
    for number, cells in enumerate((["01067", *ages, "x"], [*ages, *(f"w{i}" for i in range(20))])):
        (tmp_path / str(number)).mkdir()
        assert publish(written(tmp_path, "\n".join(["age", *cells]) + "\n"), {"age": QUASI}, tmp_path / str(number))


def test_decimals_of_a_csv_file_are_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(["dose", *(f"{i}.50" for i in range(8))]) + "\n")
    release = publish(path, {"dose": QUASI}, tmp_path)
    assert all(text.startswith("[") and text.endswith("]") for text in release.table.column("dose").to_pylist())
