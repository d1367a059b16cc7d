"""Draws docs/report.png, docs/attack.png, docs/attack-dark.png and docs/desk.png again: ./dev pictures.

Runs the demo, attacks its months as the README does, keeps a draft of one more, and photographs all in chromium.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
        _photograph_desk(folder / "demo", browser)
        browser.close()


def _photograph_desk(demo: Path, browser: Any) -> None:
    """Let somebody look at the draft that another one made."""
    from support.desks import served_desk

    write_next_month(demo)
    ledger = ("--ledger", "sqlite:///ledger.db")
    _run(demo, "ledger", "deliver", "ward-visits-safe", "5", "--to", "Dr Weber", *ledger)
    _run(demo, "ledger", "deliver", "ward-visits", "1", "--to", "City registry", *ledger)
    asked = ("views/month-6.csv", "--policy", "safe.toml", "--to", "Dr Weber", "--draft", "A. Ortiz")
    _run(demo, "publish", *asked, *ledger)
    with served_desk(demo, "B. Li") as address:
        page = browser.new_page(viewport={"width": 1080, "height": 1120})
        page.goto(address)
        page.click(".card a")
        page.wait_for_load_state("load")
        page.screenshot(path=str(DOCS / "desk.png"))


def write_next_month(demo: Path) -> None:
    """Write a sixth month: some people of the fifth have left, some of the first are back."""
    first, fifth = ((demo / f"views/month-{n}.csv").read_text().splitlines() for n in (1, 5))
    there = {row.partition(",")[0] for row in fifth}
    back = [row for row in first[1:] if row.partition(",")[0] not in there]
    rows = [fifth[0], *(row for at, row in enumerate(fifth[1:]) if at % 12), *back[::5]]
    (demo / "views/month-6.csv").write_text("\n".join(rows) + "\n")


def _run(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "seriatim", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
