"""The files that a GitOps tree must contain, rendered again from the sources that it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kalypso_actions.clients.git.local import GitRepository
from kalypso_actions.commands.shared.reading.control_plane import (
    EnvironmentReading,
    read_control_plane,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader, read_documents
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.processes import no_progress
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.scheduling.registry import find_scheduler
from kalypso_actions.sources.limits import Limits
from kalypso_sandbox import Sandbox
from tests.git_repositories import programs


@dataclass(frozen=True)
class _Recorded(Reader):
    """Reads repositories of the sandbox from its folder, branches at the commits given."""

    sandbox: Sandbox
    heads: Mapping[tuple[str, str], str]

    def documents(
        self, source: RepositoryPath, commit: str | None = None, limits: Limits | None = None
    ) -> Reading:
        name = source.repo.removeprefix(f"{self.sandbox.url}/")
        git = GitRepository(self.sandbox.git(name).git_dir, programs(), repository=source.repo)
        files = git.at_commit(commit or self.heads[name, source.branch])
        return read_documents(
            files,
            repository=source.repo,
            branch=source.branch,
            path=source.path,
            kustomize=None,
            limits=limits,
        )


class _NoHistory:
    """Opens nothing, and has no history: the checks of commits on main are not these stories'."""

    def has_history(self, *_: object) -> bool:
        return False


def rendered(sandbox: Sandbox, recorded: bytes) -> dict[str, bytes]:
    """Return all our files of a tree with this `sources.json`, without `sources.json` itself."""
    sources = json.loads(recorded)
    places: list[Any] = [sources["environmentBranch"], *sources["registrations"].values()]
    heads = {
        (place["repository"].removeprefix(f"{sandbox.url}/"), place["branch"]): place["commit"]
        for place in places
    }
    # `documents` reads everything.
    reader = _Recorded(_NoHistory(), None, sandbox, heads)  # type: ignore[arg-type]
    branch = sources["environmentBranch"]
    place = RepositoryPath(branch["repository"], branch["branch"], branch["path"])
    environment = EnvironmentReading(sources["environment"], reader.documents(place))
    snapshot = read_snapshot(read_control_plane(environment, reader), reader)
    plan = make_plan(snapshot, PlanOptions(), find_scheduler(), no_progress)
    assert not plan.problems, plan.problems
    changes = plan.changes
    return {path: changes.content(path) for path in changes.files if path != SOURCES_FILE}
