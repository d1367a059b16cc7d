"""The sessions of the README and the tutorials, block by block: what they show is what a stranger gets."""

from __future__ import annotations

import re
import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Ran, seriatim

from seriatim import api
from seriatim.cli.demo import MONTHS, write_months, write_policies
from seriatim.tables.writer import write_csv
from seriatim.testing.hospital import hospital_months

ROOT = Path(__file__).parents[2]
SERIES = "docs/tutorial/series.md"
# each series draws its own secret, so what follows from it has other figures every time; the others tell the time
DRAWN = ("safe.toml", "over-time.toml", "attack", "forecast", "ledger show", "compare")


@dataclass(frozen=True)
class Shown:
    command: str
    lines: tuple[str, ...]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page in order, each with its kind; those of a session have none."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)


def blocks_of(kind: str, page: str) -> list[str]:
    return [text for name, text in blocks(page) if name == kind]


def shown(block: str) -> list[Shown]:
    """The commands of a block that stand behind a ``$``, each with the lines below it."""
    found: list[Shown] = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        head, *lines = part.rstrip("\n").split("\n")
        found.append(Shown(head, tuple(line.rstrip() for line in lines)))
    return found


def steps(page: str) -> list[Shown]:
    return [step for block in blocks_of("", page) for step in shown(block)]


def lay_out(folder: Path) -> Path:
    """What ``./dev demo`` leaves behind, and the folder of the session beside it."""
    demo, session = folder / "seriatim-demo", folder / "session"
    demo.mkdir()
    session.mkdir()
    views = hospital_months(3_000, MONTHS)
    write_policies(demo)
    policies = write_policies(session)
    for number, view in enumerate(views, 1):
        write_csv(view, session / f"month-{number}.csv")
    ledger, policy = api.open_ledger(demo / "ledger.db"), api.load_policy(policies[0])
    write_months(demo, [api.publish(view, policy, ledger) for view in views])
    return session


def as_lines(ran: Ran) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in (ran.out + ran.err).rstrip("\n").split("\n"))


def without_figures(lines: tuple[str, ...]) -> list[str]:
    return [re.sub(r"\s+", " ", re.sub(r"(below )?\d[\d,.:%-]*", "#", line)).strip() for line in lines]


def agree(step: Shown, told: tuple[str, ...]) -> bool:
    """Line by line, where ``...`` stands for any lines."""
    drawn = any(word in step.command for word in DRAWN)
    lines, found = (without_figures(part) if drawn else list(part) for part in (step.lines, told))
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, "\n".join(found) + "\n") is not None


@pytest.fixture
def one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """With some secrets a forecast finds one person of thousands breached, and other words than most readers see."""
    monkeypatch.setattr(secrets, "token_bytes", lambda n=32: bytes(range(n)))


def replay(page: str, session: Path) -> dict[str, Any]:
    """Run a page's commands and Python from top to bottom; what Python leaves behind."""
    code, names = 0, {}
    for kind, block in blocks(page):
        if kind == "python":
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(session)
                exec(block, names)
        for step in shown(block) if kind == "" else ():
            if step.command == "echo $?":
                assert step.lines == (str(code),)
                code = 0
                continue
            assert code == 0, step.command
            program, *arguments = shlex.split(step.command, comments=True)
            assert program == "seriatim"
            ran = seriatim(session, *arguments)
            code = ran.code
            assert agree(step, as_lines(ran)), f"{step.command}\n{ran.out}{ran.err}"
    return names


def test_the_session_of_the_readme_is_what_a_stranger_gets(tmp_path: Path, one_secret: None) -> None:
    assert [step.command for step in steps("README.md")][-1] == "echo $?"
    names = replay("README.md", lay_out(tmp_path))
    assert names["release"].number == 3
    assert names["release"].table is not None


def test_the_session_of_the_tutorial_is_what_a_stranger_gets(tmp_path: Path, one_secret: None) -> None:
    assert len(steps(SERIES)) >= 10
    session = lay_out(tmp_path)
    names = replay(SERIES, session)
    assert names["release"].number == 3
    for page in (SERIES, "docs/how-to/read-a-release.md"):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(session)
            exec(blocks_of("python", page)[-1 if page == SERIES else 0], names)
        assert names["visits"].count({"age": (60, 99), "sex": "female"}) == pytest.approx(390, rel=0.2)


def test_the_first_gate_is_what_a_stranger_gets(tmp_path: Path) -> None:
    page = "docs/tutorial/gate.md"
    write_csv(hospital_months(3_000, MONTHS)[0], tmp_path / "month-1.csv")
    assert len(steps(page)) == 6
    for step in steps(page):
        ran = seriatim(tmp_path, *shlex.split(step.command)[1:])
        assert ran.code == 0, step.command
        assert agree(step, as_lines(ran)), f"{step.command}\n{ran.out}{ran.err}"
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        exec(blocks_of("python", page)[0], names)
    assert (names["shares"]["day clinic"], names["shares"]["south"]) == (1.0, 1.0)
    assert names["shares"]["north"] == pytest.approx(0.01, abs=0.005)


def test_the_policy_shown_is_the_demos(tmp_path: Path) -> None:
    write_policies(tmp_path)
    (text,) = blocks_of("toml", SERIES)
    (tmp_path / "shown.toml").write_text(text)
    ours, demos = (api.load_policy(tmp_path / name) for name in ("shown.toml", "over-time.toml"))
    assert ours.digest == demos.digest


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as a reader's browser forms them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_link_leads_somewhere() -> None:
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    assert len(pages) >= 20
    for page in pages:
        for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name}: {target}"
            assert not heading or there.suffix != ".md" or heading in headings(there), (
                f"{page.name}: {target}, {heading}"
            )


def test_the_months_of_the_demo_are_those_of_its_ledger(tmp_path: Path) -> None:
    """Boxes, values and people of a row belong together, in whatever order a release keeps its records."""
    session = lay_out(tmp_path)
    demo = session.parent / "seriatim-demo"
    files = api.attack_history_of_folder(demo / "monthly", demo / "who.csv")
    by_files, by_ledger = (
        api.attack(files.history),
        api.attack(api.open_ledger(demo / "ledger.db"), series="ward-visits"),
    )
    assert by_files.iterated.share == by_ledger.iterated.share
    assert [(one.below, one.single) for one in by_files.releases] == [
        (one.below, one.single) for one in by_ledger.releases
    ]
