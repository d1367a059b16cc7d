"""Several sensitive columns in a serial method: a table for each, made and judged apart; nothing links them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim import api
from seriatim.errors import PolicyError, TableError
from seriatim.model.own_tables import folders_by_column, secret_of_column
from seriatim.reading import Axis, open_release
from seriatim.usecases.publish import publish as publish_case

N = 420
VALUES = {"ill": 5, "drug": 4, "ward": 6}
SECRET = bytes(range(32))


def view_of(first: int, columns: tuple[str, ...], n: int = N, same: bool = False) -> pa.Table:
    """Return people ``first`` to ``first + n``; with ``same`` all columns say the same."""
    chance = np.random.default_rng(5)
    ages, towns = chance.integers(18, 80, 2000), chance.integers(0, 40, 2000)
    cells = {name: chance.integers(0, 4 if same else VALUES[name], 2000) for name in VALUES}
    here = slice(first, first + n)
    told = {
        name: [f"{'v' if same else name}{code}" for code in cells["ill" if same else name][here]] for name in columns
    }
    who = [f"p{number}" for number in range(first, first + n)]
    return pa.table({"who": who, "age": ages[here], "town": towns[here], **told})


def policy_of(sensitive: tuple[str, ...], method: str = "cohort", **sections: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "wards", "respondent": "who", **sections.get("series", {})},
            "columns": {
                "age": {"role": "quasi"},
                "town": {"role": "quasi"},
                **{name: {"role": "sensitive"} for name in sensitive},
                **sections.get("columns", {}),
            },
            "promise": {"m": 2, **({"n": 1} if method == "historical" else {}), **sections.get("promise", {})},
            "defence": {"method": method, "suppress": 0.5},
            "adversary": sections.get("adversary", {}),
        }
    )


def texts(table: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


@pytest.mark.parametrize(
    ("method", "columns"),
    [
        ("cohort", ("ill", "drug")),
        ("invariant", ("drug", "ward")),
        ("cohort", ("ill", "drug", "ward")),
        ("historical", ("ill", "drug", "ward")),
    ],
)
def test_each_table_is_what_a_series_of_its_column_alone_would_publish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, columns: tuple[str, ...]
) -> None:
    monkeypatch.setattr(publish_case.secrets, "token_bytes", lambda _: SECRET)
    ledger = api.open_ledger(tmp_path / "all.db")
    views = [view_of(first, columns) for first in (0, 60)]
    together = [api.publish(view, policy_of(columns, method), ledger) for view in views]
    assert all(made.verdict.released for made in together), together[-1].verdict.reasons
    for column in columns:
        monkeypatch.setattr(
            publish_case.secrets, "token_bytes", lambda _, column=column: secret_of_column(SECRET, column)
        )
        alone = api.open_ledger(tmp_path / f"{column}.db")
        others = [name for name in columns if name != column]
        dropped = policy_of((column,), method, columns={name: {"role": "drop"} for name in others})
        for view, made in zip(views, together, strict=True):
            own = api.publish(view, dropped, alone)
            assert made.tables[column].equals(own.table)
            found = [one for one in made.verdict.findings if one.column == column]
            assert [(one.rule, one.kept, one.worst) for one in found] == [
                (one.rule, one.kept, one.worst) for one in own.verdict.findings
            ]
        past, expected = ledger.history("wards", column), alone.history("wards", column)
        for one, other in zip(past, expected, strict=True):
            assert np.array_equal(one.group, other.group)
            assert past.values.take(one.value).equals(expected.values.take(other.value))
            assert {name: mark.tolist() for name, mark in one.marks.items()} == {
                name: mark.tolist() for name, mark in other.marks.items()
            }


def test_nothing_links_the_rows_of_two_tables(tmp_path: Path) -> None:
    """Two columns with the same values: ids of groups and the order of rows still have nothing in common."""
    columns, ages, same_ids = ("ill", "drug"), {"ill": [], "drug": []}, []
    for attempt in range(3):
        ledger = api.open_ledger(tmp_path / f"{attempt}.db")
        made = api.publish(view_of(0, columns, n=1500, same=True), policy_of(columns), ledger)
        assert set(made.tables["ill"].column_names) & set(made.tables["drug"].column_names) == {"group", "age", "town"}
        for column in columns:
            ages[column] += [int(row["age"].strip("[").split(",")[0]) for row in texts(made.tables[column])]
        homes = {column: dict(_homes(made.groups, column)) for column in columns}
        same_ids.append(np.mean([homes["ill"][who] == homes["drug"][who] for who in homes["ill"]]))
    assert abs(np.corrcoef(ages["ill"], ages["drug"])[0, 1]) < 0.08
    assert min(same_ids) < 0.9


def _homes(groups: pa.Table, column: str) -> list[tuple[str, int]]:
    own = groups.filter(pc.equal(groups.column("sensitive"), column))
    return [(row["respondent"], row["group"]) for row in own.to_pylist() if row["group"] is not None]


def test_groups_codebook_reports_and_files_say_which_table_is_whose(tmp_path: Path) -> None:
    columns = ("ill", "drug")
    ledger = api.open_ledger(tmp_path / "ledger.db")
    plain = {"columns": {"note": {"role": "plain"}}}
    view = view_of(0, columns).append_column("note", pa.array([f"note {n}" for n in range(N)]))
    made = api.publish(view, policy_of(columns, **plain), ledger, out=tmp_path / "out")
    rows = texts(made.groups)
    for column, other in (columns, reversed(columns)):
        own = [row for row in rows if row["sensitive"] == column]
        assert [row["respondent"] for row in own if not row["counterfeit"]] == view.column("who").to_pylist()
        assert all(row[other] is None for row in own)
        assert made.tables[column].num_rows == sum(not row["suppressed"] for row in own)
        assert other not in made.tables[column].column_names
    assert made.table.equals(made.tables["ill"])
    assert made.plain.num_rows == N - made.release.draft.grouping.n_suppressed
    public = tmp_path / "out" / "wards-0001" / "public"
    assert sorted(str(path.relative_to(public)) for path in public.rglob("*.csv")) == [
        "drug/counterfeits.csv", "drug/table.csv", "ill/counterfeits.csv", "ill/plain.csv", "ill/table.csv",
    ]  # fmt: skip
    assert made.codebook is not None
    assert made.manifest is not None
    assert [(one["sensitive"], one["folder"]) for one in made.codebook["tables"]] == [("ill", "ill"), ("drug", "drug")]
    assert "table of its own" in made.codebook["rows"]
    assert "public/drug/table.csv" in made.manifest["files"]
    record = json.loads(made.report.to_json())
    assert [one["sensitive"] for one in record["tables"]] == list(columns)
    assert {one["column"] for one in record["findings"]} == set(columns)
    assert {one["detail"]["column"] for one in record["measures"]} == set(columns)
    assert "table of its own" in made.report.to_html()
    assert "Published, table of drug" in made.sign_off.to_html()
    assert ledger.verify([tmp_path / "out"]).sound
    assert api.read_table(public / "drug" / "table.csv").data.num_rows == made.tables["drug"].num_rows


def test_promises_may_differ_by_column(tmp_path: Path) -> None:
    columns = ("ill", "drug")
    policy = policy_of(columns, promise={"drug": {"m": 3}, "ill": {"withheld_leak": 2.0}})
    made = api.publish(view_of(0, columns), policy, api.open_ledger(tmp_path / "ledger.db"))
    fair = {one.column: one.threshold for one in made.verdict.findings if one.rule == "fair_cells"}
    assert fair == {"ill": 1 / 2, "drug": 1 / 3}
    assert [one.column for one in made.verdict.findings if one.rule == "withheld_leak"] == ["ill"]
    one = policy_of(("ill",), promise={"ill": {"m": 3}})
    assert one.digest == policy_of(("ill",), promise={"m": 3}).digest
    with pytest.raises(PolicyError, match=r"\[promise\.drug\] m differs by column, but method median"):
        policy_of(columns, "median", promise={"drug": {"m": 3}})
    shape = {
        "series": {"name": "wards", "respondent": "who"},
        "columns": {name: {"role": "sensitive"} for name in columns},
        "promise": {"k": 2, "drug": {"n": 1}},
        "defence": {"method": "cohort"},
    }
    with pytest.raises(PolicyError, match="n is set without m"):
        sr.Policy.from_dict(shape)


def test_one_broken_table_refuses_the_release(tmp_path: Path) -> None:
    """Nearly everyone has one drug: the table of drugs is refused, and so nothing leaves."""
    columns = ("ill", "drug")
    view = view_of(0, columns)
    common = pa.array(["drug0" if n % 10 else "drug1" for n in range(N)])
    view = view.set_column(view.column_names.index("drug"), "drug", common)
    ledger = api.open_ledger(tmp_path / "ledger.db")
    made = api.publish(view, policy_of(columns, "invariant"), ledger, out=tmp_path / "out", suggest=True)
    assert not made.verdict.released
    assert made.table is None
    assert made.tables == {}
    assert all("'drug'" in reason for reason in made.verdict.reasons), made.verdict.reasons
    assert any(remedy.startswith("eligible_table of 'drug': ") for remedy in made.verdict.remedies)
    assert list(ledger.records()) == []
    assert [path.suffix for path in (tmp_path / "out").rglob("*.csv")] == []


def test_an_empty_cell_of_one_column_withholds_nobody_from_the_other(tmp_path: Path) -> None:
    columns = ("ill", "drug")
    view = view_of(0, columns)
    gaps = [None if n < 7 else cell for n, cell in enumerate(view.column("drug").to_pylist())]
    view = view.set_column(view.column_names.index("drug"), "drug", pa.array(gaps))
    policy = policy_of(columns, columns={"drug": {"role": "sensitive", "missing": "suppress"}})
    made = api.publish(view, policy, api.open_ledger(tmp_path / "ledger.db"))
    assert made.verdict.released, made.verdict.reasons
    out = {(row["sensitive"], row["respondent"]) for row in texts(made.groups) if row["suppressed"]}
    assert {("drug", f"p{n}") for n in range(7)} <= out
    assert not {("ill", f"p{n}") for n in range(7)} & out


def test_a_column_may_join_and_leave_a_running_series(tmp_path: Path) -> None:
    ledger = api.open_ledger(tmp_path / "ledger.db")
    columns, drop = ("ill", "drug"), {"columns": {"drug": {"role": "drop"}}}
    steps = [
        policy_of(("ill",), **drop),
        policy_of(columns, series={"epoch": 2}),
        policy_of(("ill",), series={"epoch": 3}, **drop),
        policy_of(columns, series={"epoch": 4}),
    ]
    for step, policy in enumerate(steps):
        made = api.publish(view_of(10 * step, columns), policy, ledger)
        assert made.verdict.released, made.verdict.reasons
    assert [past.number for past in ledger.history("wards", "ill")] == [1, 2, 3, 4]
    drugs = ledger.history("wards", "drug")
    assert [past.number for past in drugs] == [2, 4]
    homes = [dict(zip(past.person.tolist(), past.marks["lineage"].tolist(), strict=True)) for past in drugs]
    assert all(homes[0][who] == homes[1][who] for who in homes[0].keys() & homes[1].keys() if who >= 0)
    renamed = policy_of(("ill", "ward"), series={"epoch": 5})
    with pytest.raises(PolicyError, match="sensitive ward instead of drug"):
        api.publish(view_of(40, ("ill", "ward")), renamed, ledger)
    with pytest.raises(sr.SeriatimError, match="no release has the sensitive column ward"):
        api.attack(ledger, series="wards", sensitive="ward")


def test_what_cannot_be_done_is_refused_with_what_to_do(tmp_path: Path) -> None:
    columns = ("ill", "drug")
    ledger = api.open_ledger(tmp_path / "ledger.db")
    api.publish(view_of(0, columns), policy_of(columns), ledger)
    wrong = pa.table({"respondent": ["p1"], "column": ["ill"], "old": ["ill0"], "new": ["ill1"]})
    with pytest.raises(TableError, match="leave these people out of the view from now on"):
        api.publish(view_of(0, columns), policy_of(columns), ledger, corrections=wrong, again=True)
    renamed = view_of(0, columns).rename_columns(["who", "age", "town", "ill", "sensitive"])
    with pytest.raises(TableError, match=r"used in release\.groups"):
        api.publish(renamed, policy_of(("ill", "sensitive")), ledger, dry_run=True)
    policy = policy_of(columns, adversary={"priors": {"p1": ["ill0", "ill1", "ill2"]}})
    with pytest.raises(PolicyError, match="2 sensitive columns"):
        api.publish(view_of(0, columns), policy, ledger, dry_run=True)


def test_a_crash_between_reserve_and_seal_is_finished_with_all_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ("ill", "drug")
    ledger = api.open_ledger(tmp_path / "ledger.db")

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(ledger), "seal", crash)
        with pytest.raises(KeyboardInterrupt):
            api.publish(view_of(0, columns), policy_of(columns), ledger, out=tmp_path / "out")
    again = api.open_ledger(tmp_path / "ledger.db")
    assert len(again.history("wards", "drug")) == 1  # it counts as published
    again.resume()
    assert again.verify([tmp_path / "out"]).sound
    public = tmp_path / "out" / "wards-0001" / "public"
    assert len(list(public.rglob("table.csv"))) == 2
    assert api.publish(view_of(10, columns), policy_of(columns), again, out=tmp_path / "out").number == 2


def test_every_command_takes_a_series_of_several_tables(tmp_path: Path) -> None:
    columns = ("ill", "drug")
    quasi = "".join(f'[columns.{name}]\nrole = "quasi"\nkind = "number"\n' for name in ("age", "town"))
    sensitive = "".join(f'[columns.{name}]\nrole = "sensitive"\n' for name in columns)
    rest = '[promise]\nm = 2\n[promise.drug]\nm = 3\n[defence]\nmethod = "invariant"\nsuppress = 0.3\n'
    (tmp_path / "policy.toml").write_text(
        f'[series]\nname = "wards"\nrespondent = "who"\n{quasi}{sensitive}{rest}[adversary]\nbreach_share = 0.9\n'
    )
    for month in (1, 2):
        pacsv.write_csv(view_of(20 * month, columns), tmp_path / f"{month}.csv")
        ran = seriatim(tmp_path, "publish", f"{month}.csv", "-p", "policy.toml", "--private", f"who-{month}.csv")
        assert ran.code == 0, ran.out + ran.err
        assert all(words in ran.out for words in ("ill: ", "drug: ", "drug/table.csv"))
    told = {
        column: json.loads(seriatim(tmp_path, "attack", "--series", "wards", "--sensitive", column, "--json").out)
        for column in columns
    }
    assert told["ill"] != told["drug"]
    published = tmp_path / "releases" / "wards-0002" / "public"
    for column in columns:
        ran = seriatim(tmp_path, "audit", str(published / column / "table.csv"), "-p", "policy.toml")
        assert ran.code == 0, ran.out + ran.err
    ran = seriatim(tmp_path, "forecast", "wards", "--releases", "2", "--sensitive", "drug")
    assert (ran.code, "m = 3, as now" in ran.out) == (0, True), ran.out + ran.err
    ran = seriatim(tmp_path, "forecast", "wards", "--releases", "2")
    assert (ran.code, "columns with promises of their own" in ran.err) == (2, True), ran.out + ran.err
    assert seriatim(tmp_path, "ledger", "verify").code == 0
    axes = {"age": Axis.whole_numbers(18, 80), "town": Axis.whole_numbers(0, 40)}
    counted = open_release(published, axes, "drug").count_values("drug")
    assert sum(counted.values()) == pytest.approx(N, rel=0.2)
    with pytest.raises(TableError, match="each sensitive column has a table of its own"):
        open_release(published, axes)
    listed = pa.table({"release": ["x"], "row": [1], "respondent": ["p1"]})
    with pytest.raises(TableError, match="each sensitive column has a table of its own"):
        api.attack_history_of_folder(tmp_path / "releases", listed)


def test_folders_have_names_that_every_disk_takes() -> None:
    assert folders_by_column(["ill", "drug"]) == {"ill": "ill", "drug": "drug"}
    odd = ["Ill", "ill", "a/b", "..", "größe", "column-1", "x" * 80]
    found = folders_by_column(odd)
    assert list(found.values()) == [f"column-{number}" for number in range(1, 8)]


@pytest.mark.parametrize(("method", "certain"), [("historical", True), ("cohort", False)])
def test_tables_of_columns_that_go_together_are_weighed_together(tmp_path: Path, method: str, certain: bool) -> None:
    """The drug follows from the disease: small groups have few combinations in common, a cohort has all of them."""
    columns = ("ill", "drug")
    view = view_of(0, columns)
    drugs = pa.array([f"drug{cell[-1]}" for cell in view.column("ill").to_pylist()])
    view = view.set_column(view.column_names.index("drug"), "drug", drugs)
    made = api.publish(view, policy_of(columns, method), api.open_ledger(tmp_path / "ledger.db"))
    found = {one.detail["column"]: one for one in made.verdict.estimates if one.attack == "columns together"}
    assert set(found) == set(columns)
    assert (found["ill"].share > 0.05) is certain
    assert any("can infer 'ill' from both tables" in note for note in made.verdict.notes) is certain
    assert found["ill"].detail["mean_belief"] >= found["ill"].detail["mean_belief_alone"] - 1e-9


@pytest.mark.parametrize(
    ("asked", "rule"), [({"sure_share": 0.02, "sure": 0.9}, "sure_share"), ({"breach_share": 0.02}, "breach_share")]
)
def test_tables_that_give_people_away_together_are_refused_where_that_is_bounded(
    tmp_path: Path, asked: dict[str, float], rule: str
) -> None:
    columns = ("ill", "drug")
    view = view_of(0, columns)
    drugs = pa.array([f"drug{cell[-1]}" for cell in view.column("ill").to_pylist()])
    view = view.set_column(view.column_names.index("drug"), "drug", drugs)
    made = api.publish(view, policy_of(columns, "historical", adversary=asked), api.open_ledger(tmp_path / "ledger.db"))
    assert not made.verdict.released
    broken = [one for one in made.verdict.findings if one.rule == rule and not one.kept]
    assert {one.column for one in broken} == set(columns)
    assert all(one.worst > 0.02 and "combining this table" in one.detail for one in broken)
    assert any("publish them as one column" in remedy for remedy in made.verdict.remedies)
    unlinked = api.publish(
        view_of(0, columns), policy_of(columns, "historical", adversary=asked), api.open_ledger(tmp_path / "other.db")
    )
    assert unlinked.verdict.released, unlinked.verdict.reasons
