"""Papers of the office: a page to sign beside each release, and the report of a refusal without any table."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from support.command_line import seriatim, write_policy, write_view

import seriatim as sr
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import POLICY, hospital_months


def test_the_page_to_sign(tmp_path: Path) -> None:
    view, _ = write_view(tmp_path), write_policy(tmp_path)
    ran = seriatim(
        tmp_path, "publish", "view.csv", "-p", "policy.toml", "--to", "Dr Weber", "--approved-by", "A. Ortiz"
    )
    assert ran.code == 0, ran.err
    path = tmp_path / "releases/ward-visits-0001/private/to-sign.html"
    assert "to-sign.html" in ran.out
    assert path.stat().st_mode & 0o777 == 0o600
    page = path.read_text()
    manifest = json.loads((path.parent / "manifest.json").read_text())
    policy = sr.Policy.load(tmp_path / "policy.toml")
    for told in (
        hashlib.sha256(view.read_bytes()).hexdigest(),
        "view.csv",
        policy.digest,
        manifest["chain"],
        f"seriatim {sr.__version__}",
        "Dr Weber",
        "A. Ortiz",
    ):
        assert told in page, told
    assert re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", page)
    assert page.count('class="signature"') == 2
    # it is no file of the release: no manifest lists it, and verify does not take it for a stranger
    assert "to-sign" not in json.dumps(manifest)
    checked = seriatim(tmp_path, "ledger", "verify", "--published", "releases")
    assert (checked.code, "note" in checked.out) == (0, False), checked.out


def test_the_page_to_sign_is_made_anew_from_the_ledger(tmp_path: Path) -> None:
    view, _ = write_view(tmp_path), write_policy(tmp_path)
    asked = ("publish", "view.csv", "-p", "policy.toml", "--to", "Dr Weber", "--approved-by", "A. Ortiz")
    assert seriatim(tmp_path, *asked).code == 0
    first = tmp_path / "releases/ward-visits-0001/private/to-sign.html"
    page = first.read_text()
    for gone in (first, view, tmp_path / "policy.toml"):
        gone.unlink()
    again = seriatim(tmp_path, "ledger", "sign-off", "ward-visits", "1", "--out", "again.html")
    assert again.code == 0, again.err
    assert (tmp_path / "again.html").read_text() == page
    assert (tmp_path / "again.html").stat().st_mode & 0o777 == 0o600
    # who received it since is on the next copy
    assert seriatim(tmp_path, "ledger", "deliver", "ward-visits", "1", "--to", "Mr Lind").code == 0
    told = seriatim(tmp_path, "ledger", "sign-off", "ward-visits", "1", "--out", "again.html", "--json")
    assert json.loads(told.out)["recipients"] == ["Dr Weber", "Mr Lind"]
    assert "Mr Lind" in (tmp_path / "again.html").read_text()
    shown = json.loads(seriatim(tmp_path, "ledger", "show", "--json").out)[0]
    assert (shown["input_name"], len(shown["input_sha256"])) == ("view.csv", 64)
    public = "".join(path.read_text() for path in (tmp_path / "releases").glob("*/public/*"))
    assert shown["input_sha256"] not in public
    assert "view.csv" not in public
    missing = seriatim(tmp_path, "ledger", "sign-off", "ward-visits", "7")
    assert (missing.code, "no release 7" in missing.err) == (2, True)
    report = next((tmp_path / "ledger.db.shelf").glob("*/000001/published/private/report.json"))
    report.chmod(0o600)
    report.write_text(report.read_text().replace("ward", "yard", 1))
    assert seriatim(tmp_path, "ledger", "sign-off", "ward-visits", "1").code == 4


def test_two_releases_of_equal_input_differ_only_on_the_page_to_sign(tmp_path: Path) -> None:
    """The time of day is on paper alone: the files of a release are made of view, policy, ledger and secret."""
    write_view(tmp_path)
    write_policy(tmp_path)
    made = sr.publish(
        tmp_path / "view.csv", sr.Policy.load(tmp_path / "policy.toml"), sr.Ledger.open(tmp_path / "l.db")
    )
    assert made.sign_off is not None
    assert made.papers == ()  # nothing is written without a folder
    assert made.sign_off.record()["input"]["name"] == "view.csv"
    assert made.sign_off.signed.date not in made.report.to_html() + made.report.to_json()


def test_a_table_in_memory_has_no_fingerprint(tmp_path: Path) -> None:
    table = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    shape = {
        "series": {"name": "s"},
        "columns": {"age": {"role": "quasi", "kind": "number"}, "ill": {"role": "sensitive"}},
        "promise": {"k": 2},
        "defence": {"method": "median"},
    }
    made = sr.publish(table, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "l.db"))
    assert made.sign_off is not None
    assert made.sign_off.record()["input"] == {"name": "a table in memory", "sha256": ""}
    assert "not a file" in made.sign_off.to_html()


def test_a_refusal_leaves_its_report_and_never_a_table(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path, k=99)
    for attempt in (1, 2):
        ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml")
        assert ran.code == 3
        assert f"refused/ward-visits-0001-{attempt}.html" in ran.out
    folder = tmp_path / "releases"
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert found == [f"refused/ward-visits-0001-{n}.{ending}" for n in (1, 2) for ending in ("html", "json")]
    assert all((folder / name).stat().st_mode & 0o777 == 0o600 for name in found)
    record = json.loads((folder / "refused/ward-visits-0001-1.json").read_text())
    assert (record["outcome"], record["released"]) == ("refused", False)
    assert "Refused" in (folder / "refused/ward-visits-0001-1.html").read_text()
    assert list(sr.Ledger.open(tmp_path / "ledger.db").records()) == []
    rehearsed = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--dry-run", "--out", "other")
    assert (rehearsed.code, (tmp_path / "other").exists()) == (3, False)


def test_a_folder_that_takes_no_paper_changes_no_verdict(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path, k=99)
    (tmp_path / "releases").mkdir()
    (tmp_path / "releases/refused").write_text("a file where a folder should be")
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml")
    assert (ran.code, "REFUSED" in ran.out) == (3, True)


def listed(path: Path) -> list[dict[str, str]]:
    assert path.stat().st_mode & 0o777 == 0o600
    return list(csv.DictReader(path.read_text().splitlines()))


def test_the_private_list_of_a_refusal_names_who_and_by_which_chain(tmp_path: Path) -> None:
    views = hospital_months(300, 2)
    for number, view in enumerate(views, 1):
        write_csv(view, tmp_path / f"month-{number}.csv")
    (tmp_path / "policy.toml").write_text(POLICY + "\n[adversary]\nbreach_share = 0.01\n")
    assert seriatim(tmp_path, "publish", "month-1.csv", "-p", "policy.toml").code == 0
    ran = seriatim(tmp_path, "publish", "month-2.csv", "-p", "policy.toml", "--private", "who.csv")
    assert ran.code == 3
    people = listed(tmp_path / "who.csv")
    known = set(views[0]["patient"].to_pylist()) | set(views[1]["patient"].to_pylist())
    assert people
    assert {row["respondent"] for row in people} <= known
    assert {row["promise"] for row in people} == {"breached"}
    assert all("release " in row["chain"] for row in people), people
    # nobody of the list is named anywhere else
    said = ran.out + "".join(path.read_text() for path in (tmp_path / "releases/refused").iterdir())
    assert not [row["respondent"] for row in people if row["respondent"] in said]


def test_the_private_list_of_a_broken_class(tmp_path: Path) -> None:
    """Thirteen records in one class: with k = 99 everyone is on the list, not the first ten classes only."""
    write_view(tmp_path)
    write_policy(tmp_path, k=99)
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--private", "who.csv", "--dry-run")
    assert ran.code == 3
    people = listed(tmp_path / "who.csv")
    assert {row["respondent"] for row in people if row["promise"] == "k"} == {f"p{n}" for n in range(24)}
    assert all(row["chain"].startswith("class ") for row in people if row["promise"] == "k")


def test_the_private_list_of_an_audit_has_every_record_of_every_broken_class(tmp_path: Path) -> None:
    rows = [f"{20 + n},{('flu', 'gout')[n % 2]}" for n in range(30)] + [
        '"[60,70]",flu',
        '"[60,70]",gout',
        '"[60,70]",flu',
    ]
    (tmp_path / "table.csv").write_text("age,ill\n" + "\n".join(rows) + "\n")
    head = '[series]\nname = "s"\n[columns]\nage = { role = "quasi" }\nill = { role = "sensitive" }\n'
    (tmp_path / "policy.toml").write_text(head + "[promise]\nk = 3\n")
    ran = seriatim(tmp_path, "audit", "table.csv", "-p", "policy.toml", "--private", "rows.csv")
    assert ran.code == 3
    records = listed(tmp_path / "rows.csv")
    assert [int(row["row"]) for row in records] == list(range(1, 31))  # thirty classes of one, and none of the last
    assert {row["promise"] for row in records} == {"k"}
    assert [int(row["class"]) for row in records] == list(range(30))
    (tmp_path / "policy.toml").write_text(head)
    plain = seriatim(tmp_path, "audit", "table.csv", "-p", "policy.toml", "--private", "rows.csv")
    assert plain.code == 0, plain.err
    assert {row["promise"] for row in listed(tmp_path / "rows.csv")} == {"alone"}


def test_a_private_list_without_respondents_or_a_folder_is_bad_input(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path)
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--private", "nowhere/who.csv")
    assert (ran.code, "--private" in ran.err) == (2, True)
    assert not (tmp_path / "releases").exists()
    with pytest.raises(sr.InputError):
        sr.audit(pa.table({"age": [1], "ill": ["a"]}), sr.Policy.load(tmp_path / "policy.toml"), private=tmp_path)
