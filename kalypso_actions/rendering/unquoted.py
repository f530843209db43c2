"""Texts of applications that a template prints without quoting them.

What `range` and `with` make of them, and variables, are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import ENGINE_ANNOTATION, Template

_ACTION: Final = re.compile(r"\{\{-? *+([^{}]*)\}\}")
_DELIVERED: Final = re.compile(r"\.(?:Manifests|Labels|Repo|Branch|Path)\b")
_DELIVERED_TO_JINJA: Final = re.compile(r"(?<![.\w])(?:Manifests|Labels)\b")
_PRINTS_NOTHING: Final = re.compile(
    r"(?:if|else|with|range|end|define|template|block|fail|/\*)\b|\$\w* *:?="
)
_QUOTES: Final = re.compile(
    r"(?<![.\w])(?:quote|squote|toYaml|toJson|tojson|hash|len|length|b64enc|b32enc|sha1sum|sha256sum|"
    r"adler32sum|int)\b"
)


def unquoted_texts(template: Template) -> Iterator[Problem]:
    """Yield a note for the first text of an application that a Template prints as it is."""
    is_jinja = bool(template.annotations.get(ENGINE_ANNOTATION))
    delivered = _DELIVERED_TO_JINJA if is_jinja else _DELIVERED
    for index, source in enumerate(template.manifests):
        if not isinstance(source, str):
            continue
        for match in _ACTION.finditer(source):
            action = match[1]
            prints = delivered.search(action) and not _PRINTS_NOTHING.match(action)
            if prints and not _QUOTES.search(action):
                first = template.manifest_lines[index] if template.manifest_lines else 0
                line = first + source.count("\n", 0, match.start()) if first else 0
                yield Problem(
                    f"Template {template.name!r} prints {match[0][:60]!r} without quoting it",
                    replace(template.where, line=line or template.where.line, column=0),
                    "an application team writes this text: pipe it to "
                    + ("tojson" if is_jinja else "quote"),
                    "template-unquoted",
                )
                return
