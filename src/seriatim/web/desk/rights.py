"""Who may do what: one row for each route of the desk. Whoever has none of its roles is refused."""

from __future__ import annotations

from typing import Literal

Role = Literal["steward", "approver", "auditor", "admin"]
EVERYBODY: frozenset[Role] = frozenset({"steward", "approver", "auditor", "admin"})
STEWARDS: frozenset[Role] = frozenset({"steward", "admin"})
APPROVERS: frozenset[Role] = frozenset({"approver", "admin"})
AUDITORS: frozenset[Role] = frozenset({"auditor", "admin"})

RIGHTS: dict[str, tuple[str, frozenset[Role]]] = {
    "show_work": ("looked at the work that waits", EVERYBODY),
    "show_table_form": ("opened the form for a table", STEWARDS),
    "send_table": ("had a table judged", STEWARDS),
    "guess_policy": ("had a first policy guessed", STEWARDS),
    "show_policy": ("looked at a policy", STEWARDS),
    "change_policy": ("changed a policy", STEWARDS),
    "show_job": ("looked at a job", EVERYBODY),
    "cancel_job": ("cancelled a job", STEWARDS),
    "repeat_job": ("started a job again", STEWARDS),
    "show_report": ("read the report of a job", EVERYBODY),
    "show_attack_form": ("opened the form for an attack", EVERYBODY),
    "send_attack": ("attacked releases", EVERYBODY),
    "forecast_series": ("had a series forecast", EVERYBODY),
    "show_draft": ("looked at a draft", EVERYBODY),
    "approve_draft": ("approved a draft", APPROVERS),
    "decline_draft": ("declined a draft", APPROVERS),
    "show_series": ("looked at a series", EVERYBODY),
    "show_release": ("looked at a release", EVERYBODY),
    "show_receipt": ("opened the page to sign", EVERYBODY),
    "deliver_release": ("delivered a release", STEWARDS),
    "show_ledger": ("looked at the ledger", EVERYBODY),
    "verify_ledger": ("verified the ledger", EVERYBODY),
    "show_trail": ("looked at the trail", AUDITORS),
}
"""What the trail says of a route, and the roles that may use it. The author of a draft can never approve it."""


def may_release_alone(roles: frozenset[Role]) -> bool:
    """Return whether somebody may make a release and let it out: whoever may do both, as at their own computer."""
    return bool(roles & STEWARDS) and bool(roles & APPROVERS)
