"""Guesses a first policy from the names and counts of a table's columns, and marks every guess.

No cell value reaches the policy: a sketch has only counts. If nothing hints at a role, the guess is quasi: a column
that is generalised without need costs detail, while one that is published without need costs people.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

from seriatim.errors import Fault, TableError
from seriatim.model.names import LONGEST, seen_in_text
from seriatim.policies.column_words import (
    CODES,
    DIRECT,
    IDENTIFIERS,
    MONEY,
    NAMES,
    PEOPLE,
    PLAIN_IDENTIFIERS,
    POSTAL,
    QUASI,
    ROW_NUMBERS,
    SENSITIVE,
    SPECIAL,
    VISITS,
    WEIGHTS,
    matching_word,
)
from seriatim.policies.panel import PanelSketch

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FEW_ROWS = 20
_BODY = ("weight", "gewicht", "poids", "peso", "gewichte")
"""A person's weight, unless nearly every row has its own."""
_MOSTLY_DISTINCT = 0.9
_FEWEST_VALUES = 3
"""Fewer values cannot be mixed so that as many stay possible, as the methods that look back do."""


@dataclass(frozen=True, slots=True)
class ColumnSketch:
    """What is known about a column without any of its values."""

    name: str
    _: KW_ONLY
    kind: str | None
    """number, category, date, or None if the table cannot tell"""
    n_distinct: int
    n_missing: int
    n_rows: int
    looks: str = ""
    """code (equal length, digits), prose (long texts), contact (email, phone), nearly (numbers),
    days (31.12.2026), commas (2,5), flag (0 and 1), fraction (numbers that are not whole), or nothing"""
    name_is_cell: bool = False
    """Whether the name is a number, a day, or a value of the column: the header line may be missing."""
    title: str = ""
    """What the file says the column is, beside its name."""
    of_a_body: bool = True
    """Whether the mean of its numbers could be a person's weight."""

    @property
    def unique(self) -> bool:
        return self.n_rows > 1 and self.n_missing == 0 and self.n_distinct == self.n_rows

    @property
    def identifies(self) -> bool:
        """Return whether every row has a value of its own, in a table long enough that this is no accident."""
        return self.unique and self.n_rows >= _FEW_ROWS and self.kind != "date"

    @property
    def repeats(self) -> bool:
        """Return whether each value is in a few rows, like people in a table of several years."""
        return self.n_missing == 0 and self.n_distinct >= _FEW_ROWS and self.n_rows <= _FEW_ROWS * self.n_distinct

    @property
    def mostly_distinct(self) -> bool:
        return self.n_rows >= _FEW_ROWS and self.n_distinct > _MOSTLY_DISTINCT * (self.n_rows - self.n_missing)


@dataclass(frozen=True, slots=True)
class _Guess:
    sketch: ColumnSketch
    role: str
    why: str


def guess_policy(
    columns: Sequence[ColumnSketch], series: str, *, header_is_right: bool = False, panel: PanelSketch | None = None
) -> str:
    """Return a commented TOML policy that loads as it is and should be read line by line.

    Names that look like cells are an error, since a policy must not have them; ``header_is_right`` says they are not.
    ``panel`` is what several files of the series say.
    """
    _check_names(columns)
    if not header_is_right:
        _refuse_cells(columns)
    respondent = _respondent(columns)
    guesses = [_guess_in_panel(sketch, panel) for sketch in columns if sketch is not respondent]
    if not guesses:
        guesses = [_Guess(sketch, "drop", "it is the respondent, who is never published") for sketch in columns]
    blocks = [_series_block(series, respondent), *(_column_block(guess) for guess in guesses)]
    protected = any(guess.role == "sensitive" for guess in guesses)
    bound = [_OVER_TIME] if respondent is not None and protected else []
    several = sum(guess.role == "sensitive" for guess in guesses) > 1 and respondent is not None
    flagged = any(guess.role == "sensitive" and guess.sketch.n_distinct < _FEWEST_VALUES for guess in guesses)
    defence = _DEFENCE.format(_AUTO if bound and not flagged else _MEDIAN) + (_SEVERAL if several else "")
    told = [] if panel is None else [_panel_block(panel, guesses)]
    return "\n\n".join([_HEAD, *told, *blocks, _promise_block(guesses), defence, *bound]) + "\n"


def respondent_of(columns: Sequence[ColumnSketch]) -> str | None:
    """Return the name of the column that seems to identify the person."""
    found = _respondent(columns)
    return None if found is None else found.name


def _guess_in_panel(sketch: ColumnSketch, panel: PanelSketch | None) -> _Guess:
    other = None if panel is None else panel.same.get(sketch.name)
    if other is not None:
        return _Guess(sketch, "drop", f"it says the same as {_text(other)} in other words")
    return _guess(sketch)


def _panel_block(panel: PanelSketch, guesses: Sequence[_Guess]) -> str:
    """Return what the files of a panel say, as comments."""
    changing = [f"{_text(name)} ({100 * share:.0f}%)" for name, share in panel.changing.items()]
    known = [guess.sketch.name for guess in guesses if guess.role != "drop"]
    staying = [_text(name) for name in known if name not in panel.changing]
    lines = [
        f"{panel.n_files} files; {panel.n_people} people are in several.",
        f"Changes (share of people): {', '.join(changing) or 'nothing'}",
        f"Stays: {', '.join(staying) or 'nothing'}",
    ]
    if panel.missing:
        lines.append(f"Not in every file, which a series needs: {', '.join(map(_text, panel.missing))}")
    stay, change = panel.splits([guess.sketch.name for guess in guesses if guess.role == "sensitive"])
    if stay and change:
        lines.append(f"Publish two series of the same people: one with {', '.join(map(_text, stay))} (cohort can),")
        lines.append(f"one with {', '.join(map(_text, change))}, whose values change (median, with sure_share).")
    elif change:
        lines.append("All sensitive values change: cohort cannot publish them; median can, with sure_share.")
    return "\n".join(f"# {line}" for line in lines)


_RUNNING = re.compile(
    r"(?:^|(?<=[-_. ]))(?:\d+|(?:19|20)\d\d[-_]?[qmw]\d{1,2}|[qmwv]\d{1,2})(?=$|[-_. ])|(?<=[^\W\d])(?:19|20)\d\d$",
    re.IGNORECASE,
)
"""Parts of a file's name that change from file to file: numbers, years, quarters, months, weeks, versions."""


def guess_series(name: str) -> str:
    """Return a name for the series that a file belongs to: without its running part, which the next file lacks.

    'visits-2026-10' and 'year-1980' become 'visits' and 'year'; a name that is nothing else stays.
    """
    kept = re.sub(r"([-_. ])[-_. ]+", r"\1", _RUNNING.sub("", name)).strip("-_. ")
    return kept or name


_HEAD = """\
# A first policy, guessed from column names and counts. Every guess is marked: read each, correct it, remove the mark.
# Roles: quasi (known to others, generalised), sensitive (to be protected), plain (published as it is), drop."""

_DEFENCE = """\
[defence]
{}
suppress = 0.05               # guess: at most this share of the records may be withheld; else nothing is released"""

_MEDIAN = 'method = "median"             # guess: a good start for most tables'
_AUTO = """\
method = "auto"               # guess: before each release it chooses what keeps most and lasts for the releases to come
# releases = 12               # how many releases the series shall have, if not a dozen"""

_SEVERAL = """
# A method for a series of releases (cohort) publishes a table for each sensitive column."""


_CELLS = {
    "": "how the cells read",
    "nearly": "most cells are numbers; correct or empty the others, or use category",
    "days": "they look like days; written as 2026-12-31 they could be dates, and so intervals",
    "commas": "they look like decimal commas; with points they could be numbers, and so intervals",
    "labelled": "its values have labels",
    "flag": "0 and 1 mean yes and no",
    "numbered": "the name suggests that its numbers stand for something; if they measure, use number",
}

_OVER_TIME = """\
[adversary]
breach_share = 0.01           # guess: at most this share of people breached by all releases together
# If people's values change from release to release (jobs, incomes), breach_share judges few of them: add
# sure_share = 0.01            # at most this share inferred with certainty, looking back"""


def _check_names(columns: Sequence[ColumnSketch]) -> None:
    if not columns:
        raise TableError(Fault("table", "it has no columns", "at least one", "check the file and its separator"))
    names = [sketch.name for sketch in columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        found = f"column {names.index(twice[0]) + 1}: the name occurs twice"
        raise TableError(Fault("table", found, "each name once", "rename one of them"))
    broken = [place for place, name in enumerate(names, 1) if any(0xD800 <= ord(mark) < 0xE000 for mark in name)]
    if broken:
        raise TableError(Fault("table", f"column {broken[0]}: the name is not valid Unicode", remedy="rename it"))


def _refuse_cells(columns: Sequence[ColumnSketch]) -> None:
    alike = sum(sketch.name_is_cell for sketch in columns)
    if alike:
        found = f"{alike} of {len(columns)} column names look like cells: the header line seems to be missing"
        remedy = "add a line with the column names, or say that the header is right (header_is_right)"
        raise TableError(Fault("table", found, "names of columns", remedy))


def _respondent(columns: Sequence[ColumnSketch]) -> ColumnSketch | None:
    """Return the best candidate: one value per row and a name about people, or numbers; else the closest one.

    In a table of several years people have several rows: then an identifier by its name is enough. If no name tells,
    the first column of distinct whole numbers is used.
    """
    other = DIRECT + NAMES + QUASI + SENSITIVE + ROW_NUMBERS + WEIGHTS
    silent = [s for s in columns if s.looks not in ("prose", "contact") and not matching_word(s.name, other)]
    once = [sketch for sketch in silent if sketch.unique]
    named = [(once, PEOPLE), (once, IDENTIFIERS), ([s for s in silent if s.repeats], PEOPLE + PLAIN_IDENTIFIERS)]
    for candidates, words in named:
        for sketch in candidates:
            if matching_word(sketch.name, words):
                return sketch
    return next((s for s in once if s.identifies and s.kind == "number" and s.looks in ("", "code")), None)


def _guess(sketch: ColumnSketch) -> _Guess:
    early = _guess_before_names(sketch)
    if early is not None:
        return early
    for name, said in ((sketch.name, "name"), (sketch.title, "title")):
        for role, words, why in (
            ("drop", DIRECT, f"the {said} suggests a direct identifier"),
            ("sensitive", SPECIAL, f"the {said} suggests a special category of personal data"),
            ("sensitive", SENSITIVE, f"the {said} suggests something private"),
            ("quasi", QUASI, f"the {said} suggests something others may know"),
            ("drop", NAMES, f"the {said} suggests a person's name"),
        ):
            word = matching_word(name, words)
            if word:
                return _Guess(sketch, role, f"{why} ({word})")
    return _guess_by_counts(sketch)


def _guess_before_names(sketch: ColumnSketch) -> _Guess | None:
    """Return what counts show more surely than a name: identifiers, survey weights, private amounts."""
    counts = f"{sketch.n_distinct} distinct values in {sketch.n_rows} rows"
    if sketch.identifies and matching_word(sketch.name, ROW_NUMBERS):
        return _Guess(sketch, "drop", "row numbers")
    if sketch.identifies and matching_word(sketch.name, IDENTIFIERS + PEOPLE):
        return _Guess(sketch, "drop", f"a further identifier: {counts}")
    if sketch.identifies and sketch.kind != "number" and not matching_word(sketch.name, POSTAL):
        return _Guess(sketch, "drop", f"free text or an identifier: {counts}")
    if sketch.kind != "number":
        return None
    no_body = sketch.mostly_distinct or not sketch.of_a_body
    if matching_word(sketch.name, WEIGHTS) or (matching_word(sketch.name, _BODY) and no_body):
        return _Guess(sketch, "weight", f"a survey weight; drop it if others could know it ({counts})")
    word = matching_word(sketch.name, MONEY + VISITS)
    return _Guess(sketch, "sensitive", f"check this: private amounts ({word})") if word else None


def _guess_by_counts(sketch: ColumnSketch) -> _Guess:
    counts = f"{sketch.n_distinct} distinct values in {sketch.n_rows} rows"
    if sketch.looks == "contact":
        return _Guess(sketch, "drop", "most cells look like ways to reach a person")
    if sketch.looks == "prose" or (sketch.kind not in ("number", "date") and sketch.mostly_distinct):
        return _Guess(sketch, "drop", f"free text or an identifier: {counts}")
    if sketch.unique and matching_word(sketch.name, IDENTIFIERS + PEOPLE):
        return _Guess(sketch, "drop", f"a further identifier: {counts}")
    if sketch.identifies:
        return _Guess(sketch, "drop", f"check this: every row has a value of its own ({counts})")
    return _Guess(sketch, "quasi", f"check this: the name suggests nothing, and quasi is the safe choice ({counts})")


def _series_block(series: str, respondent: ColumnSketch | None) -> str:
    name = "".join(mark if seen_in_text(mark) else "-" for mark in series).strip()[:LONGEST] or "series"
    lines = ["[series]", f"name = {_text(name)}"]
    if respondent is not None:
        lines.append(f"respondent = {_text(respondent.name)}   # guess: {_why_respondent(respondent)}")
    else:
        lines.append("# guess: no column identifies the respondent; a table that is published repeatedly needs one:")
        lines.append('# respondent = "..."')
    return "\n".join(lines)


def _why_respondent(sketch: ColumnSketch) -> str:
    if not matching_word(sketch.name, PEOPLE + IDENTIFIERS):
        return "check this: one value per row, although the name suggests nothing"
    once = "one value per row" if sketch.unique else "several rows per value: publish one row per person and release"
    return f"{once}, named like an identifier"


def _column_block(guess: _Guess) -> str:
    sketch = guess.sketch
    lines = [f"[columns.{_key(sketch.name)}]", f'role = "{guess.role}"   # guess: {guess.why}']
    if guess.role in ("drop", "weight"):
        return "\n".join(lines)
    hierarchy = _hierarchy(guess)
    if sketch.kind == "number" and sketch.looks in ("", "code") and matching_word(sketch.name, CODES):
        sketch = replace(sketch, kind="category", looks="numbered")
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
    if matching_word(guess.sketch.name, POSTAL):
        return "{ prefix = [4, 3, 2, 1] }"
    return ""


def _promise_block(guesses: Sequence[_Guess]) -> str:
    lines = ["[promise]", "k = 5                         # guess: every class has at least this many people"]
    sensitive = [guess.sketch for guess in guesses if guess.role == "sensitive"]
    if not sensitive:
        lines += [
            "# No column was guessed to be sensitive. If one is, change its role above and add a promise, such as",
            "# l = 2",
        ]
    elif all(sketch.n_distinct > 1 for sketch in sensitive):
        lines.append("l = 2                         # guess: this many different sensitive values in each class")
    else:
        lines.append("# guess: no l, because a sensitive column has a single value and cannot show two")
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) and name.isascii() else _text(name)


def _text(text: str) -> str:
    """Write a TOML basic string."""
    marks = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(marks.get(mark, mark if _safe(mark) else f"\\U{ord(mark):08X}") for mark in text) + '"'


def _safe(mark: str) -> bool:
    return mark.isprintable()
