"""What workflow files may have in place of what their templates have.

A template offers it in comments: `# token: ${{ secrets.GITOPS_REPO_TOKEN }}`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

OFFERED: Final = re.compile(r"^\s*# ([a-z-]+): \S+( .*)?$", re.MULTILINE)
REMARK: Final = re.compile(r"(^|\s)#.*")


@dataclass(frozen=True, slots=True)
class _Choice:
    """What goes, and what comes, with an input of this name; `adds` must come, `may_add` may."""

    replaces: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    may_add: frozenset[str] = frozenset()


CHOICES: Final[Mapping[str, _Choice]] = {
    "token": _Choice(frozenset({"app-id", "app-private-key"})),
    "next-environment": _Choice(frozenset({"next-environment"})),
    "azure-credentials": _Choice(
        frozenset({"azure-client-id", "azure-tenant-id", "id-token", "permissions"}),
        may_add=frozenset({"permissions: {}"}),
    ),
    "mode": _Choice(adds=frozenset({"pull-requests: write"})),
}
"""By the inputs that templates offer in comments."""


def is_as_offered(text: str, template: str) -> bool:
    """Whether a file differs from its template in nothing but comments and what those offer."""
    own, ours = Counter(_code(text)), Counter(_code(template))
    offered = {REMARK.sub("", match[0].strip(" #")).strip() for match in OFFERED.finditer(template)}
    added, gone = set(own - ours), {_key(line) for line in ours - own}
    chosen = {_key(line) for line in added & offered}
    choices = [CHOICES[key] for key in chosen if key in CHOICES]
    if len(choices) < len(chosen):
        return False
    needed = {line for choice in choices for line in choice.adds}
    allowed = offered | needed | {line for choice in choices for line in choice.may_add}
    replaced = {key for choice in choices for key in choice.replaces}
    return needed <= added <= allowed and gone <= replaced


def _code(text: str) -> Iterator[str]:
    """The lines without comments and indentation."""
    for line in text.splitlines():
        found = REMARK.sub("", line).strip()
        if found:
            yield found


def _key(line: str) -> str:
    return line.partition(":")[0]
