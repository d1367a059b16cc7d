"""Schemathesis on a running gate: every documented route, with what its schema allows and what it does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.gate_services import Running

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def schema_fuzz(running: Running, role: str, folder: Path, examples: int, seed: int = 7, doors: str = "") -> int:
    """Return how many requests a role has sent; raise with what was found. ``doors`` are the paths to try."""
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{running.port}/openapi.json",
        "--header", f"Authorization: Bearer {running.tokens[role]}", "--max-examples", str(examples),
        "--seed", str(seed), "--checks", CHECKS, "--no-color",
        *(["--include-path-regex", doors] if doors else []),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_000, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-1_000:]
    found = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert found is not None, done.stdout[-1_000:]
    assert found[1] == found[2]
    return int(found[1])
