"""Parse a document to its resource and its findings."""

from __future__ import annotations

from kalypso_actions.errors import Diagnostics
from kalypso_actions.fleet.parsing import parse_document
from tests.builders import documents


def parse(text: str) -> tuple[object | None, list[str], list[str]]:
    diagnostics = Diagnostics()
    (document,) = documents(text)
    noun = parse_document(document, diagnostics)
    return noun, [str(p) for p in diagnostics.problems], [str(w) for w in diagnostics.warnings]
