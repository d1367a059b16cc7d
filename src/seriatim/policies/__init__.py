"""The edge where policy files become Policy values, all faults reported at once."""

from seriatim.policies.arx import read_hierarchy
from seriatim.policies.loading import load_policy, policy_from_dict

__all__ = ["load_policy", "policy_from_dict", "read_hierarchy"]
