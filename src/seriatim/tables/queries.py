"""Reads the rows that a query finds in PostgreSQL or DuckDB; nothing is written there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from seriatim.errors import Fault, SeriatimError, TableError
from seriatim.model import Table
from seriatim.tables.reader import ADDRESS

_QUERY = re.compile(r"[?&]query=(.*)", re.DOTALL)
_FIRST_LINE = re.compile(r"--\s*(\S+)\s*\n(.*)", re.DOTALL)


def read_address(address: str) -> Table:
    """Read ``postgresql://server/database?query=SELECT ...``, or ``duckdb:///file.db?query=...``."""
    from urllib.parse import unquote_plus

    found = _QUERY.search(address)
    if found is None:
        raise TableError(Fault("query", "no query in the address", "ADDRESS?query=SELECT ...", "add it"))
    query = found[1] if re.search(r"\s", found[1]) else unquote_plus(found[1])
    return _read(address[: found.start()], query, Path(), "query")


def read_file(path: Path) -> Table:
    """Read a .sql file: its first line names the database, as ``-- postgresql://server/database``; the rest asks."""
    try:
        told = _FIRST_LINE.match(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(Fault(path.name, f"cannot be read ({type(error).__name__})", "a UTF-8 text")) from None
    if told is None or not ADDRESS.match(told[1]):
        allowed = "-- postgresql://server/database or -- duckdb:///file.db, then the query"
        raise TableError(Fault(path.name, "the first line names no database", allowed, "add it"))
    return _read(told[1], told[2], path.parent, path.name)


def _read(address: str, query: str, base: Path, name: str) -> Table:
    read = _from_postgresql if address.startswith("postgresql") else _from_duckdb
    return Table(read(address, query, base), name=name)


def _from_postgresql(address: str, query: str, base: Path) -> pa.Table:  # noqa: ARG001 - a server has no folder
    try:
        import psycopg
    except ImportError:
        raise SeriatimError("PostgreSQL needs the extra: pip install 'seriatim[postgres]'") from None
    try:
        with psycopg.connect(address) as connection:
            connection.read_only = True
            with connection.cursor() as cursor:
                cursor.execute(query.encode())  # as bytes: a query of the steward's own, whatever it says
                names = [column.name for column in cursor.description or ()]
                rows: list[Any] = cursor.fetchall() if names else []
    except psycopg.OperationalError:
        raise SeriatimError("the database of the query is out of reach") from None
    except psycopg.Error as error:  # its message may quote cells
        raise _refused(type(error).__name__, "PostgreSQL") from None
    return _table(names, rows)


def _table(names: list[str], rows: list[Any]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    try:
        return pa.table([pa.array(column) for column in columns], names=names)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise _refused(type(error).__name__, "cells of one type in each column") from None


def _from_duckdb(address: str, query: str, base: Path) -> pa.Table:
    try:
        import duckdb
    except ImportError:
        raise SeriatimError("DuckDB needs the extra: pip install 'seriatim[files]'") from None
    try:
        with duckdb.connect(str(base / address.removeprefix("duckdb:///")), read_only=True) as connection:
            return connection.sql(query).to_arrow_table()
    except (duckdb.Error, AttributeError) as error:  # its message may quote cells; no rows are no relation
        raise _refused(type(error).__name__, "DuckDB") from None


def _refused(kind: str, allowed: str) -> TableError:
    return TableError(Fault("query", f"failed ({kind})", f"a SELECT that runs in {allowed}", "try it there first"))
