"""Run the steps of an act, report them, and compare them with the expectations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kalypso_actions.commands.demo.job_results import details, ending, environment, headline, links
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, ENVIRONMENTS, GITOPS
from kalypso_actions.commands.demo.people import People
from kalypso_actions.errors import KalypsoError
from kalypso_actions.report.demo_document import DemoStepEntry
from kalypso_actions.report.schedule_document import ScheduleDocument
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runs import CompletedStep, Run, WorkflowRunner


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job's last step, in words; `folder` has its files."""

    command: str
    environment: str
    word: str
    text: str
    folder: Path
    links: Sequence[str] = ()
    details: Sequence[str] = ()


class ScenarioRunner:
    """Runs an act step by step: people do something, then the started workflows run.

    `report` gets each step. The first unexpected result ends the run.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        clock: Clock,
        workflows: WorkflowRunner,
        people: People,
        report: Callable[[DemoStepEntry], None],
    ) -> None:
        self.sandbox = sandbox
        self.people = people
        self.act = ""
        self._clock = clock
        self._workflows = workflows
        self._report = report
        self._due: list[Run] = []

    def end_act(self) -> None:
        """End the act. Raises KalypsoError if workflows are left to run."""
        self._due += self._workflows.pending_runs()
        if self._due:
            names = ", ".join(f"{run.file} of {run.event.repository}" for run in self._due)
            raise KalypsoError(f"{self.act}: unexpected workflows are left to run: {names}")

    def person(
        self, text: str, *, environment: str = "", change: str = "", links: Sequence[str] = ()
    ) -> None:
        """Report an action of people, and the change that it makes."""
        self._record(
            who="people",
            environment=environment,
            text=text,
            details=(change,) if change else (),
            links=tuple(links),
        )

    def job(self, command: str, environment: str = "", *, ends: str) -> None:
        """Run the next workflow, which should run this command for this environment.

        Raises KalypsoError for another command, environment or result.
        """
        wanted = " ".join(filter(None, (command, environment)))
        self._due += self._workflows.pending_runs()
        if not self._due:
            raise KalypsoError(f"{self.act}: {wanted} should run now, but no workflow started")
        result = self.run(self._due.pop(0))
        as_expected = (result.command, result.environment, result.word) == (
            command,
            environment,
            ends,
        )
        self._record(
            who=result.command,
            environment=result.environment,
            text=result.text,
            ending=result.word,
            as_expected=as_expected,
            links=tuple(result.links),
            details=tuple(result.details),
            folder=str(result.folder),
        )
        if not as_expected:
            was = " ".join(filter(None, (result.command, result.environment)))
            raise KalypsoError(
                f"{self.act}: {wanted} should have run and ended {ends!r}; "
                f"{was} ended {result.word!r}",
                advice=f"see {result.folder}",
            )

    def run(self, run: Run) -> JobResult:
        """Run a workflow in this process; a subclass may run it elsewhere."""
        done = self._workflows.run(run)[-1]
        self._keep_pull_requests(done)
        return JobResult(
            command=done.command,
            environment=environment(done),
            word=ending(done),
            text=headline(done),
            folder=done.folder,
            links=links(done),
            details=details(done),
        )

    def merge_proposal(self, environment: str) -> None:
        """Let people merge the pull request to the GitOps branch of an environment."""
        pull, commit = self.people.merge(GITOPS, environment)
        text = f"merge {GITOPS}#{pull.number} to {environment}: {commit[:7]}"
        self.person(text, environment=environment, links=[pull.url])

    def statuses(self, commit: str, wanted: Mapping[str, tuple[str, str]]) -> None:
        """Report a commit's statuses, and compare them with the expected ones.

        `wanted` maps environments to the expected state and beginning of the description. Raises
        KalypsoError.
        """
        with self.sandbox.lock:
            by_environment: dict[str, tuple[str, str]] = {
                status.context.removesuffix(" environment"): (
                    status.state,
                    status.description or "",
                )
                for status in self.sandbox.repository(CONTROL_PLANE).statuses
                if status.commit == commit
            }
        known = {str(name): by_environment[name] for name in ENVIRONMENTS if name in by_environment}
        as_expected = known.keys() == wanted.keys() and all(
            known[name][0] == state and known[name][1].startswith(text)
            for name, (state, text) in wanted.items()
        )
        lines = tuple(f"{name}: {text} ({state})" for name, (state, text) in known.items())
        text = f"of {commit[:7]}"
        self._record(who="status", text=text, details=lines, as_expected=as_expected)
        if not as_expected:
            should = ", ".join(
                f"{name}: {text} ({state})" for name, (state, text) in wanted.items()
            )
            raise KalypsoError(f"{self.act}: the statuses {text} should be {should}")

    def _keep_pull_requests(self, done: CompletedStep) -> None:
        """Write the pull requests of a step to its folder."""
        document = done.outcome.document
        if isinstance(document, ScheduleDocument):
            for pull in document.pull_requests:
                with self.sandbox.lock:
                    issue = self.sandbox.repository(pull.repository).issues[pull.number]
                page = f"# {issue.title}\n\n{issue.body}\n"
                file = done.folder / f"pull-request-{pull.number}.md"
                file.write_text(page, encoding="utf-8")

    def _record(self, **step: object) -> None:
        fields = {"act": self.act, "at": f"{self._clock():%Y-%m-%dT%H:%M:%SZ}", **step}
        self._report(DemoStepEntry.model_validate(fields))
