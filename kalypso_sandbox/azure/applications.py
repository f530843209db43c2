"""What clusters apply besides the platform's repository: the applications of its reconcilers.

A `reconciler.yaml` below a path that a configuration applies has GitRepositories and Kustomizations
of Flux. Those whose repository is one of the sandbox follow it, as fast as the configuration.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import yaml

from kalypso_sandbox.azure.clusters import Configuration, Failure
from kalypso_sandbox.azure.sync import Head, RepositoryHistory, SyncState, sync_state

RECONCILER: Final = "reconciler.yaml"

STOPPED_TOO: Final = frozenset({"stall", "disconnected"})
"""The behaviours of a configuration that stop the whole cluster."""


@dataclass(frozen=True, slots=True)
class AppliedApplication:
    """A Kustomization of an application on a cluster, and its state.

    `kustomization` is the one of the cluster's configuration that applies it, `source` the name of
    its GitRepository. Its own configuration has its name and namespace, the repository as its URL,
    and one path.
    """

    kustomization: str
    source: str
    configuration: Configuration
    now: SyncState


def declared(
    files: Mapping[str, bytes], paths: Mapping[str, str]
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield a Kustomization with its GitRepository, and the kustomization whose path holds it.

    `paths` are those of the configuration's kustomizations, by name.
    """
    for name, path in paths.items():
        folder = posixpath.normpath("/" + path).strip("/")
        documents = [
            document
            for file in sorted(files)
            if posixpath.basename(file) == RECONCILER
            and (not folder or file.startswith(f"{folder}/"))
            for document in _documents(files[file])
        ]
        sources = {
            _name(document): document for document in documents if _is(document, "GitRepository")
        }
        for document in documents:
            if _is(document, "Kustomization"):
                ref = document["spec"].get("sourceRef") or {}
                namespace, _ = _name(document)
                source = sources.get((ref.get("namespace", namespace), ref.get("name", "")))
                if source is not None and ref.get("kind") == "GitRepository":
                    yield name, document, source


def applications(
    configuration: Configuration,
    paths: Mapping[str, str],
    applied: str,
    repositories: RepositoryHistory,
    heads: Callable[[str, str], Sequence[Head]],
    now: datetime,
) -> Iterator[AppliedApplication]:
    """Yield the applications of the commit that a configuration has applied ("" for none)."""
    files = repositories.files(configuration.repository, applied) if applied else {}
    for name, kustomization, source in declared(files, paths):
        url = str(source["spec"].get("url", ""))
        if repositories.find(url) is None:
            continue
        namespace, own_name = _name(kustomization)
        is_failing = configuration.behaviour == "fail"
        is_named = is_failing and configuration.failure.kustomization == own_name
        stops = configuration.behaviour in STOPPED_TOO
        follows = configuration.model_copy(
            update={
                "name": own_name,
                "namespace": namespace,
                "repository": url,
                "branch": str((source["spec"].get("ref") or {}).get("branch", "master")),
                "paths": [str(kustomization["spec"].get("path") or "./")],
                "behaviour": configuration.behaviour if stops or is_named else "follow",
                "since": configuration.since if stops else None,
                "failure": configuration.failure.model_copy(update={"kustomization": ""}),
            }
        )
        is_broken = functools.partial(repositories.is_broken, url, follows.failure)
        state = sync_state(follows, heads(url, follows.branch), is_broken, now)
        path = posixpath.normpath("/" + follows.paths[0]).strip("/")
        is_ready = state.phase == "ready"
        if is_ready and not repositories.has_path(url, state.applied, path):
            missing = f"kustomization path not found: {follows.paths[0]}"
            failure = Failure(reason="ArtifactFailed", message=missing)
            follows = follows.model_copy(update={"failure": failure})
            state = replace(state, phase="failing")
        yield AppliedApplication(name, _name(source)[1], follows, state)


@functools.lru_cache(maxsize=4096)
def _documents(content: bytes) -> tuple[Mapping[str, Any], ...]:
    """Return the objects of a file; none of one that Flux could not read either."""
    try:
        documents = list(yaml.safe_load_all(content))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    return tuple(
        document
        for document in documents
        if isinstance(document, dict)
        and isinstance(document.get("spec"), dict)
        and isinstance(document.get("metadata"), dict)
    )


def _is(document: Mapping[str, Any], kind: str) -> bool:
    group = str(document.get("apiVersion", "")).partition("/")[0]
    return document.get("kind") == kind and group.endswith(".toolkit.fluxcd.io")


def _name(document: Mapping[str, Any]) -> tuple[str, str]:
    metadata = document["metadata"]
    return str(metadata.get("namespace", "default")), str(metadata.get("name", ""))
