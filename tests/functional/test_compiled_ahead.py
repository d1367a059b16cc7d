"""What is compiled ahead in another process is what the command then calls: the same kernels, with the same types."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import seriatim as sr
from seriatim.cli import compile_ahead as starting
from seriatim.kernels import ahead
from seriatim.kernels.check.box_counts import count_inside, estimate_box_counts, fit_box
from seriatim.kernels.check.class_figures import class_figures
from seriatim.kernels.check.classes import fold_class_keys, number_classes_direct, rows_by_class
from seriatim.kernels.check.value_counts import value_counts_by_class
from seriatim.kernels.deduce.conclusions import look_for_conclusions
from seriatim.kernels.deduce.fixed_point import narrow_to_fixed_point
from seriatim.kernels.deduce.nullspace import peel_nullspace, solve_dense_nullspace, substitute_in_nullspace
from seriatim.kernels.deduce.one_round import alike_overlaps, one_round_by_compromised, one_round_by_correlations
from seriatim.kernels.single.acceptance import class_acceptance
from seriatim.kernels.single.median import cut_by_median
from seriatim.testing.hospital import POLICY, hospital_months

JUDGING = (
    class_figures,
    fold_class_keys,
    number_classes_direct,
    rows_by_class,
    value_counts_by_class,
    count_inside,
    estimate_box_counts,
    fit_box,
)
ATTACKING = (
    alike_overlaps,
    narrow_to_fixed_point,
    one_round_by_compromised,
    one_round_by_correlations,
    peel_nullspace,
    substitute_in_nullspace,
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
    before = types_of((class_acceptance, cut_by_median))
    assert all(before.values()), "a release by median calls both"
    ahead.accepting_ahead()
    ahead.cutting_ahead()
    assert types_of((class_acceptance, cut_by_median)) == before


def test_judging(published: tuple[Any, Any, Any]) -> None:
    before = types_of(JUDGING)
    assert all(before.values()), "a release calls all of them"
    ahead.judging_ahead()
    ahead.figures_ahead()
    assert types_of(JUDGING) == before


def test_figures_of_an_audit(published: tuple[Any, Any, Any]) -> None:
    table, policy, _ = published
    sr.audit(table, policy)
    before = types_of((class_figures,))
    assert all(before.values())
    ahead.figures_ahead()
    assert types_of((class_figures,)) == before


def test_attacks(published: tuple[Any, Any, Any]) -> None:
    _, policy, ledger = published
    sr.attack(ledger, {"compromised": 0.05}, series=policy.series)
    before = types_of(ATTACKING)
    assert all(before.values())
    ahead.narrowing_ahead()
    ahead.conclusions_ahead()
    ahead.twins_ahead()
    assert types_of(ATTACKING) == before
    assert len(kept_types(look_for_conclusions)) == 1, "the types that narrowing calls it with"
    assert len(solve_dense_nullspace.signatures) == 1, "not every history needs it"


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
        monkeypatch.setattr(starting, "_kept", lambda _, kernel: kernel == "peel_nullspace")
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

        monkeypatch.setattr(compiled, "compiled_folder", lambda _: None)
        starting.compile_ahead("accepting", "judging", "figures", "twins", "narrowing")
        assert started == []

    def test_every_step_names_a_kernel_that_is_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from seriatim.kernels import compiled

        assert set(starting._LAST) == set(ahead.STEPS)
        monkeypatch.setattr(compiled, "compiled_folder", lambda _: tmp_path)
        for room, kernel in starting._LAST.values():
            assert not starting._kept(room, kernel)
            (tmp_path / f"file.{kernel}-1.py311.nbi").touch()
            assert starting._kept(room, kernel)
