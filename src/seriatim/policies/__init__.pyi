from seriatim.policies.adversary import priors_for_attack
from seriatim.policies.guess import ColumnSketch, guess_policy, guess_series, respondent_of
from seriatim.policies.hierarchies import read_arx
from seriatim.policies.load import load_adversary, load_policy, policy_from_dict
from seriatim.policies.panel import sketch_panel
from seriatim.policies.schema import policy_schema
from seriatim.policies.sketch import sketch_columns

__all__ = [
    "ColumnSketch",
    "guess_policy",
    "guess_series",
    "load_adversary",
    "load_policy",
    "policy_from_dict",
    "policy_schema",
    "priors_for_attack",
    "read_arx",
    "respondent_of",
    "sketch_columns",
    "sketch_panel",
]
