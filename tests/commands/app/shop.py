"""The application `acme/web` in the sandbox: source, configs and GitOps repository.

acme/web          main with plain manifests, and the order dev, then dev-red and stage
acme/web-configs  the branches dev, dev-red and stage, each with the targets eu and us
acme/web-gitops   the same branches, empty
acme/gitops       the platform's, whose branches dev and stage can assign the targets to clusters
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kalypso_actions.commands.app.check import app_check
from kalypso_actions.commands.app.ci import app_ci
from kalypso_actions.commands.app.deploy import app_deploy
from kalypso_actions.commands.app.poll import app_poll
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.app import AppCheckInputs, AppCiInputs, AppDeployInputs, AppPollInputs
from kalypso_actions.model.own_account import JOBS
from kalypso_actions.report.application_document import AppDeployDocument, AppPollDocument
from tests.commands.chain.organisation import GITOPS as PLATFORM
from tests.commands.chain.organisation import Job, Organisation

SOURCE: Final = "acme/web"
CONFIGS: Final = "acme/web-configs"
GITOPS: Final = "acme/web-gitops"
ENVIRONMENTS: Final = ("dev", "dev-red", "stage")

ORDER: Final = """\
- name: dev
  next: [dev-red]
- name: dev-red
  next: [stage]
- name: stage
"""

RECONCILER: Final = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: web-{target}, namespace: flux-system}}
spec: {{url: "{url}", ref: {{branch: {branch}}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: web-{target}, namespace: flux-system}}
spec: {{path: "./{path}", sourceRef: {{kind: GitRepository, name: web-{target}}}}}
"""

MANIFEST: Final = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations: {environment: $ENVIRONMENT}
spec:
  containers:
    - name: web
      image: $IMAGE_NAME:$IMAGE_TAG
"""


def workflow(required: tuple[str, ...], optional: tuple[str, ...]) -> str:
    """Return a workflow file with these inputs."""
    lines = [f"      {name}: {{required: true, type: string}}" for name in required]
    lines += [f"      {name}: {{required: false, type: string}}" for name in optional]
    return "\n".join(
        ["name: x", "on:", "  workflow_dispatch:", "    inputs:", *lines, "jobs: {}", ""]
    )


WORKFLOWS: Final = {
    "preview.yml": (("environment", "pull_request"), ()),
    "deploy.yml": (("environment",), ("commit_id", "promotion", "image_tag", "version")),
    "post-deployment.yml": (
        ("environment", "commit_id"),
        ("promoted_commit_id", "promotion", "image_tag", "version", "started_at"),
    ),
}


@dataclass
class Application:
    """The application, and what people and workflows do with it."""

    acme: Organisation
    problems: Sequence[str] = ()
    """The problems of the last poll."""

    @classmethod
    def found(cls, acme: Organisation) -> Application:
        """Create the repositories."""
        files = {
            f".github/workflows/{name}": workflow(*inputs) for name, inputs in WORKFLOWS.items()
        }
        acme.sandbox.create_repository(
            SOURCE,
            {
                "manifests/web.yaml": MANIFEST,
                ".github/kalypso/environments.yaml": ORDER,
                **files,
            },
        )
        for repository in (CONFIGS, GITOPS):
            acme.sandbox.create_repository(repository, {"README.md": "An application.\n"})
        for name in ENVIRONMENTS:
            acme.commit({f"{target}/values.yaml": "" for target in ("eu", "us")}, name, CONFIGS)
            acme.commit({"README.md": "What clusters follow.\n"}, name, GITOPS)
        return cls(acme)

    def run(
        self,
        command: Callable[[Any, CommandContext], CommandResult],
        model: type[Any],
        *,
        actor: str = "somebody",
        event: str = "workflow_dispatch",
        repository: str = SOURCE,
        ref: str = "refs/heads/main",
        payload: Mapping[str, Any] | None = None,
        **given: Any,
    ) -> CommandResult:
        """Run a command as in a job of the source."""
        job = Job(
            repository=repository, actor=actor, event=event, ref=ref, payload=dict(payload or {})
        )
        return self.acme.run(command, model, job=job, **given)

    def push(self, files: Mapping[str, str | None] | None = None) -> str:
        """Push a commit to the source's main."""
        number = len(self.acme.sandbox.git(SOURCE).files("main"))
        return self.acme.commit(files or {f"src/{number}.txt": "x"}, "main", SOURCE)

    def release(self, commit: str, version: str = "1", **given: str) -> CommandResult:
        """Run app-ci after a build."""
        inputs: dict[str, Any] = {
            "version": version,
            "image_tag": f"{version}@sha256:{'a' * 8}",
            **given,
        }
        return self.run(app_ci, AppCiInputs, event="push", commit=commit, **inputs)

    def released(self, version: str) -> str:
        """Push a commit, and release it; return the commit."""
        commit = self.push({"src/version.txt": version})
        self.release(commit, version)
        return commit

    def deploy(self, environment: str = "dev", **given: str) -> CommandResult:
        """Run app-deploy as a workflow starts it, or with `actor` as a person does."""
        inputs: dict[str, Any] = {
            "configs_repository": CONFIGS,
            "gitops_repository": GITOPS,
            "actor": JOBS,
            **given,
        }
        return self.run(app_deploy, AppDeployInputs, environment=environment, **inputs)

    def deployment(self, environment: str = "dev", **given: str) -> AppDeployDocument:
        """Run app-deploy; return its document."""
        document = self.deploy(environment, **given).document
        assert isinstance(document, AppDeployDocument)
        return document

    def poll(self, **given: Any) -> list[tuple[str, str, str]]:
        """Run app-poll as the clock starts it; return workflow, environment and reason of starts."""
        places: dict[str, Any] = {"configs_repository": CONFIGS, "gitops_repository": GITOPS}
        result = self.run(app_poll, AppPollInputs, event="schedule", actor=JOBS, **places, **given)
        assert isinstance(result.document, AppPollDocument)
        self.problems = [entry.message for entry in result.document.problems]
        return [(each.workflow, each.environment, each.reason) for each in result.document.started]

    def end_runs(self) -> None:
        """Forget the runs of the source, as if all had ended."""
        with self.acme.sandbox.lock:
            self.acme.sandbox.repository(SOURCE).runs.clear()

    def wait(self, minutes: int = 11) -> None:
        """Let time pass."""
        self.acme.clock.sleep(minutes * 60)

    def check(self, environment: str = "dev", **given: str) -> CommandResult:
        """Run app-check as a workflow starts it; the platform's branch of the same name counts."""
        inputs: dict[str, Any] = {
            "configs_repository": CONFIGS,
            "gitops_repository": GITOPS,
            "platform_gitops": f"{PLATFORM}@{environment}",
            "actor": JOBS,
            **given,
        }
        return self.run(app_check, AppCheckInputs, environment=environment, **inputs)

    def assign(
        self,
        cluster_type: str,
        target: str,
        environment: str = "dev",
        text: str = RECONCILER,
        branch: str = "",
    ) -> str:
        """Let the platform assign a target to a cluster type; return its commit."""
        words = {
            "target": target.replace("/", "-"),
            "path": target,
            "url": self.acme.url(GITOPS),
            "branch": branch or environment,
        }
        path = f"{cluster_type}/web-{words['target']}/reconciler.yaml"
        return self.acme.commit({path: text.format(**words)}, environment, PLATFORM)

    def deployed(self, version: str, environment: str = "dev") -> str:
        """Release a commit, and bring it to an environment; return the commit."""
        commit = self.released(version)
        self.deploy(environment)
        self.merge_open(environment)
        self.check(environment)
        return commit

    def merge_open(self, environment: str = "dev") -> str:
        """Merge the only open pull request of an environment; return the merge."""
        (pull,) = self.pulls(environment)
        return self.acme.merge(pull["number"], GITOPS)

    def pulls(self, environment: str = "dev") -> list[Any]:
        """Return the open pull requests into an environment's branch."""
        return [each for each in self.acme.pulls(GITOPS) if each["base"]["ref"] == environment]

    def statuses(self, commit: str, repository: str = SOURCE) -> dict[str, tuple[str, str]]:
        """Return state and description of the latest statuses of a commit, by context."""
        with self.acme.sandbox.lock:
            every = self.acme.sandbox.repository(repository).statuses
            return {
                status.context: (status.state, status.description or "")
                for status in every
                if status.commit == commit
            }

    def tracking(self, branch: str, name: str) -> str:
        """Return the content of a tracking file of the GitOps repository."""
        return self.acme.files(branch, GITOPS)[f".github/tracking/{name}"].strip()
