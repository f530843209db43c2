"""`kalypso app render`: compute the GitOps tree of an application for one environment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.app.compute import AppRepositories, compute_tree
from kalypso_actions.commands.app.places import open_place, open_tree
from kalypso_actions.commands.app.publish import commit_tree, output_folder, resulting_tree
from kalypso_actions.commands.shared.local_commits import LocalBranch
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.inputs.paths import PlaceAtRevision
from kalypso_actions.report.documents import ProblemEntry, SourceEntry
from kalypso_actions.report.render_document import (
    AppChangesEntry,
    AppRenderDocument,
    AppTargetEntry,
)


def app_render(
    inputs: AppRenderInputs, context: LocalContext, now: Callable[[], datetime]
) -> AppRenderDocument:
    """Read, generate, compare, and write the tree unless there are problems.

    Raises KalypsoError for unreadable repositories and absent programs, UsageError for an `--out`
    with other content.
    """
    out = output_folder(inputs.out)
    branch = LocalBranch.open(inputs.commit_to, context.programs) if inputs.commit_to else None
    with context.remotes() as remotes:
        repositories = _open(inputs, context, remotes, branch)
        tree = compute_tree(inputs, context, repositories)
        has_problems = bool(tree.findings.problems)
        commit = ""
        if out and not has_problems:
            out.write(resulting_tree(tree.changes, repositories.tree))
        if branch and not has_problems:
            version = tree.variables.get("VERSION", "")
            commit = commit_tree(branch, tree.changes, repositories.tree, version, now())
    files = [] if has_problems else sorted(tree.changes.files)
    return AppRenderDocument(
        environment=inputs.environment,
        compatibility=inputs.compatibility,
        generator=tree.generator,
        programs=dict(tree.generated.programs),
        sources=SourceEntry.all_of(repositories.revisions()),
        variables=dict(tree.variables),
        targets=tuple(
            AppTargetEntry(
                folder=target.folder,
                values=tuple(target.levels),
                files=tuple(path for path in files if path.startswith(f"{target.folder}/")),
                images=tree.images.get(target.folder, ()),
            )
            for target in tree.targets
        ),
        compared=not has_problems,
        changes=AppChangesEntry() if has_problems else AppChangesEntry.model_validate(tree.changes),
        commit=commit,
        notes=ProblemEntry.all_of(tree.findings.notes),
        warnings=ProblemEntry.all_of(tree.findings.warnings),
        problems=ProblemEntry.all_of(tree.findings.problems),
    )


def _open(
    inputs: AppRenderInputs,
    context: LocalContext,
    remotes: RemoteRepositories,
    branch: LocalBranch | None,
) -> AppRepositories:
    """Open the repositories."""
    existing = inputs.gitops
    if inputs.commit_to and branch and branch.head and existing is None:
        existing = PlaceAtRevision(place=str(inputs.commit_to.path), revision=branch.head)
    source = open_place(inputs.source, "source", remotes, context.programs)
    configs = open_place(
        inputs.configs, "configs", remotes, context.programs, default=inputs.environment
    )
    tree = open_tree(existing, inputs.environment, remotes, context.programs)
    if branch and tree and (not tree.files.commit or branch.head not in {"", tree.files.commit}):
        raise UsageError(
            f"--gitops is not the head of the branch {branch.name!r} of --commit-to",
            advice="leave --gitops out, or name a new branch",
        )
    return AppRepositories(source, configs, tree)
