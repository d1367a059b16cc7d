"""Checks what must hold between the sections of a policy, and names the keys that nothing reads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from seriatim.model.adversary import Adversary
from seriatim.model.methods import installed_rows, method_named, names_looking_back
from seriatim.model.policy import ColumnRule, DefenceSettings, PromiseTerms, Role, SeriesTerms
from seriatim.model.promises import PROMISES, promise_keys_over_releases
from seriatim.policies.faults import Faults, KeyPath, fault_did_you_mean, fault_value


def check_together(
    series: Mapping[str, Any] | None,
    columns: Mapping[str, ColumnRule],
    terms: PromiseTerms,
    defence: DefenceSettings | None,
    faults: Faults,
) -> None:
    if series is not None:
        _check_respondent(series, columns, faults)
        _check_serial(series, terms, defence, faults)
    _check_degree(("promise",), terms.series, defence, faults)
    _check_by_column(terms, defence, faults)
    if defence is not None:
        _check_buckets(defence, faults)
        _check_relation(defence, columns, faults)


def _check_relation(defence: DefenceSettings, columns: Mapping[str, ColumnRule], faults: Faults) -> None:
    quasi = [rule.name for rule in columns.values() if rule.role is Role.QUASI]
    for name in defence.options.relation or ():
        if name not in quasi:
            hint = fault_did_you_mean(name, quasi)
            faults.add(("defence", "relation"), "names a column that is not quasi", ", ".join(quasi), hint)


def _check_respondent(series: Mapping[str, Any], columns: Mapping[str, ColumnRule], faults: Faults) -> None:
    rule = columns.get(series["respondent"]) if "respondent" in series else None
    if rule is not None and rule.role is not Role.DROP:
        found = f"is {rule.role}, but the column is the respondent, who is never published"
        path, remedy = ("columns", rule.name, "role"), "remove the entry or set role to drop"
        faults.add(path, found, "drop, or no [columns] entry at all", remedy)


def _check_serial(
    series: Mapping[str, Any], terms: PromiseTerms, defence: DefenceSettings | None, faults: Faults
) -> None:
    if "respondent" in series:
        return
    remedy, over_releases = "name the column in [series] respondent", promise_keys_over_releases()
    for key in (name for name in terms.series.stated if name in over_releases):
        faults.add(("promise", key), "is about people over releases, but no respondent is named", "", remedy)
    row = method_named(defence.method) if defence is not None else None
    if defence is not None and row is not None and row.follows_people:
        found = f"{defence.method} follows people over releases, but no respondent is named"
        faults.add(("defence", "method"), found, "", remedy)


def _check_by_column(terms: PromiseTerms, defence: DefenceSettings | None, faults: Faults) -> None:
    """Report series terms of single columns that no table of their own would keep, and degrees without m."""
    for column, own in terms.series_by_column.items():
        keys = [key for key, value in own.stated.items() if value != terms.series.stated.get(key)]
        for key in keys:
            if defence is None or defence.serial:
                continue
            path = ("promise", column, key)
            found = f"differs by column, but method {defence.method} makes one table of all columns"
            faults.add(
                path, found, f"in [promise], or a serial method: {', '.join(names_looking_back())}", "move it there"
            )
        if (own.m, own.n) != (terms.series.m, terms.series.n):
            _check_degree(("promise", column), own, defence, faults)


def _check_degree(table: KeyPath, series: SeriesTerms, defence: DefenceSettings | None, faults: Faults) -> None:
    """Report a degree without m or above it; a method without a degree does not read it."""
    row = method_named(defence.method) if defence is not None else None
    read = row is None or bool(row.degree)
    if series.n is None or (*table, "m") in faults.faulty:
        return
    if series.m is None:
        faults.add((*table, "n"), "is set without m", "m beside n", "add m")
    elif read and series.degree is not None and series.degree > series.m:
        found = f"is {series.degree} with m = {series.m}"
        faults.add((*table, "n"), found, PROMISES["n"].allowed, "lower n or raise m")


def check_words(section: Mapping[str, Any], faults: Faults) -> None:
    """Report words of [defence] that its method does not know; for a key that it does not read, those of any."""
    row = method_named(str(section.get("method")))
    for key, word in section.items():
        read = row.option(key) if row is not None else None
        fits = read is not None and (not read.words or word in read.words)
        if fits or key == "method" or not isinstance(word, str) or ("defence", key) in faults.faulty:
            continue
        by_method = {name: words for name, other in installed_rows().items() if (words := other.words(key))}
        allowed = read.words if read is not None else tuple(dict.fromkeys(chain(*by_method.values())))
        if not allowed or word in allowed:
            continue
        found, remedy = f"is {fault_value(word)}", fault_did_you_mean(word, allowed)
        if row is not None and read is not None:
            found += f" with method {row.name}"
        if others := [name for name, words in by_method.items() if word in words]:
            found, remedy = f"{found}; that is for method {', '.join(others)}", remedy or "remove it"
        faults.add(("defence", key), found, ", ".join(allowed), remedy)


def _check_buckets(defence: DefenceSettings, faults: Faults) -> None:
    if defence.form == "buckets" and defence.leftovers == "counterfeit":
        found = 'is "counterfeit" with form "buckets", which shows everyone\'s quasi-identifiers'
        faults.add(("defence", "leftovers"), found, "suppress, relax", 'form = "intervals", or leftovers = "relax"')


def unread_keys(defence: Mapping[str, Any] | None, terms: PromiseTerms, adversary: Adversary) -> tuple[str, ...]:
    """Return a sentence for each key that neither the method nor any promise reads: nobody assumes it took effect.

    It is no fault: trying another method must not need a new policy.
    """
    row = method_named(str((defence or {}).get("method")))
    if defence is None or row is None:
        return ()
    unread = [key for key in defence if key not in ("method", "suppress") and not row.reads(key)]
    found = [f"[defence] {key} is not read by method {row.name}" for key in unread]
    if not row.degree and terms.series.n is not None:
        found.append(f"[promise] n is not judged: {row.name} has no degree")
    if terms.series.odds is not None and (not row.reads_odds or terms.series.m is None):
        found.append(f"[promise] odds is not read by method {row.name}" if terms.series.m else "[promise] odds needs m")
    if terms.series.m is None and adversary.lifespan is not None and adversary.breach is None:
        found.append("[adversary] lifespan is not read: nothing is promised over releases")
    return tuple(found)
