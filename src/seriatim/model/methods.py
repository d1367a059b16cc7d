"""One row per method. Everything that needs to know about a method asks here, and nothing else lists methods.

Other packages register the rows of theirs under the entry point group ``seriatim.methods``: a name, and where its
:class:`Method` is. They are loaded only when a policy names one that is not ours, or when all methods are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points

from seriatim.errors import Fault, PolicyError
from seriatim.model.policy_keys import Form, NumberLimits, Setting, whole_from


class MethodFamily(StrEnum):
    """What a method looks at, and so what its function at ``home`` takes and returns."""

    SINGLE = "single"
    """One release alone: ``ports.Defence``, from a view to a draft."""
    FOLLOWING = "following"
    """One release, and what earlier ones let someone believe about its people: ``ports.Defence``, with a respondent."""
    SERIES = "series"
    """All releases so far: ``defences.series.contract.SerialMethod``, from codes and a memory to groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What is known about a method without loading it; loading ``home`` brings compiled kernels."""

    name: str
    home: str
    """``module:function``"""
    family: MethodFamily
    summary: str
    """One line for reports and pages."""
    options: tuple[Setting, ...] = ()
    """Keys of [defence] that it reads besides method, suppress and form, with the words that they may say to it."""
    needs: str = ""
    """An option without which it cannot be used, so that nothing tries it unasked."""
    marks: tuple[str, ...] = ()
    """Lasting numbers that it stores with its rows; it cannot continue a series without them."""
    degree: str = ""
    """The module that says what [promise] n and [adversary] breach mean for it (``rules_for_n``, ``closed_form``,
    ``chosen_degree``); empty if they mean nothing."""
    seeks_n: bool = False
    """Whether it groups people so that [promise] n holds; it is judged at 1 without it."""
    judged_by: tuple[str, ...] = ()
    """The promises that [promise] m stands for under this method."""
    seeks_j: bool = False
    """Whether it groups people so that [promise] j holds."""
    counts_people: bool = False
    """Whether a class has k different people, and not only k records, where someone has several."""
    past_keeps: str = ""
    """The promise that earlier releases must keep for it to continue a series."""
    needs_eligible: bool = False
    """Whether it groups only tables in which no value has more than one m-th."""
    reads_odds: bool = False
    """Whether it has room for values above one m-th, with [promise] odds."""
    compiled_ahead: tuple[str, ...] = ()
    """The steps of ``kernels.warm_up`` that its first use has to wait for, the longest first."""
    looks: str = ""
    """What it looks at of who holds which value when it groups people; ``check_defence`` tries methods without it."""
    blind_cuts: bool = False
    """Whether it looks at no values with [defence] cuts = "blind"."""
    halvings: str = ""
    """``module:function`` that rebuilds its cuts, for a method that halves people value by value: who is with whom then
    tells anyone who knows it about values."""
    leavers_known: bool = False
    """Whether a counterfeit holds a leaver's slot: attacks are then told so, which is more than a reader can know."""
    withdrawn: str = ""
    """Why it makes no drafts any more, and what does instead; its releases stay readable."""

    @property
    def serial(self) -> bool:
        return self.family is MethodFamily.SERIES

    @property
    def follows_people(self) -> bool:
        """Return whether it must know who is who over releases: without a respondent it cannot be used."""
        return self.family is not MethodFamily.SINGLE

    def option(self, key: str) -> Setting | None:
        """Return the row of a key of [defence]; None if the method does not read it."""
        return next((row for row in (*self.options, _FORM) if row.key == key), None)

    def reads(self, key: str) -> bool:
        return self.option(key) is not None

    def words(self, key: str) -> tuple[str, ...]:
        """Return the words that a key of [defence] may say to it."""
        option = self.option(key)
        return () if option is None else option.words


_FORM = Setting(key="form", words=("intervals",), summary="how quasi-identifiers are published")
_CUTS = Setting(key="cuts", words=("values", "blind"), summary="whether values decide who is together")
_CLASSES = Setting(
    key="leftovers",
    words=("refuse", "withhold"),
    summary="what happens to whole classes that break a promise, or whose people are breached",
)
FALLBACK = Setting(
    key="leftovers",
    words=("defer", "counterfeit", "suppress"),
    summary="what happens to people who cannot be grouped as promised",
)
"""A key that any serial method may read."""

_COHORT_SIZE = Setting(
    key="cohort_size",
    limits=whole_from(180),
    values=": minimum number of people in a new cohort",
    summary="newcomers found cohorts of at least so many people",
)


def _mode(*words: str) -> Setting:
    return Setting(key="mode", words=words, summary="how the method looks for groups")


_WEAK = ("weak_m_uniqueness", "weak_m_invariance")
_ROWS = (
    Method(
        name="median",
        home="seriatim.defences.single.median:median",
        family=MethodFamily.SINGLE,
        summary="cuts the table in halves while both halves keep the promises",
        options=(_mode("strict", "relaxed"), _CUTS, _CLASSES),
        blind_cuts=True,
        counts_people=True,
        compiled_ahead=("cutting", "accepting"),
        looks="whether both halves of a cut keep l and t",
    ),
    Method(
        name="lattice",
        home="seriatim.defences.single.lattice.generalisation:lattice",
        family=MethodFamily.SINGLE,
        summary="raises whole columns, level by level, until the promises are kept",
        options=(
            Setting(
                key="loss",
                words=("ncp", "precision", "entropy", "discernibility", "class_size"),
                summary="what the chosen levels lose least of",
            ),
            _CLASSES,
        ),
        compiled_ahead=("accepting",),
        looks="whether a level keeps l and t",
    ),
    Method(
        name="curve",
        home="seriatim.defences.single.curve.segments:curve",
        family=MethodFamily.SINGLE,
        summary="orders people by similarity and groups neighbours",
        options=(_CUTS, _CLASSES),
        blind_cuts=True,
        counts_people=True,
        compiled_ahead=("accepting",),
        looks="where along the order l and t are kept",
    ),
    Method(
        name="cohort",
        home="seriatim.defences.series.cohort.grouping:cohort",
        family=MethodFamily.SERIES,
        summary="people who enter together stay together; those who leave are given up in fair cells",
        options=(
            _COHORT_SIZE,
            Setting(
                key="relation",
                form=Form.TEXTS,
                values="a list of quasi-identifiers whose relation to the values matters most",
                summary="cohorts differ in these columns first, so that a reader who joins them sees it best",
            ),
        ),
        marks=("lineage", "slot", "baseline", "blind"),
        judged_by=("fair_cells",),
        reads_odds=True,
        leavers_known=True,
    ),
    Method(
        name="sequence",
        home="seriatim.defences.series.sequence.grouping:sequence_groups",
        family=MethodFamily.FOLLOWING,
        summary="groups neighbours about whom an attacker who knows how values usually change believes much the same",
        options=(
            _mode("optimal", "greedy"),
            Setting(
                key="leftovers",
                words=("suppress", "relax", "counterfeit"),
                summary="what happens to people who fit no group",
            ),
            _CUTS,
            replace(_FORM, words=("intervals", "buckets")),
        ),
        seeks_j=True,
        looks="what is believed about a person's value",
    ),
    Method(
        name="sample",
        home="seriatim.defences.single.sample:sample",
        family=MethodFamily.SINGLE,
        summary="publishes some records as they are, drawn at random, the same people in every release",
        options=(
            Setting(
                key="rate",
                limits=NumberLimits(above=0, most=1, noun="a share"),
                values=": records in the sample",
                summary="this share of the records is published, as they are",
            ),
        ),
        needs="rate",
    ),
    Method(
        name="noise",
        home="seriatim.defences.single.noise:noise",
        family=MethodFamily.SINGLE,
        summary="publishes every record with noise on some columns, the same in every release",
        options=(
            Setting(
                key="noise",
                form=Form.AMOUNTS,
                values='a table of column = "10" (at most 10 units either way, above 0; the spread is an eighth of it) '
                'or "10%"',
                summary="how far a value moves at most, by column",
            ),
        ),
        needs="noise",
    ),
)
METHODS: dict[str, Method] = {row.name: row for row in _ROWS}
"""Our own."""
GROUP = "seriatim.methods"
OF_PAPERS = frozenset({"invariant", "historical"})
"""Methods that were ours and are in ``seriatim[papers]`` now."""
_WITHDRAWN = {
    "lineage": Method(
        name="lineage",
        home="",
        family=MethodFamily.SERIES,
        summary="people never changed group; a counterfeit with the same value took the slot of someone who left",
        marks=("lineage", "slot"),
        reads_odds=True,
        leavers_known=True,
        looks="values near their cap were cut at their own median; newcomers went where their value was free",
        withdrawn="its cells revealed values, as 'seriatim attack --view' shows; cohort takes the series over",
    ),
}
"""Methods whose releases ledgers still hold."""
AUTO, RELEASES = "auto", "releases"
AUTO_ALONE, AUTO_LASTING = "median", "cohort"
"""What it chooses from: larger and larger k, and what lasts where no k does."""
CHOOSING = Method(
    name=AUTO,
    home="seriatim.usecases.publish.auto:publish_chosen",
    family=MethodFamily.FOLLOWING,
    summary="chooses median with a k, or cohort: what keeps most of the relation and lasts if the series goes on so",
    looks="which k keeps most of how values go with columns, and which breaches few in releases to come",
    options=(
        Setting(
            key=RELEASES,
            limits=whole_from(1, 1000),
            values=": how many releases the series shall have (default 12)",
            summary="the choice looks ahead to so many releases",
        ),
        _mode("strict", "relaxed"),
        _CUTS,
        _CLASSES,
    ),
    compiled_ahead=("cutting", "accepting"),
)
"""Chooses one of the others before each release, and makes no draft itself."""
JUDGED_ANYHOW = _WEAK
"""What [promise] m stands for under a method that does not look back over all releases."""
OF_IMPORTED = "median"
"""The method that stands for the unknown one of releases that were imported."""


def method_named(name: str) -> Method | None:
    """Return the row of a method: one of ours, also if it was withdrawn or only chooses, or of an installed package."""
    return (METHODS | _WITHDRAWN | {AUTO: CHOOSING}).get(name) or _installed(name)


def installed_rows() -> dict[str, Method]:
    """Return the rows of our methods, then those of installed packages; one that cannot be used harms no other."""
    found = dict(METHODS)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        with suppress(PolicyError):
            found.setdefault(point.name, _loaded(point))
    return found


def _installed(name: str) -> Method | None:
    return next((_loaded(point) for point in entry_points(group=GROUP, name=name)), None)


def _loaded(point: EntryPoint) -> Method:
    try:
        row = point.load()
    except (ImportError, AttributeError) as error:
        raise PolicyError(_useless(point, f"cannot be loaded ({type(error).__name__})")) from None
    if not isinstance(row, Method) or row.name != point.name:
        raise PolicyError(_useless(point, f"is no row of a method {point.name!r}"))
    return row


def _useless(point: EntryPoint, why: str) -> Fault:
    found = f"{point.name} is registered as {point.value}, which {why}"
    return Fault("[defence] method", found, "", "repair or remove the package that registers it")


def missing_method(name: str) -> Fault:
    """Return the fault of a method that makes no draft here, and what to do."""
    where, row, known = "[defence] method", method_named(name), ", ".join(installed_rows())
    if row is not None:
        return Fault(where, f"{name} was withdrawn: {row.withdrawn}", known, "choose another")
    if name in OF_PAPERS:
        return Fault(where, f"{name} is in another package", known, 'pip install "seriatim[papers]"')
    return Fault(where, f"this version has no method {name!r}", known, "choose another")


def names_looking_back() -> tuple[str, ...]:
    """Return the methods that look back: ours, newest first, then those of installed packages."""
    ours = [name for name, row in METHODS.items() if row.serial]
    return (*reversed(ours), *(name for name, row in installed_rows().items() if row.serial and name not in METHODS))


def names_where(question: Callable[[Method], bool]) -> tuple[str, ...]:
    """Return the names of our methods whose row answers a question with yes."""
    return tuple(name for name, row in METHODS.items() if question(row))


def quoted_names(question: Callable[[Method], bool]) -> str:
    """Return the same names for a message: ``"median" or "curve"``."""
    return " or ".join(f'"{name}"' for name in names_where(question))
