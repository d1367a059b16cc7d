"""A sequential adversary: how values follow each other, who belongs to which class, and whose values are known.

Without any file it is one number and the margin: how many people keep their value, counted in the series itself. A
steward's own history is what an attacker's corpus resembles, so where it carries one, a table mined from it is another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
import pyarrow as pa

from seriatim.errors import AdversaryError, Fault
from seriatim.kernels.arrays import Flags, Floats, Ints
from seriatim.knowledge._posterior import RULES, Rule
from seriatim.knowledge.appearances import Appearances
from seriatim.knowledge.sequence_mining import ValueCorpus, mined_sequences, possible_orders
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.knowledge.value_texts import value_texts
from seriatim.model.adversary import RAISED, SURE
from seriatim.model.doors import shown_argument
from seriatim.model.history import History
from seriatim.model.policy_keys import are_times

_FIRST_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FLOOR = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class SequentialAdversary:
    """What an attacker with sequence knowledge knows. ``model`` None: mined from the history itself."""

    model: SequenceModel | None = None
    stay: float | None = None
    """Without a model: the share of people who keep their value, with the margin of the history."""
    order: int | None = None
    """Without a model: mine the history itself, over runs of up to this many values."""
    prior: Mapping[str, float] | None = None
    """How likely each value is before any release, if that is declared; others get a small chance."""
    classes: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The class of each respondent, by id as text; the first class of the model for those not named."""
    compromised: frozenset[str] = field(default_factory=frozenset, repr=False)
    """Respondents whose values are known."""
    share_known: float = 0.0
    """The share of all other respondents whose values are also known; the same people in every release."""
    times: tuple[int, ...] | None = None
    """When each release is, the first one first, in whole steps of the model; its number if None."""
    rule: Rule = "bayes"
    sure: float = SURE
    """Beliefs above this count as certain."""
    raised: float = RAISED
    """A certain belief counts only where its odds are this many times those of the class prior."""
    harmless: frozenset[Hashable] = frozenset()
    """Values that nobody minds being believed to have."""
    ordered: tuple[Hashable, ...] | None = None
    """The values in their order, for beliefs within some bands; by their numbers if None."""
    window: int = 0
    """A belief is about a value and this many bands on either side, if values have an order."""

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise AdversaryError(Fault("rule", "unknown", ", ".join(RULES)))
        if not _is_number(self.sure) or not 0.0 < self.sure < 1.0:
            raise AdversaryError(Fault("sure", shown_argument(self.sure), "between 0 and 1"))
        if not _is_number(self.raised) or not self.raised >= 1.0:
            raise AdversaryError(Fault("raised", shown_argument(self.raised), "1 or more"))
        if not are_times(self.times or ()):
            raise AdversaryError(Fault("[adversary] times", "other things", "rising whole numbers up to 2^31 - 1"))

    def n_strange_harmless(self, told: Iterable[str]) -> int:
        """Count the harmless values that are neither among these texts nor in what is known."""
        known = {*told, *value_texts(self.ordered or ()), *(self.prior or {})}
        known |= set(value_texts(self.model.values)) if self.model is not None else set()
        return sum(text not in known for text in value_texts(self.harmless))

    def check_harmless(self, told: Iterable[str], where: str) -> None:
        """Raise an error if no harmless value ever occurs: they are misspelt, or of another column."""
        n = len(self.harmless)
        if n and self.n_strange_harmless(told) == n:
            allowed = "values of the sensitive column, written as there"
            remedy = "correct or remove them; one that comes later can be in the order of the column"
            raise AdversaryError(Fault("[adversary] harmless", f"none of {n} values is in {where}", allowed, remedy))

    def within(self, values: Sequence[Hashable]) -> Floats:
        """Return which values a belief is about: one each, or all within the window around one."""
        if not self.window:
            return np.eye(len(values))
        near = self.near(values, self.window)
        if near is None:
            remedy = "remove it, or give the column an order"
            fault = Fault("[adversary] window", "values without an order", "numbers, or order = [...]", remedy)
            raise AdversaryError(fault)
        return near.astype(np.float64)

    def near(self, values: Iterable[Hashable], window: int) -> Flags | None:
        """Return (values, values): which are within the window of each other; None if they have no order."""
        texts = value_texts(values)
        if self.ordered is None:
            numbers = [_FIRST_NUMBER.search(text) for text in texts]
            if not all(numbers):
                return None
            at = np.array([float(found.group()) for found in numbers if found])
            rank = np.unique(at, return_inverse=True)[1]
        else:
            place = {text: at for at, text in enumerate(value_texts(self.ordered))}
            # a value outside the order is near to itself alone: each such rank is more than a window from all others
            rank = np.array([place.get(text, -(at + 1) * (len(place) + window + 1)) for at, text in enumerate(texts)])
        close: Flags = np.abs(rank[:, None] - rank[None, :]) <= window
        return close

    def times_of(self, numbers: Iterable[int]) -> list[int]:
        """Return when these releases are."""
        asked = list(numbers)
        if self.times is None:
            return asked
        late = max(asked, default=0)
        if late > len(self.times):
            found = f"{len(self.times)} for a series of {late} releases"
            raise AdversaryError(Fault("[adversary] times", found, "one for every release", "add when this one is"))
        return [self.times[number - 1] for number in asked]

    def knows(self, respondents: pa.Array) -> Flags:
        """Return of whom the values are known: those named, and a share drawn by id, so that it stays the same."""
        texts = respondents.cast(pa.string()).to_pylist()
        named = np.array([who in self.compromised for who in texts], dtype=np.bool_)
        if not self.share_known:
            return named
        drawn = [who is not None and _draw(who) < self.share_known for who in texts]
        return named | np.array(drawn, dtype=np.bool_)

    def model_for(self, rows: Appearances, history: History) -> SequenceModel:
        """Return the model over the values of a history; without one, what the history itself says."""
        model = self._model(rows, history)
        if self.prior is None:
            return model
        given = np.array([self.prior.get(text, 0.0) for text in value_texts(model.values)])
        if not given.sum() > 0:
            raise AdversaryError(Fault("[adversary] value_priors", "no value of the history", "its values"))
        share = np.maximum(given / given.sum(), _FLOOR)
        return replace(model, prior=np.tile(share / share.sum(), (len(model.classes), 1)))

    def _model(self, rows: Appearances, history: History) -> SequenceModel:
        if self.model is not None:
            model = self.model if self.classes else self.model.pooled()
            return model.over(tuple(history.values.to_pylist()))
        if self.order is not None:
            return _own_adversary_model_of_order(rows, history, self.order)
        if self.stay is not None:
            corpus = true_sequences(rows, history)
            return SequenceModel.from_stay(self.stay, corpus.margin(), corpus.values)
        return _own_adversary_model(rows, history)

    def own_attackers(self, rows: Appearances, history: History) -> tuple[SequentialAdversary, ...]:
        """Return everyone who knows no more than a history says: by its stay share, and mined as far as it carries.

        Nobody can tell which of them a reader is. One with knowledge of their own is alone; where every value stays, so
        is one who knows that.
        """
        if self.model is not None or self.stay is not None or self.order is not None:
            return (self,)
        corpus = true_sequences(rows, history)
        orders = () if corpus.stay_share() == 1.0 else possible_orders(corpus)
        return (self, *(replace(self, order=order) for order in orders))

    def class_numbers(self, history: History, model: SequenceModel) -> Ints:
        """Return the class of each of ``history.respondents``."""
        known = {name: at for at, name in enumerate(model.classes)}
        ids = history.respondents.cast(pa.string()).to_pylist() if self.classes else []
        strangers = len({name for name in self.classes.values() if name not in known})
        if strangers:
            raise AdversaryError(Fault("classes", f"{strangers} classes that the knowledge lacks", "known classes"))
        if not ids:
            return np.zeros(len(history.respondents), dtype=np.int32)
        # people whom the adversary file does not name are of the first class
        return np.array([known.get(self.classes.get(who, ""), 0) for who in ids], dtype=np.int32)


def _is_number(given: object) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _draw(who: str) -> float:
    """Return a number between 0 and 1 that belongs to an id."""
    return int.from_bytes(hashlib.blake2b(who.encode(), digest_size=8, person=b"compromised").digest()) / 2.0**64


def true_sequences(rows: Appearances, history: History) -> ValueCorpus:
    """Return a history's own sequences of true values, as its publisher could mine them."""
    n = rows.n_people
    end = int(rows.people.ptr[n])
    order = rows.people.rows[:end]
    return ValueCorpus(
        values=tuple(history.values.to_pylist()),
        code=rows.value[order],
        time=rows.time[order].astype(np.int64),
        ptr=rows.people.ptr[: n + 1],
        cls=np.zeros(n, dtype=np.int32),
        classes=("",),
    )


def _own_adversary_model(rows: Appearances, history: History) -> SequenceModel:
    """Return the model of one number: the stay share and margin of the history itself."""
    corpus = true_sequences(rows, history)
    stay = corpus.stay_share()
    return SequenceModel.from_stay(stay, corpus.margin(), corpus.values)


def _own_adversary_model_of_order(rows: Appearances, history: History, order: int) -> SequenceModel:
    """Return a mined model of the history's own sequences."""
    return mined_sequences(true_sequences(rows, history), order)
