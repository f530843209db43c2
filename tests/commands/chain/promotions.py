"""Merge into GitOps branches, and run check-promote for the merges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from kalypso_actions.commands.check_promote import check_promote
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.gitops.provenance import SourcesFile, sources_file
from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, README_TEXT, SOURCES_FILE
from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from tests.commands.chain import documents
from tests.commands.chain.organisation import CLUSTER_TYPES, GITOPS, Organisation


def sign_in(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the identity in the process's environment, where Azure's library reads it."""
    for name, value in acme.sandbox.azure.environment(acme.sandbox.url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    monkeypatch.delenv("AZURE_CLIENT_ID", raising=False)


def tree(
    commit: str | None,
    cluster_types: Sequence[str] = CLUSTER_TYPES,
    *,
    config: str = "1",
    folder: str = "",
    environment: str = "",
    registrations: Mapping[str, Revision] | None = None,
    base_repos: Mapping[str, Revision] | None = None,
) -> dict[str, str | bytes | None]:
    """Return a GitOps tree with `shop-web` on each cluster type.

    With an `environment`, it has a `sources.json`.
    """
    files: dict[str, str | bytes | None] = {}
    for name in cluster_types:
        files[f"{name}/README.md"] = README_TEXT
        files[f"{name}/shop-web/reconciler.yaml"] = "kind: GitRepository\n"
        files[f"{name}/shop-web/platform-config.yaml"] = f"config: {config}\n"
    if commit is not None:
        files[PROMOTED_COMMIT_FILE] = commit
    if environment:
        files[SOURCES_FILE] = sources(environment, registrations or {}, base_repos or {})
    return {f"{folder}/{path}" if folder else path: text for path, text in files.items()}


def sources(
    environment: str,
    registrations: Mapping[str, Revision],
    base_repos: Mapping[str, Revision],
) -> bytes:
    own = Revision(repository="", branch=environment, path=".", commit=None, tree=None)
    return sources_file(
        SourcesFile(
            version="0",
            environment=environment,
            options={},
            environment_branch=own,
            base_repos=base_repos,
            registrations=registrations,
            targets={},
            workloads={},
        )
    )


def merge(
    acme: Organisation,
    commit: str | None,
    branch: str = "dev",
    repository: str = GITOPS,
    **more: Any,
) -> str:
    """Merge a promotion (without a commit: a configuration change); return the GitOps commit.

    The environment with the branch's name, if it exists, gets the commit first. The merge takes a
    second, so that it is later than earlier reports of clusters.
    """
    acme.clock.sleep(1)
    if commit is not None and acme.head(branch):
        name_in_base(acme, commit, branch)
    return acme.commit(tree(commit, **more), branch, repository)


def name_in_base(acme: Organisation, commit: str, environment: str = "dev") -> None:
    """Let the environment's base-repo.yaml name a commit of main."""
    text = documents.base_repo(acme.url(), commit)
    if acme.files(environment).get("base-repo.yaml") != text:
        acme.commit({"base-repo.yaml": text}, environment)


def main_commit(acme: Organisation, text: str = "a change") -> str:
    return acme.commit({"notes.txt": text})


def check(
    acme: Organisation,
    gitops_commit: str,
    promoted_commit: str | None = None,
    *,
    reports: ClusterReports | None = None,
    **inputs: Any,
) -> CommandResult:
    """Run check-promote for dev with short times, and the sandbox's Azure unless given reports."""
    given = {
        "environment": "dev",
        "gitops_commit": gitops_commit,
        **({"promoted_commit": promoted_commit} if promoted_commit else {}),
        "timeout": "10m",
        "poll_interval": "1m",
        "grace_period": "1m",
        **inputs,
    }
    return acme.run(partial(check_promote, reports=reports), CheckPromoteInputs, **given)


def document(result: CommandResult) -> CheckPromoteDocument:
    assert isinstance(result.document, CheckPromoteDocument)
    return result.document


def verdict(result: CommandResult) -> str:
    return document(result).verdict
