"""Where compiled kernels are kept between runs.

The first folder that can be written: the one named in NUMBA_CACHE_DIR, ``__pycache__`` beside the sources, the user's
cache folder, and last a private folder below the temporary one. What is kept there is loaded and run, so a folder that
anybody else may write to is never used. A kernel holds a copy of the kernels it calls, therefore what is kept counts
only as long as no kernel's source has changed. In NUMBA_CACHE_DIR all installations with the same kernels share what
they compiled: ``./dev`` names one, so that a fresh clone has nothing to compile if another had the same kernels.

A claim says who compiles a kernel just now, so that two processes do not do the same work side by side. It is a file
beside the compiled kernels with the number of the process that compiles one. Whoever finds the claim of a living
process waits until it is gone. Kernels call each other in one direction only, so nobody waits for somebody who waits
for them. A claim is a courtesy: when it cannot be written, or takes too long, everybody compiles.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import stat
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.core.runtime.nrt import rtsys
from numba.misc.appdirs import AppDirs

PATIENCE = 60.0
"""Seconds after which nobody waits any more: the slowest kernel takes a quarter of that on an idle machine."""


class CompileClaim:
    """The claim on one kernel with one signature, in one folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self) -> bool:
        """Return whether this process is to compile; if not, another one has just done so."""
        if os.name == "nt":
            return True  # there is no harmless way to ask whether a process lives
        until = time.monotonic() + PATIENCE
        waited = False
        while time.monotonic() < until:
            try:
                with self._path.open("x") as file:
                    file.write(str(os.getpid()))
            except FileExistsError:
                if not self._is_held():
                    self._path.unlink(missing_ok=True)
                    continue
                waited = True
                time.sleep(0.02)
            except OSError:
                return True
            else:
                atexit.register(self.leave)
                if waited:
                    self.leave()
                return not waited
        return True

    def leave(self) -> None:
        """Give the claim up; one that somebody else has taken over stays."""
        try:
            if self._path.read_text() == str(os.getpid()):
                self._path.unlink(missing_ok=True)
        except OSError:
            pass

    def _is_held(self) -> bool:
        """Say whether the process that wrote the claim lives, and is not this one."""
        try:
            text = self._path.read_text()
            age = time.time() - self._path.stat().st_mtime
        except OSError:
            return False
        if not text.isdigit():
            return age < 1.0  # it is being written
        if int(text) == os.getpid() or age > 2 * PATIENCE:
            return False
        try:
            os.kill(int(text), 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


_HERE = Path(__file__).parent


class KeptElsewhere(RuntimeWarning):
    """Compiled kernels are kept in the temporary folder, or nowhere; the message says which."""


class KernelLocator(caching._CacheLocator):  # type: ignore[misc, unused-ignore]
    """Tells numba where kernels are kept: functions below a folder ``kernels``; of any other it knows nothing."""

    def __init__(self, py_func: Any, folder: Path) -> None:
        self._py_file = py_func.__code__.co_filename
        self._line = py_func.__code__.co_firstlineno
        self._room, self._folder = Path(self._py_file).parent, folder

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return _stamp_of(self._room)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> KernelLocator | None:
        room = Path(py_file).parent
        folder = None if _kernels_around(room) is None else cache_folder(room)
        return None if folder is None else cls(py_func, folder)


@cache
def source_stamp() -> str:
    """Return a digest of all our kernels' sources."""
    return _digest_of(_HERE)


def _stamp_of(room: Path) -> str:
    """Return the digest of the sources that a room's kernels are compiled from: ours, and its own package's."""
    top = _kernels_around(room)
    return source_stamp() if top is None or top == _HERE else f"{_other_digest(top)[:16]}-{source_stamp()}"


@cache
def _other_digest(folder: Path) -> str:
    return _digest_of(folder)


def _digest_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _kernels_around(room: Path) -> Path | None:
    """Return the folder ``kernels`` that holds a room, or is it."""
    return next((folder for folder in (room, *room.parents) if folder.name == "kernels"), None)


@cache
def cache_folder(room: Path) -> Path | None:
    """Return the folder in which the compiled kernels of a room are kept; None when there is none."""
    name = f"seriatim-{room.name}-{hashlib.sha256(bytes(room)).hexdigest()[:16]}"
    shared = f"seriatim-{_stamp_of(room)[:33]}-{room.name}"
    asked, home = getattr(config, "CACHE_DIR", ""), AppDirs("numba", False).user_cache_dir  # type: ignore[no-untyped-call, unused-ignore]
    for folder in ([Path(asked) / shared] if asked else []) + [room / "__pycache__", Path(home) / name]:
        if _writable(folder):
            return folder
    private = private_folder()
    return private / name if private is not None and _writable(private / name) else None


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def private_folder() -> Path | None:
    """Return a folder below the temporary one that only this user can write to, and say that it is used.

    Its name can be guessed by others, so one that is not the user's own, or open to others, is refused.
    """
    above = Path(tempfile.gettempdir())
    folder = above / (f"seriatim-{os.geteuid()}" if hasattr(os, "geteuid") else "seriatim")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        safe = _is_private(folder.lstat()) and not _renamed_by_others(above.stat())
    except OSError:
        safe = False
    if safe:
        said = f"neither the installation nor the home folder can be written: compiled code is kept in {folder}"
    else:
        said = f"no folder to keep compiled code in: every run compiles anew ({folder} is not private to this user)"
    warnings.warn(said, KeptElsewhere, stacklevel=2)
    return folder if safe else None


def _is_private(found: os.stat_result) -> bool:
    """Say whether this is a folder, no link, that belongs to this user and that nobody else may enter or change."""
    if not hasattr(os, "geteuid"):
        return stat.S_ISDIR(found.st_mode)  # the temporary folder is the user's own there
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077 == 0


def _renamed_by_others(above: os.stat_result) -> bool:
    """Say whether others may rename what lies in a folder: one that all may write to, without the sticky bit."""
    return bool(above.st_mode & 0o022) and not above.st_mode & stat.S_ISVTX


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc, unused-ignore]
    _locator_classes = [KernelLocator]  # noqa: RUF012 - as numba declares it


class KernelCache(caching.FunctionCache):  # type: ignore[misc, unused-ignore]
    """numba's cache, without loading the compiler first: a kernel that is found needs only numba's run-time part.

    That is half of the time a command takes that has compiled nothing. A kernel that is not found is compiled, and
    then numba loads the rest by itself. While another process compiles the same kernel, this one waits for it.
    """

    _impl_class = _KernelCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
            if found is None and not self._claim(sig).take():
                found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
            return found

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)  # type: ignore[no-untyped-call, unused-ignore]
        self._claim(sig).leave()

    def _claim(self, sig: Any) -> CompileClaim:
        stamp = _stamp_of(Path(self._py_func.__code__.co_filename).parent)
        digest = hashlib.sha256(f"{stamp} {sig}".encode()).hexdigest()[:16]
        return CompileClaim(Path(self.cache_path) / f"{self._py_func.__name__}-{digest}.making")
