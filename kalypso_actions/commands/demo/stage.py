"""The stage of the play: what happens on it is told, and held against what should happen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kalypso_actions.commands.demo.clock import Clock
from kalypso_actions.commands.demo.jobs import Done, Run, Workflows
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, ENVIRONMENTS, GITOPS
from kalypso_actions.commands.demo.people import People
from kalypso_actions.errors import KalypsoError
from kalypso_actions.report import chain_documents as documents
from kalypso_actions.report.documents import DemoStepEntry
from kalypso_actions.report.markdown import plain
from kalypso_actions.sandbox import Sandbox

PROGRESS: Final = re.compile(r"compliant \d")
"""How the lines begin by which check-promote tells how the clusters stand."""


class Stage:
    """Plays an act step by step: people do something, then the workflows that are due run.

    `told` gets each step. A step that ends otherwise than it should is the last.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        clock: Clock,
        workflows: Workflows,
        people: People,
        told: Callable[[DemoStepEntry], None],
    ) -> None:
        self.sandbox = sandbox
        self.people = people
        self.act = ""
        self._clock = clock
        self._workflows = workflows
        self._told = told
        self._due: list[Run] = []

    def begin(self, act: str) -> None:
        """The next act. Raises KalypsoError where the one before has not come to its end."""
        self._due += self._workflows.due()
        if self._due:
            names = ", ".join(f"{run.file} of {run.event.repository}" for run in self._due)
            raise KalypsoError(f"{self.act}: nothing should be left to run, but {names}")
        self.act = act

    def person(self, text: str, *, environment: str = "", links: Sequence[str] = ()) -> None:
        """Tell what people have done."""
        self._tell(who="people", text=text, environment=environment, links=tuple(links))

    def job(self, command: str, environment: str = "", *, ends: str) -> None:
        """Run what is due first: this command, for this environment, which should end so.

        Raises KalypsoError where it is another one, or ends otherwise.
        """
        wanted = " ".join(filter(None, (command, environment)))
        self._due += self._workflows.due()
        if not self._due:
            raise KalypsoError(f"{self.act}: {wanted} should run now, but nothing is due")
        done = self._workflows.run(self._due.pop(0))[-1]
        ending = ending_of(done)
        as_expected = (done.command, done.environment, ending) == (command, environment, ends)
        self._tell(
            who=done.command,
            environment=done.environment,
            text=headline(done),
            ending=ending,
            as_expected=as_expected,
            links=tuple(_links(done)),
            details=_details(done),
            folder=str(done.folder),
        )
        if not as_expected:
            was = " ".join(filter(None, (done.command, done.environment)))
            raise KalypsoError(
                f"{self.act}: {wanted} should have run and ended {ends!r}; {was} ended {ending!r}",
                advice=f"see {done.folder}",
            )

    def merges(self, environment: str) -> None:
        """People merge what is proposed to the GitOps branch of an environment."""
        pull, commit = self.people.merge(GITOPS, environment)
        text = f"review and merge {GITOPS}#{pull.number} to {environment}: {commit[:7]}"
        self.person(text, environment=environment, links=[pull.url])

    def statuses(self, commit: str, wanted: Mapping[str, tuple[str, str]]) -> None:
        """Tell a commit's statuses, and hold them against those that it should have.

        Of each environment: the state, and how the description begins. Raises KalypsoError.
        """
        with self.sandbox.lock:
            every = self.sandbox.repository(CONTROL_PLANE).statuses
            found: dict[str, tuple[str, str]] = {
                status.context.removesuffix(" environment"): (
                    status.state,
                    status.description or "",
                )
                for status in every
                if status.commit == commit
            }
        known = {str(name): found[name] for name in ENVIRONMENTS if name in found}
        as_expected = known.keys() == wanted.keys() and all(
            known[name][0] == state and known[name][1].startswith(text)
            for name, (state, text) in wanted.items()
        )
        told = "; ".join(f"{name}: {text} ({state})" for name, (state, text) in known.items())
        text = f"on {commit[:7]}: {told}"
        self._tell(who="status", environment="", text=text, as_expected=as_expected)
        if not as_expected:
            raise KalypsoError(f"{self.act}: the statuses should be {dict(wanted)}, but are {text}")

    def _tell(self, **step: object) -> None:
        fields = {"act": self.act, "at": f"{self._clock():%Y-%m-%dT%H:%M:%SZ}", **step}
        self._told(DemoStepEntry.model_validate(fields))


def ending_of(done: Done) -> str:
    """In a word, how a step has ended."""
    document = done.outcome.document if done.outcome else None
    match document:
        case None:
            ending = "started"
        case documents.CheckPromoteDocument() if document.verdict:
            ending = document.verdict
        case _ if done.exit_code:
            ending = "failed"
        case documents.CiDocument():
            ending = "promoted" if document.environments else "checked"
        case documents.CdDocument():
            ending = document.action
        case documents.ScheduleDocument():
            ending = document.pull_requests[0].action if document.pull_requests else "unchanged"
            ending += ", promoted" if document.promoted else ""
        case documents.NotifyDocument():
            ending = "promotion" if document.promoted else "configuration"
        case _:
            ending = "done"
    return ending


def headline(done: Done) -> str:
    """What a step says of itself: the first line of its summary."""
    if done.outcome is None:
        return f"starts the workflow of main for {done.environment}"
    first = done.outcome.summary.partition("\n")[0]
    return plain(first.removeprefix(f"## kalypso {done.command}").removeprefix(":"))


def _links(done: Done) -> list[str]:
    """The pull requests that it is about."""
    document = done.outcome.document if done.outcome else None
    if isinstance(document, documents.ScheduleDocument):
        return [pull.url for pull in document.pull_requests]
    return []


def _details(done: Done) -> tuple[str, ...]:
    """What has changed, how the clusters stood each time that it was another way, what is wrong."""
    lines = [line for line in done.said if PROGRESS.match(line)]
    document = done.outcome.document if done.outcome else None
    if isinstance(document, documents.ScheduleDocument):
        changes = document.changes
        counts = len(changes.added), len(changes.modified), len(changes.deleted)
        lines.append("{} files added, {} changed, {} deleted".format(*counts))
    if isinstance(document, documents.ChainDocument):
        lines += [problem.message for problem in document.problems]
    return tuple(dict.fromkeys(lines))
