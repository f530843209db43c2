"""Drive the chain as people do, with pushes and merges, and check its state."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import PurePosixPath
from typing import Any, Final

from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_sandbox.workflow_runner.runs import WorkflowRunner
from tests.chain.clock import StoryClock
from tests.chain.workflow_runs import WorkflowRuns
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation

COMMIT: Final = re.compile(r"commit: ['\"]?([0-9a-f]{40})")


class Chain(WorkflowRuns):
    """Acme and its workflow runs, which wait until a story runs them.

    `acme` has everything else for a story: commits, pull requests, issues, statuses.
    """

    def __init__(
        self,
        acme: Organisation,
        workflows: WorkflowRunner,
        clock: StoryClock,
        gitops: Sequence[str] = (GITOPS,),
    ) -> None:
        super().__init__(workflows)
        self.acme = acme
        self.gitops = gitops
        self._clock = clock

    # Actions of people

    def merge_to_main(self, files: Mapping[str, str | None] | None = None, **release: str) -> str:
        """Push a commit to main: these files, or values of the configuration."""
        values = documents.config_map("base", **release) if release else None
        changes = dict(files or {}) | ({"release.yaml": values} if values else {})
        return self.acme.commit(changes)

    def configure(self, environment: str, **values: str) -> str:
        """Set the configuration on the branch of an environment."""
        text = documents.config_map("common", **values)
        return self.acme.commit({"config.yaml": text}, environment)

    def merge_pull_request(self, branch: str, repository: str = GITOPS) -> str:
        """Merge the only open pull request into a branch; return the merge commit."""
        return self.acme.merge(self.open_pull_request(branch, repository)["number"], repository)

    def close_pull_request(self, branch: str, repository: str = GITOPS) -> int:
        """Close the only open pull request into a branch; return its number."""
        number = int(self.open_pull_request(branch, repository)["number"])
        self.acme.close(number, repository)
        return number

    def close_as_bot(self, branch: str, repository: str = GITOPS) -> None:
        """Close the only open pull request into a branch, as a bot."""
        number = self.open_pull_request(branch, repository)["number"]
        bot = self.acme.sandbox.create_token("actions", repositories=[repository])
        self.acme.ask("PATCH", f"{repository}/issues/{number}", {"state": "closed"}, token=bot)

    def revert(self, branch: str, repository: str = GITOPS, *, back: int = 0) -> str:
        """Revert a commit of a branch: the newest, or an older one."""
        return self.acme.commit(self.undoing(branch, back, repository), branch, repository)

    def undoing(
        self, branch: str, back: int = 0, repository: str = GITOPS
    ) -> dict[str, str | bytes | None]:
        """Return the files that revert a commit; files that changed since stay as they are."""
        git = self.acme.sandbox.git(repository)
        with self.acme.sandbox.lock:
            commit = head = git.commit(branch)
            for _ in range(back):
                commit = git.commit(commit.parents[0]) if commit.parents else commit
            if not commit.parents:
                return {}
            before, after = git.files(commit.parents[0]), git.files(commit.id)
            now = git.files(head.id)
        return {
            path: before.get(path)
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path) == now.get(path)
        }

    def start(self, workflow: str, *, ref: str = "main", token: str = "", **inputs: str) -> None:
        """Start a workflow of a control plane's branch, as a person or with another token."""
        path = f"{CONTROL_PLANE}/actions/workflows/{workflow}.yaml/dispatches"
        self.acme.ask("POST", path, {"ref": ref, "inputs": inputs}, token=token)

    def break_cluster(self, environment: str, cluster_type: str, value: str) -> None:
        """Let a cluster fail with a configuration that has this value."""
        files = f"{cluster_type}/*/platform-config.yaml"
        failure = {"path": files, "text": value, "message": f"{value} is too much"}
        name = f"{environment}-{cluster_type}"
        self.acme.sandbox.azure.change(name, behaviour="fail", failure=failure)

    def slow_cluster(self, environment: str, cluster_type: str, seconds: float) -> None:
        """Let a cluster sync so many seconds after a merge."""
        self.acme.sandbox.azure.change(f"{environment}-{cluster_type}", delay=seconds)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._clock.sleep(seconds)

    def meanwhile(self, seconds: float, event: Callable[[], object]) -> None:
        """Let an event happen in so many seconds, while a job waits."""
        self._clock.arrange(seconds, event)

    def at_write(
        self, event: Callable[[], object], *, path: str = "*", skip: int = 0, after: bool = False
    ) -> Future[Any]:
        """Let an event happen during a run: see `Interruptions.add`.

        Read the result of the future afterwards, so that a failed event fails the story.
        """
        return self.acme.sandbox.interruptions.add(event, path=path, skip=skip, after=after)

    def each_time(self, event: Callable[[], object]) -> None:
        """Call a function whenever the time has moved."""
        self._clock.each_time = event

    def settle(self) -> None:
        """Merge all proposals to the GitOps repositories until the chain is at rest."""
        while self.run_everything() or self._merge_all():
            pass

    def _merge_all(self) -> bool:
        open_pulls = [
            (name, pull["number"]) for name in self.gitops for pull in self.acme.pulls(name)
        ]
        for name, number in open_pulls:
            self.acme.merge(number, name)
        return bool(open_pulls)

    # The present state

    def open_pull_request(self, branch: str, repository: str = GITOPS) -> Any:
        """Return the only pull request into a branch, as the API returns it."""
        (pull,) = self.pull_requests(branch, repository)
        return pull

    def pull_requests(
        self, branch: str, repository: str = GITOPS, state: str = "open"
    ) -> list[Any]:
        """Return the pull requests into a branch, oldest first."""
        pulls = self.acme.pulls(repository, state)
        return [pull for pull in pulls if pull["base"]["ref"] == branch]

    def has(self, environment: str) -> str:
        """Return the commit of main that an environment's branch names."""
        match = COMMIT.search(self.acme.files(environment)["base-repo.yaml"])
        return match[1] if match else ""

    def tracks(self, branch: str, repository: str = GITOPS) -> str:
        """Return the commit of main that a GitOps branch names; "" for none."""
        return self.acme.files(branch, repository).get(PROMOTED_COMMIT_FILE, "")

    def config(self, branch: str, repository: str = GITOPS) -> dict[str, dict[str, str]]:
        """Return the configuration of the target folders of a GitOps branch."""
        return {
            path.rpartition("/")[0]: dict(
                re.findall(r"^  (\w+): \"?([^\"\n]*)\"?$", text, re.MULTILINE)
            )
            for path, text in self.acme.files(branch, repository).items()
            if path.endswith("/platform-config.yaml")
        }

    def statuses(self, environment: str) -> dict[str, str]:
        """Return the latest status of main's commits for an environment, in order of the first ones."""
        context = f"{environment} environment"
        with self.acme.sandbox.lock:
            every = self.acme.sandbox.repository(CONTROL_PLANE).statuses
            return {
                status.commit: status.description or ""
                for status in every
                if status.context == context
            }

    def status(self, commit: str, environment: str) -> str:
        """Return the latest description of a commit's status for an environment; "" for none."""
        return self.acme.statuses(commit).get(f"{environment} environment", ("", ""))[1]

    # The expected state

    def expect(
        self,
        environment: str,
        commit: str,
        *,
        status: str = "Deployed",
        **values: str,
    ) -> None:
        """Assert that an environment is at rest with a commit: all files name it, nothing is open.

        The commit has this status, and each target folder has these values of configuration.
        """
        assert self.has(environment) == commit
        assert self.status(commit, environment) == status
        for repository in self.gitops:
            assert self.tracks(environment, repository) == commit
            assert self.pull_requests(environment, repository) == []
            configuration = self.config(environment, repository)
            assert configuration
            for folder, config in configuration.items():
                assert config.items() >= values.items(), folder
            assert self.acme.issues(repository) == []
        assert self.waiting == []
        assert self.waiting_for_approval == []
        assert self.to_be_lost == set()
        assert self._clock.is_empty

    def expect_everywhere(self, commit: str, **values: str) -> None:
        """Assert that all environments are at rest with a deployed commit: see `expect`."""
        paths = [PurePosixPath(path) for path in self.acme.files("main")]
        environments = [path.stem for path in paths if path.parent.name == ".environments"]
        assert environments
        for name in environments:
            self.expect(name, commit, **values)
