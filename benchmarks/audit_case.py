"""The audit of classes against the group-by it contains, and against pycanon.

Both sides read the same Parquet file, texts as texts. Two tables: one as an anonymiser leaves it, with few classes,
and one with postcode and birth date as they are, where nearly every record is a class.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers import peer_python
from benchmarks.timing import in_turns, row
from seriatim.measures.leakage_given import KnownAttribute, all_column_pairs, all_column_sets
from seriatim.model import ColumnRule, Policy, PromiseTerms, Role, Table
from seriatim.tables.auditable import auditable, read_auditable
from seriatim.usecases.audit.audit import audit
from seriatim_papers.worlds.adultlike import adultlike

QUASI = ("postcode", "birth-date", "sex", "race", "marital-status", "education", "native-country", "workclass")
SENSITIVE = "occupation"
SIZES = (30_000, 300_000, 1_000_000, 10_000_000)
LIMIT = 3.0


def audit_rows(quick: bool = False) -> list[dict[str, Any]]:
    """Rows for the table of benchmarks; ``quick`` leaves the largest table and pycanon out."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES[:-1] if quick else SIZES:
            table = _texts(adultlike(n, 5))
            for name, published in (("anonymised", _coarse(table)), ("raw", table)):
                path = Path(folder) / f"{name}.parquet"
                pq.write_table(published, path)
                rows.extend(_against_group_by(path, f"{n:,} rows x 8, {name}", rounds=3 if n > 1_000_000 else 7))
        if not quick:
            rows.append(_against_pycanon(Path(folder)))
    return rows


def _policy() -> Policy:
    columns = {name: ColumnRule(name, Role.QUASI) for name in QUASI}
    return Policy(
        series="bench",
        columns=columns | {SENSITIVE: ColumnRule(SENSITIVE, Role.SENSITIVE)},
        terms=PromiseTerms(),
        defence=None,
    )


def _audit(path: Path) -> dict[str, Any]:
    return _audited(read_auditable(path))


def _audited(table: Table) -> dict[str, Any]:
    policy = _policy()
    return audit(auditable(table, policy), policy).summary[SENSITIVE]


def _against_group_by(path: Path, what: str, rounds: int) -> list[dict[str, Any]]:
    limit = LIMIT if what.startswith("1,000,000 ") else None  # set for a million rows; the others show how it grows
    quoted = ", ".join(f'"{name}"' for name in QUASI)
    query = f"select {quoted}, count(*) from read_parquet('{path}') group by all"
    seconds = in_turns(
        {
            "audit": lambda: _audit(path),
            "polars": lambda: pl.scan_parquet(path).group_by(QUASI).len().collect(),
            "duckdb": lambda: duckdb.sql(query).to_arrow_table(),
        },
        rounds,
    )
    return [
        row(f"audit of classes to polars' group-by, {what}", seconds["audit"] / seconds["polars"], limit),
        row(f"audit of classes to duckdb's group-by, {what}", seconds["audit"] / seconds["duckdb"], None),
    ]


def _against_pycanon(folder: Path) -> dict[str, Any]:
    """Both from the file as they read it into memory. The figures are compared: a fast wrong answer is no answer."""
    path = folder / "small.parquet"
    pq.write_table(_coarse(_texts(adultlike(30_000, 6))), path)
    table = read_auditable(path)
    ours = in_turns({"ours": lambda: _audited(table)})["ours"]
    script = Path(__file__).with_name("pycanon_peer.py")
    arguments = [peer_python("pycanon"), script, path, ",".join(QUASI), SENSITIVE]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=3600)
    theirs = json.loads(done.stdout)
    _must_agree(_audit(path), theirs["figures"])
    return row("pycanon's seconds to ours, 30,000 rows x 8, anonymised", theirs["seconds"] / ours, 1000, "x", True)


def _must_agree(ours: dict[str, Any], theirs: dict[str, float]) -> None:
    """Where the definitions agree. Theirs leaves missing values out of delta and rounds entropy l down.

    Its recursive (c, l) takes the least frequent value as r1, so it is not compared.
    """
    names = {"k": "size", "alpha": "max_p", "l": "distinct_l", "t": "tv", "beta": "beta", "delta": "delta_present"}
    for theirs_name, name in names.items():
        assert abs(theirs[theirs_name] - ours[name]) <= 1e-9 * max(1.0, abs(ours[name])), theirs_name
    assert int(ours["entropy_l"] + 1e-9) == int(theirs["entropy_l"])


def pair_seconds(path: Path) -> float:
    """Seconds for all attribute pairs and all sets of up to three quasi-identifiers of an Adult-like file."""
    policy = _policy()
    coded = auditable(read_auditable(path), policy)
    given = [KnownAttribute(c.name, c.codes, c.n_values) for c in coded.given]
    target = KnownAttribute(SENSITIVE, coded.sensitive[0].codes, len(coded.sensitive[0].scale))
    return in_turns({"all": lambda: (all_column_pairs([*given, target]), list(all_column_sets(target, given, 3)))}, 3)[
        "all"
    ]


def _texts(table: pa.Table) -> pa.Table:
    chosen = table.select([*QUASI, SENSITIVE])
    return pa.table({name: chosen[name].cast(pa.string()) for name in chosen.column_names})


def _coarse(table: pa.Table) -> pa.Table:
    """As an anonymiser might leave it: first digit of the postcode, decade of birth, two columns starred."""
    frame = pl.DataFrame(table).with_columns(
        (pl.col("postcode").str.slice(0, 1) + "****").alias("postcode"),
        (pl.col("birth-date").str.slice(0, 3) + "*").alias("birth-date"),
        pl.lit("*").alias("native-country"),
        pl.lit("*").alias("race"),
        pl.when(pl.col("marital-status").str.starts_with("Married")).then(pl.lit("yes")).otherwise(pl.lit("no"))
        .alias("marital-status"),
        pl.when(pl.col("education").is_in(["Bachelors", "Masters", "Doctorate", "Prof-school"])).then(pl.lit("higher"))
        .otherwise(pl.lit("other")).alias("education"),
        pl.when(pl.col("workclass").str.ends_with("gov")).then(pl.lit("government")).otherwise(pl.lit("other"))
        .alias("workclass"),
    )  # fmt: skip
    table = frame.to_arrow()
    return pa.table({name: table[name].cast(pa.string()) for name in table.column_names})
