"""One run of a study: parts that are finished stay in a folder, so that a killed study goes on where it stopped."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from seriatim.ports import Progress, no_progress

T = TypeVar("T")
PACKAGES = ("seriatim", "seriatim_gate", "seriatim_papers")
_ARRAYS = {"_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer"}


@dataclass(frozen=True, slots=True)
class StudyRun:
    """Where finished parts are kept (nowhere if None), what the study was asked, and who hears of progress."""

    folder: Path | None = None
    asked: str = ""
    progress: Progress = no_progress

    @classmethod
    def beside(cls, page: Path, asked: str, progress: Progress) -> StudyRun:
        """Keep finished parts beside the study's page."""
        return cls(page.with_name(f"{page.name}.parts"), asked, progress)

    def parts(self, tasks: Mapping[str, Callable[[], T]], start: float = 0.0, end: float = 1.0) -> dict[str, T]:
        """Return what each task makes, by name; ``start`` and ``end`` are the shares of the whole study done."""
        found = {}
        for at, (name, make) in enumerate(tasks.items()):
            self.progress(name, start + (end - start) * at / len(tasks))
            found[name] = self._kept(name, make)
        return found

    def forget(self) -> None:
        """Remove the parts, when the study is written."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _kept(self, name: str, make: Callable[[], T]) -> T:
        if self.folder is None:
            return make()
        told = hashlib.sha256(f"{_code()}\n{self.asked}\n{name}".encode()).hexdigest()
        path = self.folder / f"{told[:32]}.part"
        if path.is_file():
            try:
                found: T = _Reader(io.BytesIO(path.read_bytes())).load()
            except (OSError, pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError):
                path.unlink()
            else:
                return found
        made = make()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(pickle.dumps(made))
        unfinished.replace(path)
        return made


KEEPS_NOTHING = StudyRun()


class _Reader(pickle.Unpickler):
    """Reads our own values and numpy's arrays; imports and calls nothing else."""

    def find_class(self, module: str, name: str) -> object:
        package = module.partition(".")[0]
        if package in PACKAGES:
            found = super().find_class(module, name)
            if isinstance(found, type) and (is_dataclass(found) or issubclass(found, tuple)):
                return found
        elif (package == "numpy" and name in _ARRAYS) or (module == "builtins" and name in ("set", "frozenset")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError("not a part of a study")


@cache
def _code() -> str:
    """Return the digest of the code: parts that other code made are made again."""
    read = hashlib.sha256()
    for path in code_files():
        read.update(path.read_bytes())
    return read.hexdigest()


def code_files() -> list[Path]:
    """Return every module that a study may use."""
    homes = [Path(str(import_module(package).__file__)).parent for package in PACKAGES]
    return [path for home in homes for path in sorted(home.rglob("*.py"))]
