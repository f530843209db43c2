"""Texts of applications that a template prints without quoting them.

This does not follow texts through variables, `range` and `with`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Template

ACTION: Final = re.compile(r"\{\{-? *+([^{}]*)\}\}")
_DELIVERED: Final = re.compile(r"\.(?:Manifests|Labels|Repo|Branch|Path)\b")
_DELIVERED_TO_JINJA: Final = re.compile(r"(?<![.\w])(?:Manifests|Labels)\b")
PRINTS_NOTHING: Final = re.compile(
    r"(?:if|else|with|range|end|define|template|block|fail|/\*)\b|\$\w* *:?="
)
_QUOTES: Final = re.compile(
    r"(?<![.\w])(?:quote|squote|toYaml|toJson|tojson|hash|len|length|b64enc|b32enc|sha1sum|sha256sum|"
    r"adler32sum|int)\b"
)


def unquoted_texts(template: Template) -> Iterator[Problem]:
    """Yield a note for the first text of an application that a Template prints unquoted."""
    is_jinja = bool(template.annotations.get(ENGINE_ANNOTATION))
    delivered = _DELIVERED_TO_JINJA if is_jinja else _DELIVERED
    for index, source in enumerate(template.manifests):
        if not isinstance(source, str):
            continue
        for match in ACTION.finditer(source):
            action = match[1]
            prints = delivered.search(action) and not PRINTS_NOTHING.match(action)
            if prints and not _QUOTES.search(action):
                line = source.count("\n", 0, match.start()) + 1
                column = match.start() - source.rfind("\n", 0, match.start())
                yield Problem(
                    f"Template {template.name!r} prints {match[0][:60]!r} without quoting it",
                    template.at(index, line, column),
                    "an application team writes this text: pipe it to "
                    + ("tojson" if is_jinja else "quote"),
                    "template-unquoted",
                )
                return
