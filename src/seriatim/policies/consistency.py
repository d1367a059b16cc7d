"""Checks what must hold between the sections of a policy."""

from __future__ import annotations

from collections.abc import Mapping

from seriatim.model.methods import method_named, methods_where, serial_methods
from seriatim.model.policy import ColumnRule, DefenceSettings, PromiseTerms, Role
from seriatim.model.promises import promise_keys_over_releases
from seriatim.policies.faults import Faults, fault_did_you_mean, fault_path
from seriatim.policies.shapes import SeriesShape


def check_consistency(
    series: SeriesShape | None,
    columns: Mapping[str, ColumnRule],
    terms: PromiseTerms,
    defence: DefenceSettings | None,
    faults: Faults,
) -> None:
    if series is not None:
        _check_respondent(series, columns, faults)
        _check_serial(series, terms, defence, faults)
    if terms.series.n is not None and terms.series.m is None and ("promise", "m") not in faults.faulty:
        faults.add(("promise", "n"), "n is set without m", "m beside n", "add m")
    _check_by_column(terms, defence, faults)
    if defence is not None:
        _check_mode(defence, faults)


def _check_respondent(series: SeriesShape, columns: Mapping[str, ColumnRule], faults: Faults) -> None:
    rule = columns.get(series.respondent or "")
    if series.respondent and rule is not None and rule.role is not Role.DROP:
        path = ("columns", rule.name, "role")
        found = f"{fault_path(path)} is {rule.role}, but the column is the respondent, who is never published"
        faults.add(path, found, "drop, or no [columns] entry at all", "remove the entry or set role to drop")


def _check_serial(series: SeriesShape, terms: PromiseTerms, defence: DefenceSettings | None, faults: Faults) -> None:
    if series.respondent:
        return
    remedy, over_releases = "name the column in [series] respondent", promise_keys_over_releases()
    for key in (name for name in terms.series.stated if name in over_releases):
        faults.add(
            ("promise", key), f"promise.{key} is about people over releases, but no respondent is named", "", remedy
        )
    row = method_named(defence.method) if defence is not None else None
    if defence is not None and row is not None and row.follows_people:
        found = f"defence.method {defence.method} follows people over releases, but no respondent is named"
        faults.add(("defence", "method"), found, "", remedy)


def _check_by_column(terms: PromiseTerms, defence: DefenceSettings | None, faults: Faults) -> None:
    """Report series terms of single columns that no table of their own would keep, and degrees without m."""
    for column, own in terms.series_by_column.items():
        keys = [key for key, value in own.stated.items() if value != terms.series.stated.get(key)]
        for key in keys:
            if defence is None or defence.serial:
                continue
            path = ("promise", column, key)
            found = f"{fault_path(path)} differs by column, but method {defence.method} makes one table of all columns"
            faults.add(path, found, f"in [promise], or a serial method: {', '.join(serial_methods())}", "move it there")
        if own.n is not None and own.m is None and ("promise", column, "m") not in faults.faulty:
            faults.add(("promise", column, "n"), "n is set without m", "m beside n", "add m")


def _check_mode(defence: DefenceSettings, faults: Faults) -> None:
    row = method_named(defence.method)
    modes = row.modes if row else ()
    if modes and defence.mode is not None and defence.mode not in modes:
        found = f'defence.mode is "{defence.mode}" with method {defence.method}'
        faults.add(("defence", "mode"), found, ", ".join(modes), fault_did_you_mean(defence.mode, {"choices": modes}))
    if defence.form == "buckets" and defence.options.leftovers == "counterfeit":
        found = 'defence.leftovers "counterfeit" with form "buckets", which shows everyone\'s quasi-identifiers'
        faults.add(("defence", "leftovers"), found, "suppress, relax", 'form = "intervals", or leftovers = "relax"')
    if row is not None and defence.form is not None and defence.form not in row.forms:
        others = ", ".join(methods_where(lambda other: defence.form in other.forms))
        found = f'defence.form "{defence.form}" is for method {others}'
        faults.add(("defence", "form"), found, ", ".join(row.forms), "remove it")
