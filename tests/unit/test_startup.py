"""Commands do not wait for pandas, and whoever uses pandas beside them finds Arrow as it is without us."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import write_policy, write_view

from seriatim.startup import leave_pandas_out, let_pandas_in

COMMAND = """
import sys
from seriatim.cli import main
sys.argv = ["seriatim", "audit", "view.csv", "--policy", "policy.toml", "--json"]
try:
    main()
except SystemExit as left:
    assert left.code == 3, left.code
assert "pandas" not in sys.modules
"""
AFTERWARDS = """
from seriatim.startup import let_pandas_in
let_pandas_in()
import pandas as pd
import pyarrow as pa
assert pa.array(pd.Series(["x", None], dtype=object)).null_count == 1
"""


def ran(folder: Path, code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)
    return done.stderr


def test_a_command_loads_no_pandas_and_a_package_may_ask_for_it(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    write_view(tmp_path)
    write_policy(tmp_path)
    assert ran(tmp_path, COMMAND + AFTERWARDS) == ""


def test_pandas_that_is_loaded_stays_known() -> None:
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    before = list(sys.meta_path)
    for told in (leave_pandas_out, let_pandas_in):
        told()
        assert pa.array(pandas.Series(["x", None], dtype=object)).null_count == 1
    assert sys.meta_path == before
