"""The blocks of a page: prose, tables, charts. Reports, audits and studies are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

from seriatim.model.chart import Chart

Tone = Literal["good", "bad", "warn", "plain"]


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs."""

    kind: ClassVar[str] = "prose"
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Points:
    """A list; each item may start with words in bold."""

    kind: ClassVar[str] = "points"
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark in a box of its own."""

    kind: ClassVar[str] = "note"
    title: str
    lines: tuple[str, ...]
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Tile:
    """One large figure. ``share`` and ``limit``, when given, are drawn as a small gauge below it."""

    label: str
    figure: str
    note: str = ""
    share: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Tiles:
    """Figures side by side."""

    kind: ClassVar[str] = "tiles"
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell with a tone (drawn as a badge) or a smaller second line."""

    text: str
    tone: Tone | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. Its first column holds the row headers; ``numeric`` columns are aligned right."""

    kind: ClassVar[str] = "grid"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Definitions:
    """Terms with their meanings, or settings with their values."""

    kind: ClassVar[str] = "definitions"
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Signatures:
    """Places to sign: for each, lines for a name, a date and a signature."""

    kind: ClassVar[str] = "signatures"
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts by name, in reading order."""

    kind: ClassVar[str] = "charts"
    charts: Mapping[str, Chart]


Block = Prose | Points | Note | Tiles | Grid | Definitions | Signatures | Charts


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks under it."""

    heading: str
    blocks: tuple[Block, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Banner:
    """The outcome at the head of the page: a word, a sentence and reasons."""

    word: str
    sentence: str
    tone: Tone
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One document."""

    title: str
    sections: tuple[Section, ...]
    _: KW_ONLY
    kicker: str = ""
    subtitle: str = ""
    banner: Banner | None = None
    footer: str = ""
