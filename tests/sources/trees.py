"""Trees of files for tests, and the loop that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import FILE_MODE, GIT_LINK_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.sources.discovery import Discovery, ParsedContents, discover
from kalypso_actions.sources.limits import REGISTRATION

REPOSITORY = "https://example.com/org/repo"


def manifest(name: str, kind: str = "Template") -> str:
    return f"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n"


def kustomization(*resources: str, more: str = "") -> str:
    lines = "".join(f"- {resource}\n" for resource in resources)
    return (
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"resources:\n{lines}{more}"
    )


def discovered(
    files: Mapping[str, str | bytes],
    root: str = ".",
    *,
    links: Mapping[str, str] | None = None,
    submodules: Iterable[str] = (),
    built: Mapping[str, bytes] | None = None,
    whole_tree: bool = False,
    registered: bool = False,
) -> Discovery:
    """Return the result of `discover` after all reads that it asks for."""
    bodies = {
        path: body.encode() if isinstance(body, str) else body for path, body in files.items()
    }
    bodies |= {path: target.encode() for path, target in (links or {}).items()}
    entries = {
        path: FileEntry(path, SYMLINK_MODE if path in (links or {}) else FILE_MODE, "", len(body))
        for path, body in bodies.items()
    }
    entries |= {path: FileEntry(path, GIT_LINK_MODE, "", 0) for path in submodules}
    contents: dict[str, bytes] = {}
    parsed = ParsedContents(REGISTRATION) if registered else None
    while True:
        discovery = discover(
            REPOSITORY,
            root,
            dict(sorted(entries.items())),
            contents,
            built or {},
            whole_tree=whole_tree,
            parsed=parsed,
        )
        if not discovery.wanted:
            return discovery
        assert not discovery.wanted & contents.keys()
        contents |= {path: bodies[path] for path in discovery.wanted}


def names(discovery: Discovery) -> list[str]:
    return [document.name for document in discovery.documents]


def texts(problems: Iterable[Problem]) -> list[str]:
    """Return place and message, without the repository."""
    return [
        f"{problem.where.path}:{problem.where.line}: {problem.message}"
        if problem.where
        else problem.message
        for problem in problems
    ]
