"""Complete values in a shell, from the clone that contains the current folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import typer

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import CurrentClone, LocalContext
from kalypso_actions.commands.shared.reading.document_reader import Reader
from kalypso_actions.commands.shared.reading.snapshot import read_registered
from kalypso_actions.errors import Diagnostics, KalypsoError
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.inputs.paths import Source
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import DeploymentTarget, Workload
from kalypso_actions.model.processes import no_progress

Names = Callable[[CurrentClone, Reader, typer.Context], Iterable[str]]


def complete_environment(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the environments of the control plane that begin with `incomplete`."""
    return _completed(ctx, incomplete, lambda clone, _reader, _ctx: clone.environments)


def complete_cluster_type(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the matching cluster types of the environment on the command line, else of all."""
    return _completed(ctx, incomplete, _cluster_types)


def complete_target(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the matching deployment targets, including those of applications on this machine."""
    return _completed(ctx, incomplete, _targets)


def _completed(ctx: typer.Context, incomplete: str, names: Names) -> list[str]:
    """Return the names that begin with `incomplete`.

    Return none after an error, because a shell would not show it.
    """
    context = LocalContext(Programs(os.environ), no_progress, folder=Path())
    try:
        with context.reader(_sources(ctx)) as reader:
            clone = context.clone(reader)
            known = sorted({*names(clone, reader, ctx)}) if clone else []
    except (KalypsoError, OSError, ValueError):
        return []
    return [name for name in known if name.startswith(incomplete)]


def _sources(ctx: typer.Context) -> list[Source]:
    return [Source.parse(text) for text in ctx.params.get("source") or ()]


def _cluster_types(clone: CurrentClone, reader: Reader, ctx: typer.Context) -> Iterator[str]:
    for document in _documents(clone, reader, _environments(clone, ctx)):
        if document.kind == "ClusterType":
            yield document.name


def _targets(clone: CurrentClone, reader: Reader, ctx: typer.Context) -> Iterator[str]:
    environments = _environments(clone, ctx)
    for document in _documents(clone, reader, environments):
        resource = parse_document(document, Diagnostics())
        match resource:
            case DeploymentTarget():
                targets: Iterable[DeploymentTarget] = (resource,)
            case Workload():
                targets = resource.targets
            case _:
                targets = ()
        yield from (target.name for target in targets if target.environment in environments)


def _environments(clone: CurrentClone, ctx: typer.Context) -> Collection[str]:
    """Return the environment that the command line names, else all."""
    params = (ctx.params.get(name) for name in ("environment", "environment_option"))
    # Click does not parse arguments before the option whose value the shell completes.
    environment = next((name for name in (*params, *ctx.args) if name in clone.environments), None)
    return (environment,) if environment else clone.environments


def _documents(
    clone: CurrentClone, reader: Reader, environments: Collection[str]
) -> Iterator[Document]:
    """Yield the documents of main, of the environments' branches, and of registered folders.

    Completion must not wait for a network, so it reads registered folders only if their
    repositories are on this machine.
    """
    wanted = {clone.main, *(clone.environments[name].control_plane.branch for name in environments)}
    sources, _ = clone.branches
    readings = [clone.read(source, reader) for source in sources if source.branch in wanted]
    registered = read_registered(readings, reader, allow_network=False)
    readings += (item.reading for item in registered.values() if item.reading)
    for reading in readings:
        yield from reading.documents
