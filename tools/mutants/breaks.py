"""One break of the product and the tests that should notice it, with short names for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Break:
    """Replace `old`, which the file contains once, by `new`; one of `tests` should then fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


COMMANDS: Final = "kalypso_actions/commands"
PROMOTION: Final = "kalypso_actions/promotion"
CLIENTS: Final = "kalypso_actions/clients"
COMPLIANCE: Final = "kalypso_actions/compliance"
GITOPS: Final = "kalypso_actions/gitops"


def case(module: str, name: str) -> str:
    """Return a test as pytest names it; `module` is "folder/file"."""
    folder, _, file = module.rpartition("/")
    return f"tests/{folder}/test_{file}.py::test_{name}"


def story(file: str, name: str) -> str:
    """Return a story of the chain as pytest names it."""
    return case(f"chain/{file}", name)
