"""Other tools, each in a virtual environment of its own that the benchmark makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VENVS = Path(__file__).parent / ".venvs"
# what each peer needs beside itself; anonypy was written for pandas 1 and 2
NEEDS = {peer: [peer, "pandas<3", "pyarrow"] for peer in ("anjana", "anonypy", "pycanon")}


def peer_python(peer: str) -> str:
    """The interpreter of a peer's own environment, made on first use."""
    folder = VENVS / peer
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS[peer]], check=True)
        (folder / ".ready").touch()
    return str(python)
