"""The first policy is guessed from names and counts, marks every guess, and loads."""

import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import seriatim as sr
from seriatim.api import first_policy
from seriatim.errors import PolicyError, TableError
from seriatim.model.policy import Kind, Missing, Policy, Role
from seriatim.policies import ColumnSketch, guess_policy, guess_series, load_policy, sketch_columns


def column(name: str, kind: str | None = "category", n_distinct: int = 5, looks: str = "") -> ColumnSketch:
    return ColumnSketch(name, kind=kind, n_distinct=n_distinct, n_missing=0, n_rows=100, looks=looks)


def loaded(folder: Path, columns: list[ColumnSketch], series: str = "visits") -> Policy:
    path = folder / "policy.toml"
    path.write_text(guess_policy(columns, series), encoding="utf-8")
    return load_policy(path)


def role_of(name: str, kind: str | None = "category", n_distinct: int = 5, looks: str = "") -> str:
    text = guess_policy([column(name, kind, n_distinct, looks), column("other")], "s")
    return next(line for line in text.splitlines() if line.startswith("role")).split('"')[1]


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("drop", "LastName e-mail phone SSN home_address Vorname Telefonnummer prénom courriel teléfono dirección"),
        ("drop", "cognome indirizzo achternaam telefoonnummer name Nom nombre naam IBAN ip_address"),
        ("quasi", "age birthDate Geburtsdatum sex gender Geschlecht zip PLZ postcode race education marital-status"),
        ("quasi", "occupation native-country Beruf código_postal date_naissance leeftijd città country_name Alter"),
        ("sensitive", "disease Diagnose icd10 salary income Einkommen religion maladie enfermedad ziekte reddito"),
        ("sensitive", "sexual_orientation blood_pressure HIV"),
        ("sensitive", "union ethnicity health_status Gewerkschaft Konfession hispanic"),
        ("quasi", "colour x1 Ω message_count wardrobe"),
    ],
)
def test_names_that_speak(role: str, names: str) -> None:
    assert {name: role_of(name) for name in names.split()} == dict.fromkeys(names.split(), role)


def test_counts_that_speak() -> None:
    assert role_of("remarks", looks="prose") == "drop"
    assert role_of("reach", looks="contact") == "drop"
    assert role_of("remarks", n_distinct=95) == "drop"
    assert role_of("measured", kind="number", n_distinct=95) == "quasi"


def test_numbers_that_are_codes_are_categories(tmp_path: Path) -> None:
    names = ("race", "occ_code", "region", "age", "hours", "income")
    policy = loaded(tmp_path, [column(name, "number", 12) for name in names])
    kinds = {name: policy.columns[name].kind for name in names}
    assert kinds == {
        **dict.fromkeys(names[:3], Kind.CATEGORY),
        **dict.fromkeys(names[3:], Kind.NUMBER),
    }
    assert loaded(tmp_path, [column("region", "number", 12, "fraction")]).columns["region"].kind is Kind.NUMBER


def test_a_whole_guess(tmp_path: Path) -> None:
    columns = [
        ColumnSketch("patient_id", kind="number", n_distinct=100, n_missing=0, n_rows=100),
        ColumnSketch("record no", kind="number", n_distinct=100, n_missing=0, n_rows=100),
        ColumnSketch("admitted on", kind="date", n_distinct=60, n_missing=3, n_rows=100),
        ColumnSketch("zip", kind="number", n_distinct=20, n_missing=0, n_rows=100),
        ColumnSketch("disease", kind="category", n_distinct=7, n_missing=2, n_rows=100),
    ]
    policy = loaded(tmp_path, columns)
    assert policy.respondent == "patient_id"
    assert "patient_id" not in policy.columns
    assert policy.columns["record no"].role is Role.DROP
    assert policy.columns["admitted on"].kind is Kind.DATE
    assert policy.columns["admitted on"].missing is Missing.VALUE
    assert policy.columns["disease"].missing is Missing.VALUE
    assert policy.columns["zip"].missing is Missing.ERROR
    assert policy.columns["zip"].kind is Kind.CATEGORY
    assert policy.columns["zip"].hierarchy is not None
    assert policy.terms.k == 5
    assert policy.terms.per_column["disease"].l == 2
    assert policy.defence is not None
    assert policy.defence.method == "auto"


def test_every_value_is_marked_as_a_guess() -> None:
    text = guess_policy([column("patient", n_distinct=100), column("age"), column("disease")], "visits")
    settings = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    assert [line for line in settings if "# guess: " not in line] == ['name = "visits"']


def test_a_table_about_people_is_told_the_method_for_a_series(tmp_path: Path) -> None:
    disease = ColumnSketch("disease", kind="category", n_distinct=7, n_missing=0, n_rows=100)
    text = guess_policy([column("patient", n_distinct=100), column("age"), disease], "visits")
    (tmp_path / "policy.toml").write_text(text.replace("# releases", "releases"))
    policy = sr.Policy.load(tmp_path / "policy.toml")
    assert policy.defence is not None
    assert policy.defence.method == "auto"
    assert policy.defence.options.foreign == {"releases": 12}
    assert "auto" not in guess_policy([column("age"), disease], "visits")


def test_it_says_when_nothing_is_sensitive() -> None:
    assert "No column was guessed to be sensitive" in guess_policy([column("age")], "s")
    assert "No column was guessed to be sensitive" not in guess_policy([column("age"), column("income")], "s")


def test_only_a_respondent(tmp_path: Path) -> None:
    policy = loaded(tmp_path, [column("id", n_distinct=100)])
    assert policy.respondent == "id"
    assert policy.columns["id"].role is Role.DROP


def test_a_direct_identifier_is_never_the_respondent(tmp_path: Path) -> None:
    policy = loaded(tmp_path, [column("patient_name", n_distinct=100), column("client email", n_distinct=100)])
    assert policy.respondent is None
    assert {rule.role for rule in policy.columns.values()} == {Role.DROP}


def test_tables_that_cannot_be_guessed() -> None:
    with pytest.raises(TableError, match="no columns"):
        guess_policy([], "s")
    with pytest.raises(TableError, match="twice"):
        guess_policy([column("a"), column("a")], "s")
    with pytest.raises(TableError, match="Unicode"):
        guess_policy([column("a\ud800")], "s")


def test_sketches_count_and_read() -> None:
    table = pa.table(
        {
            "whole": [1, 2, None],
            "text number": ["1.5", "", "2"],
            "day": ["2020-01-01", "2020-01-02", None],
            "word": pa.array(["x", "x", "y"]).dictionary_encode(),
            "view": pa.array(["12345", "12346", "12346"], pa.string_view()),
            "mail": ["a@b.example", "c@d.example", "e@f.example"],
            "long": ["word " * 20] * 3,
            "flag": [True, False, None],
            "nested": [[1], [2], None],
            "empty": pa.nulls(3),
        }
    )
    found = {s.name: (s.kind, s.n_distinct, s.n_missing, s.looks) for s in sketch_columns(table)}
    assert found == {
        "whole": ("number", 2, 1, ""),
        "text number": ("number", 2, 1, ""),
        "day": ("date", 2, 1, ""),
        "word": ("category", 2, 0, ""),
        "view": ("number", 2, 0, "code"),
        "mail": ("category", 3, 0, "contact"),
        "long": ("category", 1, 0, "prose"),
        "flag": ("category", 2, 1, ""),
        "nested": (None, 2, 1, ""),
        "empty": (None, 0, 3, ""),
    }
    assert all(sketch.n_rows == 3 for sketch in sketch_columns(table))


def test_a_table_without_rows() -> None:
    table = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})
    assert [(s.n_distinct, s.n_missing, s.n_rows) for s in sketch_columns(table)] == [(0, 0, 0)] * 2


def test_a_word_among_numbers_makes_no_category() -> None:
    ages = [str(20 + i) for i in range(40)]
    (sketch,) = sketch_columns(pa.table({"age": [*ages, "unknown"]}))
    assert (sketch.kind, sketch.looks) == ("number", "nearly")
    assert 'kind = "number"   # guess: most cells are numbers; correct or empty the others' in guess_policy(
        [sketch], "s"
    )
    for cells in ([*ages, "01067", "x"], ["1", "2", "x"], [*ages, *(f"w{i}" for i in range(20))]):
        assert sketch_columns(pa.table({"age": cells}))[0].kind == "category"


def test_local_ways_to_write_days_and_decimals_are_named() -> None:
    table = pa.table(
        {"born": ["31.12.1990", "1/2/91", "03.04.1955"], "tall": ["1,75", "1.200,5", "2"], "n": ["1", "2", "3"]}
    )
    sketches = sketch_columns(table)
    assert [(s.kind, s.looks) for s in sketches] == [("category", "days"), ("category", "commas"), ("number", "")]
    text = guess_policy(sketches, "s")
    assert "written as 2026-12-31" in text
    assert "with points they could be numbers" in text


def test_a_column_that_differs_in_every_row_is_never_quasi(tmp_path: Path) -> None:
    columns = [column("token", "number", 100), column("tag", "category", 100), column("age"), column("measure")]
    policy = loaded(tmp_path, columns)
    assert policy.respondent == "token"
    assert policy.columns["tag"].role is Role.DROP
    other = loaded(
        tmp_path, [column("patient", n_distinct=100), *columns, column("reading", "number", 100, "fraction")]
    )
    assert other.respondent == "patient"
    assert {name: other.columns[name].role for name in ("token", "tag", "reading")} == dict.fromkeys(
        ("token", "tag", "reading"), Role.DROP
    )


def test_weights_flags_money_and_visits() -> None:
    assert role_of("fnlwgt", "number", 95) == role_of("pwgt", "number", 3) == "weight"
    assert role_of("weight", "number", 40) == "quasi"
    assert role_of("weight", "number", 95, "fraction") == "weight"
    amounts = ("hhninc", "capital-gain", "cost", "docvis", "visits")
    assert {name: role_of(name, "number", 40) for name in amounts} == dict.fromkeys(amounts, "sensitive")
    assert role_of("visit on", "date", 40) == "quasi"
    flags = sketch_columns(pa.table({"a": [0, 1, None], "b": [0.0, 1.0, 1.0], "c": ["1", "0", "1"], "d": [1, 2, 1]}))
    assert [(sketch.kind, sketch.looks) for sketch in flags] == [("category", "flag")] * 3 + [("number", "")]


def test_names_that_are_cells_are_refused_without_being_named() -> None:
    sketches = sketch_columns(pa.table({"39": [40, 41], "canary": ["canary", "x"], "ill": ["a", "b"]}))
    with pytest.raises(TableError, match="2 of 3 column names look like cells") as caught:
        guess_policy(sketches, "s")
    assert "canary" not in str(caught.value)
    assert "[columns.canary]" in guess_policy(sketches, "s", header_is_right=True)


@pytest.mark.parametrize(
    ("file", "series"),
    [
        ("year-1980", "year"),
        ("visits-2026-10", "visits"),
        ("2026-10-visits", "visits"),
        ("visits_2026Q3", "visits"),
        ("month-1", "month"),
        ("wave 3 final", "wave final"),
        ("survey1994", "survey"),
        ("visits.v2", "visits"),
        ("rwm5yr", "rwm5yr"),
        ("covid19", "covid19"),
        ("2026", "2026"),
        ("ward-visits", "ward-visits"),
    ],
)
def test_a_series_is_named_without_the_running_part_of_its_file(file: str, series: str) -> None:
    assert guess_series(file) == series


def test_survey_weights_have_a_role_of_their_own() -> None:
    for name in ("wght", "fnlwgt", "pweight"):
        assert role_of(name, kind="number") == "weight"
    kilograms, people = [60 + n % 40 for n in range(200)], [1000 + n % 40 for n in range(200)]
    for values, role in ((kilograms, "quasi"), (people, "weight")):
        text = guess_policy(sketch_columns(pa.table({"weight": values})), "s")
        assert f'role = "{role}"' in text


def test_only_a_file_with_a_header_line_can_lack_it(tmp_path: Path) -> None:
    table = pa.table({"urban": ["urban", "rural"] * 20, "1990": [1, 2] * 20, "age": list(range(40))})
    pq.write_table(table, tmp_path / "t.parquet")
    pacsv.write_csv(table, tmp_path / "t.csv")
    for source in (table, table.to_pandas(), tmp_path / "t.parquet"):
        assert "[columns.urban]" in first_policy(source)
    with pytest.raises(TableError, match="header line seems to be missing"):
        first_policy(tmp_path / "t.csv")


def test_labels_say_what_numbers_stand_for(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"v1": [1, 2, 3] * 20, "v2": [*range(30)] * 2, "v3": [1, 2] * 30})
    titles = {"v1": "Religious affiliation", "v2": "Age in years", "v3": "Region"}
    labels = {"v1": {1: "a", 2: "b", 3: "c"}, "v2": {99: "refused"}, "v3": {1: "north", 2: "south"}}
    pyreadstat.write_sav(frame, tmp_path / "s.sav", column_labels=titles, variable_value_labels=labels)
    (tmp_path / "policy.toml").write_text(first_policy(tmp_path / "s.sav"))
    policy = load_policy(tmp_path / "policy.toml")
    assert {name: (rule.role, rule.kind) for name, rule in policy.columns.items()} == {
        "v1": (Role.SENSITIVE, Kind.CATEGORY),
        "v2": (Role.QUASI, Kind.NUMBER),
        "v3": (Role.QUASI, Kind.CATEGORY),
    }


def test_several_columns_have_a_role_in_one_line(tmp_path: Path) -> None:
    text = '[series]\nname = "s"\n[columns]\ndrop = ["a", "b c"]\nplain = ["d"]\n[columns.age]\nrole = "quasi"\n'
    (tmp_path / "p.toml").write_text(text)
    roles = {name: rule.role for name, rule in load_policy(tmp_path / "p.toml").columns.items()}
    assert roles == {"age": Role.QUASI, "a": Role.DROP, "b c": Role.DROP, "d": Role.PLAIN}
    (tmp_path / "p.toml").write_text(text.replace('plain = ["d"]', 'plain = ["age", 3]'))
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path / "p.toml")
    assert "has a role already" in str(caught.value)
    assert "the name of a column" in str(caught.value)


def test_files_of_a_panel_say_what_changes_stays_and_says_the_same(tmp_path: Path) -> None:
    def year(number: int) -> pa.Table:
        people = range(10 * number, 10 * number + 60)
        return pa.table(
            {
                "idcode": list(people),
                "sex": [n % 2 for n in people],
                "religion": [f"r{n % 4}" for n in people],
                "income": [1000 + 10 * (n % 30) + 500 * number * (n % 3 == 0) for n in people],
                "ln_inc": [math.log(1000 + 10 * (n % 30) + 500 * number * (n % 3 == 0)) for n in people],
                **({"late": [1] * 60} if number else {}),
            }
        )

    text = first_policy(year(2), "s", earlier=[year(0), year(1)])
    assert "# 3 files; 60 people are in several." in text
    assert '# Changes (share of people): "income" (33%), "ln_inc" (33%)' in text
    assert '# Stays: "sex", "religion", "late"' in text
    assert '# Not in every file, which a series needs: "late"' in text
    assert 'role = "drop"   # guess: it says the same as "income" in other words' in text
    assert '# Publish two series of the same people: one with "religion" (cohort can),' in text
    assert '# one with "income", whose values change (median, with sure_share).' in text
    (tmp_path / "policy.toml").write_text(text)
    load_policy(tmp_path / "policy.toml")
    with pytest.raises(TableError, match="no column identifies the person in every file"):
        first_policy(year(2), "s", earlier=[year(1).drop_columns("idcode")])
