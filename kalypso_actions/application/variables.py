"""Replace variables in a text as envsubst does, but only the named ones.

https://www.gnu.org/software/gettext/manual/html_node/envsubst-Invocation.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import VARIABLES, Compatibility
from kalypso_actions.model.nearest import misspelled

REFERENCE: Final = re.compile(rb"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
"""`$A` and `${A}`; envsubst leaves every other `$` as it is: `${A:-x}`, `$1`, `$(A)`."""


def replace_variables(
    content: bytes,
    variables: Mapping[str, str],
    where: Location,
    compatibility: Compatibility,
) -> tuple[bytes, list[Problem]]:
    """Return the text with the values of `variables`, and a problem for each other variable.

    `where` is the file. If one of the ten names has no value, upstream writes nothing for it; with
    `none`, it is a problem. References in comments stay unchanged, unless they have a value.
    """
    problems: list[Problem] = []

    def value(match: re.Match[bytes]) -> bytes:
        name = _name(match)
        if name in variables:
            return variables[name].encode("utf-8", "surrogateescape")
        if name in VARIABLES and compatibility != "none":
            return b""
        if not _is_in_comment(content, match.start()):
            line = content.count(b"\n", 0, match.start()) + 1
            problems.append(_problem(name, replace(where, line=line)))
        return match[0]

    return REFERENCE.sub(value, content), problems


def _name(match: re.Match[bytes]) -> str:
    return (match[1] or match[2]).decode("ascii")


def _is_in_comment(content: bytes, position: int) -> bool:
    start = content.rfind(b"\n", 0, position) + 1
    return content[start:position].lstrip().startswith(b"#")


def _problem(name: str, where: Location) -> Problem:
    if name in VARIABLES:
        option = f"--{OPTIONS[name]}"
        message = f"the variable ${name} has no value"
        return Problem(message, where, f"give it with {option}", "variable-undefined")
    near = misspelled(name, VARIABLES)
    advice = f"is ${near} meant? " if near else ""
    advice += f"write ${{{name}:-}} for a variable of the container's shell, which stays as it is"
    message = f"charts and configs may not use the variable ${name}"
    return Problem(message, where, advice, "variable-unknown")


OPTIONS: Final = {
    "WORKLOAD": "workload",
    "ENVIRONMENT": "environment",
    "SOURCE_REPO": "source-repository",
    "GITOPS_REPO": "gitops-repository",
    "SOURCE_BRANCH": "source-branch",
    "VERSION": "version",
    "IMAGE_TAG": "image-tag",
    "IMAGE_NAME": "image-name",
    "SRC_COMMIT": "source-commit",
    "CONFIG_REVISION": "config-revision",
}
"""The input that gives each variable its value."""
