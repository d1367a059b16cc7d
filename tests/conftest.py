"""Fixtures for all tests. ``ledger_url`` runs a test once on SQLite and once on a real PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg
import pytest


@dataclass(frozen=True)
class Postgres:
    """A cluster of our own in a temporary folder, reached through its socket."""

    programs: Path
    folder: Path
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        user = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
        subprocess.run(command, check=True, capture_output=True, timeout=60, user=user, cwd=self.folder)

    def start(self) -> None:
        self.run("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=40"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-l", log, "-w", "-t", "50", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def fresh_url(self) -> str:
        """A schema of its own for each ledger: a database would cost hundreds of files."""
        name = f"ledger_{next(self.numbers)}"
        with psycopg.connect(host=str(self.folder), user="postgres", dbname="postgres", autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://postgres@/postgres?host={self.folder}&options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("no PostgreSQL on this machine: ./dev system installs it")
    folder = Path(tempfile.mkdtemp(prefix="seriatim-pg-"))
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    server = Postgres(found[-1].parent, folder)
    try:
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that does not exist yet; open it with a shelf of your own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.fresh_url()
