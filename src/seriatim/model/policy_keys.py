"""One row per key of the policy: shapes, messages, the editor's schema and the reference page are made of these.

The keys of promises stand in their rows (``model.promises``) and the options of methods in theirs (``model.methods``);
all others are here. A package that brings a method brings the rows of its options.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from numbers import Integral, Real

from seriatim.model.names import VISIBLE

LARGEST = 1 << 53
"""Of whole numbers: beyond it neither floats nor machine words count people exactly."""
LARGEST_WORD = (1 << 31) - 1
"""Of seeds and rounds, which kernels take as machine words."""
_POWERS = {LARGEST: "2^53", LARGEST_WORD: "2^31 - 1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLimits:
    """The bounds of a number; ``least`` and ``most`` are allowed themselves, ``above`` and ``below`` are not."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    whole: bool = False
    noun: str = ""
    """What messages call it, if not a number."""
    up_to: str = ""
    """The key of the policy that bounds it further, for messages."""

    @property
    def words(self) -> str:
        """Return the bounds as messages say them: ``a whole number from 1 to 2^53``."""
        noun = self.noun or ("a whole number" if self.whole else "a number")
        return f"{noun} {self.range}"

    @property
    def range(self) -> str:
        """Return the bounds alone: ``from 0 to 1``."""
        low = f"above {_written(self.above)}" if self.above is not None else f"from {_written(self.least)}"
        if self.below is not None:
            return f"{low} and below {_written(self.below)}"
        high = self.up_to or _written(self.most)
        return f"{low} {'to' if self.above is None else 'and up to'} {high}" if high else low

    def allow(self, value: object) -> bool:
        """Return whether a value of any type is a number within the bounds."""
        if not isinstance(value, Integral if self.whole else Real) or isinstance(value, bool):
            return False
        try:
            finite = math.isfinite(value)
        except OverflowError:  # a whole number beyond any float
            return False
        number = int(value) if isinstance(value, Integral) else float(value)
        return finite and not (
            (self.least is not None and number < self.least)
            or (self.above is not None and number <= self.above)
            or (self.most is not None and number > self.most)
            or (self.below is not None and number >= self.below)
        )


def _written(bound: float | None) -> str:
    return "" if bound is None else _POWERS.get(int(bound), f"{bound:g}")


def whole_from(least: int, most: int = LARGEST, up_to: str = "") -> NumberLimits:
    return NumberLimits(least=least, most=most, whole=True, up_to=up_to)


def number_from(least: float, most: float | None = None) -> NumberLimits:
    return NumberLimits(least=least, most=most)


def number_above(bound: float, most: float | None = None, below: float | None = None) -> NumberLimits:
    return NumberLimits(above=bound, most=most, below=below)


SHARE = NumberLimits(least=0, most=1, noun="a share")
CHANCE = NumberLimits(least=0, most=1, noun="a probability")


def are_times(times: Sequence[object]) -> bool:
    """Return whether these are whole numbers that rise, and kernels can count the steps between any two."""
    whole = [time for time in times if isinstance(time, Integral) and not isinstance(time, bool)]
    if len(whole) < len(times) or any(later <= now for now, later in pairwise(map(int, whole))):
        return False
    ends = [int(end) for end in whole[:1] + whole[-1:]]
    return all(abs(end) <= LARGEST_WORD for end in ends) and (not ends or ends[-1] - ends[0] <= LARGEST_WORD)


ARGUMENT_LIMITS: dict[str, NumberLimits] = {
    "least": whole_from(1, LARGEST_WORD),
    "repetitions": whole_from(1, 100),
    "releases": whole_from(1, 120),
    "most": whole_from(1, LARGEST_WORD),
    "bands": whole_from(2, 200),
    "seed": whole_from(0),
}
"""Numbers that attacks, forecasts and gates take beside a policy, in Python as on the command line."""


class PolicySection(StrEnum):
    """The table of the policy that holds a key."""

    SERIES = "series"
    COLUMNS = "columns"
    HIERARCHY = "hierarchy"
    """A builder: the table form of [columns.NAME] hierarchy."""
    PROMISE = "promise"
    DEFENCE = "defence"
    ADVERSARY = "adversary"
    NOWHERE = "nowhere"
    """Kept whatever the policy says."""


class Form(StrEnum):
    """What a key takes that is neither a number within limits nor one of some words, as messages say it."""

    TEXT = "a text"
    VISIBLE = VISIBLE
    COLUMN = "the name of a column"
    FILE = "the path of a file"
    METHOD = "the name of a method"
    FLAG = "true or false"
    NUMBER = "a number"
    ANYTHING = "anything"
    TEXTS = "a list of texts"
    VALUES = "a list of values"
    EDGES = "numbers that rise"
    TIMES = "rising whole numbers"
    WIDTHS = "positive numbers"
    LENGTHS = "whole numbers from 0"
    RUNS_OR_SETS = "sizes of runs, or lists of values"
    PARTS = "day, month, quarter, year, decade"
    AMOUNTS = 'a table of column = "10" or "10%"'
    SHARES = "a table of value = [low, high], shares from 0 to 1"
    ENTROPIES = "a table of width = bits from 0"
    CHANCES = "a table of width = chance from 0 to 1"
    PRIORS = "a file of respondent,value lines, or a table id = [values]"
    RULES = "tables of cell = [values]"
    TABLE = "a table"
    FILE_OR_TABLE = "a file, or a table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known about a key of the policy."""

    key: str
    section: PolicySection = PolicySection.DEFENCE
    limits: NumberLimits | None = None
    """What a number may be."""
    words: tuple[str, ...] = ()
    """Words that it may say; for an option of a method the first is the default."""
    form: Form | None = None
    """What it takes, if neither of these."""
    values: str = ""
    """What messages say of it: after the limits or words, or in place of the form's own words."""
    default: object = None
    """What is filled in if the key is missing, and so is part of the policy's text."""
    required: bool = False
    summary: str
    """What it means, for the reference page: a phrase or a few."""

    @property
    def allowed(self) -> str:
        """Return what the key may say; messages repeat it."""
        if self.limits is not None:
            return f"{self.limits.words}{self.values}"
        if self.words:
            return f"{', '.join(self.words)}{self.values}"
        return self.values or (self.form.value if self.form else "")


_SERIES, _COLUMNS = PolicySection.SERIES, PolicySection.COLUMNS
_HIERARCHY, _ADVERSARY = PolicySection.HIERARCHY, PolicySection.ADVERSARY
PLAIN_KEYS = (
    Setting(
        key="name",
        section=_SERIES,
        form=Form.VISIBLE,
        required=True,
        summary="the name of the series",
    ),
    Setting(
        key="respondent",
        section=_SERIES,
        form=Form.COLUMN,
        values="the column that identifies the person",
        summary="the column that identifies the person a record is about; it counts as declared and is never published",
    ),
    Setting(
        key="people",
        section=_SERIES,
        form=Form.VISIBLE,
        values="a name",
        summary="the register of people that respondents are in: series that name the same one are judged together "
        "(the respondent's column, if omitted)",
    ),
    Setting(
        key="publisher",
        section=_SERIES,
        form=Form.VISIBLE,
        values="a name",
        summary="who publishes the series, as recipients are told",
    ),
    Setting(
        key="epoch",
        section=_SERIES,
        limits=whole_from(1),
        default=1,
        summary="the policy must not change within an epoch; to change it in the middle of a series, raise this by one",
    ),
    Setting(
        key="head",
        section=_SERIES,
        form=Form.FILE,
        summary="a file outside the shelf to which each release writes its number and the head of the chain",
    ),
    Setting(
        key="role",
        section=_COLUMNS,
        words=("quasi", "sensitive", "plain", "weight", "drop"),
        required=True,
        summary="`quasi`: others may know it, so it is generalised; `sensitive`: the value to protect; "
        "`plain`: published as it is; `weight`: how many people a record of a survey stands for, published as it is "
        "and used by `open_release`; `drop`: not published",
    ),
    Setting(
        key="kind",
        section=_COLUMNS,
        words=("number", "category", "date"),
        summary="how values are read, where the table does not make it clear",
    ),
    Setting(
        key="hierarchy",
        section=_COLUMNS,
        form=Form.ANYTHING,
        values="the path of a hierarchy file, or a builder such as { interval = [5, 10] }",
        summary="how values become coarser: a file beside the policy, or a builder",
    ),
    Setting(
        key="order",
        section=_COLUMNS,
        form=Form.VALUES,
        values="a list of texts, each once, from low to high",
        summary="the values of a category from low to high, as text or whole numbers",
    ),
    Setting(
        key="unit",
        section=_COLUMNS,
        form=Form.TEXT,
        summary='the unit shown in reports and the codebook, such as `"EUR"`',
    ),
    Setting(
        key="missing",
        section=_COLUMNS,
        words=("error", "value", "suppress"),
        default="error",
        summary="what happens to a record with an empty cell here; with `value` empty is a value of its own",
    ),
    Setting(
        key="on_unseen",
        section=_COLUMNS,
        words=("error", "suppress", "top"),
        default="error",
        summary="what happens to a record whose value the hierarchy or order does not list; `top` is published as `*`",
    ),
    Setting(
        key="bands",
        section=_COLUMNS,
        form=Form.EDGES,
        values="numbers that rise: the edges of the bands",
        summary="for sensitive numbers: the edges of the bands that are published instead",
    ),
    Setting(
        key="rounding",
        section=_COLUMNS,
        limits=number_above(0),
        summary="numbers are rounded to multiples of this before anything else",
    ),
    Setting(
        key="level",
        section=_COLUMNS,
        limits=whole_from(1),
        values=": a level of the hierarchy, below its last",
        summary="for quasi columns with a hierarchy: values become their labels at this level before anything else",
    ),
    Setting(
        key="interval",
        section=_HIERARCHY,
        form=Form.WIDTHS,
        values="positive widths, each a greater multiple of the one before",
        summary="intervals of numbers",
    ),
    Setting(
        key="origin",
        section=_HIERARCHY,
        form=Form.NUMBER,
        values="a number, beside interval only",
        summary="where an interval begins",
    ),
    Setting(
        key="prefix",
        section=_HIERARCHY,
        form=Form.LENGTHS,
        values="up to 100 numbers of characters to keep, falling",
        summary="the first characters of a code",
    ),
    Setting(
        key="group",
        section=_HIERARCHY,
        form=Form.RUNS_OR_SETS,
        values="sizes of runs of the order, each a greater multiple of the one before, "
        "or lists of values, each value once",
        summary="neighbours in the column's `order`, or sets of values",
    ),
    Setting(
        key="date",
        section=_HIERARCHY,
        form=Form.PARTS,
        values="day, month, quarter, year, decade: some of them, from fine to coarse",
        summary="parts of a date",
    ),
    Setting(
        key="compromised",
        section=_ADVERSARY,
        limits=SHARE,
        summary="the share of people whose values the attacker already knows",
    ),
    Setting(
        key="known",
        section=_ADVERSARY,
        form=Form.FILE_OR_TABLE,
        values="a CSV file with the columns respondent and value, or a table id = value",
        summary="people whose value the attacker has, by name; they need no cover and never count as breached",
    ),
    Setting(
        key="collusion",
        section=_ADVERSARY,
        limits=whole_from(1),
        values=": recipients who put their releases together",
        summary="recipients who put their releases together, for `breach_share`; all of them if omitted",
    ),
    Setting(
        key="impossible",
        section=_ADVERSARY,
        form=Form.RULES,
        values="tables [adversary.impossible.COLUMN] of cell = [values nobody with that cell can have]",
        summary="values that a cell of another column rules out",
    ),
    Setting(
        key="value_priors",
        section=_ADVERSARY,
        form=Form.TABLE,
        values="a table of value = chance",
        summary="how likely each value is before any release; the shares of the series if omitted",
    ),
    Setting(
        key="classes",
        section=_ADVERSARY,
        form=Form.FILE_OR_TABLE,
        values="a CSV file with the columns respondent and class, or a table id = class",
        summary="which class of the knowledge file applies to each respondent",
    ),
    Setting(
        key="sequence",
        section=_ADVERSARY,
        form=Form.FILE_OR_TABLE,
        values="a file of seriatim knowledge mine, or a table such as { stay = 0.77 }",
        summary="what the attacker knows about how values follow each other",
    ),
    Setting(
        key="times",
        section=_ADVERSARY,
        form=Form.TIMES,
        values="rising whole numbers up to 2^31 - 1, one for each release",
        summary="when each release is, in whole steps of the knowledge; one step apart if omitted",
    ),
)
"""Keys that are neither promises nor options of a method, in the order of the reference page."""

RETIRED = {
    "min_area": "remove it: max_hit_chance_at bounds what an attacker can tell",
    "j_base": "remove it: j is in nats (bits times 0.6931)",
    "common": "it is odds now",
    "group_cap": "remove it: nobody is moved needlessly without it",
    "lineage_size": "it is cohort_size now",
    "when_not_eligible": "it is leftovers now",
    "withhold": 'it is leftovers = "withhold" now',
    "attributes": "remove it: nothing ever read it",
    "groups": "it is group now",
}
"""What to do with keys that earlier versions had."""
