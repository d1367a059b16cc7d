"""A verdict in the forms that pipelines read: a JUnit file for test reports, a SARIF file for code scanning.

Each promise is a test, or a rule; nothing in them is about anyone.
"""

from __future__ import annotations

import json
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from seriatim.model import Finding, Verdict
from seriatim.report.words import format_number

_LEVELS = {"kept": "none", "broken": "error", "partly judged": "warning", "not judged": "warning"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def junit_file(verdict: Verdict, series: str) -> str:
    """Return one test for each promise, and one for any other reason to refuse."""
    tests = [*verdict.findings, *_other_reasons(verdict)]
    failed = sum(not one.kept for one in tests)
    suites = Element("testsuites", name="seriatim check", tests=str(len(tests)), failures=str(failed))
    suite = SubElement(suites, "testsuite", name=series, tests=str(len(tests)), failures=str(failed))
    for one in tests:
        case = SubElement(suite, "testcase", classname=series, name=_name(one))
        if not one.kept:
            SubElement(case, "failure", message=_message(one)).text = one.remedy
        elif one.n_unjudged:
            SubElement(case, "skipped", message=one.result)
    indent(suites, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def sarif_file(verdict: Verdict, policy: str) -> str:
    """Return a result for each promise that is not simply kept, at the policy's file."""
    told = [one for one in (*verdict.findings, *_other_reasons(verdict)) if one.result != "kept"]
    place = {"physicalLocation": {"artifactLocation": {"uri": policy}, "region": {"startLine": 1}}}
    results = [
        {
            "ruleId": one.rule,
            "level": _LEVELS[one.result],
            "message": {"text": "; ".join(filter(None, (_message(one), one.remedy)))},
            "locations": [place],
        }
        for one in told
    ]
    rules = [{"id": rule} for rule in dict.fromkeys(one.rule for one in told)]
    run = {"tool": {"driver": {"name": "seriatim", "rules": rules}}, "results": results}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _other_reasons(verdict: Verdict) -> list[Finding]:
    """Return what refuses although every promise is kept, such as a view that comes again."""
    if verdict.released or not all(one.kept for one in verdict.findings):
        return []
    return [Finding("release", False, 1.0, 0.0, detail=reason) for reason in verdict.reasons]


def _name(one: Finding) -> str:
    return one.rule if one.column is None else f"{one.rule} of {one.column}"


def _message(one: Finding) -> str:
    if one.rule == "release":
        return one.detail
    told = f"{_name(one)}: found {format_number(one.worst)}, required {format_number(one.threshold)}"
    return f"{told} ({one.result})"
