"""A file named by a user replaces an earlier one of its kind, and nothing else."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.command_line import seriatim, write_policy, write_view

from seriatim.storage.durable_files import write_durably

AUDIT = ("audit", "view.csv", "-p", "policy.toml", "--out")
COMMANDS = {
    "audit": AUDIT,
    "compare": ("compare", "view.csv", "-p", "policy.toml", "--method", "median", "--out"),
    "attack": ("attack", "--series", "s", "--out"),
    "forecast": ("forecast", "s", "--releases", "1", "--out"),
    "sign-off": ("ledger", "sign-off", "s", "1", "--out"),
    "init": ("init", "view.csv", "--allow", "overwrite", "--out"),
    "mine": ("knowledge", "mine", "long.csv", "--respondent", "who", "--time", "t", "--value", "ill", "--out"),
    "suggest": ("gate", "suggest", "view.csv", "--out"),
    "gate compare": ("study", "safe-release", "large.csv", "--dependency", "age ~> ill", "--out"),
    "replay": ("gate", "replay", "large.csv", "--x", "age", "--y", "ill", "--out"),
    "baseline": ("gate", "baseline", "large.csv", "--x", "age", "--y", "ill", "--out"),
    "study": ("study", "safe-release", "--sequences", "2", "--out"),
    "private": ("audit", "view.csv", "-p", "policy.toml", "--private"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published release, and what a steward has beside it."""
    folder = tmp_path_factory.mktemp("desk")
    write_view(folder, rows=60)
    write_view(folder, rows=400, name="large.csv")
    write_policy(folder, series="s")
    lines = [f"p{i % 20},{1 + i // 20},{('flu', 'gout')[i % 2]}" for i in range(60)]
    (folder / "long.csv").write_text("who,t,ill\n" + "\n".join(lines) + "\n")
    (folder / "adversary.toml").write_text("compromised = 0.1\n")
    (folder / "other.json").write_text('{"kept": 1}\n')
    (folder / "folder").mkdir()
    write_view(folder, rows=66, name="later.csv")
    for view in ("view.csv", "later.csv"):
        assert seriatim(folder, "publish", view, "-p", "policy.toml").code == 0
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_of_another_kind_is_replaced(desk: Path, command: str) -> None:
    sealed = desk / "ledger.db.shelf/s/000001/manifest.json"
    assert sealed.exists()
    own_page = "releases/s-0001/private/to-sign.html"
    names = ["ledger.db", "view.csv", "adversary.toml", "folder", "missing/page.html"]
    names += ["policy.toml"] if command != "init" else []
    names += [str(sealed.with_suffix(".html")), "other.html"] if command not in ("init", "mine", "baseline") else []
    names += ["releases/s-0001/private/report.html"]
    names += ["ledger.db.shelf/new", "ledger.db.shelf/s/000001/new", "ledger.db.shelf/s/000001/published/public/new"]
    names += ["ledger.db.shelf/.sealing.lock"]
    names += ["releases/s-0001/new", "releases/s-0001/public/new", "releases/s-0001/private/new"]
    names += [own_page] if command != "sign-off" else []
    if command in ("sign-off", "private"):
        names = [name for name in names if name not in (str(sealed.with_suffix(".html")), "other.html")]
    before = contents(desk)
    for name in names:
        ran = seriatim(desk, *COMMANDS[command], name)
        assert (ran.code, contents(desk) == before) == (2, True), (name, ran)
        assert ran.err.startswith(f"error: {COMMANDS[command][-1]}: "), ran.err


@pytest.mark.parametrize("command", COMMANDS)
def test_no_link_no_name_and_nothing_of_a_database(tmp_path: Path, desk: Path, command: str) -> None:
    """A page at ``ledger.db-wal`` is one that SQLite removes; a link may be a device, such as /dev/stdout."""
    shutil.copy(desk / "ledger.db", tmp_path)
    (tmp_path / "empty.html").touch()
    (tmp_path / "linked.html").symlink_to("empty.html")
    before = sorted(tmp_path.iterdir())
    for name in ("", ".", f"{tmp_path}/linked.html", *(f"{tmp_path}/ledger.db-{end}" for end in ("wal", "shm", "a-b"))):
        ran = seriatim(desk, *COMMANDS[command], name)
        assert ran.code == 2, (name, ran)
        assert ran.err.startswith(f"error: {COMMANDS[command][-1]}: "), ran.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_an_earlier_one_is_replaced_and_only_its_owner_may_read_it(tmp_path: Path, desk: Path, command: str) -> None:
    path = tmp_path / "made.html"
    if command == "init":
        assert seriatim(desk, "init", "view.csv", "--out", str(path)).code == 0
    for _ in range(2):
        ran = seriatim(desk, *COMMANDS[command], str(path))
        assert ran.code in (0, 3), ran
        made = sorted(tmp_path.iterdir())
        assert path in made
        assert not [one.name for one in made if one.stat().st_mode & 0o077 or one.name.startswith(".")]


def test_pages_of_two_kinds_do_not_replace_each_other(tmp_path: Path, desk: Path) -> None:
    page = str(tmp_path / "page.html")
    assert seriatim(desk, *AUDIT, page).code in (0, 3)
    before = contents(tmp_path)
    refused = seriatim(desk, *COMMANDS["compare"], page)
    assert (refused.code, contents(tmp_path)) == (2, before)
    assert "allowed: an earlier" in refused.err


def test_a_page_is_not_called_as_its_record_is(tmp_path: Path, desk: Path) -> None:
    refused = seriatim(desk, *AUDIT, str(tmp_path / "page.json"))
    assert (refused.code, list(tmp_path.iterdir())) == (2, [])


def test_a_link_that_waits_where_a_file_is_made_is_not_followed(tmp_path: Path, desk: Path) -> None:
    (tmp_path / "kept.db").write_bytes(b"kept")
    for name in ("page.html", "page.json"):
        (tmp_path / f".{name}.partial").symlink_to("kept.db")
    assert seriatim(desk, *AUDIT, str(tmp_path / "page.html")).code in (0, 3)
    assert (tmp_path / "kept.db").read_bytes() == b"kept"
    assert not (tmp_path / "page.html").is_symlink()


def test_writers_at_once_write_whole_files(tmp_path: Path) -> None:
    path, texts = tmp_path / "page", [bytes([64 + i]) * 100_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_durably(path, text), texts * 5))
    assert path.read_bytes() in texts
    assert list(tmp_path.iterdir()) == [path]
