"""Which files of a repository hold its documents, by the rules of Flux."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document, FileEntry


@dataclass(frozen=True, slots=True)
class Discovery:
    """What can be said about the documents with the contents read so far.

    Final when `wanted` (files still to be read) and `builds` (folders that the kustomize program
    must build) are empty.
    """

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    wanted: frozenset[str] = frozenset()
    builds: frozenset[str] = frozenset()


def discover(
    repository: str,
    root: str,
    entries: Mapping[str, FileEntry],
    contents: Mapping[str, bytes],
    built: Mapping[str, bytes],
) -> Discovery:
    """Documents below the folder `root` of a repository.

    `contents` are the files read so far, `built` what the kustomize program made of folders.
    """
    raise NotImplementedError
