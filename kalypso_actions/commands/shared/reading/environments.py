"""Find the Environment objects of main."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions import fleet
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.revision_reader import read_documents
from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document, RevisionFiles
from kalypso_actions.model.kinds import Environment


def find_environments(
    reader: Reader, control_plane: str, branch: str, files: RevisionFiles | None = None
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """Return the Environment objects of main's whole tree by name, regardless of `.sourceignore`.

    Files without Kubernetes documents are not a problem, because nobody applies them. `files` are
    the files of main, if they are already open.
    """
    files = files or reader.repositories.open(control_plane, branch=branch)
    reading = read_documents(
        files,
        repository=control_plane,
        branch=branch,
        path=".",
        kustomize=None,
        ignore_sourceignore=True,
        kinds=("Environment",),
    )
    return environments_among(reading.documents)


def environments_among(
    documents: Iterable[Document],
) -> tuple[dict[str, Environment], tuple[Problem, ...]]:
    """Return the Environment objects among documents by name, and their problems."""
    findings = fleet.Diagnostics()
    environments: dict[str, Environment] = {}
    for document in documents:
        if document.kind != "Environment":
            continue
        environment = fleet.parse_document(document, findings)
        if isinstance(environment, Environment):
            first = environments.setdefault(environment.name, environment)
            if first is not environment:
                message = f"Environment {environment.name!r} is already defined in {first.where}"
                advice = "remove or rename one of the two"
                problem = Problem(message, environment.where, advice, "object-duplicate")
                findings.problems.append(problem)
    return environments, tuple(findings.problems)
