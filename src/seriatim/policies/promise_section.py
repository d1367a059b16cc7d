"""[promise] and [promise.COLUMN]: the column's own keys override the general ones.

Promises of other packages have no row: a policy names them like any other, in [promise] or for one column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from seriatim.model.policy import ColumnRule, Kind, PromiseTerms, Role, SeriesTerms, Thresholds
from seriatim.model.policy_keys import PolicySection
from seriatim.model.promises import promise_keys
from seriatim.policies.faults import Faults, KeyPath, fault_did_you_mean, fault_table, fault_value
from seriatim.policies.shapes import Rows, rows_by_column, rows_of, storable_shape

GROUP = "seriatim.promises"


def stated_terms(
    section: dict[str, Any] | None,
    declared: Mapping[str, Any] | None,
    columns: Mapping[str, ColumnRule],
    faults: Faults,
) -> PromiseTerms:
    """Return the terms with an entry for every sensitive column. ``declared`` also names columns with faults."""
    section = section or {}
    general, overrides = _split(section, declared or {})
    rows, of_columns = rows_of(PolicySection.PROMISE), promise_keys(per_column=True)
    foreign = _take_foreign(general, rows, ("promise",), faults)
    given = faults.check(rows, general, ("promise",))
    sensitive = {name: rule for name, rule in columns.items() if rule.role is Role.SENSITIVE}
    own = {name: _override(name, keys, declared or {}, sensitive, columns, faults) for name, keys in overrides.items()}
    if given is None:
        given = faults.sound(rows, general, ("promise",))
    thresholds = _taken(given, of_columns)
    _check_bound(thresholds, sensitive, declared or {}, columns, faults)
    per_column, over_time = {}, {}
    for name, rule in sensitive.items():
        stated = own.get(name) or {}
        over_time[name] = _taken(stated, _over_time())
        merged = _merged(thresholds, stated)
        _Check(name, rule, merged, stated, faults).all()
        per_column[name] = _frozen(merged)
    k = given.pop("k", None)
    ours = _taken(given, [one.name for one in fields(SeriesTerms)])
    series = SeriesTerms(**ours, foreign=MappingProxyType({**given, **foreign}))
    by_column = {name: replace(series, **keys) for name, keys in over_time.items() if keys}
    if len(sensitive) == 1 and by_column:
        series, by_column = next(iter(by_column.values())), {}
    return PromiseTerms(
        k=k,
        per_column=MappingProxyType(per_column),
        series=series,
        series_by_column=MappingProxyType(by_column),
    )


def _taken(given: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Remove these keys from what is given and return them."""
    return {key: given.pop(key) for key in keys if key in given}


def _split(section: dict[str, Any], declared: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the keys and the overrides: a table is one if its column is declared, even if named like a promise."""
    general: dict[str, Any] = {}
    overrides: dict[str, dict[str, Any]] = {}
    for key, value in section.items():
        if isinstance(value, dict) and (key in declared or not _is_promise(key)):
            overrides[key] = value
        else:
            general[key] = value
    return general, overrides


def _is_promise(key: str) -> bool:
    return key in rows_of(PolicySection.PROMISE) or key in foreign_promises()


def _over_time() -> list[str]:
    """Return the keys that a column with a table of its own may say of its series."""
    return [key for key in rows_by_column() if key not in promise_keys(per_column=True)]


def foreign_promises() -> tuple[str, ...]:
    """Return the names of promises of other packages, without loading any of them."""
    return tuple(sorted(entry_points(group=GROUP).names))


def _take_foreign(keys: dict[str, Any], rows: Rows, path: KeyPath, faults: Faults) -> dict[str, Any]:
    """Remove the promises without a row from the keys and return them; also note and remove unknown keys."""
    unknown = [key for key in keys if key not in rows]
    registered = foreign_promises() if unknown else ()
    found = {}
    for key in unknown:
        value = keys.pop(key)
        if key not in registered:
            faults.unknown((*path, key), [*rows, *registered])
        elif not storable_shape(value):
            faults.add((*path, key), f"is {fault_value(value)}", "numbers that are finite, texts, lists and tables")
        else:
            found[key] = MappingProxyType(value) if isinstance(value, dict) else value
    return found


def _override(
    name: str,
    keys: dict[str, Any],
    declared: Mapping[str, Any],
    sensitive: Mapping[str, ColumnRule],
    columns: Mapping[str, ColumnRule],
    faults: Faults,
) -> dict[str, Any] | None:
    path: KeyPath = ("promise", name)
    if name not in declared:
        hint = fault_did_you_mean(name, [*declared, *rows_of(PolicySection.PROMISE)])
        faults.add_table(path, "is for a column that is not declared", ", ".join(sensitive), hint)
        return None
    if name in columns and name not in sensitive:
        remedy = "make the column sensitive or remove the table"
        faults.add_table(path, f"is for a column with the role {columns[name].role}", "sensitive", remedy)
    rows = rows_by_column()
    whole = [key for key in keys if key in promise_keys(per_column=False) and key not in rows]
    for key in whole:
        faults.add((*path, key), "cannot differ by column", "only in [promise]", "move it there")
    rest = {key: value for key, value in keys.items() if key not in whole}
    foreign = _take_foreign(rest, rows, path, faults)
    given = faults.check(rows, rest, path)
    return (faults.sound(rows, rest, path) if given is None else given) | foreign


def _merged(general: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge keys; another kind of l drops the general l_c, which belongs to the general kind."""
    merged = {**general, **own}
    if own.get("l_kind", "recursive") != "recursive" and "l_c" not in own:
        merged.pop("l_c", None)
    return merged


def _check_bound(
    thresholds: Mapping[str, Any],
    sensitive: Mapping[str, ColumnRule],
    declared: Mapping[str, Any],
    columns: Mapping[str, ColumnRule],
    faults: Faults,
) -> None:
    """Report a promise about sensitive columns if there is none: it would look kept and mean nothing."""
    if thresholds and not sensitive and set(declared) == set(columns):
        key = next(iter(thresholds))
        remedy = 'set role = "sensitive" on the column it is about, or remove it'
        faults.add(("promise", key), "is set, but no column is sensitive", remedy=remedy)


class _Check:
    """Checks between the keys of one sensitive column."""

    def __init__(
        self, name: str, rule: ColumnRule, merged: Mapping[str, Any], own: Mapping[str, Any], faults: Faults
    ) -> None:
        self.name, self.rule, self.merged, self.own, self.faults = name, rule, merged, own, faults
        self.column = fault_table(("columns", name))

    def add(self, key: str, says: str, allowed: str, remedy: str) -> None:
        path: KeyPath = ("promise", self.name, key) if key in self.own else ("promise", key)
        self.faults.add(path, says, allowed, remedy)

    def all(self) -> None:
        if not self.unsure("l", "l_kind", "l_c"):
            self.diversity()
        self.closeness()
        self.near_values()

    def unsure(self, *keys: str) -> bool:
        """Return whether one of the keys is faulty itself, here or in general: then do not check it further."""
        places = [("promise", key) for key in keys] + [("promise", self.name, key) for key in keys]
        return not self.faults.faulty.isdisjoint(places)

    def diversity(self) -> None:
        l, kind = self.merged.get("l"), self.merged.get("l_kind", "distinct")  # noqa: E741
        if l is not None and kind == "distinct" and not float(l).is_integer():
            remedy = "round it or choose another l_kind"
            self.add("l", f"is {fault_value(l)} with l_kind distinct", "a whole number", remedy)
        if kind == "recursive" and "l_c" not in self.merged:
            self.add("l_kind", "is recursive without l_c", "l_c above 0", "add l_c")
        if kind != "recursive" and "l_c" in self.merged:
            self.add("l_c", f"is given with l_kind {kind}", "only with l_kind recursive", "remove l_c")

    def closeness(self) -> None:
        distance, rule = self.merged.get("t_distance"), self.rule
        if distance == "hierarchical" and rule.hierarchy is None:
            found = f"is hierarchical, but {self.column} has no hierarchy"
            self.add("t_distance", found, "equal, ordered", "add a hierarchy or choose another distance")
        if distance == "ordered" and rule.kind is Kind.CATEGORY and rule.order is None:
            found = f"is ordered, but {self.column} is a category without order"
            self.add("t_distance", found, "kind number or date, or an order", "add order or choose equal")

    def near_values(self) -> None:
        """Report promises about near values on a column that has no distances."""
        keys = [key for key in ("max_hit_chance_at", "min_entropy_at") if key in self.merged]
        if keys and self.rule.kind is Kind.CATEGORY and self.rule.order is None:
            found = f"is set, but {self.column} is a category without order"
            self.add(keys[0], found, "kind number or date, or an order", "add order or remove it")
        if keys and self.rule.hierarchy is not None:
            found = f"is set, but {self.column} has a hierarchy, which has no distances"
            self.add(keys[0], found, "kind number or date, or an order", "remove the hierarchy or the promise")
        if self.rule.kind is Kind.DATE:
            self.windows_of_dates()
        if "hit_chance_kind" in self.merged and "max_hit_chance_at" not in self.merged:
            found = "is set without max_hit_chance_at"
            self.add("hit_chance_kind", found, "beside max_hit_chance_at", "add max_hit_chance_at or remove it")

    def windows_of_dates(self) -> None:
        """Check that dates have windows in days: per cent of the days since 1970 mean nothing."""
        for key in ("max_hit_chance_at", "min_entropy_at"):
            windows = self.merged.get(key)
            if isinstance(windows, Mapping) and any("%" in window for window in windows):
                found = f"has a window in per cent, but {self.column} holds dates"
                self.add(key, found, 'days, as "30" or "±15"', "write the window in days")


def _frozen(merged: Mapping[str, Any]) -> Thresholds:
    frozen = {key: MappingProxyType(value) if isinstance(value, dict) else value for key, value in merged.items()}
    ours = _taken(frozen, [one.name for one in fields(Thresholds)])
    return Thresholds(**ours, foreign=MappingProxyType(frozen))
