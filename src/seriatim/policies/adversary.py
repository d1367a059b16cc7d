"""[adversary]: from its checked keys to an Adversary, with the priors that its file or table states."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from seriatim.errors import AdversaryError, Fault, PolicyError
from seriatim.model.adversary import Adversary, PriorSets, StatedKnowledge
from seriatim.model.policy import ColumnRule, Role
from seriatim.model.table_faults import LARGEST_LIST
from seriatim.policies.faults import Faults, KeyPath
from seriatim.policies.policy_files import bytes_within_bounds

COLUMNS = ("respondent", "value")
_OF_PEOPLE = ("priors", "known")
_REMEDY = "one line for each possible value of each person: respondent,value"


# ``priors`` lists the possible values of each person named; everyone else may have any value. ``impossible`` rules out
# values by a cell of another column. Messages have lines and counts, never an id or a value.
def priors_of(
    section: Mapping[str, Any], base: Path | None, columns: Mapping[str, ColumnRule], faults: Faults
) -> PriorSets | None:
    """Return the prior sets of an adversary; None if it has none or a fault was noted."""
    given, told, rules = section.get("priors"), section.get("known"), section.get("impossible") or {}
    if given is None and told is None and not rules:
        return None
    _check_rules(rules, columns, faults)
    never = {
        name: MappingProxyType({cell: frozenset(values) for cell, values in cells.items()})
        for name, cells in rules.items()
    }
    try:
        named = _with_known(_named(given, base), told, base)
    except PolicyError as error:
        faults.extend(("adversary", "priors" if told is None else "known"), error.faults)
        return None
    return PriorSets(MappingProxyType(named), MappingProxyType(never))


def priors_for_attack(known: Mapping[str, Any]) -> PriorSets | None:
    """Return the prior sets that an attack on a bare history can use: those of people named."""
    if known.get("impossible"):
        found, remedy = "rules on other columns, which a history does not hold", "name the people in priors"
        raise AdversaryError(Fault("[adversary] impossible", found, "priors", remedy))
    given, told = known.get("priors"), known.get("known")
    if given is None and told is None:
        return None
    if isinstance(given, Mapping):
        given = {str(who): [str(value) for value in values] for who, values in given.items()}
    return PriorSets(_with_known(_named(given, None), told, None))


def priors_without_people(section: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the adversary as a policy keeps it: that people are named, not who.

    The list grows with the newcomers of every release; if it were part of the policy's text, each change would need an
    epoch.
    """
    kept = {key: given if isinstance(given, str) else "inline" for key, given in section.items() if key in _OF_PEOPLE}
    return MappingProxyType({**section, **kept})


def _with_known(named: dict[str, frozenset[str]], told: Any, base: Path | None) -> dict[str, frozenset[str]]:
    """Add the people whose value is known: each has one possible value, which their prior must allow."""
    if told is None:
        return named
    if isinstance(told, Mapping):
        told = {str(who): [str(value)] for who, value in told.items()}
    known = _named(told, base)
    several = sum(len(values) > 1 for values in known.values())
    other = sum(who in named and not values <= named[who] for who, values in known.items())
    for n, found in ((several, "have several values"), (other, "have a value that their prior excludes")):
        if n:
            raise PolicyError(Fault("[adversary] known", f"{n} people {found}", "one value each, the true one"))
    return named | known


def _named(given: Any, base: Path | None) -> dict[str, frozenset[str]]:
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return _read_priors((base or Path()) / given)
    empty = sum(not values for values in given.values())
    if empty:
        found = f"{empty} people without any possible value"
        remedy = "remove people for whom every value is possible"
        raise PolicyError(Fault("[adversary] priors", found, "at least one each", remedy))
    return {who: frozenset(values) for who, values in given.items()}


def _read_priors(path: Path) -> dict[str, frozenset[str]]:
    """Return the possible values of everyone in a file of priors."""
    content = bytes_within_bounds(path, "priors", LARGEST_LIST)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PolicyError(Fault(str(path), "not UTF-8", remedy="save the file as UTF-8")) from None
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return _grouped(path, lines)
    except csv.Error as error:
        fault = Fault(f"{path}:{lines.line_num}", f"not readable as CSV ({error})", remedy="close or double the quotes")
        raise PolicyError(fault) from None


def _grouped(path: Path, lines: Any) -> dict[str, frozenset[str]]:
    names = [name.strip() for name in next(lines, [])]
    if sorted(names) != sorted(COLUMNS):
        raise PolicyError(Fault(f"{path}:1", "other columns", " and ".join(COLUMNS), _REMEDY))
    who, what = names.index("respondent"), names.index("value")
    found: dict[str, set[str]] = defaultdict(set)
    short, first = 0, 0
    for cells in lines:
        if not any(cells):
            continue
        if len(cells) != len(COLUMNS) or not all(cells):
            short, first = short + 1, first or lines.line_num
            continue
        found[cells[who]].add(cells[what])
    if short:
        raise PolicyError(Fault(f"{path}:{first}", f"{short} lines without both cells", "two cells", _REMEDY))
    if not found:
        raise PolicyError(Fault(str(path), "nobody is named", "at least one person", _REMEDY))
    shared: dict[frozenset[str], frozenset[str]] = {}
    return {person: shared.setdefault(held, held) for person, held in ((p, frozenset(v)) for p, v in found.items())}


def _check_rules(rules: Mapping[str, Any], columns: Mapping[str, ColumnRule], faults: Faults) -> None:
    for name in rules:
        path: KeyPath = ("adversary", "impossible", name)
        rule = columns.get(name)
        if rule is None:
            remedy = "declare the column; role drop keeps it unpublished"
            faults.add(path, "is about a column that is not declared", "a column of the policy", remedy)
        elif rule.role is Role.SENSITIVE:
            faults.add(path, "is the sensitive column itself", "another column", "name what is known")


_KNOWLEDGE = ("value_priors", "classes", "sequence")
"""Keys whose file or table is kept as it was declared; its users read it."""


def adversary_of(
    section: Mapping[str, Any], base: Path | None, columns: Mapping[str, ColumnRule], faults: Faults
) -> Adversary:
    """Return the adversary of a section whose keys are valid."""
    return adversary_by_name(section, base, priors_of(section, base, columns, faults))


def adversary_by_name(keys: Mapping[str, Any], base: Path | None = None, priors: PriorSets | None = None) -> Adversary:
    """Return the adversary whose fields have the values of the keys of the same name; files are in ``base``."""
    named = (one.name for one in fields(Adversary) if one.name != "priors")
    return Adversary(**{name: _frozen(name, keys.get(name), base) for name in named}, priors=priors)


def _frozen(name: str, value: Any, base: Path | None) -> Any:
    if value is None:
        return None
    if name in _KNOWLEDGE:
        return _stated(value, base)
    return tuple(value) if isinstance(value, list | tuple) else value


def _stated(given: str | os.PathLike[str] | Mapping[str, Any], base: Path | None) -> StatedKnowledge:
    if isinstance(given, Mapping):
        return StatedKnowledge(table=json.dumps(given, sort_keys=True, ensure_ascii=False))
    return StatedKnowledge(file=str((base or Path()) / given))
