"""A first policy, guessed from the names and counts of a table's columns, with every guess marked.

No cell value reaches the policy: a sketch holds counts only. Where nothing hints at a role the guess is quasi,
because a column that is generalised without need costs detail, while one that is published without need costs people.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seriatim.errors import Fault, TableError
from seriatim.policies.column_words import DIRECT, IDENTIFIERS, NAMES, PEOPLE, POSTAL, QUASI, SENSITIVE, matching

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FEW_ROWS = 20
_MOSTLY_DISTINCT = 0.9


@dataclass(frozen=True, slots=True)
class ColumnSketch:
    """What is known of a column without any of its values."""

    name: str
    kind: str | None
    """number, category, date, or None when the table cannot tell"""
    n_distinct: int
    n_missing: int
    n_rows: int
    looks: str = ""
    """code (equal length, digits), prose (long texts), contact (email, phone), nearly (numbers),
    days (31.12.2026), commas (2,5), or nothing"""

    @property
    def unique(self) -> bool:
        return self.n_rows > 1 and self.n_missing == 0 and self.n_distinct == self.n_rows

    @property
    def mostly_distinct(self) -> bool:
        return self.n_rows >= _FEW_ROWS and self.n_distinct > _MOSTLY_DISTINCT * (self.n_rows - self.n_missing)


@dataclass(frozen=True, slots=True)
class _Guess:
    sketch: ColumnSketch
    role: str
    why: str


def guess_policy(columns: Sequence[ColumnSketch], series: str) -> str:
    """A commented TOML policy that loads as it is and wants to be read line by line."""
    _check_names(columns)
    respondent = _respondent(columns)
    guesses = [_guess(sketch) for sketch in columns if sketch is not respondent]
    if not guesses:
        guesses = [_Guess(sketch, "drop", "it is the respondent, who is never published") for sketch in columns]
    blocks = [_series_block(series, respondent), *(_column_block(guess) for guess in guesses)]
    one = sum(guess.role == "sensitive" for guess in guesses) == 1
    bound = [_OVER_TIME] if respondent is not None and one else []
    return "\n\n".join([_HEAD, *blocks, _promise_block(guesses), _DEFENCE, *bound]) + "\n"


_HEAD = """\
# A first policy, guessed from column names and counts. Every guess is marked: read each, correct it, remove the mark.
# Roles: quasi (known to others, generalised), sensitive (to be protected), plain (published as it is), drop."""

_DEFENCE = """\
[defence]
method = "median"             # guess: a good start for most tables
suppress = 0.05               # guess: at most this share of the records may be left out; else nothing is released"""


_CELLS = {
    "": "how the cells read",
    "nearly": "most cells are numbers; mend or empty the others, or say category",
    "days": "they look like days; written as 2026-12-31 they could be dates, and so intervals",
    "commas": "they look like decimal commas; with points they could be numbers, and so intervals",
}

_OVER_TIME = """\
[adversary]
breach_share = 0.01           # guess: at most this share of people given away by all releases together"""


def _check_names(columns: Sequence[ColumnSketch]) -> None:
    if not columns:
        raise TableError(Fault("table", "it has no columns", "at least one", "check the file and its separator"))
    names = [sketch.name for sketch in columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(Fault(f"column {twice[0]!r}", "the name occurs twice", "each name once", "rename one of them"))
    broken = [name for name in names if any(0xD800 <= ord(mark) < 0xE000 for mark in name)]
    if broken:
        raise TableError(Fault(f"column {broken[0]!r}", "the name is not valid Unicode", remedy="rename it"))


def _respondent(columns: Sequence[ColumnSketch]) -> ColumnSketch | None:
    """The best candidate: one value per row, and a name that speaks of people, or else of numbers."""
    candidates = [sketch for sketch in columns if sketch.unique and sketch.looks not in ("prose", "contact")]
    for words in (PEOPLE, IDENTIFIERS):
        for sketch in candidates:
            direct = matching(sketch.name, DIRECT + NAMES)
            if matching(sketch.name, words) and not direct and not matching(sketch.name, QUASI + SENSITIVE):
                return sketch
    return None


def _guess(sketch: ColumnSketch) -> _Guess:
    for role, words, why in (
        ("drop", DIRECT, "the name speaks of a direct identifier"),
        ("sensitive", SENSITIVE, "the name speaks of something people keep to themselves"),
        ("quasi", QUASI, "the name speaks of something others may know"),
        ("drop", NAMES, "the name speaks of a person's name"),
    ):
        word = matching(sketch.name, words)
        if word:
            return _Guess(sketch, role, f"{why} ({word})")
    return _guess_by_counts(sketch)


def _guess_by_counts(sketch: ColumnSketch) -> _Guess:
    counts = f"{sketch.n_distinct} distinct values in {sketch.n_rows} rows"
    if sketch.looks == "contact":
        return _Guess(sketch, "drop", "most cells look like ways to reach a person")
    if sketch.looks == "prose" or (sketch.kind not in ("number", "date") and sketch.mostly_distinct):
        return _Guess(sketch, "drop", f"free text or an identifier: {counts}")
    if sketch.unique and matching(sketch.name, IDENTIFIERS + PEOPLE):
        return _Guess(sketch, "drop", f"a further identifier: {counts}")
    return _Guess(sketch, "quasi", f"check this: the name tells nothing, and quasi is the safe choice ({counts})")


def _series_block(series: str, respondent: ColumnSketch | None) -> str:
    name = "".join(mark if mark.isprintable() else "-" for mark in series).strip() or "series"
    lines = ["[series]", f"name = {_text(name)}"]
    if respondent is not None:
        lines.append(f"respondent = {_text(respondent.name)}   # guess: one value per row, named like an identifier")
    else:
        lines.append("# guess: no column names the respondent; a table that is published again and again needs one:")
        lines.append('# respondent = "..."')
    return "\n".join(lines)


def _column_block(guess: _Guess) -> str:
    sketch = guess.sketch
    lines = [f"[columns.{_key(sketch.name)}]", f'role = "{guess.role}"   # guess: {guess.why}']
    if guess.role == "drop":
        return "\n".join(lines)
    hierarchy = _hierarchy(guess)
    kind = "category" if "prefix" in hierarchy else sketch.kind
    if kind in ("number", "category", "date"):
        why = _CELLS.get(sketch.looks, _CELLS[""]) if kind == sketch.kind else _CELLS[""]
        lines.append(f'kind = "{kind}"   # guess: {why}')
    if hierarchy:
        lines.append(f"hierarchy = {hierarchy}   # guess: the usual steps; a file of your own may fit better")
    if sketch.n_missing:
        lines.append(f'missing = "value"   # guess: {sketch.n_missing} of {sketch.n_rows} cells are empty')
    return "\n".join(lines)


def _hierarchy(guess: _Guess) -> str:
    if guess.role != "quasi":
        return ""
    if guess.sketch.kind == "date":
        return '{ date = ["month", "quarter", "year", "decade"] }'
    if matching(guess.sketch.name, POSTAL):
        return "{ prefix = [4, 3, 2, 1] }"
    return ""


def _promise_block(guesses: Sequence[_Guess]) -> str:
    lines = ["[promise]", "k = 5                         # guess: everyone hides among at least this many records"]
    sensitive = [guess.sketch for guess in guesses if guess.role == "sensitive"]
    if not sensitive:
        lines += [
            "# No column was guessed to be sensitive. If one is, say so above and promise something about it, such as",
            "# l = 2",
        ]
    elif all(sketch.n_distinct > 1 for sketch in sensitive):
        lines.append("l = 2                         # guess: so many different sensitive values in each class")
    else:
        lines.append("# guess: no l, because a sensitive column has a single value and cannot show two")
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) and name.isascii() else _text(name)


def _text(text: str) -> str:
    """A TOML basic string."""
    marks = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(marks.get(mark, mark if _safe(mark) else f"\\U{ord(mark):08X}") for mark in text) + '"'


def _safe(mark: str) -> bool:
    return mark.isprintable()
