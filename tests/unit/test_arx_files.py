"""Hierarchy files as ARX and people write them."""

import os
from pathlib import Path

import pytest

from seriatim.errors import PolicyError
from seriatim.policies import read_arx


def read(folder: Path, content: str | bytes) -> dict[str, tuple[str, ...]]:
    return hierarchy(folder, content).rows


def hierarchy(folder: Path, content: str | bytes):  # type: ignore[no-untyped-def]
    path = folder / "h.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_arx(path)


def faults(folder: Path, content: str | bytes) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        hierarchy(folder, content)
    return [str(fault).replace(str(folder) + "/", "") for fault in caught.value.faults]


EXPECTED = {"a": ("x", "*"), "b": ("x", "*"), "c": ("y", "*")}


@pytest.mark.parametrize(
    "content",
    [
        "a;x;*\nb;x;*\nc;y;*\n",
        "a,x,*\nb,x,*\nc,y,*",
        "a\tx\t*\r\nb\tx\t*\r\nc\ty\t*\r\n",
        "\n a"[2:] + ";x;*\n\n;;\nb;x;*\n   \nc;y;*\n\n",
        '"a";"x";"*"\n"b";x;*\nc;"y";*\n',
        "\ufeffa;x;*\nb;x;*\nc;y;*\n",
        "a;x\nb;x\nc;y\n",
        "a;x;*\na;x;*\nb;x;*\nc;y;*\n",
    ],
)
def test_one_hierarchy_written_in_many_ways(tmp_path: Path, content: str) -> None:
    made = hierarchy(tmp_path, content)
    assert made.rows == EXPECTED
    assert made.digest == hierarchy(tmp_path, "a;x;*\nb;x;*\nc;y;*\n").digest
    assert made.source == "h.csv"
    assert made.known() == ("a", "b", "c")
    assert made.paths(["c", "nobody"]) == [("y", "*"), None]


def test_separators_inside_labels(tmp_path: Path) -> None:
    assert read(tmp_path, "1;[0,4];*\n5;[5,9];*\n") == {"1": ("[0,4]", "*"), "5": ("[5,9]", "*")}
    assert read(tmp_path, '"a;b",x,*\n"c;d",x,*\n') == {"a;b": ("x", "*"), "c;d": ("x", "*")}
    assert read(tmp_path, 'a;"say ""x""\nagain";*\n') == {"a": ('say "x"\nagain', "*")}


def test_a_list_of_values_has_the_top_alone(tmp_path: Path) -> None:
    assert read(tmp_path, "a\nb\n") == {"a": ("*",), "b": ("*",)}
    assert read(tmp_path, "a;*\nb;*\n") == {"a": ("*",), "b": ("*",)}


def test_encodings(tmp_path: Path) -> None:
    assert read(tmp_path, "Köln;é;*\n".encode("cp1252")) == {"Köln": ("é", "*")}
    assert read(tmp_path, "Köln;é;*\n") == {"Köln": ("é", "*")}
    assert "neither UTF-8 nor Windows-1252" in faults(tmp_path, b"a;\x81\xff;*\n")[0]
    assert "zero bytes" in faults(tmp_path, "a;b;*\n".encode("utf-16"))[0]


def test_lines_of_another_width(tmp_path: Path) -> None:
    assert faults(tmp_path, "a;x;*\nb;x\n\nc;y;z;*\nd;x;*\n") == [
        "h.csv:2: 2 cells where other lines have 3; allowed: the same number of levels for every value; "
        "complete the line",
        "h.csv:4: 4 cells where other lines have 3; allowed: the same number of levels for every value; "
        "complete the line",
    ]


def test_two_paths_for_one_value(tmp_path: Path) -> None:
    found = faults(tmp_path, "a;x;*\nb;x;*\na;y;*\n")
    assert len(found) == 1
    assert found[0].startswith("h.csv:3: this value has another path on line 1")


def test_levels_that_cross(tmp_path: Path) -> None:
    found = faults(tmp_path, "a;x;north;*\nb;x;south;*\nc;y;south;*\n")
    assert len(found) == 1
    assert found[0].startswith("h.csv:2: the label at level 1 has another label above it here than on line 1")


def test_an_empty_label(tmp_path: Path) -> None:
    assert faults(tmp_path, "a;x;*\nb;;*\n")[0].startswith("h.csv:2: the label at level 1 is empty")


def test_line_numbers_after_a_cell_with_a_line_break(tmp_path: Path) -> None:
    assert faults(tmp_path, 'a;"x\ny";*\nb;x\nc;z;*\n')[0].startswith("h.csv:3: 2 cells")


@pytest.mark.parametrize("content", ["", "\n\n", ";;\n"])
def test_no_values(tmp_path: Path, content: str) -> None:
    assert "holds no values" in faults(tmp_path, content)[0]


def test_an_open_quote(tmp_path: Path) -> None:
    assert faults(tmp_path, 'a;x;*\n"b;x;*\n')[0].startswith("h.csv:2: not readable as CSV")


def test_a_quote_in_the_wrong_place_is_not_read_as_a_list(tmp_path: Path) -> None:
    assert faults(tmp_path, 'a;x;*\nb;"x"y;*\n')[0].startswith("h.csv:2: not readable as CSV")


def test_many_faults_do_not_fill_the_screen(tmp_path: Path) -> None:
    found = faults(tmp_path, "".join(f"{n};x;*\n" for n in range(200)) + "".join(f"{n};y;*\n" for n in range(100)))
    assert len(found) == 21
    assert "80 more faults" in found[-1]


def test_a_folder_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="is a folder"):
        read_arx(tmp_path)
    with pytest.raises(PolicyError, match="no such hierarchy file"):
        read_arx(tmp_path / "none.csv")
    with pytest.raises(PolicyError, match="cannot be read"):
        read_arx(tmp_path / "a\0b")


def adult_folder() -> Path:
    beside = Path(__file__).parents[3] / "shared" / "data"
    return Path(os.environ.get("SERIATIM_ADULT") or beside)


@pytest.mark.skipif(not (adult_folder() / "adult_hierarchy_age.csv").exists(), reason="Adult is not here")
def test_adults_hierarchies_load() -> None:
    files = sorted(adult_folder().glob("adult_hierarchy_*.csv"))
    assert len(files) == 9
    heights = {path.stem.removeprefix("adult_hierarchy_"): _height(path) for path in files}
    assert heights["age"] == 4
    assert heights["education"] == 3
    assert heights["sex"] == 1


def _height(path: Path) -> int:
    rows = read_arx(path).rows
    assert {path[-1] for path in rows.values()} == {"*"}
    (height,) = {len(path) for path in rows.values()}
    return height
