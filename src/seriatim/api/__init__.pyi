from seriatim.api.attacks import attack, attack_exposed_people, attack_history_of_folder, attack_report
from seriatim.api.audits import audit
from seriatim.api.comparisons import compare
from seriatim.api.first_policies import first_policy
from seriatim.api.forecasts import forecast, forecast_report
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
from seriatim.api.prepared import Prepared, checked_as_policy, prepare, refuse_other_than_ledger
from seriatim.api.publications import Published, ledger_to_publish, publish
from seriatim.gate import (
    gate_baseline,
    gate_hold,
    gate_replay,
    gate_requests,
    gate_show,
    gate_store,
    gate_suggest,
    gate_verify,
)
from seriatim.policies import guess_policy, load_adversary, load_policy, policy_from_dict, policy_schema, sketch_columns
from seriatim.storage.durable_files import refuse_private_list, write_private_list
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of

__all__ = [
    "Prepared",
    "Published",
    "attack",
    "attack_exposed_people",
    "attack_history_of_folder",
    "attack_report",
    "audit",
    "checked_as_policy",
    "compare",
    "first_policy",
    "forecast",
    "forecast_report",
    "gate_baseline",
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
    "policy_schema",
    "prepare",
    "publish",
    "read_table",
    "refuse_other_than_ledger",
    "refuse_private_list",
    "show_knowledge_file",
    "sign_off_in_ledger",
    "signed_in_ledger",
    "sketch_columns",
    "view_of",
    "write_private_list",
]
