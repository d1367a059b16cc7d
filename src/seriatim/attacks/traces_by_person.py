"""A history as an adversary reads it: everyone's trace of groups, and every group's people and values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import AdversaryError, Fault, TableError
from seriatim.kernels.arrays import Ints, Longs, Words
from seriatim.kernels.deduce.board import Board, EpisodeLinks, overlaps
from seriatim.model.history import History
from seriatim.model.table_faults import most_records_at_once, several_records_fault

PriorValues = Mapping[Any, Collection[Any]]
"""The values a person can have, by respondent id; people who are not named can have any."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Traces:
    """Everyone's episodes: stretches of one respondent's releases with one value.

    If values never change, an episode is a person. An episode ends when the respondent's published value changes; two
    entries of ``history.respondents`` with the same id are episodes as well. The adversary knows when an episode ends
    (the cautious assumption).
    """

    history: History
    respondent: Ints
    """The first index in ``history.respondents`` of each episode's respondent."""
    value: Ints
    """The true value."""
    person_ptr: Longs
    groups: Ints
    """The groups of each episode, episode by episode, in order of release."""
    group_ptr: Longs
    people: Ints
    sig_ptr: Longs
    sig_val: Ints
    sig_cnt: Ints
    counterfeits: Ints
    release_of: Ints
    """The position in the history of each group's release."""
    first_of_release: Longs

    @property
    def n_groups(self) -> int:
        return len(self.group_ptr) - 1

    @property
    def n_values(self) -> int:
        return len(self.history.values)

    @cached_property
    def order(self) -> Ints:
        """Return the distinct respondents ever published, as indices."""
        return np.unique(self.respondent)

    @cached_property
    def latest(self) -> Ints:
        """Return the last episode of each respondent in ``order``."""
        # episodes stand person by person, in order of time
        return (np.searchsorted(self.respondent, self.order, side="right") - 1).astype(np.int32)

    def ids(self, episodes: npt.NDArray[Any]) -> list[Any]:
        """Return the respondents of episodes; an erased one is ("erased", its number)."""
        numbers = self.respondent[episodes]
        texts = self.history.respondents.take(numbers).to_pylist()
        return [("erased", int(n)) if text is None else text for text, n in zip(texts, numbers, strict=True)]

    def board(self) -> Board:
        sizes = np.diff(self.group_ptr)
        width = np.diff(self.sig_ptr)
        # groups in which everyone holds another value, in one word: kernels decide them without counting
        plain = (self.counterfeits == 0) & (width == sizes) & (self.n_values <= 64)
        pair_ptr, pair = overlaps(self.group_ptr, self.people, self.person_ptr, self.groups, 2)
        return Board(
            self.group_ptr, self.people, self.person_ptr, self.groups, self.sig_ptr, self.sig_val, self.sig_cnt,
            self.counterfeits, plain, pair_ptr, pair,
        )  # fmt: skip

    def links(self, follows: npt.NDArray[np.bool_] | None = None) -> EpisodeLinks:
        """Link episodes that follow one another.

        ``follows[a, b]``: value b can follow a (any other value, if omitted).
        """
        same = self.respondent[1:] == self.respondent[:-1]
        n = len(self.respondent)
        before, after = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        at = np.flatnonzero(same).astype(np.int32)
        before[at + 1], after[at] = at, at + 1
        if follows is None:
            # only neighbours whose value changed are known to differ: the same value twice is a return
            differs = self.value[at] != self.value[at + 1]
            before[at[~differs] + 1], after[at[~differs]] = -1, -1
            follows = ~np.eye(self.n_values, dtype=np.bool_)
        elif follows.shape != (self.n_values, self.n_values):
            found, allowed = " x ".join(map(str, follows.shape)), f"{self.n_values} x {self.n_values}, by value"
            raise AdversaryError(Fault("follows", found, allowed))
        return EpisodeLinks(before, after, trace_bit_words(follows), trace_bit_words(follows.T))

    def everything(self, priors: PriorValues | None = None) -> Words:
        """Return the possible values before any release is read: all values, or the priors."""
        full = trace_bit_words(np.ones((1, self.n_values), dtype=np.bool_))
        cand = np.repeat(full, len(self.respondent), axis=0)
        if priors:
            sets, number = self._prior_sets(priors)
            chosen = number[self.respondent]
            cand[chosen >= 0] = sets[chosen[chosen >= 0]]
        return cand

    def _prior_sets(self, priors: PriorValues) -> tuple[Words, Ints]:
        """Return the distinct sets as words, and the set of each entry of ``history.respondents``, or -1."""
        kinds: dict[frozenset[Any], int] = {}
        kind_of = {who: kinds.setdefault(frozenset(held), len(kinds)) for who, held in priors.items()}
        domain = self.history.values.to_pylist()
        flags = np.array([[value in held for value in domain] for held in kinds], dtype=np.bool_)
        number = [kind_of.get(who, -1) for who in self.history.respondents.to_pylist()]
        return trace_bit_words(flags.reshape(len(kinds), -1)), np.array(number, dtype=np.int32)

    def episodes_of(self, ids: list[Any]) -> Ints:
        """Return all episodes of the named respondents, or raise an error for ids that were never published."""
        respondents, wanted = _alike(self.history.respondents, ids)
        known = pc.is_in(wanted, value_set=respondents)
        missing = len(ids) - int(pc.sum(known).as_py() or 0)
        if missing:
            raise AdversaryError(
                Fault("compromised", f"{missing} ids are not in the history", "respondents of the history")
            )
        chosen = pc.is_in(respondents, value_set=wanted).to_numpy(zero_copy_only=False)
        return np.flatnonzero(chosen[self.respondent]).astype(np.int32)


def _alike(respondents: pa.Array, ids: list[Any]) -> tuple[pa.Array, pa.Array]:
    """Return both as one type; ids of another type become texts on both sides, as in a ledger."""
    try:
        return respondents, pa.array(ids, type=respondents.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pc.cast(respondents, pa.string()), pa.array([str(one).encode(errors="replace").decode() for one in ids])


def trace_bit_words(flags: npt.NDArray[np.bool_]) -> Words:
    """Pack rows of flags into rows of 64-bit words."""
    n_words = max(1, -(-flags.shape[1] // 64))
    padded = np.zeros((len(flags), 64 * n_words), dtype=np.bool_)
    padded[:, : flags.shape[1]] = flags
    # value v is bit v % 64 of word v // 64 on every machine, whatever its byte order
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def trace_flags(words: Words, n_values: int) -> npt.NDArray[np.bool_]:
    """Unpack what :func:`trace_bit_words` packed."""
    unpacked = np.unpackbits(np.ascontiguousarray(words.astype("<u8")).view(np.uint8), axis=1, bitorder="little")
    return unpacked[:, :n_values].astype(np.bool_)


def trace(history: History) -> Traces:
    """Read a history as an adversary does. A respondent may be in a release only once."""
    if not isinstance(history, History):
        found = f"a {type(history).__name__}"
        raise TableError(Fault("history", found, "a History", "make one with sr.History.from_frame"))
    release, person, group, value = _rows(history)
    real = person >= 0
    owner = _first_index(history.respondents)[person[real]]
    order = np.lexsort((release[real], owner))
    who, when = owner[order], release[real][order]
    _refuse_twice(who, when)
    held, entry, spot = value[real][order], person[real][order], group[real][order]
    fresh = np.ones(len(who), dtype=np.bool_)
    # an episode ends where the value changes, or where the person is another entry of the history
    fresh[1:] = (who[1:] != who[:-1]) | (held[1:] != held[:-1]) | (entry[1:] != entry[:-1])
    begins = np.flatnonzero(fresh)
    episode = np.cumsum(fresh) - 1
    n_groups = int(group.max()) + 1 if len(group) else 0
    by_group = np.argsort(spot, kind="stable")
    # a group's values and how often each is shown, by one sort of group and value together
    keys, counts = np.unique(group.astype(np.int64) * len(history.values) + value, return_counts=True)
    sig_group = keys // max(len(history.values), 1)
    release_of = np.zeros(n_groups, dtype=np.int32)
    release_of[group] = release
    sizes = [past.n_groups for past in history.releases]
    return Traces(
        history=history,
        respondent=who[begins].astype(np.int32),
        value=held[begins].astype(np.int32),
        person_ptr=np.append(begins, len(who)).astype(np.int64),
        groups=spot.astype(np.int32),
        group_ptr=_offsets(spot, n_groups),
        people=episode[by_group].astype(np.int32),
        sig_ptr=_offsets(sig_group, n_groups),
        sig_val=(keys % max(len(history.values), 1)).astype(np.int32),
        sig_cnt=counts.astype(np.int32),
        counterfeits=np.bincount(group[~real], minlength=n_groups).astype(np.int32),
        release_of=release_of,
        first_of_release=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
    )


def _rows(history: History) -> tuple[Ints, Ints, Ints, Ints]:
    """Return all rows of all releases: position of the release, person, group (numbered over all releases), value."""
    none = np.empty(0, dtype=np.int32)
    columns: list[list[Ints]] = [[none], [none], [none], [none]]
    first = 0
    for at, past in enumerate(history.releases):
        kept = past.group >= 0
        columns[0].append(np.full(int(kept.sum()), at, dtype=np.int32))
        columns[1].append(past.person[kept].astype(np.int32))
        columns[2].append((past.group[kept] + first).astype(np.int32))
        columns[3].append(past.value[kept].astype(np.int32))
        first += past.n_groups
    release, person, group, value = (np.concatenate(column) for column in columns)
    return release, person, group, value


def _first_index(respondents: pa.Array) -> Ints:
    """Return for each entry the first entry with the same id; an erased person has no id and matches nobody."""
    codes = pc.dictionary_encode(respondents).indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    # each gets a code of its own, beyond those of ids
    codes[codes < 0] = len(codes) + np.flatnonzero(codes < 0)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int32)


def _refuse_twice(who: Ints, when: Ints) -> None:
    if not ((who[1:] == who[:-1]) & (when[1:] == when[:-1])).any():
        return
    several = several_records_fault("history, in one release", most_records_at_once(who, when))
    assert several is not None
    raise TableError(several)


def _offsets(sorted_or_not: npt.NDArray[Any], n: int) -> Longs:
    return np.concatenate(([0], np.cumsum(np.bincount(sorted_or_not, minlength=n)))).astype(np.int64)
