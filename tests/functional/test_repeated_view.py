"""The same extract twice, or last month's after this month's, is usually a mistake: refused unless it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from support.command_line import Ran, seriatim

import seriatim as sr

COLUMNS = {"age": {"role": "quasi"}, "town": {"role": "plain"}, "ill": {"role": "sensitive"}}
POLICY: dict[str, Any] = {
    "series": {"name": "ward", "respondent": "who"},
    "columns": {**COLUMNS, "note": {"role": "drop"}},
    "promise": {"k": 2},
    "defence": {"method": "median"},
}
TOML = """
[series]
name = "ward"
respondent = "who"
[columns]
age = { role = "quasi" }
town = { role = "plain" }
ill = { role = "sensitive" }
note = { role = "drop" }
[promise]
k = 2
[defence]
method = "median"
"""


def month(first: int, n: int = 12, note: str = "x") -> pa.Table:
    people = range(first, first + n)
    return pa.table(
        {
            "who": [f"p{person}" for person in people],
            "age": [20 + person % 7 for person in people],
            "town": ["A" if person % 2 else "B" for person in people],
            "ill": [("flu", "gout", "cold")[person % 3] for person in people],
            "note": [note] * n,
        }
    )


def shuffled(table: pa.Table) -> pa.Table:
    return table.take(list(reversed(range(len(table)))))


class TestPublish:
    @pytest.fixture
    def publish(self, tmp_path: Path) -> Any:
        ledger, policy = sr.Ledger.open(tmp_path / "ledger.db"), sr.Policy.from_dict(POLICY)
        return lambda view, **how: sr.publish(view, policy, ledger, **how)

    def test_refuses_the_view_of_the_newest_release(self, publish: Any) -> None:
        assert publish(month(0)).number == 1
        refused = publish(month(0))
        assert refused.number is None
        assert refused.verdict.reasons == ("view: the view is the same as that of the newest release, 1",)
        assert any("again" in remedy for remedy in refused.verdict.remedies)

    def test_knows_it_in_any_order_of_rows_and_whatever_is_dropped(self, publish: Any) -> None:
        publish(month(0))
        assert not publish(shuffled(month(0))).verdict.released
        assert not publish(month(0, note="another")).verdict.released

    def test_refuses_an_older_view_after_a_newer_one(self, publish: Any) -> None:
        assert [publish(month(first)).number for first in (0, 1)] == [1, 2]
        (reason,) = publish(month(0)).verdict.reasons
        assert "an older one, that of release 1; the newest release is 2" in reason

    def test_again_publishes_it_with_a_note(self, publish: Any) -> None:
        publish(month(0))
        made = publish(month(0), again=True)
        assert made.number == 2
        assert any("the same as that of the newest release, 1" in note for note in made.verdict.notes)

    def test_one_changed_value_is_another_view(self, publish: Any) -> None:
        publish(month(0))
        view = month(0)
        changed = view.set_column(view.column_names.index("town"), "town", pa.array(["C"] + ["B"] * (len(view) - 1)))
        assert publish(changed).number == 2

    def test_a_rehearsal_says_it_too(self, publish: Any) -> None:
        publish(month(0))
        assert not publish(month(0), dry_run=True).verdict.released


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "policy.toml").write_text(TOML)
        for at, name in enumerate(("visits-2024-11", "visits-2024-12", "visits-2025-01", "31-12-2025", "01-01-2026")):
            pacsv.write_csv(month(at), tmp_path / f"{name}.csv")
        return tmp_path

    def publish(self, folder: Path, name: str, *options: str) -> Ran:
        return seriatim(folder, "publish", f"{name}.csv", "--policy", "policy.toml", *options)

    def test_refuses_with_exit_code_3_and_takes_again(self, folder: Path) -> None:
        assert self.publish(folder, "visits-2024-12").code == 0
        refused = self.publish(folder, "visits-2024-12")
        assert refused.code == 3
        assert "--allow again" in refused.out
        assert self.publish(folder, "visits-2024-12", "--allow", "again").code == 0

    def test_refuses_a_file_whose_name_is_older(self, folder: Path) -> None:
        assert self.publish(folder, "visits-2024-12").code == 0
        refused = self.publish(folder, "visits-2024-11")
        assert refused.code == 3
        assert "older than that of the newest release, 1" in refused.out
        assert self.publish(folder, "visits-2025-01").code == 0

    def test_names_that_do_not_sort_by_time_say_nothing(self, folder: Path) -> None:
        assert self.publish(folder, "31-12-2025").code == 0
        assert self.publish(folder, "01-01-2026").code == 0
