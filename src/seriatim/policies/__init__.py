"""Reads policy files into Policy values, and reports all faults at once."""

from typing import TYPE_CHECKING

from seriatim.lazy_names import lazy_names_by_home

if TYPE_CHECKING:
    from seriatim.policies.arx import read_arx
    from seriatim.policies.guess import ColumnSketch, guess_policy, guess_series
    from seriatim.policies.load import load_adversary, load_policy, policy_from_dict
    from seriatim.policies.priors import priors_for_attack
    from seriatim.policies.sketch import sketch_columns

_HOMES = {
    "seriatim.policies.arx": ("read_arx",),
    "seriatim.policies.guess": ("ColumnSketch", "guess_policy", "guess_series"),
    "seriatim.policies.load": ("load_adversary", "load_policy", "policy_from_dict"),
    "seriatim.policies.priors": ("priors_for_attack",),
    "seriatim.policies.sketch": ("sketch_columns",),
}
__getattr__ = lazy_names_by_home(__name__, _HOMES)

__all__ = [
    "ColumnSketch",
    "guess_policy",
    "guess_series",
    "load_adversary",
    "load_policy",
    "policy_from_dict",
    "priors_for_attack",
    "read_arx",
    "sketch_columns",
]
