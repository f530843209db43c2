"""Read what a preview compares: the commits, and each environment with both of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kalypso_actions.clients.github import GitHubError, commits, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.local_context import CurrentClone
from kalypso_actions.commands.shared.reading.base_history import passed_commits
from kalypso_actions.commands.shared.reading.base_trees import ReadableBaseTrees
from kalypso_actions.commands.shared.reading.control_plane import (
    environments_among,
    read_control_plane,
    read_own_branch,
)
from kalypso_actions.commands.shared.reading.document_reader import (
    Reader,
    in_parallel,
    read_branch,
)
from kalypso_actions.commands.shared.reading.snapshot import read_snapshot
from kalypso_actions.commands.shared.workflow_templates import (
    faults_of_branches,
    read_workflows,
)
from kalypso_actions.comparison.differences import changed_settings
from kalypso_actions.doctor_rules.workflows import BranchWorkflows
from kalypso_actions.errors import Diagnostics, Finding, KalypsoError, Problem, UsageError, distinct
from kalypso_actions.fleet.named_branches import main_base, older_commit
from kalypso_actions.inputs.app import AppPreviewInputs
from kalypso_actions.inputs.chain import PreviewInputs
from kalypso_actions.model.differences import CommitSubject
from kalypso_actions.model.documents import FileEntry, Reading
from kalypso_actions.model.kinds import Environment, Fleet, RepositoryPath
from kalypso_actions.model.nearest import suggestion
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.model.urls import split
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.validation import validate_branches, validate_change
from kalypso_actions.promotion.environments import previous_of
from kalypso_actions.promotion.statuses import context as status_context

DEPENDABOT: Final = "dependabot[bot]"

MOST_COMMITS: Final = 10
"""The number of arriving commits of main that the document names."""

Environments = Mapping[str, Environment]

ArrivingCommits = tuple[int | None, Sequence[CommitSubject]]
"""The number of commits (None: unknown) that come with a change, and the newest of them."""


@dataclass(frozen=True, slots=True)
class ChangedBranch:
    """A branch of the control plane at `url`, before (`base`) and after (`head`) a change.

    `main` is the name of the main branch, and `head_of_main` its newest commit. `other_urls` lead
    to the control plane, too: for a clone, `url` is a path.
    """

    url: str
    main: str
    head_of_main: str
    branch: str
    base: str
    head: str
    other_urls: tuple[str, ...] = ()

    @property
    def is_main(self) -> bool:
        """Whether the change is one of main, for all environments."""
        return self.branch == self.main

    @property
    def is_local(self) -> bool:
        """Whether a person compares in a clone, where each place names its branch."""
        return split(self.url).scheme == "file"


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """A change, and the places that show its preview.

    `status_commit` gets the status ("" for none). `pull_request` is the number of the pull request
    that gets the comment, as long as its head is `head_commit`. `is_restricted`: GitHub gives a
    job no secrets and a token that only reads.
    """

    change: ChangedBranch
    status_commit: str = ""
    pull_request: int | None = None
    head_commit: str = ""
    is_restricted: bool = False


def request_of_job(
    inputs: PreviewInputs | AppPreviewInputs, context: CommandContext
) -> PreviewRequest:
    """Return the request of a pull request, a merge group, or the inputs. Raises KalypsoError."""
    job = context.runtime.job
    pull_request = job.event.get("pull_request")
    is_own = job.repository.lower() == context.control_plane.lower()
    if is_own and job.event_name == "pull_request" and isinstance(pull_request, Mapping):
        return _of_pull_request(inputs, context, pull_request)
    group = job.event.get("merge_group")
    if is_own and job.event_name == "merge_group" and isinstance(group, Mapping):
        branch = str(group["base_ref"]).removeprefix("refs/heads/")
        base, head = str(group["base_sha"]), str(group["head_sha"])
        return PreviewRequest(_change(context, branch, base, head), head)
    if not inputs.base:
        raise UsageError(
            "no base is named, and the job belongs to no pull request",
            advice="write the commits to compare: base and head",
        )
    main = context.main()
    environments = {} if isinstance(inputs, AppPreviewInputs) else context.environments()
    branches = {item.control_plane.branch for item in environments.values()}
    branch = inputs.base if inputs.base in branches else main
    base = _resolved(context, branch, inputs.base)
    head = _resolved(context, branch, inputs.head or job.commit or main)
    return PreviewRequest(_change(context, branch, base, head))


def _resolved(context: CommandContext, branch: str, revision: str) -> str:
    """Return the commit of a branch, tag or id of the control plane; "" for ""."""
    url = context.url(context.control_plane)
    return context.repositories.resolve(url, branch, revision) if revision else ""


def _of_pull_request(
    inputs: PreviewInputs | AppPreviewInputs, context: CommandContext, event: Mapping[str, Any]
) -> PreviewRequest:
    """Compare the merge that GitHub tries with its first parent.

    The base in the event may be older: it is that of the last push to the pull request.
    """
    job = context.runtime.job
    branch = str(event["base"]["ref"])
    head = _resolved(context, branch, inputs.head) or job.commit
    base = _resolved(context, branch, inputs.base)
    if not base:
        parents = commits.get(context.github, context.control_plane, head).parents
        base = parents[0] if parents else str(event["base"]["sha"])
    head_repository = (event["head"]["repo"] or {}).get("full_name", "")
    is_fork = head_repository.lower() != context.control_plane.lower()
    head_commit = str(event["head"]["sha"])
    return PreviewRequest(
        _change(context, branch, base, head),
        status_commit=head_commit,
        pull_request=int(event["number"]),
        head_commit=head_commit,
        is_restricted=is_fork or job.actor == DEPENDABOT,
    )


def _change(context: CommandContext, branch: str, base: str, head: str) -> ChangedBranch:
    url, main = context.url(context.control_plane), context.main()
    head_of_main = head if branch == main else context.remotes.heads(url, [main])[main]
    return ChangedBranch(url, main, head_of_main, branch, base, head)


def request_of_clone(inputs: PreviewInputs, clone: CurrentClone) -> PreviewRequest:
    """Return the request of a person in a clone; the default is the change of the current branch.

    If `base` is main or an environment's branch, that branch gets the change: the comparison begins
    at the merge base, as a merge would. Raises KalypsoError.
    """
    branches = [clone.main, *(item.control_plane.branch for item in clone.environments.values())]
    named_branch = inputs.base.removeprefix(f"{clone.repository.remote}/")
    is_branch = not inputs.base or named_branch in branches
    branch = named_branch if named_branch in branches else clone.checked_out or clone.main
    head = clone.repository.resolve(inputs.head or "HEAD")
    base = clone.repository.resolve(inputs.base or branch)
    if is_branch:
        base = clone.repository.merge_base(base, head) or base
    url, remotes = str(clone.path), clone.repository.remotes()
    return PreviewRequest(
        ChangedBranch(url, clone.main, clone.head_of_main, branch, base, head, remotes)
    )


@dataclass(frozen=True, slots=True)
class Side:
    """An environment with a commit: its snapshot, or the problems that prevent one.

    `promoted_commit` is the commit of main that its branch names, if it can be read. `is_absent`:
    the environment does not exist on this side.
    """

    snapshot: Snapshot | None
    problems: tuple[Problem, ...] = ()
    promoted_commit: str | None = None
    is_absent: bool = False

    def repositories(self) -> Iterator[str]:
        """Yield the URLs of all repositories that the environment names."""
        if self.snapshot is None:
            return
        fleet = self.snapshot.fleet
        yield from (base.source.repo for base, _ in self.snapshot.bases)
        yield from (item.source.repo for item in fleet.registrations)
        yield from (item.target.repo for item in fleet.gitops_repos)
        for reading in self.snapshot.registrations:
            if reading.revision:
                yield reading.revision.repository

    def unread(self) -> Iterator[Problem]:
        """Yield a note on each registration that could not be read, so that it is not compared."""
        for reading in self.snapshot.registrations if self.snapshot else ():
            if not reading.is_readable:
                registration, problem = reading.registration, reading.problems[0]
                message = f"not compared: {problem.message}"
                yield dataclasses.replace(problem, message=message, where=registration.where)


@dataclass(frozen=True, slots=True)
class EnvironmentSides:
    """An environment before and after the change, and with its present commit of main.

    `promoted` is None if the environment has the base already. `warnings` are about GitOps branches
    that could not be read.
    """

    name: str
    base: Side
    head: Side
    promoted: Side | None
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class BranchSides:
    """The changed branch before and after: its Environments, its documents' findings, its fleets.

    `before` and `after` are all Environments of the branch, `declared` those of main on both sides;
    `environments` are the ones to compare. `others` are the branches of the other environments, as
    far as they can be read, if the change is one of an environment's branch. `changed` are the
    paths of the files that the change adds or edits.
    """

    change: ChangedBranch
    before: Environments
    after: Environments
    findings_before: Diagnostics
    findings_after: Diagnostics
    declared: tuple[Environments, Environments]
    environments: tuple[EnvironmentSides, ...]
    others: Mapping[str, Reading] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()

    @property
    def unread(self) -> list[str]:
        """The environments that are not compared, and whose branches were not read."""
        known = {item.name for item in self.environments} | self.others.keys()
        return [name for name in self.declared[1] if name not in known]

    def newer(self, branch: str, one: str, other: str) -> str:
        """Return the only one of two files of the changed branch that the change has; else ""."""
        changed = self.changed & {one, other} if branch == self.change.branch else ()
        return next(iter(changed)) if len(changed) == 1 else ""


def read_sides(
    reader: Reader,
    change: ChangedBranch,
    inputs: PreviewInputs,
    trust: Callable[[Collection[str]], None] = lambda _: None,
    *,
    with_base_trees: bool = True,
) -> BranchSides:
    """Read the environments of the changed branch with both commits.

    Call `trust` with the repositories that the base names before reading those that only the head
    names. Raises UsageError for the name of an unknown environment.
    """
    others = {} if change.is_main else _other_branches(reader, change)
    before, findings_before, old = _environments(reader, change, change.base, others)
    after, findings_after, new = _environments(reader, change, change.head, others)
    names = _names(inputs.environments, (*before, *after))
    sides = _SideReader(reader, change, inputs, with_base_trees)
    bases = {name: sides.before(before[name]) for name in names if name in before}
    read = [side for pair in bases.values() for side in pair if side]
    trust({change.url, *(url for side in read for url in side.repositories())})
    environments = []
    for name in names:
        known = len(sides.warnings(name))
        base, promoted = bases.get(name, (None, None))
        head = sides.read(after[name], change.head) if name in after else None
        warnings = sides.warnings(name)[:known]
        findings_after.warnings += sides.warnings(name)[known:]  # of what only the head names
        findings_after.warnings += sides.older(base, head)
        findings_after.warnings += sides.passed(name, base, head, new, others)
        environments.append(
            EnvironmentSides(name, base or _absent(head), head or _absent(base), promoted, warnings)
        )
    return BranchSides(
        change,
        before,
        after,
        findings_before,
        findings_after,
        (old, new),
        tuple(environments),
        others,
        _changed_files(reader, change),
    )


def _other_branches(reader: Reader, change: ChangedBranch) -> dict[str, Reading]:
    """Return the branches of the environments that do not change, as far as they can be read."""
    main = _reading(reader, change, change.main, ".", change.head_of_main)
    environments, _ = environments_among(main.documents)
    places = {
        name: item.control_plane
        for name, item in environments.items()
        if item.control_plane.branch != change.branch
    }

    def read(place: RepositoryPath) -> Reading | None:
        try:
            return place.located(_reading(reader, change, place.branch, place.path))
        except KalypsoError:
            return None  # the change is judged without it

    read_branches = zip(places, in_parallel(read, places.values()), strict=True)
    return {name: branch for name, branch in read_branches if branch}


def _reading(
    reader: Reader, change: ChangedBranch, branch: str, path: str, commit: str | None = None
) -> Reading:
    files = reader.repositories.open(change.url, branch=branch, commit=commit)
    return read_branch(files, RepositoryPath(change.url, branch, path), reader.kustomize)


def _environments(
    reader: Reader, change: ChangedBranch, commit: str, others: Mapping[str, Reading]
) -> tuple[Environments, Diagnostics, Environments]:
    """Return the environments of the changed branch at a commit, and its documents' findings.

    Then follow the environments of main. The branch of an environment is judged with main and the
    `others`: it may lack a document, or write to the tree of another environment.
    """
    main_commit = commit if change.is_main else change.head_of_main
    main = _reading(reader, change, change.main, ".", main_commit)
    environments, _ = environments_among(main.documents)  # the findings have its problems
    branches = [item.control_plane.branch for item in environments.values()]
    if change.is_main:
        found = validate_branches([main])
        _add_workflow_faults(found, reader, change, commit, branches, [main])
        return environments, found, environments
    own = {
        name: item
        for name, item in environments.items()
        if item.control_plane.branch == change.branch
    }
    paths = sorted({item.control_plane.path for item in own.values()})
    readings = [_reading(reader, change, change.branch, path, commit) for path in paths]
    found = validate_change([main, *readings, *others.values()], main_commit)
    _add_workflow_faults(found, reader, change, commit, branches, readings)
    return own, found, environments


def _add_workflow_faults(
    found: Diagnostics,
    reader: Reader,
    change: ChangedBranch,
    commit: str,
    branches: Collection[str],
    readings: Iterable[Reading],
) -> None:
    """Add what breaks the chain in the workflow files of the changed branch at a commit.

    `readings` are those of the changed branch.
    """
    documents = {document.where.path for each in readings for document in each.documents}

    def workflows(branch: str, commit: str) -> BranchWorkflows:
        files = reader.repositories.open(change.url, branch=branch, commit=commit)
        of_change = sorted(documents) if branch == change.branch else ()
        return BranchWorkflows(change.url, branch, read_workflows(files), of_change)

    main = workflows(change.main, commit if change.is_main else change.head_of_main)
    own = () if change.is_main else (workflows(change.branch, commit),)
    found.add_by_level(distinct(faults_of_branches(main, own, branches)))


def _names(given: Collection[str], known: Iterable[str]) -> list[str]:
    """Return the environments to compare. Raises UsageError for an unknown one."""
    names = list(dict.fromkeys(known))
    for name in given:
        if name not in names:
            message = f"there is no Environment {name!r} on this branch, before or after the change"
            advice = f"{suggestion(name, names)}Environments: {', '.join(names)}"
            raise UsageError(message, advice=advice)
    return [name for name in names if not given or name in given]


@dataclass(slots=True)
class _SideReader:
    """Reads the sides of environments."""

    reader: Reader
    change: ChangedBranch
    inputs: PreviewInputs
    with_base_trees: bool
    _base_trees: dict[str, ReadableBaseTrees] = field(default_factory=dict)

    def before(self, environment: Environment) -> tuple[Side, Side | None]:
        """Return an environment before the change; for main, also with its present commit."""
        base = self.read(environment, self.change.base)
        commit = base.promoted_commit
        if not self.change.is_main or commit in {None, self.change.base}:
            return base, None
        return base, self.read(environment, commit or "")

    def read(self, environment: Environment, commit: str) -> Side:
        """Return an environment with a commit of the branch that changes."""
        try:
            return self._side(environment, commit)
        except KalypsoError as error:
            problems = (_in_environment(problem, environment) for problem in error.problems)
            return Side(None, tuple(problems))

    def warnings(self, environment: str) -> tuple[Problem, ...]:
        """Return the warnings of GitOps branches that could not be read."""
        trees = self._base_trees.get(environment)
        return tuple(trees.warnings) if trees else ()

    def older(self, base: Side | None, head: Side | None) -> Iterator[Finding]:
        """Yield the finding of a change that takes commits of main away without a hold."""
        before = base.promoted_commit if base else None
        own = head.snapshot.own if head and head.snapshot else None
        main = main_base(own) if own else None
        if self.change.is_main or not (before and own and main and main.commit):
            return
        if main.commit != before:
            distance, url = self.reader.repositories.distance, self.change.url
            taken = distance(url, main.commit, before)
            if taken and not distance(url, before, main.commit):
                yield from older_commit(main, before, taken, own)

    def passed(
        self,
        name: str,
        base: Side | None,
        head: Side | None,
        environments: Environments,
        others: Mapping[str, Reading],
    ) -> Iterator[Finding]:
        """Yield the finding of a change to a commit of main that no environment before has had."""
        change, repositories = self.change, self.reader.repositories
        own = main_base(head.snapshot.own) if head and head.snapshot else None
        if change.is_main or not own or own.commit == (base.promoted_commit if base else None):
            return
        bases = {name: own}
        for each in previous_of(name, environments):
            former = main_base(others[each]) if each in others else None
            bases |= {each: former} if former else {}
        ahead = {
            each: position.ahead
            for each, item in bases.items()
            if item.commit and len({item.commit for item in bases.values()}) > 1
            if (position := repositories.position(change.url, change.main, item.commit))
            and position.ahead is not None
        }
        heads = {name: change.head}
        yield from passed_commits(
            environments, bases, ahead, repositories, change.url, change.main, heads
        )

    def _side(self, environment: Environment, commit: str) -> Side:
        change = self.change
        own = read_own_branch(
            environment,
            change.url,
            self.reader,
            main=change.main,
            main_commit=commit if change.is_main else change.head_of_main,
            commit="" if change.is_main else commit,
        )
        promoted_commit = commit if change.is_main else None
        control_plane = read_control_plane(own, self.reader, promoted_commit=promoted_commit)
        trees = self._base_trees.setdefault(
            environment.name, ReadableBaseTrees(self.reader.repositories)
        )
        repos = control_plane.fleet.gitops_repos
        scheduler = self.inputs.scheduler or environment.scheduler
        snapshot = read_snapshot(
            control_plane,
            self.reader,
            PlanOptions.of(self.inputs),
            base_trees=trees.open(repos)
            if self.with_base_trees
            else trees.needed(repos, scheduler),
        )
        return Side(snapshot, promoted_commit=own.promoted_commit)


def _in_environment(problem: Problem, environment: Environment) -> Problem:
    """Locate a problem of a whole repository, e.g. a missing branch, at the Environment object."""
    if problem.where and problem.where.path:
        return problem
    return dataclasses.replace(problem, where=environment.where)


def _absent(other: Side | None) -> Side:
    """Return the side on which an environment does not exist: without content."""
    snapshot = other.snapshot if other else None
    if snapshot:
        snapshot = dataclasses.replace(
            snapshot,
            own=dataclasses.replace(snapshot.own, documents=(), problems=(), warnings=()),
            bases=(),
            fleet=Fleet(snapshot.environment),
            registrations=(),
            base_trees=(),
            problems=(),
            warnings=(),
            lacking=(),
            unpromoted_templates=frozenset(),
        )
    return Side(snapshot, is_absent=True)


def failed_deployments(
    context: CommandContext, promoted: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield each environment whose last deployment failed, with the description of its status.

    The status is that of the commit of main that the environment has: `promoted`, by environment.
    Yield none if the token may not read statuses.
    """
    try:
        known = statuses.of_commits(
            context.github, context.control_plane, frozenset(promoted.values())
        )
    except GitHubError as error:
        context.runtime.log(f"It is unknown which deployments failed: {error.problem.message}")
        return
    for environment, commit in promoted.items():
        status = known.get(commit, {}).get(status_context(environment).lower())
        if status and status.state == "failure":
            yield environment, status.description


def arriving_commits(
    reader: Reader, change: ChangedBranch, promoted: Mapping[str, str]
) -> Mapping[str, ArrivingCommits]:
    """Return the commits between `promoted`, the environments' commits of main, and the base."""
    opened = reader.repositories

    def between(commit: str) -> ArrivingCommits:
        total = opened.distance(change.url, commit, change.base)
        if not total:
            return total, ()
        return total, opened.commits_after(change.url, commit, change.base, MOST_COMMITS)

    return {name: between(commit) for name, commit in promoted.items()} if change.is_main else {}


def settings_of_change(reader: Reader, change: ChangedBranch) -> tuple[str, ...]:
    """Return the changed files from which previews take their settings."""
    return changed_settings(*_entries(reader, change))


def _changed_files(reader: Reader, change: ChangedBranch) -> frozenset[str]:
    base, head = _entries(reader, change)
    return frozenset(path for path, entry in head.items() if base.get(path) != entry)


def _entries(reader: Reader, change: ChangedBranch) -> Sequence[Mapping[str, FileEntry]]:
    """Return the files of the changed branch before and after the change."""
    return [
        reader.repositories.open(change.url, branch=change.branch, commit=commit).entries()
        for commit in (change.base, change.head)
    ]
