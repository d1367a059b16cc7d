"""What every kernel keeps: where compiled code may lie, and which functions Python may call."""

from __future__ import annotations

import ast
import os
import re
import stat
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from seriatim.kernels import compiled

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "src" / "seriatim" / "kernels"


@cache
def files() -> tuple[Path, ...]:
    """All kernel files."""
    return tuple(KERNELS.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def marks(path: Path) -> dict[str, str]:
    """Return how each function at the top of a file is compiled, by its decorator; '' for plain Python."""
    tree = tree_of(path)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.unparse(node.decorator_list[0]) if node.decorator_list else "" for node in found}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)


def inner_functions() -> set[tuple[str, str]]:
    return {
        (name_of(path), name)
        for path in files()
        for name, mark in marks(path).items()
        if mark in ("inner", "leaf", "inlined", "fast_inner")
    }


def test_python_calls_no_inner_function() -> None:
    """They have no entry for Python: a call would take the process down."""
    inner, wrong = inner_functions(), []
    assert len(inner) > 80
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py")]:
        inside, text = KERNELS in path.parents, path.read_text()
        if not inside and "seriatim.kernels" not in text:
            continue  # nothing of theirs is imported
        tree = ast.parse(text)
        told = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        if inside:
            told |= {name: (name_of(path), name) for name in marks(path)}
        for node in tree.body:
            if inside and isinstance(node, ast.FunctionDef) and node.decorator_list:
                continue
            for use in ast.walk(node):
                if isinstance(use, ast.Name) and told.get(use.id) in inner:
                    wrong.append(f"{path.name}: {use.id}")
                if isinstance(use, ast.Attribute) and isinstance(use.value, ast.Name) and use.value.id in told:
                    module = ".".join(map(str, told[use.value.id]))
                    wrong += [f"{path.name}: {use.attr}"] if (module, use.attr) in inner else []
    assert wrong == []


def test_a_leaf_makes_and_returns_no_array() -> None:
    """It counts no references: an array that it made or gave back would be lost, or freed under the caller."""
    told = {name: mark for path in files() for name, mark in marks(path).items()}
    wrong = []
    for path in files():
        for node in tree_of(path).body:
            if not isinstance(node, ast.FunctionDef) or marks(path)[node.name] != "leaf":
                continue
            gives = ast.unparse(node.returns) if node.returns else ""
            if re.search(r"[A-Z]|Any", gives.replace("None", "")):
                wrong.append(f"{path.name}: {node.name} returns {gives}")
            calls = [
                use.func.id for use in ast.walk(node) if isinstance(use, ast.Call) and isinstance(use.func, ast.Name)
            ]
            wrong += [
                f"{path.name}: {node.name} calls {name}" for name in calls if told.get(name) in ("inner", "kernel")
            ]
    assert wrong == []


def test_every_compiled_function_is_compiled_our_way() -> None:
    known = {"kernel", "inner", "leaf", "inlined", "fast_inner", ""}
    assert {mark for path in files() for mark in marks(path).values()} - known <= {"cache"}
    users = [path.name for path in files() if "numba" in path.read_text().split('"""', 2)[2]]
    assert sorted(users) == ["arrays.py", "compiled.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are POSIX")
class TestPrivateFolder:
    """The folder's name can be guessed, and what lies in it is run."""

    @pytest.fixture(autouse=True)
    def _temporary(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tmp_path.chmod(0o1777)
        monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(tmp_path))
        compiled.private_compiled_folder.cache_clear()
        yield
        compiled.private_compiled_folder.cache_clear()

    def expected(self, tmp_path: Path) -> Path:
        return tmp_path / f"seriatim-{os.geteuid()}"

    def test_is_made_for_this_user_alone(self, tmp_path: Path) -> None:
        with pytest.warns(compiled.KeptElsewhere, match="kept in"):
            folder = compiled.private_compiled_folder()
        assert folder == self.expected(tmp_path)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o755, 0o701])
    def test_is_refused_when_others_may_enter_it(self, tmp_path: Path, mode: int) -> None:
        self.expected(tmp_path).mkdir()
        self.expected(tmp_path).chmod(mode)
        self.assert_refused()

    def test_is_refused_when_it_is_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        self.expected(tmp_path).symlink_to(tmp_path / "elsewhere")
        self.assert_refused()

    def test_is_refused_when_it_is_somebody_elses(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = os.geteuid() + 1
        monkeypatch.setattr(compiled.os, "geteuid", lambda: other)
        (tmp_path / f"seriatim-{other}").mkdir(mode=0o700)
        self.assert_refused()

    def test_is_refused_where_others_could_put_theirs_in_its_place(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o777)
        self.assert_refused()

    def assert_refused(self) -> None:
        with pytest.warns(compiled.KeptElsewhere, match="compiles anew"):
            assert compiled.private_compiled_folder() is None


COUNT_TWICE = """
import sys, warnings
from seriatim.kernels import compiled
usual = compiled._writable
compiled._writable = lambda folder: sys.argv[1] != "nowhere" and sys.argv[1] in str(folder) and usual(folder)
import numpy as np
from seriatim.kernels.check.value_counts import class_counts, class_value_counts
print(class_value_counts(np.array([0, 1, 1], dtype=np.int32), 2).tolist())
"""


@pytest.mark.parametrize("writable", [True, False])
def test_kernels_work_where_neither_installation_nor_home_can_be_written(tmp_path: Path, writable: bool) -> None:
    """Said once; without a private folder nothing is kept, and everything still works."""
    tmp_path.chmod(0o700)
    private = tmp_path / f"seriatim-{os.geteuid()}"
    if not writable:
        private.mkdir()
        private.chmod(0o755)
    surroundings = {**os.environ, "TMPDIR": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", COUNT_TWICE, str(private)],
        capture_output=True, text=True, env=surroundings, check=True,
    )  # fmt: skip
    assert done.stdout == "[1, 2]\n"
    assert done.stderr.count("KeptElsewhere") == 1
    assert bool(list(private.rglob("*.nbi"))) == writable


def test_what_is_kept_counts_for_these_sources_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel holds a copy of those it calls, perhaps of another file."""
    (tmp_path / "one.py").write_text("first")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "two.py").write_text("second")
    monkeypatch.setattr(compiled, "_HERE", tmp_path)
    before = compiled.compiled_stamp.__wrapped__()
    (tmp_path / "room" / "two.py").write_text("changed")
    assert compiled.compiled_stamp.__wrapped__() != before


def test_installations_with_the_same_kernels_share_what_they_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only in a folder that was named: elsewhere each installation has its own."""
    find = compiled.compiled_folder.__wrapped__
    rooms = [tmp_path / clone / "kernels" / "check" for clone in ("one", "other")]
    monkeypatch.setattr(compiled.config, "CACHE_DIR", str(tmp_path / "named"))
    shared, again = map(find, rooms)
    assert shared == again
    assert shared.parent == tmp_path / "named"
    monkeypatch.setattr(compiled, "compiled_stamp", lambda: "another digest of the sources")
    assert find(rooms[0]) != shared
    monkeypatch.setattr(compiled.config, "CACHE_DIR", "")
    assert [find(room) for room in rooms] == [room / "__pycache__" for room in rooms]


def test_the_cache_knows_only_kernels() -> None:
    assert compiled.KernelLocator.from_function(import_module, import_module.__code__.co_filename) is None


def test_arrays_that_belong_together_travel_together() -> None:
    """At most six parameters; the median's small functions and the gate have more, and they say what that saves."""
    many = {
        path.relative_to(KERNELS).as_posix()
        for path in files()
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and len(node.args.args) > 6
    }
    names = ("blocks", "gate_board", "merged_steps", "oldest", "queue", "independence_paths", "verdicts")
    gate = {f"gate/{name}.py" for name in names}
    assert many == {"single/median.py"} | gate


def test_every_kernel_says_what_it_returns_or_changes() -> None:
    silent = [
        f"{path.name}: {node.name}"
        for path in files()
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and marks(path)[node.name] == "kernel" and not ast.get_docstring(node)
    ]
    assert silent == []
