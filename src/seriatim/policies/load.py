"""Loads a policy from a file, or from a mapping of the same shape."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.adversary import NOBODY_KNOWN
from seriatim.model.methods import OF_PAPERS, method_named, missing_method
from seriatim.model.policy import (
    ColumnRule,
    DefenceOptions,
    DefenceSettings,
    Kind,
    Missing,
    Policy,
    PromiseTerms,
    Role,
    Thresholds,
    Unseen,
)
from seriatim.model.policy_keys import Form, PolicySection, Setting
from seriatim.model.table_faults import DEEPEST
from seriatim.policies.consistency import check_together, check_words, unread_keys
from seriatim.policies.faults import SECTIONS, Faults, fault_value
from seriatim.policies.promise_section import stated_terms
from seriatim.policies.shapes import rows_of, rows_of_defence

POINTER = Setting(
    key="file",
    section=PolicySection.ADVERSARY,
    form=Form.FILE,
    required=True,
    values="the path of an adversary file, alone",
    summary="the path of an adversary file, relative to the policy",
)


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Load the policy in a TOML file, and hierarchies beside it. Raises one PolicyError with every fault."""
    if not isinstance(path, str | os.PathLike):
        raise PolicyError(
            Fault("policy", f"a {type(path).__name__}", "the path of a TOML file", "from_dict takes mappings")
        )
    from seriatim.policies.policy_files import toml_with_places

    file = Path(path)
    document, positions = toml_with_places(file, "policy")
    return _policy(document, file.parent, Faults(str(file), positions))


def policy_from_dict(mapping: Mapping[str, Any], base: str | os.PathLike[str] | None = None) -> Policy:
    """Load a policy from a mapping; ``base`` is the folder of hierarchy files."""
    if not isinstance(mapping, Mapping):
        raise PolicyError(Fault("policy", f"is a {type(mapping).__name__}", "a mapping of sections"))
    return _policy(_plain(mapping), Path(base) if base is not None else None, Faults("policy"))


def load_adversary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Load an adversary file on its own, for ``attack``; the file of its priors is beside it."""
    file = Path(path)
    faults = Faults(str(file), {})
    known = _adversary({"file": str(file)}, None, faults)
    faults.raise_if_any()
    assert known is not None
    found = dict(known[0])
    for key in ("priors", "known"):
        if isinstance(found.get(key), str):
            found[key] = file.parent / found[key]
    for key in ("sequence", "classes"):
        if isinstance(found.get(key), str):
            found[key] = str(file.parent / found[key])
    return found


def _policy(document: dict[str, Any], base: Path | None, faults: Faults) -> Policy:
    for name in document:
        if name not in SECTIONS:
            faults.unknown((name,), list(SECTIONS))
    sections = {name: _section(document, name, faults) for name in SECTIONS}
    sections["columns"] = _listed(sections["columns"] or {}, faults)
    series = (
        faults.check(rows_of(PolicySection.SERIES), sections["series"] or {}, ("series",))
        if _usable(document, "series")
        else None
    )
    if not sections["columns"] and _usable(document, "columns"):
        remedy = "add [columns.NAME] with a role for every column of the table"
        faults.add(("columns",), "is empty: no column is declared", "at least one", remedy)
    columns = _columns(sections["columns"] or {}, base, faults)
    terms = stated_terms(sections["promise"], sections["columns"], columns, faults)
    defence = _defence(sections["defence"], faults)
    known = _adversary(sections["adversary"], base, faults)
    adversary, recorded = NOBODY_KNOWN, None
    if known is not None:
        from seriatim.policies.adversary import adversary_of, priors_without_people

        adversary, recorded = adversary_of(*known, columns, faults), priors_without_people(known[0])
    check_together(series, columns, terms, defence, faults)
    faults.raise_if_any()
    assert series is not None
    policy = Policy(
        series=series["name"],
        columns=MappingProxyType(columns),
        terms=terms,
        defence=defence,
        respondent=series.get("respondent"),
        people=series.get("people"),
        publisher=series.get("publisher"),
        epoch=series["epoch"],
        head=(base or Path()) / series["head"] if "head" in series else None,
        adversary=adversary,
        unread=unread_keys(sections["defence"], terms, adversary),
    )
    return recorded_policy(policy, recorded)


def _usable(document: dict[str, Any], name: str) -> bool:
    return name not in document or isinstance(document[name], dict)


def _section(document: dict[str, Any], name: str, faults: Faults) -> dict[str, Any] | None:
    if name not in document:
        return None
    value = document[name]
    if isinstance(value, dict):
        return value
    faults.add((name,), f"is {fault_value(value)}", "a table")
    return None


def _listed(section: dict[str, Any], faults: Faults) -> dict[str, Any]:
    """Return a table for each column: ``drop = ["a", "b"]`` gives several columns one role in one line."""
    lists = {role: section[role] for role in map(str, Role) if isinstance(section.get(role), list)}
    found = {name: value for name, value in section.items() if name not in lists}
    for role, names in lists.items():
        for at, name in enumerate(names):
            if not isinstance(name, str):
                faults.add(("columns", role, at), f"is {fault_value(name)}", "the name of a column")
            elif name in found:
                faults.add(("columns", role, at), "names a column that has a role already", "each column once")
            else:
                found[name] = {"role": role}
    return found


def _columns(section: dict[str, Any], base: Path | None, faults: Faults) -> dict[str, ColumnRule]:
    """Return the valid columns, after noting the faults of the others."""
    rules = {}
    for name, value in section.items():
        path = ("columns", name)
        if not isinstance(value, dict):
            faults.add(path, f"is {fault_value(value)}", "a table", "give it a role")
            continue
        rows = rows_of(PolicySection.COLUMNS)
        given = faults.check(rows, value, path)
        if given is not None:
            rules[name] = _rule(name, given, base, faults)
        elif (*path, "order") not in faults.faulty:  # its other keys may still have faults to report
            _rule(name, faults.sound(rows, value, path) | {"role": "drop"}, base, faults)
    return rules


def _rule(name: str, given: dict[str, Any], base: Path | None, faults: Faults) -> ColumnRule:
    path = ("columns", name)
    if "order" in given:
        _check_order(given, path, faults)
    _check_bands(given, path, faults)
    kind = given.get("kind", "category" if "order" in given else None)
    hierarchy = None
    if "hierarchy" in given:
        from seriatim.policies.hierarchies import build_hierarchy

        hierarchy = build_hierarchy(given, base, (*path, "hierarchy"), faults)
    told = {key: tuple(given[key]) for key in ("order", "bands") if key in given}
    return ColumnRule(
        name,
        Role(given["role"]),
        kind=Kind(kind) if kind else None,
        hierarchy=hierarchy,
        unit=given.get("unit"),
        missing=Missing(given["missing"]),
        on_unseen=Unseen(given["on_unseen"]),
        rounding=given.get("rounding"),
        level=given.get("level"),
        **told,
    )


def _check_bands(given: Mapping[str, Any], path: tuple[str, str], faults: Faults) -> None:
    for key in (name for name in ("bands", "rounding") if name in given):
        place, roles = (*path, key), ("sensitive",) if key == "bands" else ("sensitive", "quasi")
        numeric = given.get("kind") in (None, "number") and not given.get("hierarchy") and not given.get("order")
        if given["role"] not in roles or not numeric:
            allowed = f"{' and '.join(roles)} columns of numbers without hierarchy or order"
            faults.add(place, "is given for a column of another kind", allowed, f"remove {key}")
    if "level" in given and (given["role"] != "quasi" or not given.get("hierarchy")):
        place = (*path, "level")
        faults.add(place, "is given for a column of another kind", "quasi columns with a hierarchy", "remove level")
    if "bands" in given and "rounding" in given:
        faults.add((*path, "rounding"), "is given beside bands", "one of them", "remove one")


def _check_order(given: Mapping[str, Any], path: tuple[str, str], faults: Faults) -> None:
    order, place, kind = given["order"], (*path, "order"), given.get("kind")
    if kind not in (None, "category"):
        remedy = "remove order, or set kind to category"
        faults.add(place, f"is given for the kind {kind}", "order only for category", remedy)
    if not order:
        faults.add(place, "is empty", "the values from low to high", "list them or remove order")
    seen: set[str] = set()
    for index, value in enumerate(order):
        if value in seen:
            faults.add((*place, index), f"lists {fault_value(value)} twice", "each value once", "remove one")
        seen.add(value)


def _defence(section: dict[str, Any] | None, faults: Faults) -> DefenceSettings | None:
    if section is None:
        return None
    name = section.get("method")
    if isinstance(name, str) and method_named(name) is None and name in OF_PAPERS:
        fault = missing_method(name)
        faults.add(("defence", "method"), fault.found, fault.allowed, fault.remedy)
        return None
    given = faults.check(rows_of_defence(section), section, ("defence",))
    check_words(section, faults)
    if given is None:
        return None
    every = {key: given.pop(key, None) for key in ("method", "suppress", "mode", "form")}
    options: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    ours = {one.name for one in fields(DefenceOptions)} & options.keys()
    foreign = MappingProxyType({key: options.pop(key) for key in options.keys() - ours})
    return DefenceSettings(**every, options=DefenceOptions(**options, foreign=foreign))


def _adversary(
    section: dict[str, Any] | None, base: Path | None, faults: Faults
) -> tuple[Mapping[str, Any], Path | None] | None:
    """Return what is known, and the folder of its files."""
    if section is None:
        return None
    place = faults
    if "file" in section:
        pointer = faults.check({"file": POINTER}, section, ("adversary",))
        if pointer is None:
            return None
        from seriatim.policies.policy_files import toml_with_places

        file = (base or Path()) / pointer["file"]
        try:
            section, positions = toml_with_places(file, "adversary")
        except PolicyError as error:
            faults.extend(("adversary", "file"), error.faults)
            return None
        place, base = Faults(str(file), positions), file.parent
    known = place.check(rows_of(PolicySection.ADVERSARY), section, ("adversary",) if place is faults else ())
    if place is not faults:
        faults.extend(("adversary", "file"), sorted(place.found, key=place.found.__getitem__))
    return None if known is None else (MappingProxyType(known), base)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a mapping as TOML would have it: own dicts and lists, so that later changes do not reach the policy."""
    if depth > DEEPEST:
        raise PolicyError(Fault("policy", "values are nested too deeply", remedy="flatten them"))
    if isinstance(value, Mapping):
        return {_text_key(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in value]
    return value


def _text_key(key: Any) -> str:
    if not isinstance(key, str):
        raise PolicyError(
            Fault("policy", f"the key {fault_value(key)} is not text", "texts as keys", "put it in quotes")
        )
    return key


def recorded_policy(policy: Policy, adversary: Mapping[str, Any] | None = None) -> Policy:
    """Return the policy with its canonical text and digest; ``adversary`` is its section as written, without people.

    The epoch is omitted: it is the steward's word that a change is meant, not a change.
    """
    content = {
        "series": {
            "name": policy.series,
            "respondent": policy.respondent,
            **({} if policy.people is None else {"people": policy.people}),
        },
        "columns": {name: _recorded_column(rule) for name, rule in policy.columns.items()},
        "promise": _recorded_terms(policy.terms),
        "defence": _recorded_defence(policy.defence) if policy.defence else None,
        "adversary": _in_json(adversary) if adversary is not None else None,
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(policy, canonical=text, digest=digest)


def _recorded_column(rule: ColumnRule) -> dict[str, Any]:
    return {
        "role": rule.role.value,
        "kind": rule.kind.value if rule.kind else None,
        "hierarchy": rule.hierarchy.digest if rule.hierarchy else None,
        "order": list(rule.order) if rule.order is not None else None,
        "unit": rule.unit,
        "missing": rule.missing.value,
        "on_unseen": rule.on_unseen.value,
        # written only if set: earlier policies keep their digest
        **({} if rule.bands is None else {"bands": _in_json(rule.bands)}),
        **({} if rule.rounding is None else {"rounding": _in_json(rule.rounding)}),
        **({} if rule.level is None else {"level": rule.level}),
    }


def _recorded_terms(terms: PromiseTerms) -> dict[str, Any]:
    per_column = {name: _recorded_thresholds(thresholds) for name, thresholds in terms.per_column.items()}
    over_time = {name: _in_json(series.stated) for name, series in terms.series_by_column.items()}
    return {
        "k": terms.k,
        "per_column": per_column,
        "further": _in_json(terms.series.stated),
        **({"further_by_column": over_time} if over_time else {}),
    }


def _recorded_thresholds(thresholds: Thresholds) -> dict[str, Any]:
    return {
        "l": thresholds.l,
        "l_kind": thresholds.l_kind,
        "l_c": thresholds.l_c,
        "t": thresholds.t,
        "t_distance": thresholds.t_distance,
        "further": _in_json(thresholds.beyond_l_and_t),
    }


def _recorded_defence(settings: DefenceSettings) -> dict[str, Any]:
    return {
        "method": settings.method,
        "suppress": settings.suppress or 0.0,
        **({"nobody_withheld": True} if settings.for_now and settings.suppress == 0 else {}),
        "mode": settings.mode,
        "form": settings.form,
        "further": _in_json(settings.options.stated),
    }


def _in_json(value: Any) -> Any:
    """Return frozen mappings and tuples in JSON's types; 3.0 and 3 are the same number."""
    if isinstance(value, Mapping):
        return {key: _in_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_in_json(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)
