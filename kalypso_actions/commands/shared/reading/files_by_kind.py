"""Parse only the files that may hold objects of some kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kalypso_actions.sources.parsed_contents import ParsedContents
from kalypso_actions.sources.yaml_documents import ParsedFile

DISGUISES = rb"[\\!]|\A(?:\xff\xfe|\xfe\xff)"
"""Escapes, tags (`!!binary`) and UTF-16, by which a file names a kind without its plain text."""


class ParsedByKind(ParsedContents):
    """Parses the files in which one of the kinds may occur.

    Other files have neither objects nor problems.
    """

    __slots__ = ("_kinds",)

    def __init__(self, kinds: Iterable[str]) -> None:
        super().__init__()
        names = b"|".join(re.escape(kind.encode()) for kind in sorted(kinds))
        self._kinds = re.compile(names + b"|" + DISGUISES)

    def objects(self, repository: str, path: str, content: bytes) -> ParsedFile:
        """Return the objects of a file that may hold some of the kinds."""
        if self._kinds.search(content) is None:
            return ParsedFile()
        return super().objects(repository, path, content)
