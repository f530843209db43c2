"""`kalypso poll`: registered repositories that have moved reach their environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kalypso_actions import gitops
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.commands.gitops_branches import (
    GitOpsBranch,
    gitops_branches,
    read_environment,
    tree_now,
)
from kalypso_actions.commands.open_matters import outdated
from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.commands.source_heads import Source, read_heads
from kalypso_actions.commands.starting import start_workflow
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.gitops.provenance import SourceRevision
from kalypso_actions.inputs.chain import PollInputs
from kalypso_actions.model.github import PathHead
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion.moved import has_moved
from kalypso_actions.report.chain_documents import PollDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.poll_page import Polled, poll_page


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What an environment's tree was made of, as its GitOps branches say.

    `sources` may move: registered repositories, and base repositories that are taken at the head
    of their branch. `unrecorded` is why there is no saying what some branch was made of.
    """

    places: tuple[GitOpsBranch, ...] = ()
    sources: Mapping[str, SourceRevision] = field(default_factory=dict)
    unrecorded: str = ""
    problems: tuple[Problem, ...] = ()


def poll(inputs: PollInputs, session: ChainSession) -> Outcome:
    """Start schedule for every environment of which a registered repository has moved.

    What a tree was made of is written in it; a repository whose registered folder is the same as
    then has not moved, wherever its branch stands, unless what is still open was made of something
    else in between. One that cannot be looked at is a warning: what becomes of it is for schedule
    to say.
    """
    wanted = (
        [session.environment(name) for name in inputs.environments]
        if inputs.environments
        else list(session.environments().values())
    )
    recorded = {one.name: _recorded(session, one) for one in wanted}
    every = {_source(one) for found in recorded.values() for one in found.sources.values()}
    heads, warnings = read_heads(session, every)
    polled = []
    problems = [problem for found in recorded.values() for problem in found.problems]
    for name, found in recorded.items():
        moved: tuple[str, ...] = ()
        page = ""
        try:
            moved = _moved(session, name, found, heads)
            if moved or found.unrecorded:
                page = start_workflow(session, inputs.schedule_workflow, {"environment": name})
        except KalypsoError as error:
            problems += error.problems
        polled.append(Polled(name, moved, found.unrecorded, page))
    return _outcome(polled, warnings, problems)


def _recorded(session: ChainSession, environment: Environment) -> _Recorded:
    """What is recorded of an environment; that it cannot be read is a problem of its own."""
    try:
        read = read_environment(session, environment)
        places = gitops_branches(session, environment, read.gitops_repos)
        trees = [tree_now(session, place) for place in places]
    except KalypsoError as error:
        problems = [
            Problem(f"environment {environment.name}: {one.message}", one.where, one.advice)
            for one in error.problems
        ]
        return _Recorded(problems=tuple(problems))
    without = [
        place.name
        for place, tree in zip(places, trees, strict=True)
        if gitops.read_sources(tree.sources, environment.name) is None
    ]
    unrecorded = f"{', '.join(without)} does not say what it was made of" if without else ""
    previous = gitops.previous_sources(trees, environment.name, read.base_commit)
    if previous is None:
        return _Recorded(places, unrecorded=unrecorded)
    floating = {base.name for base in read.base_repos if base.commit is None}
    sources = {
        f"BaseRepo {name}": one for name, one in previous.base_repos.items() if name in floating
    }
    return _Recorded(places, {**sources, **previous.registrations}, unrecorded)


def _source(recorded: SourceRevision) -> Source:
    return Source(recorded.repository, recorded.branch, recorded.path, recorded.commit or "")


def _moved(
    session: ChainSession, name: str, found: _Recorded, heads: Mapping[Source, PathHead]
) -> tuple[str, ...]:
    """What has moved; what could not be looked at has not. Raises KalypsoError."""
    moved = set()
    back = {}
    for part, recorded in found.sources.items():
        now = heads.get(_source(recorded))
        if now is None or now.commit == recorded.commit:
            continue
        if has_moved(recorded.commit, recorded.tree, now):
            moved.add(part)
        else:
            back[part] = now
    if not moved:
        moved |= outdated(session, name, found.places, back)
    return tuple(sorted(moved))


def _outcome(
    polled: Sequence[Polled], warnings: Sequence[Problem], problems: Sequence[Problem]
) -> Outcome:
    document = PollDocument(
        environments=tuple(one.environment for one in polled if one.page),
        moved={one.environment: one.moved for one in polled if one.moved},
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
    )
    return Outcome(document, poll_page(document, polled), failed=bool(problems))
