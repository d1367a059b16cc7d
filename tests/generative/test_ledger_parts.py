"""Properties of the ledger's small parts: folder names, the chain, the numbers of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.ledger import chain, shelf
from seriatim.ledger.pseudonyms import no_people, number_people

facts_of_entries = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5))
names = st.text(max_size=80) | st.from_regex(r"[a-z0-9_-]{1,70}", fullmatch=True)


@settings(max_examples=200, deadline=None)
@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_folder_names_are_safe_and_tell_series_apart(series: list[str]) -> None:
    slugs = [shelf.slug(name) for name in series]
    assert len(set(slugs)) == len(slugs)
    for slug in slugs:
        assert 0 < len(slug) <= 64
        assert slug.isascii()
        assert slug[0].isalnum()
        assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")
        assert shelf.slug(slug) == slug or shelf.slug(slug) not in slugs


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)), min_size=1, max_size=6),
    st.data(),
)
def test_a_change_anywhere_breaks_the_chain(facts: list[dict[str, object]], data: st.DataObject) -> None:
    entries: list[chain.Entry] = []
    for one in facts:
        named = {**one, "series": "s", "kind": "k"}
        entries.append(chain.link(entries[-1] if entries else None, named, {"time": "now"}))
    assert chain.broken_links(entries) == []
    at = data.draw(st.integers(0, len(entries) - 1))
    column = data.draw(st.sampled_from([field.name for field in fields(chain.Entry)]))
    old = getattr(entries[at], column)
    new = old + 1 if isinstance(old, int) else data.draw(st.text(max_size=70).filter(lambda text: text != old))
    changed = [*entries[:at], replace(entries[at], **{column: new}), *entries[at + 1 :]]
    assert chain.broken_links(changed)
    if at < len(entries) - 1:
        assert chain.broken_links(entries[:at] + entries[at + 1 :])


def plain_numbers(releases: Sequence[Sequence[str | None]]) -> list[list[int | None]]:
    """The slow, obvious twin: a dictionary filled in order of appearance."""
    known: dict[str, int] = {}
    return [[None if one is None else known.setdefault(one, len(known)) for one in release] for release in releases]


people = st.none() | st.text(max_size=3)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(people, max_size=12), min_size=1, max_size=5))
def test_people_are_numbered_in_order_of_appearance(releases: list[list[str | None]]) -> None:
    known, numbered = no_people(), []
    for release in releases:
        numbers, newcomers = number_people(pa.chunked_array([release], pa.string()), known, len(known))
        known = pa.concat_tables([known, newcomers])
        numbered.append(numbers.to_pylist())
    assert numbered == plain_numbers(releases)
    assert len(set(known["respondent"].to_pylist())) == len(known)


def test_numbers_and_their_texts_are_one_person() -> None:
    _, known = number_people(pa.array([7, 8]), no_people(), 0)
    numbers, newcomers = number_people(pa.array(["8", "9"]).dictionary_encode(), known, 2)
    assert numbers.to_pylist() == [1, 2]
    assert newcomers["respondent"].to_pylist() == ["9"]
