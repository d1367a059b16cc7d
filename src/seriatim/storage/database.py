"""The database under the catalogue: opens SQLite or PostgreSQL, migrates to the newest revision, locks.

One writer at a time: SQLite by BEGIN IMMEDIATE, PostgreSQL by an advisory lock that ends with the transaction. Errors
of the database become one line of ours, never with a statement or its parameters.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.engine import URL, Connection, Engine, make_url

from seriatim.errors import Fault, InputError, LedgerDamaged, LedgerError, LedgerMissing, SeriatimError
from seriatim.storage.durable_files import disk_errors, refuse_kept_folder
from seriatim.storage.schema import LEDGER, Revisions

PATIENCE = 30.0
"""Seconds to wait for another writer."""
_WRITE = "ledger_write"
_ADVISORY_KEY = 0x5E21A71
_ADDRESSES = "a path, sqlite:///file or postgresql://server/database"


@dataclass(frozen=True, slots=True)
class Database:
    """An engine, and how to read and write through it."""

    engine: Engine
    path: Path | None
    """The file of a SQLite ledger."""
    kind: Revisions = LEDGER

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open one snapshot for everything that is read inside."""
        with _translated(self.name), self.engine.connect() as connection:
            if self.path is None:
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open the only writer: what is read inside stays true until the end, and all or nothing is kept."""
        with _translated(self.name), self.engine.connect() as connection:
            connection.execution_options(**{_WRITE: True})  # seen by _begin_sqlite
            with connection.begin():
                if self.path is None:  # READ COMMITTED, so that what is read after the lock is the newest
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{int(PATIENCE * 1000)}ms'")
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_KEY)))
                yield connection

    def keep_connection(self) -> Connection:
        """Open a connection that stays open, for a writer that commits often; write through ``transaction``."""
        with _translated(self.name):
            return self.engine.connect().execution_options(**{_WRITE: True})

    @contextmanager
    def transaction(self, connection: Connection) -> Iterator[Connection]:
        """Write through a connection that stays open; there is no lock but the database's own."""
        with _translated(self.name), connection.begin():
            yield connection

    def file_identity(self) -> tuple[int, int] | None:
        """Return what tells the file of a SQLite ledger from another of the same name; None if it is not there."""
        try:
            found = self.path.stat() if self.path is not None else None
        except OSError:
            return None
        return None if found is None else (found.st_dev, found.st_ino)

    @property
    def name(self) -> str:
        return str(self.path) if self.path else self.engine.url.render_as_string(hide_password=True)


def open_database(url: str | Path, create: bool, kind: Revisions = LEDGER) -> Database:
    """Open a database, and make or migrate its schema. A ledger newer than this software is an error."""
    database = replace(_sqlite(url, create, kind) if _is_sqlite(url) else _postgresql(str(url), kind), kind=kind)
    _bring_to_head(database, create)
    return database


def _is_sqlite(url: str | Path) -> bool:
    return isinstance(url, Path) or "://" not in url or url.startswith("sqlite")


def _sqlite(url: str | Path, create: bool, kind: Revisions) -> Database:
    path = _sqlite_path(url, kind)
    if not path.exists() and not create:
        raise LedgerMissing(Fault(str(path), f"there is no {kind.noun} here", "", "check the path"))
    if not path.exists():
        refuse_kept_folder(path.parent, str(path))
    with disk_errors(path):
        if not path.exists():
            # before SQLite opens it, so that others can never read it; -wal and -shm inherit its mode
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    engine = sa.create_engine(
        _address(path),
        poolclass=sa.NullPool,
        hide_parameters=True,
        connect_args={"timeout": PATIENCE},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Database(engine, path)


def _address(path: Path) -> URL:
    """Return the file as SQLite is to open it: only to be read, where nothing may be written beside it.

    SQLite keeps a log beside the file and cannot make one there. Where none waits, the file is all there is. It never
    makes the file: one that was moved away is not there, rather than empty.
    """
    log = path.with_name(f"{path.name}-wal")
    whole = not log.exists() or log.stat().st_size == 0
    how = "rw" if os.access(path.parent, os.W_OK) else f"ro{'&immutable=1' if whole else ''}"
    return URL.create("sqlite", database=f"file:{quote(os.fsencode(path))}?mode={how}", query={"uri": "true"})


def _sqlite_path(url: str | Path, kind: Revisions) -> Path:
    text = str(url) if isinstance(url, Path) or "://" not in url else _parsed(url, kind).database or ""
    if "\0" in text:
        raise InputError(Fault(kind.noun, "its path holds a NUL", _ADDRESSES))
    if text in ("", ":memory:"):
        found, allowed = f"a {kind.noun} must outlive the process", f"a file, as in sqlite:///{kind.noun}.db"
        raise InputError(Fault(kind.noun, found, allowed, "name one"))
    return Path(text).expanduser().absolute()


def _prepare_sqlite(dbapi: Any, _record: Any) -> None:
    dbapi.isolation_level = None  # the driver begins no transaction by itself; see _begin_sqlite
    dbapi.execute("PRAGMA synchronous = FULL")
    dbapi.execute("PRAGMA secure_delete = ON")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITE)
    dbapi: Any = connection.connection.driver_connection  # past SQLAlchemy, which takes ten times as long for it
    dbapi.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _parsed(url: str, kind: Revisions) -> URL:
    try:
        return make_url(url)
    except (exc.ArgumentError, ValueError):
        raise InputError(Fault(kind.noun, "its address cannot be read", _ADDRESSES)) from None


def _postgresql(url: str, kind: Revisions) -> Database:
    parsed = _parsed(url, kind)
    if parsed.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise InputError(Fault(kind.noun, f"the address begins with {parsed.drivername}", _ADDRESSES))
    parsed = parsed.set(drivername="postgresql+psycopg")
    wait = {} if "connect_timeout" in parsed.query else {"connect_timeout": 10}
    try:
        engine = sa.create_engine(parsed, poolclass=sa.NullPool, hide_parameters=True, connect_args=wait)
    except ModuleNotFoundError:
        raise SeriatimError("PostgreSQL needs the extra: pip install 'seriatim[postgres]'") from None
    return Database(engine, None)


def _bring_to_head(database: Database, create: bool) -> None:
    with database.reading() as connection:
        found = _revision(connection, database.kind)
    if found == database.kind.head:
        return
    if found is None and not create:
        raise LedgerMissing(Fault(database.name, f"there is no {database.kind.noun} here", "", "check the address"))
    if database.path is not None:
        _set_wal(database)
    with database.writing() as connection:
        found = _revision(connection, database.kind)  # another process may have been faster
        if found != database.kind.head:
            _refuse_foreign(connection, found, database)
            _migrate(connection, database.kind)


def _set_wal(database: Database) -> None:
    with _translated(database.name), database.engine.connect() as connection:
        dbapi: Any = connection.connection.driver_connection
        dbapi.execute("PRAGMA journal_mode = WAL")


def _revision(connection: Connection, kind: Revisions) -> str | None:
    if not _has_table(connection, kind.version_table):
        return None
    revision = connection.exec_driver_sql(f"SELECT version_num FROM {kind.version_table}").scalar()  # noqa: S608
    return None if revision is None else str(revision)


def _has_table(connection: Connection, name: str) -> bool:
    if connection.dialect.name != "sqlite":
        return sa.inspect(connection).has_table(name)
    asked = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?"
    return connection.exec_driver_sql(asked, (name,)).first() is not None  # an inspection takes ten times as long


def _refuse_foreign(connection: Connection, found: str | None, database: Database) -> None:
    name, kind = database.name, database.kind
    if found is None and sa.inspect(connection).get_table_names():
        remedy = f"give the {kind.noun} a database of its own"
        raise InputError(Fault(name, "holds tables of something else", "", remedy))
    if found is not None and not re.fullmatch("[0-9]{4}", found):
        raise LedgerDamaged(f"{name}: its revision cannot be read; restore a backup")
    if found is not None and found > kind.head:
        raise LedgerError(
            f"{name}: written by a newer Seriatim (revision {found}, this one knows {kind.head}); install the newer one"
        )
    if found is not None:
        raise LedgerError(f"{name}: written before the first release of Seriatim; start a new {kind.noun}")


def faults_inside(connection: Connection) -> list[str]:
    """Return what SQLite finds wrong with its file; nothing of another database."""
    if connection.dialect.name != "sqlite":
        return []
    said = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return [] if list(said) == ["ok"] else [f"the database file is damaged: integrity check found {len(said)} faults"]


def _migrate(connection: Connection, kind: Revisions) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", str(kind.versions))
    config.attributes["connection"], config.attributes["kind"] = connection, kind
    command.upgrade(config, kind.head)


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Turn errors of the database into one line of ours."""
    try:
        yield
    except exc.DBAPIError as error:
        raise _translation(name, error.orig) from None
    except exc.SQLAlchemyError as error:
        raise LedgerError(f"{name}: {type(error).__name__}") from None
    except json.JSONDecodeError:
        raise LedgerDamaged(f"{name}: holds a row that cannot be read; run seriatim ledger verify") from None
    except UnicodeEncodeError:
        raise InputError(Fault("name", "holds half a character", "text that UTF-8 can carry")) from None
    except OverflowError:
        raise InputError(Fault("number", "too large", "a whole number below 2^63")) from None
    except (sqlite3.Error, UnicodeDecodeError) as error:  # from the driver itself, while it connects
        raise _translation(name, error) from None


def _translation(name: str, error: BaseException | None) -> SeriatimError:
    said = " ".join(str(error).split()).lower()
    if isinstance(error, sqlite3.Error | UnicodeDecodeError):
        return _sqlite_translation(name, error, said)
    if "lock timeout" in said or "lock_timeout" in said:
        return LedgerError(f"{name}: another writer holds the ledger; try again")
    state = getattr(error, "sqlstate", None)
    if state is None or state.startswith(("08", "28", "3D")):
        return SeriatimError(f"{name}: cannot reach the database; check the address and that the server runs")
    if state.startswith("53"):
        return SeriatimError(f"{name}: the database server has run out of space or memory; nothing was recorded")
    return LedgerError(f"{name}: the database refused (SQLSTATE {state})")


def _sqlite_translation(name: str, error: BaseException, said: str) -> SeriatimError:
    if "locked" in said or "busy" in said:
        return LedgerError(f"{name}: another writer holds the ledger; try again")
    if "disk is full" in said or "disk i/o error" in said:
        return SeriatimError(f"{name}: no space left on the disk, or it failed; nothing was recorded")
    if "unable to open" in said or "readonly" in said:
        return SeriatimError(f"{name}: cannot be opened for writing; check the folder and its permissions")
    if isinstance(error, sqlite3.IntegrityError):
        return LedgerError(f"{name}: a row is already there")
    return LedgerDamaged(
        f"{name}: not a readable SQLite file; restore a backup (seriatim ledger verify checks a ledger)"
    )


def held_session(database: Database, name: str) -> Connection | None:
    """Return a connection to PostgreSQL that holds the lock of this name until it is closed; None if another does."""
    session = database.keep_connection().execution_options(isolation_level="AUTOCOMMIT")
    try:
        # journals and ledgers in different schemas of one database have different locks
        schema = session.exec_driver_sql("SELECT current_schema()").scalar()
        key = int.from_bytes(hashlib.sha256(f"{schema}/{name}".encode()).digest()[:8], signed=True)
        held = bool(session.execute(sa.select(sa.func.pg_try_advisory_lock(key))).scalar())
    except exc.DBAPIError:
        held = False
    if not held:
        session.close()
    return session if held else None
