"""The documents of one revision: reads and builds until nothing more is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kalypso_actions.model.documents import Reading, RevisionFiles


class KustomizeBuild(Protocol):
    """Runs `kustomize build` on a folder among these files and returns its output."""

    def __call__(self, files: Mapping[str, bytes], folder: str) -> bytes:
        """Raises KalypsoError with the program's words."""


def read_documents(
    files: RevisionFiles,
    *,
    repository: str,
    branch: str,
    path: str,
    kustomize: KustomizeBuild | None,
    ignore_sourceignore: bool = False,
) -> Reading:
    """All documents below `path`; without `kustomize`, a folder that needs it is a problem."""
    raise NotImplementedError
