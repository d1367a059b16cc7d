"""Draws docs/report.png, docs/attack.png and docs/attack-dark.png again: ./dev pictures.

Runs the demo, attacks its months as the README does, and photographs both reports in chromium.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

DOCS = Path(__file__).parent
PICTURES = {
    "report": ("report", "light", (1080, 1590)),
    "attack": ("attack", "light", (1000, 846)),
    "attack-dark": ("attack", "dark", (1000, 846)),
}


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
        pages = {"report": report, "attack": folder / "attack.html"}
        for picture, (name, scheme, (width, height)) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(pages[name].as_uri())
            page.wait_for_load_state("load")
            page.screenshot(path=str(DOCS / f"{picture}.png"))
        browser.close()


def _run(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "seriatim", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
