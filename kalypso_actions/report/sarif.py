"""Findings in SARIF 2.1.0, the format of code scanning and of editors.

GitHub refuses a whole file for one result without a location, or with a URI that is not a path in a
repository ("expected at least one location", github/codeql-action#2459; "SARIF URI scheme did not
match the checkout URI scheme", aquasecurity/trivy-action#273).

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from kalypso_actions import PROJECT_URL, __version__
from kalypso_actions.errors import Finding, Location
from kalypso_actions.model.counts import counted
from kalypso_actions.model.problem_codes import problem_codes
from kalypso_actions.report.escaping import json_text

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
UNCLASSIFIED: Final = "unclassified"
"""The rule of problems without a code, such as failures of other systems."""
NO_FILE: Final = "no-file"
"""The path of problems without any place."""
MOST_RESULTS: Final = 25_000
"""GitHub refuses a file with more results, and shows the 5,000 most severe of them."""


def sarif(findings: Iterable[Finding], path_of: Callable[[Location], str]) -> str:
    """Format findings, without notes.

    `path_of` returns the path of a file in the checkout; that of a file elsewhere begins with the
    name of its repository. Acknowledged warnings are suppressed results.
    """
    listed = _limited([finding for finding in findings if finding.level != "note"])
    rules = list(dict.fromkeys(finding.code or UNCLASSIFIED for finding in listed))
    run = {
        "tool": {
            "driver": {
                "name": "kalypso",
                "version": __version__,
                "informationUri": PROJECT_URL,
                "rules": [_rule(name) for name in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules, path_of) for finding in listed],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _limited(listed: list[Finding]) -> list[Finding]:
    """Return as many findings as GitHub accepts; the last one has the number of the others."""
    if len(listed) <= MOST_RESULTS:
        return listed
    left_out = listed[MOST_RESULTS - 1 :]
    more = counted(len(left_out), "more finding")
    message = f"{more} left out: GitHub refuses a file of more than {MOST_RESULTS:,} results"
    rest = Finding(message, None, "--output json lists all", level=left_out[0].level)
    return [*listed[: MOST_RESULTS - 1], rest]


def _rule(name: str) -> dict[str, Any]:
    code = problem_codes().get(name)
    if code is None:
        return {"id": name}
    return {
        "id": name,
        "shortDescription": {"text": code.cause},
        "help": {"text": code.repair},
        "defaultConfiguration": {"level": code.level},
    }


def _result(
    finding: Finding, rules: Sequence[str], path_of: Callable[[Location], str]
) -> dict[str, Any]:
    message, code = finding.message.strip(), finding.code or UNCLASSIFIED
    result: dict[str, Any] = {
        "ruleId": code,
        "ruleIndex": rules.index(code),
        "level": finding.level,
        "message": {"text": f"{message}\n{finding.advice}" if finding.advice else message},
        "locations": [{"physicalLocation": _place(finding.where, path_of)}],
    }
    if finding.reason:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.reason}]
    return result


def _place(where: Location | None, path_of: Callable[[Location], str]) -> dict[str, Any]:
    path = path_of(where) if where else NO_FILE
    region = {"startLine": where.line if where and where.line else 1}
    if where and where.line and where.column:
        region["startColumn"] = where.column
    uri = quote(path, safe="/@", errors="surrogateescape")
    return {"artifactLocation": {"uri": uri}, "region": region}
