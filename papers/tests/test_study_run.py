"""A study that is killed goes on where it stopped, and never with parts that answer another question."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from seriatim_papers import study_run
from seriatim_papers.claims import Spread
from seriatim_papers.study_run import StudyRun, code_files


class Task:
    """Counts how often it runs; fails if told to."""

    def __init__(self, makes: object, fails: bool = False) -> None:
        self.makes, self.fails, self.runs = makes, fails, 0

    def __call__(self) -> object:
        self.runs += 1
        if self.fails:
            raise KeyboardInterrupt
        return self.makes


def test_a_killed_study_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first, second = Task({"x": (Spread((1.0, 2.0)), np.arange(3))}), Task("two", fails=True)
    run = StudyRun.beside(tmp_path / "page.html", "seed 1", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        run.parts({"first": first, "second": second})
    second.fails = False
    told: list[tuple[str, float]] = []
    again = StudyRun.beside(tmp_path / "page.html", "seed 1", lambda *step: told.append(step))
    found = again.parts({"first": first, "second": second}, 0.5, 1.0)
    assert (first.runs, second.runs, found["second"]) == (1, 2, "two")
    spread, array = found["first"]["x"]  # type: ignore[index]
    assert spread == Spread((1.0, 2.0))
    assert array.tolist() == [0, 1, 2]
    assert told == [("first", 0.5), ("second", 0.75)]
    again.forget()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("other", ["settings", "code"])
def test_parts_of_other_settings_or_other_code_are_made_again(
    tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task(1)
    StudyRun(tmp_path / "p", "seed 1").parts({"a": task})
    if other == "code":
        monkeypatch.setattr(study_run, "_code", lambda: "changed")
    StudyRun(tmp_path / "p", "seed 2" if other == "settings" else "seed 1").parts({"a": task})
    assert task.runs == 2


def test_a_damaged_or_a_foreign_part_is_made_again_and_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Foreign:
        def __reduce__(self) -> object:
            return os.mkdir, (str(tmp_path / "called"),)

    class Ours:
        """A call into our own code is none either."""

        def __reduce__(self) -> object:
            return StudyRun(tmp_path / "called").forget, ()

    (tmp_path / "module_of_theirs.py").write_text(f"open({str(tmp_path / 'called')!r}, 'w')")
    monkeypatch.syspath_prepend(str(tmp_path))
    named = b"cmodule_of_theirs\nname\n."
    run = StudyRun(tmp_path / "p", "")
    task = Task(7)
    run.parts({"a": task})
    (part,) = (tmp_path / "p").iterdir()
    for bad in (b"", part.read_bytes()[:-2], pickle.dumps(Foreign()), pickle.dumps(Ours()), named):
        part.write_bytes(bad)
        assert run.parts({"a": task}) == {"a": 7}
    assert task.runs == 6
    assert not (tmp_path / "called").exists()


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    task = Task(1)
    for _ in range(2):
        StudyRun().parts({"a": task})
    StudyRun().forget()
    assert task.runs == 2


def test_the_equivocation_study_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import seriatim_papers.equivocation as study

    slow, made = study.equivocation_runs, []

    def steps(*asked: object) -> object:
        made.append(asked[1:3])
        if len(made) == 3:
            raise KeyboardInterrupt
        return slow(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(study, "equivocation_runs", steps)
    run = StudyRun(tmp_path / "parts", "")
    with pytest.raises(KeyboardInterrupt):
        study.study_equivocation(records=40, replicates=1, run=run)
    study.study_equivocation(records=40, replicates=1, run=run)
    assert [made.count(one) for one in made[:3]] == [1, 1, 2]  # only what was under way is made twice


def test_parts_are_made_again_after_a_change_anywhere_in_the_three_packages() -> None:
    named = {"/".join(path.parts[-2:]) for path in code_files()}
    assert {"engine/limits.py", "seriatim_papers/safe_release.py", "series/invariance.py"} <= named
