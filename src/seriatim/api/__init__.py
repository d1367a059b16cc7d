"""The public functions of the package, and the faces of policies, ledgers and histories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seriatim.lazy_names import public_names

if TYPE_CHECKING:
    from seriatim.api.attacks import attack, attack_exposed_people, attack_history_of_folder, attack_report
    from seriatim.api.audits import audit
    from seriatim.api.comparisons import compare, compare_lattice_nodes, compare_on_map
    from seriatim.api.faces import HistoryFace, PolicyFace
    from seriatim.api.first_policies import first_policy
    from seriatim.api.forecasts import forecast, forecast_report
    from seriatim.api.gates import (
        gate_compare,
        gate_hold,
        gate_replay,
        gate_requests,
        gate_show,
        gate_store,
        gate_suggest,
        gate_verify,
    )
    from seriatim.api.knowledge_files import mine_knowledge_file, show_knowledge_file
    from seriatim.api.ledgers import (
        ledger_history,
        ledger_holdings,
        ledger_pasts,
        ledger_pasts_of_folder,
        ledger_records,
        open_ledger,
        sign_off_in_ledger,
        signed_in_ledger,
    )
    from seriatim.api.prepared import Prepared, prepare, prepared_as_ledger, prepared_policy
    from seriatim.api.private_lists import refuse_private_list, write_private_list
    from seriatim.api.publications import Published, ledger_to_publish, publish
    from seriatim.policies import guess_policy, load_adversary, load_policy, policy_from_dict, sketch_columns
    from seriatim.tables.reader import read_table
    from seriatim.tables.views import view_of
    from seriatim.usecases.compare.risk_map import MapWish

# loaded at first use: an audit needs no ledger, a ledger no attack
_HOMES = {
    "HistoryFace": "seriatim.api.faces",
    "MapWish": "seriatim.usecases.compare.risk_map",
    "PolicyFace": "seriatim.api.faces",
    "Prepared": "seriatim.api.prepared",
    "Published": "seriatim.api.publications",
    "attack": "seriatim.api.attacks",
    "attack_report": "seriatim.api.attacks",
    "audit": "seriatim.api.audits",
    "compare": "seriatim.api.comparisons",
    "compare_on_map": "seriatim.api.comparisons",
    "attack_exposed_people": "seriatim.api.attacks",
    "first_policy": "seriatim.api.first_policies",
    "forecast": "seriatim.api.forecasts",
    "forecast_report": "seriatim.api.forecasts",
    "gate_compare": "seriatim.api.gates",
    "gate_hold": "seriatim.api.gates",
    "gate_replay": "seriatim.api.gates",
    "gate_requests": "seriatim.api.gates",
    "gate_show": "seriatim.api.gates",
    "gate_store": "seriatim.api.gates",
    "gate_suggest": "seriatim.api.gates",
    "gate_verify": "seriatim.api.gates",
    "guess_policy": "seriatim.policies",
    "ledger_history": "seriatim.api.ledgers",
    "attack_history_of_folder": "seriatim.api.attacks",
    "ledger_holdings": "seriatim.api.ledgers",
    "compare_lattice_nodes": "seriatim.api.comparisons",
    "ledger_to_publish": "seriatim.api.publications",
    "load_adversary": "seriatim.policies",
    "load_policy": "seriatim.policies",
    "mine_knowledge_file": "seriatim.api.knowledge_files",
    "prepared_as_ledger": "seriatim.api.prepared",
    "prepared_policy": "seriatim.api.prepared",
    "open_ledger": "seriatim.api.ledgers",
    "ledger_pasts_of_folder": "seriatim.api.ledgers",
    "policy_from_dict": "seriatim.policies",
    "prepare": "seriatim.api.prepared",
    "publish": "seriatim.api.publications",
    "ledger_pasts": "seriatim.api.ledgers",
    "read_table": "seriatim.tables.reader",
    "ledger_records": "seriatim.api.ledgers",
    "show_knowledge_file": "seriatim.api.knowledge_files",
    "sign_off_in_ledger": "seriatim.api.ledgers",
    "signed_in_ledger": "seriatim.api.ledgers",
    "sketch_columns": "seriatim.policies",
    "view_of": "seriatim.tables.views",
    "refuse_private_list": "seriatim.api.private_lists",
    "write_private_list": "seriatim.api.private_lists",
}


__getattr__ = public_names(__name__, _HOMES)

__all__ = [
    "HistoryFace",
    "MapWish",
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
    "gate_show",
    "gate_store",
    "gate_suggest",
    "gate_verify",
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
    "open_ledger",
    "policy_from_dict",
    "prepare",
    "prepared_as_ledger",
    "prepared_policy",
    "publish",
    "read_table",
    "refuse_private_list",
    "show_knowledge_file",
    "sign_off_in_ledger",
    "signed_in_ledger",
    "sketch_columns",
    "view_of",
    "write_private_list",
]
