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
SOURCES = (ROOT / "src", ROOT / "gate" / "src", ROOT / "papers" / "src")
KERNELS = tuple(
    source / package / "kernels"
    for source, package in zip(SOURCES, ("seriatim", "seriatim_gate", "seriatim_papers"), strict=True)
)


@cache
def files() -> tuple[Path, ...]:
    """All kernel files."""
    return tuple(path for folder in KERNELS for path in folder.rglob("*.py"))


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
    (source,) = (source for source in SOURCES if source in path.parents)
    return ".".join(path.relative_to(source).with_suffix("").parts)


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
    folders = ("src/**", "gate/**", "papers/**", "tests/**", "benchmarks")
    for path in [path for folder in folders for path in ROOT.glob(f"{folder}/*.py")]:
        inside, text = not set(KERNELS).isdisjoint(path.parents), path.read_text()
        if not inside and not re.search(r"seriatim(_gate|_papers)?\.kernels", text):
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
        compiled.private_folder.cache_clear()
        yield
        compiled.private_folder.cache_clear()

    def expected(self, tmp_path: Path) -> Path:
        return tmp_path / f"seriatim-{os.geteuid()}"

    def test_is_made_for_this_user_alone(self, tmp_path: Path) -> None:
        with pytest.warns(compiled.KeptElsewhere, match="kept in"):
            folder = compiled.private_folder()
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
            assert compiled.private_folder() is None


COUNT_TWICE = """
import sys, warnings
from seriatim.kernels import compiled
usual = compiled._writable
compiled._writable = lambda folder: sys.argv[1] != "nowhere" and sys.argv[1] in str(folder) and usual(folder)
import numpy as np
from seriatim.kernels.check.classes import value_counts_by_class, class_sizes
print(class_sizes(np.array([0, 1, 1], dtype=np.int32), 2).tolist())
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
    before = compiled.source_stamp.__wrapped__()
    (tmp_path / "room" / "two.py").write_text("changed")
    assert compiled.source_stamp.__wrapped__() != before


def test_installations_with_the_same_kernels_share_what_they_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only in a folder that was named: elsewhere each installation has its own."""
    find = compiled.cache_folder.__wrapped__
    rooms = [tmp_path / clone / "kernels" / "check" for clone in ("one", "other")]
    monkeypatch.setattr(compiled.config, "CACHE_DIR", str(tmp_path / "named"))
    shared, again = map(find, rooms)
    assert shared == again
    assert shared.parent == tmp_path / "named"
    monkeypatch.setattr(compiled, "source_stamp", lambda: "another digest of the sources")
    assert find(rooms[0]) != shared
    monkeypatch.setattr(compiled.config, "CACHE_DIR", "")
    assert [find(room) for room in rooms] == [room / "__pycache__" for room in rooms]


def test_the_cache_knows_only_kernels() -> None:
    assert compiled.KernelLocator.from_function(import_module, import_module.__code__.co_filename) is None


@cache
def compiled_functions() -> tuple[tuple[Path, ast.FunctionDef], ...]:
    """All functions of all kernel files that are compiled, each with its file."""
    return tuple(
        (path, node)
        for path in files()
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and marks(path)[node.name] not in ("", "cache")
    )


def test_arrays_that_belong_together_travel_together() -> None:
    """At most six parameters."""
    assert [(path.name, node.name) for path, node in compiled_functions() if len(node.args.args) > 6] == []


VERBS = (
    "Add Allow Answer Bring Carry Change Copy Count Fill Find Forget Lower Make Mark Move Multiply Narrow Overwrite "
    "Put Raise Release Reorder Return Set Sort Take Turn Update Write"
)


def test_every_kernel_says_first_what_it_returns() -> None:
    """The first line starts with a verb and, where something is returned, says so."""
    wrong = []
    for path, node in compiled_functions():
        first = (ast.get_docstring(node) or " ").splitlines()[0]
        returns = node.returns is not None and ast.unparse(node.returns) != "None"
        if first.split(" ")[0] not in VERBS.split() or (returns and not re.search(r"\b[Rr]eturns?\b", first)):
            wrong.append(f"{path.name}: {node.name}: {first}")
    assert wrong == []


def test_every_kernel_says_what_it_changes() -> None:
    """Whoever writes into an argument, or lets another function do it, names one or says 'in place'."""
    silent = []
    for (path, name), changed in written_arguments().items():
        node = next(node for home, node in compiled_functions() if (home, node.name) == (path, name))
        said = re.compile("in place|" + "|".join(rf"\b{one}\b" for one in sorted(changed)))
        if changed and not said.search(ast.get_docstring(node) or ""):
            silent.append(f"{path.name}: {name} changes {', '.join(sorted(changed))}")
    assert silent == []


def written_arguments() -> dict[tuple[Path, str], set[str]]:
    """Return the parameters of every compiled function whose entries change, in it or in what it calls."""
    found: dict[tuple[Path, str], set[str]] = {(path, node.name): set() for path, node in compiled_functions()}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for path, node in compiled_functions():
            borrowed = borrowed_names(node)
            changed = {base_name(target) for target in targets_in(node) if isinstance(target, ast.Subscript)}
            for call in (use for use in ast.walk(node) if isinstance(use, ast.Call) and isinstance(use.func, ast.Name)):
                called = function_called(path, call.func.id)
                names = [argument.arg for argument in called[1].args.args] if called else []
                inside = found[called[0], called[1].name] if called else set()
                changed |= {base_name(given) for given, name in zip(call.args, names, strict=False) if name in inside}
            found[path, node.name] |= {borrowed[name] for name in changed if name in borrowed}
    return found


def function_called(path: Path, name: str) -> tuple[Path, ast.FunctionDef] | None:
    """Return the compiled function that a file knows by a name."""
    homes = [path] + [
        source / f"{node.module.replace('.', '/')}.py"
        for source in SOURCES
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}
    ]
    return next(((home, node) for home, node in compiled_functions() if home in homes and node.name == name), None)


def borrowed_names(node: ast.FunctionDef) -> dict[str, str]:
    """Return the names that stand for a parameter's memory: its own, and locals set to a field or slice of it."""
    known = {argument.arg: argument.arg for argument in node.args.args}
    for use in ast.walk(node):
        if isinstance(use, ast.Assign):
            target, value = use.targets[0], use.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for name, source in zip(target.elts, value.elts, strict=True) if both else [(target, value)]:
                field = isinstance(source, ast.Attribute) and source.attr != "shape"
                part = isinstance(source, ast.Subscript) and ":" in ast.unparse(source.slice)
                if isinstance(name, ast.Name) and (field or part) and base_name(source) in known:
                    known.setdefault(name.id, known[base_name(source)])
    return known


def base_name(use: ast.expr) -> str:
    while isinstance(use, ast.Subscript | ast.Attribute):
        use = use.value
    return use.id if isinstance(use, ast.Name) else ""


def targets_in(node: ast.FunctionDef) -> list[ast.expr]:
    """Return everything that is assigned to."""
    uses = [use for use in ast.walk(node) if isinstance(use, ast.Assign | ast.AugAssign)]
    wholes = [use.targets[0] if isinstance(use, ast.Assign) else use.target for use in uses]
    return [each for whole in wholes for each in (whole.elts if isinstance(whole, ast.Tuple) else [whole])]


def test_kernels_use_words() -> None:
    """One letter is an index (i, j, k), or a symbol that the docstring explains (m of the policy, c of a formula)."""
    wrong = []
    for path, node in compiled_functions():
        names = {use.id for use in ast.walk(node) if isinstance(use, ast.Name) and isinstance(use.ctx, ast.Store)}
        names |= {argument.arg for argument in node.args.args}
        wrong += [f"{path.name}: {node.name}: {name}" for name in unexplained(names - set("ijk_"), node)]
    for path in files():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                fields = {use.target.id for use in node.body if isinstance(use, ast.AnnAssign)}
                wrong += [f"{path.name}: {node.name}: {name}" for name in unexplained(fields, node)]
    assert wrong == []


def unexplained(names: set[str], node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    said = ast.get_docstring(node) or ""
    return sorted(name for name in names if len(name) == 1 and (name == "a" or not re.search(rf"\b{name}\b", said)))
