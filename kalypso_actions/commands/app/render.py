"""`kalypso app render`: compute the GitOps tree of an application for one environment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.app.compute import AppRepositories, compute_tree
from kalypso_actions.commands.app.places import open_place, open_tree
from kalypso_actions.commands.app.publish import commit_tree, output_folder, resulting_tree
from kalypso_actions.commands.runtime.local_context import PROTOCOLS, LocalContext
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.report.app_documents import AppRenderDocument
from kalypso_actions.report.app_render_report import app_render_document


def app_render(
    inputs: AppRenderInputs, context: LocalContext, now: Callable[[], datetime]
) -> AppRenderDocument:
    """Read, generate, compare, and write the tree unless there are problems.

    Raises KalypsoError for unreadable repositories and absent programs, UsageError for an `--out`
    with other content.
    """
    out = output_folder(inputs.out)
    with RemoteRepositories(
        context.programs,
        protocols=PROTOCOLS,
        credentials=context.credentials,
        trust_user_config=True,
    ) as remotes:
        repositories = _open(inputs, context, remotes)
        tree = compute_tree(inputs, context, repositories)
        has_problems = bool(tree.findings.problems)
        commit = ""
        if out and not has_problems:
            out.write(resulting_tree(tree.changes, repositories.tree))
        if inputs.commit_to and not has_problems:
            version = tree.variables.get("VERSION", "")
            commit = commit_tree(inputs.commit_to, tree.changes, remotes, version, now())
    return app_render_document(
        environment=inputs.environment,
        compatibility=inputs.compatibility,
        generator=tree.generator,
        programs=tree.generated.programs,
        sources=repositories.revisions(),
        variables=tree.variables,
        targets=tree.targets,
        images=tree.images,
        changes=None if has_problems else tree.changes,
        commit=commit,
        findings=tree.findings,
    )


def _open(
    inputs: AppRenderInputs, context: LocalContext, remotes: RemoteRepositories
) -> AppRepositories:
    """Open the repositories; the branch of `--commit-to`, if it exists, is the existing tree."""
    source = open_place(inputs.source, "source", remotes, context.programs)
    configs = open_place(
        inputs.configs, "configs", remotes, context.programs, default=inputs.environment
    )
    existing = inputs.gitops
    if existing is None and inputs.commit_to and inputs.commit_to.path.is_dir():
        url, branch = str(inputs.commit_to.path), inputs.commit_to.branch
        if remotes.fetch_head(url, branch):
            existing = inputs.commit_to
    tree = open_tree(existing, inputs.environment, context.programs)
    return AppRepositories(source, configs, tree)
