"""Draws docs/report.png and docs/attack.png again: ./dev pictures.

Runs the demo, attacks its months as the README does, and photographs both reports in chromium.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

DOCS = Path(__file__).parent
SIZES = {"report": (1080, 1590), "attack": (1000, 860)}


def main() -> None:
    sys.path.insert(0, str(DOCS.parent / "tests"))
    from playwright.sync_api import sync_playwright
    from support.browsers import ARGUMENTS, CHROMIUM

    with TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        _run(folder, "demo", "--out", "demo")
        asked = ("--history", "demo/monthly", "--respondents", "demo/who.csv", "--out", "attack.html")
        _run(folder, "attack", *asked)
        (report,) = folder.glob("demo/releases/ward-visits-0001/private/report.html")
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for picture, path in {"report": report, "attack": folder / "attack.html"}.items():
            width, height = SIZES[picture]
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
            page.goto(path.as_uri())
            page.wait_for_load_state("load")
            page.screenshot(path=str(DOCS / f"{picture}.png"))
        browser.close()


def _run(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "seriatim", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
