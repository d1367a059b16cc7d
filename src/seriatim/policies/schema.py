"""The JSON schema of policies, for editors: taplo and VS Code complete keys by it, and mark what cannot be."""

from __future__ import annotations

from typing import Any

from seriatim.model.policy_keys import PolicySection
from seriatim.policies.load import POINTER
from seriatim.policies.promise_section import foreign_promises
from seriatim.policies.shapes import Rows, rows_by_column, rows_of, shape_of

_KEPT = ("type", "properties", "required", "additionalProperties")
_NAMES = {"type": "array", "items": {"type": "string"}}
"""Of [columns]: the names of several columns under their role."""


def policy_schema() -> dict[str, Any]:
    """Return the schema of a policy file. What holds between keys is checked when the policy is loaded."""
    column, builder = (_table(rows_of(one)) for one in (PolicySection.COLUMNS, PolicySection.HIERARCHY))
    column["properties"]["hierarchy"]["anyOf"] = [{"type": "string"}, builder]
    promise = _table(rows_of(PolicySection.PROMISE))
    promise["properties"] |= {name: {} for name in foreign_promises()}
    promise["additionalProperties"] = _table(rows_by_column()) | {"description": "promises of one sensitive column"}
    adversary = _table(rows_of(PolicySection.ADVERSARY))
    adversary["properties"] |= _table({"file": POINTER})["properties"]
    sections = {
        "series": _table(rows_of(PolicySection.SERIES)),
        "columns": {"type": "object", "additionalProperties": {"anyOf": [column, _NAMES]}},
        "promise": promise,
        "defence": _table(rows_of(PolicySection.DEFENCE)),
        "adversary": adversary,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Seriatim policy",
        "type": "object",
        "properties": sections,
        "required": ["series", "columns"],
        "additionalProperties": False,
    }


def _table(rows: Rows) -> dict[str, Any]:
    made = shape_of(rows.values()).model_json_schema()
    made["properties"] = {key: _plain(value) for key, value in made["properties"].items()}
    return {key: value for key, value in made.items() if key in _KEPT}


def _plain(key: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a key without what only Python needs: titles, and nothing in place of a value."""
    kept = {name: value for name, value in key.items() if name != "title" and (name, value) != ("default", None)}
    forms = [form for form in kept.pop("anyOf", ()) if form != {"type": "null"}]
    return kept | ({"anyOf": forms} if len(forms) > 1 else forms[0] if forms else {})
