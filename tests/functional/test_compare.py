"""The same view under several methods: one table, nothing recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command_line import seriatim, write_policy, write_view

import seriatim as sr
from seriatim.testing.hospital import POLICY, SERIES, hospital_months


@pytest.fixture(scope="module")
def view() -> pa.Table:
    return hospital_months(300, 1)[0]


def policy_of(folder: Path, text: str) -> Any:
    (folder / "policy.toml").write_text(text)
    return sr.Policy.load(folder / "policy.toml")


@pytest.mark.slow
def test_every_method_of_the_policys_kind(tmp_path: Path, view: pa.Table) -> None:
    found = sr.compare(view, policy_of(tmp_path, POLICY))
    by_name = {one.method: one for one in found.methods}
    assert set(by_name) == {"median", "lattice", "curve", "sequence"}
    for one in by_name.values():
        assert one.released == (one.kept == one.asked), one
        assert one.asked == 4
        assert one.gcp is not None
        assert 0 < one.gcp <= 1
        assert (one.class_size or 0) >= 5
        assert one.query_error is not None
        assert one.seconds > 0
    again = {one.method: one.gcp for one in sr.compare(view, policy_of(tmp_path, POLICY)).methods}
    assert again == {one.method: one.gcp for one in found.methods}
    # the figures are those of publishing itself
    made = sr.publish(view, policy_of(tmp_path, POLICY), sr.Ledger.open(tmp_path / "ledger.db"), dry_run=True)
    assert made.verdict.measure("gcp").value == by_name["median"].gcp
    assert "would be released" in found.to_html()


def test_a_serial_policy_tries_the_serial_methods(tmp_path: Path, view: pa.Table) -> None:
    found = sr.compare(view, policy_of(tmp_path, SERIES))
    assert {one.method for one in found.methods} == {"invariant", "historical", "distinct", "cohort"}
    assert all(one.released for one in found.methods), [one.why for one in found.methods]


def test_a_series_that_ends_in_bad_input_counts_what_was_released(tmp_path: Path) -> None:
    """Values that change end a cohort at the second view; the first was released."""
    views = hospital_months(300, 2, churn=0.0)
    other = pa.array(["none"] * 300)
    changed = views[1].set_column(views[1].column_names.index("disease"), "disease", other)
    (found,) = sr.compare([views[0], changed], policy_of(tmp_path, SERIES), ["cohort"]).methods
    assert (found.released, found.releases) == (False, 1)
    assert found.why.startswith("release 2: ")
    assert found.gcp is not None  # the figures are those of the last release


def test_a_method_that_cannot_is_a_line_and_not_an_end(tmp_path: Path, view: pa.Table) -> None:
    twice = pa.concat_tables([view, view.slice(0, 3)])
    found = sr.compare(twice, policy_of(tmp_path, POLICY), ["median", "cohort", "median"])
    median, cohort = found.methods
    assert median.gcp is not None
    assert (cohort.gcp, cohort.released) == (None, False)
    assert "3" in cohort.why
    assert cohort.promises == "m = 3"  # the l that the policy asks for
    with pytest.raises(sr.PolicyError, match=r"unknown: medium; allowed: median"):
        sr.compare(view, policy_of(tmp_path, POLICY), ["medium"])


def test_the_command_prints_writes_and_records_nothing(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_policy(tmp_path)
    ran = seriatim(tmp_path, "compare", "view.csv", "-p", "policy.toml", "--out", "compared.html")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()[:4]] == ["method", "median", "lattice", "curve"]
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"view.csv", "policy.toml", "compared.html", "compared.json"}
    ran = seriatim(tmp_path, "compare", "view.csv", "-p", "policy.toml", "--method", "median", "--json")
    (median,) = json.loads(ran.out)["methods"]
    assert median["released"] is True
    assert seriatim(tmp_path, "compare", "view.csv", "-p", "policy.toml", "-m", "madian").code == 2


def test_methods_of_both_families_over_several_views(tmp_path: Path) -> None:
    """Each is judged by its own promises; median passes every one of them and breaches people all the same."""
    views = hospital_months(900, 4, churn=0.15)
    found = sr.compare(views, policy_of(tmp_path, POLICY), ["median", "cohort"])
    median, cohort = found.methods
    assert (median.releases, cohort.releases) == (4, 4), [one.why for one in found.methods]
    assert (median.promises, cohort.promises) == ("k = 5, l = 3, t = 0.5", "m = 3")
    assert all(one.kept == one.asked for one in found.methods)
    assert median.breached > 0.02
    assert cohort.breached == 0
    assert found.head[3:5] == ("releases", "people breached")
    assert "judged by its own promises" in found.to_html()
    again = sr.compare(views, policy_of(tmp_path, POLICY), ["cohort"]).methods[0]
    assert (again.gcp, again.query_error) == (cohort.gcp, cohort.query_error)


def test_a_serial_policy_beside_a_method_for_one_release(tmp_path: Path) -> None:
    median, cohort = sr.compare(hospital_months(600, 2), policy_of(tmp_path, SERIES), ["median", "cohort"]).methods
    assert (median.promises, cohort.promises) == ("k = 3, l = 3", "m = 3")
    assert median.released
    assert cohort.released


def test_a_bound_that_breaks_says_at_which_release(tmp_path: Path) -> None:
    text = POLICY + "\n[adversary]\nbreach_share = 0.01\n"
    cohort, median = sr.compare(  # what would be released comes first
        hospital_months(900, 4, churn=0.15), policy_of(tmp_path, text), ["median", "cohort"]
    ).methods
    assert median.releases < 4
    assert median.why.startswith(f"release {median.releases + 1}: breach_share")
    assert cohort.releases == 4
