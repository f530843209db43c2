"""The pipeline on GitHub, for a report of repositories that are read by git."""

from __future__ import annotations

from pathlib import Path

from kalypso_actions.clients.git import GitRepository, enclosing_clone, is_path, is_repository
from kalypso_actions.clients.github import GitHubServer
from kalypso_actions.commands.shared.context import Runtime, open_context
from kalypso_actions.commands.status import status
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import StatusInputs
from kalypso_actions.inputs.reading import checked_inputs, collect_inputs, secrets_of
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.status_document import StatusDocument


def read_pipeline(control_plane: str | None, runtime: Runtime) -> StatusDocument:
    """Return the document of `kalypso status` for a control plane, by default the clone at hand.

    `control_plane` is a URL or path. An error becomes a problem of the document.
    """
    name = ""
    try:
        name = _github_name(control_plane, runtime)
        given = collect_inputs(StatusInputs, {"control-plane": name}, runtime.environment)
        inputs = checked_inputs(StatusInputs, given)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        with open_context(inputs, runtime) as context:
            return status(inputs, context)
    except KalypsoError as error:
        return StatusDocument(control_plane=name, problems=ProblemEntry.all_of(error.problems))


def _github_name(control_plane: str | None, runtime: Runtime) -> str:
    """Return `owner/name` of a control plane on the GitHub of the environment's variables.

    Raises UsageError for another server.
    """
    urls: tuple[str, ...] = (control_plane or "",)
    if control_plane is None or is_path(control_plane):
        path = enclosing_clone(Path()) if control_plane is None else Path(control_plane)
        is_clone = path is not None and is_repository(path)
        urls = GitRepository(path, runtime.programs).remotes() if path and is_clone else ()
    server = GitHubServer.of_environment(runtime.environment)
    name = server.name_of(urls)
    if not name:
        raise UsageError(f"the control plane is not a repository on {server.server_url}")
    return name
