"""Who may read what: recipients get the public part of a release, the private part stays with the publisher."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim, write_policy, write_view

from seriatim import api
from seriatim.errors import InputError
from seriatim.testing.hospital import SERIES, hospital_months

PUBLIC = {"table.csv", "codebook.json", "report.html", "manifest.json"}
PRIVATE = {"report.html", "report.json", "manifest.json"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    view, policy = write_view(folder), write_policy(folder)
    names = ("--to", "Dr Weber", "--approved-by", "A. Ortiz")
    made = seriatim(folder, "publish", str(view), "-p", str(policy), *names)
    assert made.code == 0, made.err
    return folder


PAPER = "to-sign.html"
"""A page for the publisher's files, made after the release: no manifest lists it."""


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_two_parts_stand_apart(desk: Path) -> None:
    release = desk / "releases" / "ward-visits-0001"
    assert names_in(release) == {"public", "private"}
    assert names_in(release / "public") == PUBLIC
    assert names_in(release / "private") == PRIVATE | {PAPER}
    whole = json.loads((release / "private" / "manifest.json").read_text())
    public = json.loads((release / "public" / "manifest.json").read_text())
    assert set(whole["files"]) == {f"public/{name}" for name in PUBLIC - {"manifest.json"}} | {
        f"private/{name}" for name in PRIVATE - {"manifest.json"}
    }
    assert set(public["files"]) == PUBLIC - {"manifest.json"}
    assert (whole["chain"], whole["format"]) == (public["chain"], 2)


def test_only_the_group_may_read_the_public_part_and_nobody_the_private(desk: Path) -> None:
    release = desk / "releases" / "ward-visits-0001"
    for path in [desk / "releases", release, *release.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        private = "private" in path.relative_to(desk).parts
        most = (0o700 if private else 0o750) if path.is_dir() else (0o600 if private else 0o640)
        assert mode & ~most == 0, (path, oct(mode))


def test_what_recipients_read_says_nothing_measured_against_the_truth(desk: Path) -> None:
    release = desk / "releases" / "ward-visits-0001"
    report = json.loads((release / "private" / "report.json").read_text())
    told = "".join((release / "public" / name).read_text(encoding="utf-8") for name in PUBLIC - {"table.csv"})
    assert "Weber" not in told
    assert "Ortiz" not in told
    for word in ("ithheld", "uppress", "verride", "ertainty", "query_error", "Error of counts"):
        assert word not in told.replace("@media", ""), word
    for measure in report["measures"]:
        value = measure["value"]
        if isinstance(value, float) and value not in (0.0, 1.0) and len(str(value)) > 5:
            assert str(value)[:6] not in told, measure["name"]


def test_the_report_for_recipients_names_what_was_kept(desk: Path) -> None:
    public = desk / "releases" / "ward-visits-0001" / "public"
    page, codebook = (public / "report.html").read_text(), json.loads((public / "codebook.json").read_text())
    assert "What was promised and kept" in page
    assert "How to read the table" in page
    assert {(one["promise"], one["column"], one["asked"]) for one in codebook["promises"]} == {
        ("k", None, 3),
        ("l", "ill", 2),
    }
    assert "recipients" in codebook["files"]


def test_a_promise_broken_by_override_is_not_called_kept(tmp_path: Path) -> None:
    view, policy = write_view(tmp_path), write_policy(tmp_path, k=30)
    names = ("--approved-by", "A. Ortiz", "--override", "needed in court")
    made = seriatim(tmp_path, "publish", str(view), "-p", str(policy), *names)
    assert made.code == 0, made.err
    public = tmp_path / "releases" / "ward-visits-0001" / "public"
    codebook = json.loads((public / "codebook.json").read_text())
    assert "k" not in {one["promise"] for one in codebook["promises"]}
    assert "needed in court" not in (public / "report.html").read_text()
    assert "needed in court" in (public.parent / "private" / "report.html").read_text()


def test_deliver_hands_out_the_public_part_only(desk: Path) -> None:
    given = seriatim(desk, "ledger", "deliver", "ward-visits", "1", "--to", "lab", "--out", "for-lab")
    assert given.code == 0, given.err
    copy = desk / "for-lab" / "ward-visits-0001"
    assert names_in(copy) == PUBLIC
    checked = seriatim(desk, "ledger", "verify", "--published", "for-lab", "--json")
    assert json.loads(checked.out)["sound"], checked.out
    again = seriatim(desk, "ledger", "deliver", "ward-visits", "1", "--to", "press", "--out", "for-lab")
    assert again.code == 0, again.err
    whole = (copy / "table.csv").read_bytes()
    (copy / "table.csv").write_text("other")
    changed = seriatim(desk, "ledger", "verify", "--published", "for-lab")
    assert changed.code == 4
    assert "for-lab/ward-visits-0001/table.csv" in changed.out.replace("\n", "")
    assert seriatim(desk, "ledger", "verify").code == 4
    (copy / "table.csv").write_bytes(whole)
    shown = json.loads(seriatim(desk, "ledger", "show", "--json").out)
    assert shown[0]["recipients"] == ["Dr Weber", "lab", "press"]


def test_what_was_imported_has_nothing_to_hand_out(tmp_path: Path) -> None:
    from support.ledgers import PASTS, made_policy

    ledger = api.open_ledger(tmp_path / "ledger.db")
    ledger.import_history(made_policy(), PASTS)
    with pytest.raises(InputError, match="no public part"):
        ledger.deliver("ward", 1, ["lab"], tmp_path / "out")
    assert ledger.deliver("ward", 1, ["lab"]).recipients == ("lab",)


def test_a_foreign_file_in_a_published_folder_is_noted(desk: Path) -> None:
    release = desk / "releases" / "ward-visits-0001"
    (release / "public" / "names.csv").write_text("who\n")
    said = json.loads(seriatim(desk, "ledger", "verify", "--json").out)
    (release / "public" / "names.csv").unlink()
    assert said["sound"]
    assert any("public/names.csv" in note for note in said["notes"])


@pytest.mark.parametrize("part", ["public", "private"])
def test_a_changed_file_of_either_part_is_found(desk: Path, part: str) -> None:
    release = desk / "releases" / "ward-visits-0001"
    for path in sorted(path for path in (release / part).iterdir() if path.name != PAPER):
        data = path.read_bytes()
        path.write_bytes(data + b" ")
        said: dict[str, Any] = json.loads(seriatim(desk, "ledger", "verify", "--json").out)
        path.write_bytes(data)
        assert any(str(path) in fault for fault in said["faults"]), path


def test_counterfeits_and_plain_columns_lie_beside_the_table(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(SERIES)
    ledger = api.open_ledger(tmp_path / "ledger.db")
    policy = api.load_policy(tmp_path / "policy.toml")
    made = api.publish(hospital_months(400, 1)[0], policy, ledger, out=tmp_path / "out")
    assert made.verdict.released, made.verdict.reasons
    assert names_in(tmp_path / "out" / "ward-visits-0001" / "public") == PUBLIC | {"counterfeits.csv", "plain.csv"}
