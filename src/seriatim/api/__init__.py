"""The public functions of the package, and the faces of policies, ledgers and histories."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.api.attacks import attack, attack_exposed_people, attack_history_of_folder, attack_report
    from seriatim.api.audits import audit
    from seriatim.api.comparisons import compare, compare_lattice_nodes, compare_on_map
    from seriatim.api.faces import HistoryFace, PolicyFace
    from seriatim.api.first_policies import first_policy
    from seriatim.api.forecasts import forecast, forecast_report
    from seriatim.api.gates import gate_compare, gate_hold, gate_replay, gate_requests, gate_store, gate_suggest
    from seriatim.api.knowledge_files import mine_knowledge_file, show_knowledge_file
    from seriatim.api.ledgers import (
        ledger_history,
        ledger_holdings,
        ledger_pasts,
        ledger_pasts_of_folder,
        ledger_records,
        open_ledger,
        sign_off_in,
        signed_in,
    )
    from seriatim.api.prepared import Prepared, must_be_ledger, must_be_policy, prepare
    from seriatim.api.private_lists import write_private
    from seriatim.api.published import Published, ledger_to_publish, publish
    from seriatim.policies import guess_policy, load_adversary, load_policy, policy_from_dict, sketch_columns
    from seriatim.tables.reader import read_table
    from seriatim.tables.views import view_of
    from seriatim.wiring import wired_rehearsal

# loaded at first use: an audit needs no ledger, a ledger no attack
_HOMES = {
    "HistoryFace": "api.faces",
    "PolicyFace": "api.faces",
    "Prepared": "api.prepared",
    "Published": "api.published",
    "attack": "api.attacks",
    "attack_report": "api.attacks",
    "audit": "api.audits",
    "compare": "api.comparisons",
    "compare_on_map": "api.comparisons",
    "attack_exposed_people": "api.attacks",
    "first_policy": "api.first_policies",
    "forecast": "api.forecasts",
    "forecast_report": "api.forecasts",
    "gate_compare": "api.gates",
    "gate_hold": "api.gates",
    "gate_replay": "api.gates",
    "gate_requests": "api.gates",
    "gate_store": "api.gates",
    "gate_suggest": "api.gates",
    "guess_policy": "policies",
    "ledger_history": "api.ledgers",
    "attack_history_of_folder": "api.attacks",
    "ledger_holdings": "api.ledgers",
    "compare_lattice_nodes": "api.comparisons",
    "ledger_to_publish": "api.published",
    "load_adversary": "policies",
    "load_policy": "policies",
    "mine_knowledge_file": "api.knowledge_files",
    "must_be_ledger": "api.prepared",
    "must_be_policy": "api.prepared",
    "open_ledger": "api.ledgers",
    "ledger_pasts_of_folder": "api.ledgers",
    "policy_from_dict": "policies",
    "prepare": "api.prepared",
    "publish": "api.published",
    "ledger_pasts": "api.ledgers",
    "read_table": "tables.reader",
    "ledger_records": "api.ledgers",
    "show_knowledge_file": "api.knowledge_files",
    "sign_off_in": "api.ledgers",
    "signed_in": "api.ledgers",
    "sketch_columns": "policies",
    "view_of": "tables.views",
    "wired_rehearsal": "wiring",
    "write_private": "api.private_lists",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.api' has no attribute {name!r}")
    return getattr(import_module(f"seriatim.{_HOMES[name]}"), name)


__all__ = [
    "HistoryFace",
    "PolicyFace",
    "Prepared",
    "Published",
    "attack",
    "attack_exposed_people",
    "attack_history_of_folder",
    "attack_report",
    "audit",
    "compare",
    "compare_lattice_nodes",
    "compare_on_map",
    "first_policy",
    "forecast",
    "forecast_report",
    "gate_compare",
    "gate_hold",
    "gate_replay",
    "gate_requests",
    "gate_store",
    "gate_suggest",
    "guess_policy",
    "ledger_history",
    "ledger_holdings",
    "ledger_pasts",
    "ledger_pasts_of_folder",
    "ledger_records",
    "ledger_to_publish",
    "load_adversary",
    "load_policy",
    "mine_knowledge_file",
    "must_be_ledger",
    "must_be_policy",
    "open_ledger",
    "policy_from_dict",
    "prepare",
    "publish",
    "read_table",
    "show_knowledge_file",
    "sign_off_in",
    "signed_in",
    "sketch_columns",
    "view_of",
    "wired_rehearsal",
    "write_private",
]
