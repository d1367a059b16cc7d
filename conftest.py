"""Fixtures for all tests. ``ledger_url`` runs a test once on SQLite and once on a real PostgreSQL.

``./dev test`` spreads the tests over the cores (pytest-xdist). A run has one PostgreSQL cluster, started by whichever
worker needs it first and stopped by the process that began the run; each worker has a database of its own in it,
because a ledger's writers wait for each other by a lock that belongs to the database.
"""

from __future__ import annotations

import fcntl
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import settings
from sqlalchemy.engine import Connection

from seriatim.kernels.compiled import KernelCache
from seriatim.storage import database as databases
from seriatim.storage.schema import Revisions

settings.register_profile("kept", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("kept")  # --hypothesis-profile explore, or ./dev explore, draws other examples in every run

MEMORY, ROOM = Path("/dev/shm"), 2_000_000_000
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)  # a disk takes a fifth of a test's time to keep what it wrote

RUN_FOLDER = pytest.StashKey[Path]()
FEW = 3
"""So many test files or fewer are not worth the start of workers."""


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL cluster of our own in a temporary folder, reached through its socket."""

    programs: Path
    folder: Path

    def run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        user = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
        subprocess.run(command, check=True, capture_output=True, timeout=240, user=user, cwd=self.folder)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        settings = ["listen_addresses=''", "fsync=off", "full_page_writes=off", "autovacuum=off", "max_connections=100"]
        options = f"-k {self.folder} " + " ".join(f"-c {setting}" for setting in settings)
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.data), "-o", options, "-l", log, "-w", "-t", "200", "start")

    def stop(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(host=str(self.folder), user="postgres", dbname=database, autocommit=True) as connection:
            connection.execute(statement.encode())


@dataclass(frozen=True)
class Postgres:
    """One worker's database in the cluster of the run."""

    cluster: Cluster
    database: str
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def fresh_url(self) -> str:
        """A schema of its own for each ledger: a database would cost hundreds of files."""
        name = f"ledger_{next(self.numbers)}"
        self.cluster.execute(f"CREATE SCHEMA {name}", self.database)
        address = f"postgresql://postgres@/{self.database}?host={self.cluster.folder}&options=-csearch_path%3D{name}"
        return f"{address}&connect_timeout=120"  # a loaded machine may be slow to answer


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers for a few files: their start would take longer than most tests. Else one more than there are cores.

    A fifth of the time a test waits for another process: a service, a database, the compiler of another worker.
    """
    named = [argument.partition("::")[0] for argument in config.args]
    few = len(named) <= FEW and all(name.endswith(".py") for name in named)
    return 0 if few else (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    handed = getattr(config, "workerinput", None)
    if handed is None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # clear up as after Ctrl-C
    config.stash[RUN_FOLDER] = Path(handed["run_folder"] if handed else tempfile.mkdtemp(prefix="seriatim-run-"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["run_folder"] = str(node.config.stash[RUN_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    """The process that began the run clears up behind all workers, after failures and Ctrl-C too."""
    if hasattr(config, "workerinput") or RUN_FOLDER not in config.stash:
        return
    folder, programs = config.stash[RUN_FOLDER], _programs()
    try:
        if programs is not None:
            Cluster(programs, folder / "postgres").stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order: none needs another")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with slow tests. A worker begins with a share of neighbours, so each share begins with some of them."""
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = [item for item in items if not item.get_closest_marker("slow")]
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    ends = [len(quick) * at // workers for at in range(workers + 1)]
    shares = [slow[at::workers] + quick[ends[at] : ends[at + 1]] for at in range(workers)]
    items[:] = [item for share in shares for item in share]


def pytest_collection_finish() -> None:
    """Search what is loaded for garbage no more: it stays loaded, and searching takes an eighth of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def kernels_compiled_once() -> Iterator[None]:
    """Every kernel is compiled for one set of types: an array of another layout costs seconds at a first use."""
    yield
    rooms = ("seriatim.kernels.", "seriatim_gate.kernels.")
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(rooms)]
    named = [one for module in modules for one in vars(module).values()]
    kernels = [one for one in named if isinstance(getattr(one, "_cache", None), KernelCache)]
    often = {one.py_func.__name__: one.signatures for one in kernels if len(one.signatures) > 1}
    assert not often, f"compiled more than once: {often}"


@pytest.fixture(scope="session", autouse=True)
def schemas_made_once() -> Iterator[None]:
    """Give a new SQLite database the schema that Alembic made for the first, instead of asking it every time."""
    make, made = databases._migrate, dict[Revisions, list[str]]()

    def copied(connection: Connection, kind: Revisions) -> None:
        new = connection.dialect.name == "sqlite" and not sa.inspect(connection).get_table_names()
        for statement in made.get(kind, []) if new else []:
            connection.exec_driver_sql(statement)
        if not new or kind not in made:
            make(connection, kind)
        if new:
            made.setdefault(kind, [*connection.connection.driver_connection.iterdump()][1:-1])

    databases._migrate = copied
    yield
    databases._migrate = make


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once() -> Iterator[None]:
    """Give all SQLite databases one dialect and one cache: SQLAlchemy would compile every statement anew for each."""
    make, dialects, cache = databases._sqlite, list[sa.Dialect](), dict[Any, Any]()

    def sharing(*asked: Any) -> databases.Database:
        made = make(*asked)
        dialects[:] = dialects or [made.engine.dialect]
        made.engine.dialect = dialects[0]
        made.engine.update_execution_options(compiled_cache=cache)
        return made

    databases._sqlite = sharing
    yield
    databases._sqlite = make


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Postgres:
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL on this machine: ./dev system installs it")
    run_folder = pytestconfig.stash[RUN_FOLDER]
    cluster = Cluster(programs, run_folder / "postgres")
    database = f"tests_{getattr(pytestconfig, 'workerinput', {}).get('workerid', 'alone')}"
    with _one_at_a_time(run_folder):
        if not cluster.folder.exists():
            run_folder.chmod(0o755)  # the server's user must pass through
            cluster.folder.mkdir()
            cluster.start()
        cluster.execute(f"CREATE DATABASE {database}")
    return Postgres(cluster, database)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that does not exist yet; open it with a shelf of your own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.fresh_url()
