"""A policy that was checked once, before anything is read: what to do and what to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module

from seriatim.defences import defence_named
from seriatim.errors import Fault, PolicyError
from seriatim.model import DefenceOptions, DefenceSettings, Policy, Role, View
from seriatim.model.methods import AUTO, AUTO_ALONE, AUTO_LASTING, method_named
from seriatim.model.own_tables import is_split_by_column, policy_of_column, view_of_column
from seriatim.ports import Defence, Promise
from seriatim.ports.promise import need_of
from seriatim.promises import promised_bounds, promises_of

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet runs a header that begins so as a formula, as it does a cell."""


COHORT_M = 3
"""How many values stay possible, where a series is offered to cohorts."""
COMMON = 2
"""How much the odds of a frequent value may grow, where nothing else was asked."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What ``method = "auto"`` stands for in one release."""

    method: str
    k: int | None = None

    def __str__(self) -> str:
        return self.method if self.k is None else f"{self.method} with k = {self.k}"

    def applied(self, policy: Policy) -> Policy:
        """Return the policy that this choice makes of one that leaves it open; it keeps its digest."""
        assert policy.defence is not None
        if self.k is not None:
            return replace(
                policy, defence=replace(policy.defence, method=self.method), terms=replace(policy.terms, k=self.k)
            )
        asked = policy.terms.series
        m, odds = (COHORT_M, float(COMMON)) if asked.m is None else (asked.m, asked.odds)
        settings = DefenceSettings(self.method, policy.defence.suppress, options=DefenceOptions())
        return replace(policy, defence=settings, terms=replace(policy.terms, series=replace(asked, m=m, odds=odds)))


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A policy that was checked once: what to do and what to keep."""

    policy: Policy
    """The policy as the steward wrote it, which is recorded."""
    settled: Policy
    """The policy with the degree chosen, which is used."""
    defence: Defence
    promises: tuple[Promise, ...]
    own_tables: Mapping[str, Plan] = field(default_factory=dict)
    """The plans by sensitive column, where each column has a table of its own."""

    @property
    def chooses(self) -> bool:
        """Return whether the method is chosen before each release."""
        return self.policy.defence is not None and self.policy.defence.method == AUTO

    def chosen(self, choice: Choice) -> Plan:
        """Return the plan under a choice; what is recorded stays the policy as it was written."""
        return replace(checked_policy(choice.applied(self.policy)), policy=self.policy)


def checked_policy(policy: Policy) -> Plan:
    """Check a policy once; raise an error if it does not say what to do and keep, or this version cannot."""
    if policy.defence is None:
        raise PolicyError(Fault("[defence]", "missing", 'a section with method = "median", for example', "add it"))
    if policy.defence.method == AUTO:
        return _plan_of_choice(policy)
    check_column_names(policy)
    _check_simulation(policy)
    if policy.adversary.priors is not None:
        from seriatim.usecases.publish.foreknowledge import check_priors

        check_priors(policy)
    defence = defence_named(policy.defence.method)
    if not is_split_by_column(policy):
        return _plan_of_table(policy, defence)
    plans = {rule.name: _plan_of_table(policy_of_column(policy, rule.name), defence) for rule in policy.sensitive}
    promises = tuple(promise for plan in plans.values() for promise in plan.promises)
    return Plan(policy, settled_policy(policy), defence, promises, plans)


def _plan_of_choice(policy: Policy) -> Plan:
    """Return the plan of a policy that leaves its method open, under the finest choice there is."""
    if policy.adversary.breach_share is None:
        found, remedy = "no bound to choose for", "add it, such as breach_share = 0.01"
        raise PolicyError(Fault(f'[defence] method = "{AUTO}"', found, "[adversary] breach_share", remedy))
    finest = (
        Choice(AUTO_LASTING) if policy.terms.series.m is not None else Choice(AUTO_ALONE, policy.terms.least_people)
    )
    return replace(checked_policy(finest.applied(policy)), policy=policy)


def _plan_of_table(policy: Policy, defence: Defence) -> Plan:
    """Return the plan of one table, under a policy that was checked."""
    ready = settled_policy(policy)
    promises = promises_of(ready)
    row = method_named(policy.defence.method) if policy.defence is not None else None
    if not promises and (row is None or not row.needs):  # noise and samples protect by how much of them there is
        raise PolicyError(Fault("[promise]", "no promise", "at least one", "such as k = 5"))
    asking = [promise for promise in promises if need_of(promise) in ("attack", "belief")]
    if asking and policy.respondent is None:
        where = f"[promise] {asking[0].rule}"
        raise PolicyError(Fault(where, "needs a respondent column", "[series] respondent", "add it"))
    return Plan(policy, ready, defence, (*promises, *promised_bounds(ready)))


def check_first_view(view: View, plan: Plan) -> None:
    """Check whether a view may start a series, as far as possible without a history."""
    policy = plan.settled
    assert policy.defence is not None
    if policy.defence.serial:
        from seriatim.defences.series.request import check_first_release  # brings compiled kernels

        for own in plan.own_tables.values():
            check_first_release(view_of_column(view, own.settled), own.settled)
        if not plan.own_tables:
            check_first_release(view, policy)


def settled_policy(policy: Policy) -> Policy:
    """Return the policy with n = "choose" replaced by the degree that n-Choose finds, or say what to change.

    If the method has no degree, n is dropped, and the verdict says so.
    """
    terms, row = policy.terms.series, method_named(policy.defence.method) if policy.defence else None
    if row is not None and not row.degree:
        return _with_degree(policy, None)
    if terms.n != "choose" or terms.m is None or row is None:
        return policy
    return _with_degree(policy, import_module(row.degree).chosen_degree(terms.m, policy.adversary))


def _with_degree(policy: Policy, n: int | None) -> Policy:
    return replace(policy, terms=replace(policy.terms, series=replace(policy.terms.series, n=n)))


def _check_simulation(policy: Policy) -> None:
    """Raise an error for a bound on an attack that nothing would judge: it follows people and their values."""
    known = policy.adversary
    if known.breach_share is None and known.sure_share is None:
        return
    where = "[adversary] breach_share" if known.breach_share is not None else "[adversary] sure_share"
    faults = []
    if policy.respondent is None:
        faults.append(Fault(where, "needs a respondent column", "[series] respondent", "add it"))
    if not policy.sensitive:
        faults.append(Fault(where, "no sensitive column to attack", "at least one", 'give it the role "sensitive"'))
    if faults:
        raise PolicyError(faults)
    if known.sure_share is not None:
        from seriatim.knowledge.knowledge_files import declared_adversary

        declared_adversary(known)  # a file that cannot be read shows here


def check_column_names(policy: Policy) -> None:
    """Raise an error if a column that is published has a name that a spreadsheet would run."""
    faults = [
        Fault(
            f"[columns.{rule.name!r}]",
            "a spreadsheet would run this name as a formula",
            "a name that begins with a letter or digit",
            "rename the column in the table and in the policy, or drop it",
        )
        for rule in policy.columns.values()
        if rule.role is not Role.DROP and rule.name.startswith(_STARTS)
    ]
    if faults:
        raise PolicyError(faults)
