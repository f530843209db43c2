"""Changes to a workflow file that its template offers.

A template offers them in comments: `# token: ${{ secrets.GITOPS_REPO_TOKEN }}`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

OFFERED: Final = re.compile(r"^\s*# ([a-z-]+): \S+( .*)?$", re.MULTILINE)
COMMENT: Final = re.compile(r"(^|\s)#.*")


@dataclass(frozen=True, slots=True)
class _Option:
    """The keys that an offered line replaces, and the lines that must or may come with it."""

    replaces: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    may_add: frozenset[str] = frozenset()


CONTINUES: Final = re.compile(
    r"environment: >-\s+\$\{\{ inputs\.started_at == '' && inputs\.environment \|\|\s+"
    r"github\.triggering_actor != '[^']+\[bot\]' && inputs\.environment \|\| '' \}\}"
)
"""The environment of check-promote's job, except for a continued run that the App has started.

GitHub binds no environment for an empty name (Toloka/tolokaforge#646).
"""

OPTIONS: Final[Mapping[str, _Option]] = {
    "token": _Option(frozenset({"app-id", "app-private-key"})),
    "next-environment": _Option(frozenset({"next-environment"})),
    "azure-credentials": _Option(
        frozenset({"azure-client-id", "azure-tenant-id", "id-token", "permissions"}),
        may_add=frozenset({"permissions: {}"}),
    ),
    "app-id": _Option(),
    "app-private-key": _Option(),
    "commit-by": _Option(),
    "mode": _Option(adds=frozenset({"pull-requests: write"})),
    "pull-requests": _Option(frozenset({"app-id", "app-private-key"})),
    "statuses": _Option(),
}
"""The options, by the input or permission that templates offer in a comment."""


def uses_only_options(text: str, template: str) -> bool:
    """Whether a file differs from its template only in comments and offered options."""
    text = CONTINUES.sub("environment: ${{ inputs.environment }}", text)
    file_lines, template_lines = Counter(_code(text)), Counter(_code(template))
    offered = {
        COMMENT.sub("", match[0].strip(" #")).strip() for match in OFFERED.finditer(template)
    }
    added = set(file_lines - template_lines)
    removed = {_key(line) for line in template_lines - file_lines}
    chosen = {_key(line) for line in added & offered}
    if not chosen <= OPTIONS.keys():
        return False
    options = [OPTIONS[key] for key in chosen]
    required = {line for option in options for line in option.adds}
    allowed = offered | required | {line for option in options for line in option.may_add}
    replaced = {key for option in options for key in option.replaces}
    return required <= added <= allowed and removed <= replaced


def _code(text: str) -> Iterator[str]:
    """Yield the lines without comments and indentation; skip empty lines."""
    return filter(None, (COMMENT.sub("", line).strip() for line in text.splitlines()))


def _key(line: str) -> str:
    return line.partition(":")[0]
