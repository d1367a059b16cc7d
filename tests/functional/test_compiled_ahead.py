"""What is compiled ahead in another process is what the command then calls: the same kernels, with the same types."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import seriatim as sr
from seriatim.cli import compile_ahead as starting
from seriatim.kernels import warm_up
from seriatim.kernels.check.box_counts import count_inside, expected_inside, fit_box
from seriatim.kernels.check.class_figures import class_figures
from seriatim.kernels.check.classes import fold_class_keys, number_directly, rows_by_class, value_counts_by_class
from seriatim.kernels.deduce.conclusions import compare_groups
from seriatim.kernels.deduce.fixed_point import narrow_fully
from seriatim.kernels.deduce.nullspace import peel_lone_columns, solve_dense, substitute_peeled
from seriatim.kernels.deduce.one_round import alike_overlaps, narrow_by_compromised, narrow_by_correlations
from seriatim.kernels.single.acceptance import passes_tests
from seriatim.kernels.single.median import cut_rows
from seriatim.testing.hospital import POLICY, hospital_months

JUDGING = (
    class_figures,
    fold_class_keys,
    number_directly,
    rows_by_class,
    value_counts_by_class,
    count_inside,
    expected_inside,
    fit_box,
)
ATTACKING = (
    alike_overlaps,
    narrow_fully,
    narrow_by_compromised,
    narrow_by_correlations,
    peel_lone_columns,
    substitute_peeled,
)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Any]:
    folder = tmp_path_factory.mktemp("ahead")
    (folder / "policy.toml").write_text(POLICY)
    policy, ledger = sr.Policy.load(folder / "policy.toml"), sr.Ledger.open(folder / "ledger.db")
    made = [sr.publish(view, policy, ledger) for view in hospital_months(300, 3)]
    return made[0].table, policy, ledger


def types_of(kernels: tuple[Any, ...]) -> dict[str, list[Any]]:
    return {kernel.__name__: list(kernel.signatures) for kernel in kernels}


def kept_types(kernel: Any) -> set[Any]:
    """The types for which a kernel is kept, whichever process compiled it."""
    return {types for types, *_ in kernel._cache._cache_file._load_index()}


def test_cutting(published: tuple[Any, Any, Any]) -> None:
    before = types_of((passes_tests, cut_rows))
    assert all(before.values()), "a release by median calls both"
    warm_up.compile_acceptance()
    warm_up.compile_cuts()
    assert types_of((passes_tests, cut_rows)) == before


def test_judging(published: tuple[Any, Any, Any]) -> None:
    before = types_of(JUDGING)
    assert all(before.values()), "a release calls all of them"
    warm_up.compile_judging()
    warm_up.compile_figures()
    assert types_of(JUDGING) == before


def test_figures_of_an_audit(published: tuple[Any, Any, Any]) -> None:
    table, policy, _ = published
    sr.audit(table, policy)
    before = types_of((class_figures,))
    assert all(before.values())
    warm_up.compile_figures()
    assert types_of((class_figures,)) == before


def test_attacks(published: tuple[Any, Any, Any]) -> None:
    _, policy, ledger = published
    sr.attack(ledger, {"compromised": 0.05}, series=policy.series)
    before = types_of(ATTACKING)
    assert all(before.values())
    warm_up.compile_narrowing()
    warm_up.compile_conclusions()
    warm_up.compile_twins()
    assert types_of(ATTACKING) == before
    assert len(kept_types(compare_groups)) == 1, "the types that narrowing calls it with"
    assert len(solve_dense.signatures) == 1, "not every history needs it"


class TestStarting:
    @pytest.fixture
    def started(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        calls: list[list[str]] = []

        class Process:
            def __init__(self, command: list[str], **_: Any) -> None:
                calls.append(command)

            def kill(self) -> None:
                """Nothing runs."""

        monkeypatch.setattr(subprocess, "Popen", Process)
        monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
        monkeypatch.setattr(starting, "n_cores", lambda: 2)
        return calls

    def test_only_what_is_not_kept(self, started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(starting, "_kept", lambda _, kernel: kernel == "peel_lone_columns")
        starting.compile_ahead("twins", "judging")
        assert [command[-1] for command in started] == ["judging"]
        assert "twins" not in started[0]
        starting.compile_ahead("twins")
        assert len(started) == 1

    def test_the_longest_step_has_a_process_of_its_own(
        self, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(starting, "_kept", lambda *_: False)
        starting.compile_ahead("cutting", "accepting", "judging")
        assert [command[3:] for command in started] == [["cutting"], ["accepting", "judging"]]

    def test_not_on_one_core(self, started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(starting, "_kept", lambda *_: False)
        monkeypatch.setattr(starting, "n_cores", lambda: 1)
        starting.compile_ahead("judging")
        assert started == []

    def test_not_where_nothing_can_be_kept(self, started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
        from seriatim.kernels import compiled

        monkeypatch.setattr(compiled, "cache_folder", lambda _: None)
        starting.compile_ahead("accepting", "judging", "figures", "twins", "narrowing")
        assert started == []

    def test_every_step_names_a_kernel_that_is_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from seriatim.kernels import compiled

        assert set(starting._LAST) == set(warm_up.STEPS)
        monkeypatch.setattr(compiled, "cache_folder", lambda _: tmp_path)
        for room, kernel in starting._LAST.values():
            assert not starting._kept(room, kernel)
            (tmp_path / f"file.{kernel}-1.py311.nbi").touch()
            assert starting._kept(room, kernel)
