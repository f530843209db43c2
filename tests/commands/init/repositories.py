"""Two repositories in a sandbox, and `kalypso init` on them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.init import Decide, init
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.inputs.local import DEFAULT_ACTION, InitInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.init_document import InitDocument, OnboardingDocument
from kalypso_actions.runner import Runner
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.clock import Clock
from tests.chain.quick_reads import quick_reads
from tests.commands.chain.organisation import NOON
from tests.git_repositories import programs
from tools.reference.schemas import schema_of

CONTROL_PLANE: Final = "acme/control-plane"
GITOPS: Final = "acme/gitops"
WORKFLOWS: Final = ".github/workflows"


def runtime(
    environment: Mapping[str, str],
    now: Callable[[], datetime],
    sleep: Callable[[float], None] = lambda _: None,
) -> Runtime:
    """Return a machine with these variables and this clock."""
    return Runtime(
        environment=environment,
        programs=Programs(environment),
        runner=Runner(environment, StringIO()),
        progress=no_progress,
        log=lambda _: None,
        now=now,
        sleep=sleep,
    )


class Acme:
    """The two repositories of acme, and init on them."""

    def __init__(self, sandbox: Sandbox, clock: Clock, folder: Path) -> None:
        self.sandbox = sandbox
        self.clock = clock
        self.folder = folder
        self.token = sandbox.create_token(owner="acme")
        self.variables: dict[str, str] = {}
        """Additional variables of the environment."""

    def runtime(self) -> Runtime:
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            **self.sandbox.environment(),
            **self.variables,
        }
        return runtime(variables, self.clock, self.clock.sleep)

    def init(self, decide: Decide[InitDocument] | None = None, **given: Any) -> InitDocument:
        """Run init with `--yes`, or with `decide` as the answers of a person."""
        options = {
            "control_plane": CONTROL_PLANE,
            "gitops": GITOPS,
            "token": self.token,
            "yes": True,
            "action": DEFAULT_ACTION,
            **given,
        }
        inputs = InitInputs.model_validate(options)
        agreed = Consent(inputs.update_workflows, inputs.delete_upstream_workflows)
        document = init(inputs, self.runtime(), decide or (lambda _: agreed))
        Draft202012Validator(schema_of(InitDocument)).validate(json.loads(document.to_json()))
        return document

    def create(
        self,
        control_plane: Mapping[str, str | bytes | None] | None = None,
        gitops: Mapping[str, str | bytes | None] | None = None,
        default_branch: str = "main",
    ) -> None:
        """Create the repositories with these files on the default branch."""
        for name, files in ((CONTROL_PLANE, control_plane), (GITOPS, gitops)):
            self.sandbox.create_repository(name, files, default_branch=default_branch)

    def branches(self, repository: str = CONTROL_PLANE) -> dict[str, str]:
        """Return the heads of all branches."""
        with self.sandbox.lock:
            refs = self.sandbox.git(repository).refs()
        return {
            ref.removeprefix("refs/heads/"): head
            for ref, head in refs.items()
            if ref.startswith("refs/heads/")
        }

    def files(self, branch: str, repository: str = CONTROL_PLANE) -> dict[str, str]:
        git = self.sandbox.git(repository)
        head = git.head(branch)
        assert head, f"{repository} has no branch {branch}"
        return {path: content.decode() for path, content in git.files(head).items()}

    def state(self) -> dict[str, dict[str, str]]:
        """Return the heads of all branches of both repositories."""
        return {name: self.branches(name) for name in (CONTROL_PLANE, GITOPS)}

    @property
    def url(self) -> str:
        return self.sandbox.url


@contextmanager
def acme_in(folder: Path, **options: Any) -> Iterator[Acme]:
    """Yield an empty sandbox."""
    clock = Clock(NOON)
    with (
        Sandbox(folder / "sandbox", programs(), now=clock, **options) as sandbox,
        quick_reads(sandbox),
    ):
        yield Acme(sandbox, clock, folder)


def outline(document: OnboardingDocument) -> dict[str, list[str]]:
    """Return the changed branches, with action and path of each file."""
    return {
        f"{branch.repository}@{branch.branch}": [
            f"{file.action} {file.path}" for file in branch.files
        ]
        for branch in document.branches
        if branch.files
    }
