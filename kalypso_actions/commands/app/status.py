"""`kalypso app status`: what each environment of an application has, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.commands.app.environment import (
    ApplicationMoment,
    ApplicationPlaces,
    environment_names,
    read_moment,
)
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.app import AppStatusInputs
from kalypso_actions.promotion.application import ApplicationState, deploy_digest, state_of
from kalypso_actions.report.app_status_document import (
    AppEnvironmentEntry,
    AppStatusDocument,
    AppWaitEntry,
)
from kalypso_actions.report.documents import ProblemEntry


def app_status(inputs: AppStatusInputs, context: CommandContext) -> AppStatusDocument:
    """Read the environments of an application; one that cannot be read is a problem.

    Raises KalypsoError if the source cannot be read.
    """
    places = ApplicationPlaces.of(inputs, context)
    entries, problems = [], list[Problem]()
    for name in environment_names(inputs.environments, places, context):
        try:
            entries.append(_entry(read_moment(places, name, context)))
        except KalypsoError as error:
            problems += error.problems
    return AppStatusDocument(
        source=places.source,
        environments=tuple(entries),
        problems=ProblemEntry.all_of(problems),
    )


def _entry(moment: ApplicationMoment) -> AppEnvironmentEntry:
    status = moment.status(moment.named, moment.name) if moment.named else None
    has_release = bool(moment.named) and moment.has_release(moment.named)
    return AppEnvironmentEntry(
        environment=moment.name,
        commit=moment.named,
        version=moment.release(moment.named).version if has_release else "",
        state=status.description if status else "",
        since=status.created_at if status else None,
        waits_for=tuple(_waits(moment)),
    )


def _waits(moment: ApplicationMoment) -> Iterator[AppWaitEntry]:
    """Yield what the environment waits for, people first."""
    if moment.named and not moment.trees(moment.named):
        text = "deploy: Kalypso did not propose the commit that the branch names"
        yield AppWaitEntry(waits_for="people", text=text)
    if moment.pull:
        of = moment.own_named
        known = bool(of) and moment.has_release(of)
        what = moment.release(of).version if known else of[:7]
        text = f"merge or close #{moment.pull.number} with {what or 'an unknown commit'}"
        yield AppWaitEntry(waits_for="people", text=text, url=moment.pull.url)
    latest = moment.status(moment.named, moment.name) if moment.named else None
    match state_of(latest):
        case ApplicationState.FAILED:
            yield AppWaitEntry(waits_for="people", text="correct the failure")
        case ApplicationState.EDITED:
            yield AppWaitEntry(waits_for="people", text="start deploy, which repairs the edit")
        case ApplicationState.DEPLOYING:
            yield AppWaitEntry(waits_for="clusters", text="report that they comply")
        case ApplicationState.PROMOTED if moment.tracked:
            yield AppWaitEntry(waits_for="a run", text="of app-check, which waits for the clusters")
    yield from _deploy(moment)


def _deploy(moment: ApplicationMoment) -> Iterator[AppWaitEntry]:
    """Yield that a run of deploy is due."""
    closed, _ = moment.earlier()
    commit = moment.wanted(closed)
    if not commit or not moment.has_release(commit):
        return
    release, record = moment.release(commit), moment.record(commit)
    digest = deploy_digest(commit, release, moment.configs_head)
    if record and record.kind == "blocked" and record.subject == digest:
        text = f"correct what keeps {release.version} from being proposed"
        yield AppWaitEntry(waits_for="people", text=text)
    elif record and record.kind == "given up":
        text = f"start deploy with {release.version}: three starts led to no run"
        yield AppWaitEntry(waits_for="people", text=text)
    elif record is None or record.kind != "scheduled" or record.subject != digest:
        yield AppWaitEntry(waits_for="a run", text=f"of app-deploy with {release.version}")
