"""The record that a run writes of what it saw anyway, after all its other writes.

recorder = Recorder.of(inputs, context)
watch = Watch(..., seen=recorder.saw)
recorded = recorder.write("dev")

Its failure is a warning: it never changes a verdict or an exit code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kalypso_actions.clients.webhook import send
from kalypso_actions.commands.shared.context import CommandContext, Place, SeenClusters
from kalypso_actions.commands.shared.looks.look import Look, record_looks
from kalypso_actions.commands.shared.looks.promotions import read_promotions
from kalypso_actions.commands.shared.looks.read import (
    BranchAnswer,
    EnvironmentTargets,
    FormerUrls,
    Reported,
    former_urls,
    read_environments,
    reported_of,
)
from kalypso_actions.commands.shared.record import RecordBranch, read_record, record_branch
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import EventInputs, RecordInputs
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.urls import repository_key
from kalypso_actions.observations.events import Event, Thresholds, bounded
from kalypso_actions.report.chain_document import EventEntry
from kalypso_actions.report.escaping import escape_log_line

OBJECTS: Final = frozenset({"Kustomization", "GitRepository"})
"""The kinds of objects that a record needs; a report may have hundreds of others."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a run has recorded: the events, and what went wrong as warnings."""

    events: tuple[EventEntry, ...] = ()
    more_events: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


class Recorder:
    """Keeps what a run sees, and writes it at the end; without the input `record`, nothing.

    Runs that share `Runtime.looks` keep their looks there, for the run that has the input.
    """

    def __init__(self, inputs: RecordInputs, context: CommandContext) -> None:
        shared = context.runtime.looks
        self._inputs = inputs
        self._context = context
        self._keeps = bool(inputs.record) or shared is not None
        self._looks: list[SeenClusters] = [] if shared is None else shared
        self._known: dict[tuple[Place, str, str], ClusterReport] = {}

    def saw(self, reports: Mapping[GitOpsBranch, Sequence[ClusterReport]]) -> None:
        """Keep a look at clusters if it differs from the one before."""
        if not self._keeps:
            return
        at = self._context.runtime.now()
        known: dict[tuple[Place, str, str], ClusterReport] = {}
        look: dict[Place, Sequence[ClusterReport]] = {}
        for branch, of_branch in reports.items():
            place = repository_key(branch.url), branch.branch, branch.folder
            look[place] = tuple(self._kept(place, report, known) for report in of_branch)
        is_same = known.keys() == self._known.keys() and all(
            report is self._known[key] for key, report in known.items()
        )
        self._known = known
        if not (is_same and self._looks):
            self._looks.append((at, look))

    def _kept(
        self,
        place: Place,
        report: ClusterReport,
        known: dict[tuple[Place, str, str], ClusterReport],
    ) -> ClusterReport:
        """Return a report without what the record does not need, the same object while it is equal.

        A later time of the report alone is no news.
        """
        objects = tuple(each for each in report.objects if each.kind in OBJECTS)
        kept = replace(report, objects=objects)
        key = place, report.cluster.lower(), report.configuration
        before = self._known.get(key)
        if before and replace(kept, reported_at=before.reported_at) == before:
            kept = before
        known[key] = kept
        return kept

    def write(self, environments: Sequence[str], message: str) -> Recorded:
        """Write the looks, one commit for each with changes, and the states of main's commits."""
        if not self._inputs.record:
            return Recorded()
        try:
            return self._write(environments, message)
        except KalypsoError as error:
            return Recorded(
                warnings=tuple(
                    replace(
                        problem,
                        message=f"nothing is recorded: {problem.message}",
                        level="warning",
                    )
                    for problem in error.problems
                )
            )

    def _write(self, environments: Sequence[str], message: str) -> Recorded:
        context = self._context
        branch = record_branch(
            context,
            self._inputs.record,
            create=True,
            may_be_public=self._inputs.record_public,
            commit_by="auto",
        )
        context.remotes.forget_heads()
        looks, warnings = self._read(environments, branch)
        compared, _ = record_looks(branch, looks, context, thresholds_of(self._inputs), message)
        events, more = event_entries(compared.events)
        told = tell(events, more, self._inputs, context)
        found = dict.fromkeys((*warnings, *compared.warnings, *told))
        return Recorded(events, more, tuple(replace(each, level="warning") for each in found))

    def _read(
        self, environments: Sequence[str], branch: RecordBranch
    ) -> tuple[list[Look], list[Problem]]:
        """Return the looks, the last one with the states of main's commits."""
        context = self._context
        _, record = read_record(branch)
        read: list[EnvironmentTargets] = []
        if self._looks:
            url = context.url(context.control_plane)
            read = read_environments(context.reader, url, environments)
        former = former_urls(context, record, read)
        now = context.runtime.now()
        looks = [
            Look(
                at,
                read,
                [each for environment in read for each in _reported(environment, seen, former)],
                branches_at=now,
                is_whole=False,
                former=former,
            )
            for at, seen in self._looks
        ]
        repos = {each.name: each.gitops_repos for each in read}
        promotions = read_promotions(context, environments, record, repos)
        last = looks.pop() if looks else Look(now, is_whole=False)
        problems = [problem for each in read for problem in each.problems]
        return [*looks, replace(last, promotions=promotions)], [
            *problems,
            *promotions.warnings,
        ]


def _reported(
    environment: EnvironmentTargets,
    seen: Mapping[Place, Sequence[ClusterReport]],
    former: FormerUrls,
) -> Iterator[Reported]:
    """Yield what a look has seen of an environment; a run asks for no application's branch."""

    def ask(followed: FollowedTree) -> BranchAnswer | None:
        place = repository_key(followed.repository_url), followed.branch, followed.folder
        return BranchAnswer(tuple(seen[place])) if place in seen else None

    return reported_of(environment, ask, former)


def thresholds_of(inputs: EventInputs) -> Thresholds:
    """Return how long a cluster may be behind, and a commit may wait."""
    return Thresholds(inputs.behind_after, inputs.wait_after)


def tell(
    events: Sequence[EventEntry],
    more: Mapping[str, int],
    inputs: EventInputs,
    context: CommandContext,
) -> tuple[Problem, ...]:
    """Send events to the webhook, if there is one; return why that failed, as a warning."""
    url = inputs.webhook.get_secret_value().strip()
    if not (url and events):
        return ()
    lines = [*map(_line, events), *(f"… and {number} more {kind}" for kind, number in more.items())]
    message = {
        "schema": "kalypso.events/v1",
        "controlPlane": context.control_plane,
        "text": _harmless("\n".join(lines)),
        "events": [each.model_dump(by_alias=True, mode="json") for each in events],
        "moreEvents": dict(more),
    }
    try:
        send(url, message, context.runtime.environment)
    except KalypsoError as error:
        return tuple(
            replace(each, message=f"the events are not sent: {each.message}", level="warning")
            for each in error.problems
        )
    return ()


def _line(event: EventEntry) -> str:
    what = " ".join(filter(None, (event.cluster_name, event.target, event.commit[:7])))
    reason = f": {event.reason}" if event.reason else ""
    link = f" {event.link}" if event.link else ""
    return f"{event.environment}: {event.kind} {escape_log_line(what + reason)}{link}"


def _harmless(text: str) -> str:
    """Return a text in which no chat finds a mention, a link of its own form or markup."""
    for character, escape in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "@\u200b")):
        text = text.replace(character, escape)
    return text


def event_entries(
    events: Sequence[Event],
) -> tuple[tuple[EventEntry, ...], Mapping[str, int]]:
    """Return the entries of the worst events, and the numbers of the others by kind."""
    shown, more = bounded(events)
    return EventEntry.all_of(shown), more
