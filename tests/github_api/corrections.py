"""Corrections of GitHub's description, where GitHub does something else.

A test fails for a correction without effect and an addition that no operation needs, so that new
versions of the description remove them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

Json = Any


@dataclass(frozen=True, slots=True)
class Correction:
    """Facts for the node at `path` of the description; `anyOf` is extended."""

    path: tuple[str, ...]
    facts: Mapping[str, Json]
    reason: str

    def apply(self, document: Json) -> bool:
        """Correct the document; return whether it changed. Raises KeyError."""
        node = document
        for word in self.path:
            node = node[word]
        missing = {
            word: node.get(word, []) + fact if word == "anyOf" else fact
            for word, fact in self.facts.items()
            if fact != node.get(word) and not (word == "anyOf" and fact[0] in node.get(word, []))
        }
        node.update(missing)
        return bool(missing)


_REPOSITORY: Final = "/repos/{owner}/{repo}"
_JSON: Final = ("content", "application/json", "schema")
_CONTENT: Final = ("requestBody", *_JSON)
_OPEN_OR_CLOSED: Final = {"enum": ["open", "closed"]}
_STATES: Final = {"enum": ["error", "failure", "pending", "success"]}
_WEAK: Final = "a plain string in the description, one of these words in its text"
_LIST_OF_NAMES: Final = {"anyOf": [{"type": "array", "items": {"type": "string"}}]}
_MERGE: Final = f"{_REPOSITORY}/pulls/{{pull_number}}/merge"
_LABELS: Final = f"{_REPOSITORY}/issues/{{issue_number}}/labels"


def _schema(name: str, *path: str) -> tuple[str, ...]:
    return ("components", "schemas", name, "properties", *path)


CORRECTIONS: Final = (
    Correction(_schema("issue", "state"), _OPEN_OR_CLOSED, _WEAK),
    Correction(_schema("pull-request-simple", "state"), _OPEN_OR_CLOSED, _WEAK),
    Correction(_schema("status", "state"), _STATES, _WEAK),
    Correction(
        _schema("pull-request-simple", "labels", "items", "properties", "description"),
        {"type": ["string", "null"]},
        "a label made without a description has none, in lists of pull requests too",
    ),
    Correction(
        _schema("validation-error"),
        {"status": {"type": "string"}},
        "every error of GitHub tells its status as text, as basic-error describes it",
    ),
    Correction(
        _schema("rate-limit"),
        {"resource": {"type": "string"}},
        "GitHub tells the name of each resource inside it, too",
    ),
    Correction(
        _schema("environment"),
        {"can_admins_bypass": {"type": "boolean"}},
        "a setting of environments that GitHub tells, and the description does not know",
    ),
    Correction(
        _schema("app-permissions"),
        {"actions_variables": {"type": "string", "enum": ["read", "write"]}},
        "the permission for variables, as x-accepted-github-permissions names it",
    ),
    Correction(
        ("paths", "/app/installations", "get", "responses", "200", *_JSON),
        {"items": {"$ref": "#/components/schemas/installation"}},
        "described anew here, each account being a user and an enterprise at once",
    ),
    *(
        Correction(
            ("paths", _MERGE, "put", "responses", status, *_JSON, "properties"),
            {"status": {"type": "string"}},
            "every error of GitHub tells its status as text, as basic-error describes it",
        )
        for status in ("405", "409")
    ),
    Correction(
        ("paths", f"{_REPOSITORY}/git/refs/{{ref}}", "delete", "responses", "422"),
        {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/basic-error"}}}},
        "described without a body, but sent like every other error",
    ),
    Correction(
        ("paths", _LABELS, "post", *_CONTENT),
        _LIST_OF_NAMES,
        "the names may be sent without an object around them, says the description's text",
    ),
)


@dataclass(frozen=True, slots=True)
class Addition:
    """A status that operations answer although the description omits it.

    `method` and `path` are globs (`*` matches slashes as well); `schema` is that of the body.
    """

    method: str
    path: str
    status: int
    schema: str
    reason: str

    def meets(self, method: str, path: str) -> bool:
        """Return whether it applies to this operation."""
        return fnmatchcase(method, self.method) and fnmatchcase(path, self.path)


ADDITIONS: Final = (
    Addition("*", "*", 400, "basic-error", "the request's body is not JSON"),
    Addition("*", "*", 401, "basic-error", "the token is wrong, revoked or expired"),
    Addition("*", "*", 403, "basic-error", "the token lacks a permission, or a limit is reached"),
    Addition("*", "*", 404, "basic-error", "what the token may not see, and what is not there"),
    Addition("*", "*", 429, "basic-error", "a rate limit is reached"),
    Addition("GET", f"{_REPOSITORY}*", 301, "basic-error", "the repository has been renamed"),
    Addition("[!G]*", f"{_REPOSITORY}*", 307, "basic-error", "the repository has been renamed"),
    *(
        Addition(method, f"{_REPOSITORY}/{path}", 422, "validation-error", reason)
        for method, path, reason in (
            ("POST", "statuses/{sha}", "no such commit, a text too long, too many of a context"),
            ("POST", "environments/{environment_name}/variables", "the name cannot be one"),
            ("POST", "actions/variables", "the name cannot be one"),
            (
                "POST",
                "actions/workflows/{workflow_id}/dispatches",
                "no such ref, no such trigger, or other inputs than the workflow declares",
            ),
        )
    ),
    *(
        Addition("POST", f"{_REPOSITORY}/{path}/variables", 409, "basic-error", "it exists")
        for path in ("environments/{environment_name}", "actions")
    ),
    Addition("*", "*", 500, "basic-error", "an error of GitHub's own"),
    Addition("*", "*", 502, "basic-error", "an error of GitHub's own"),
    Addition("*", "*", 503, "basic-error", "an error of GitHub's own"),
    Addition("*", "*", 504, "basic-error", "an error of GitHub's own"),
)
