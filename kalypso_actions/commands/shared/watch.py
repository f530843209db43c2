"""The GitOps branches that a run watches, and the reports of their clusters, read repeatedly.

    watch = Watch(watched, requirements, reports, context)
    wait = waiting_time(inputs, began, reports, context)
    verdict, changed, hook = wait_and_run_hook(wait, watch, inputs, about, context)

A run of check-promote watches the branches of an environment, one of app-check the branch of an
application.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from kalypso_actions.clients.github import commits, repositories
from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.hook import LONGEST as LONGEST_HOOK
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.commands.shared.reading.base_trees import named_commit, tree_at
from kalypso_actions.compliance import (
    Cluster,
    ClusterReports,
    DesiredState,
    EnvironmentTree,
    Requirements,
    Verdict,
    judge,
    judge_clusters,
)
from kalypso_actions.compliance.doubtful_clusters import (
    MOST,
    check_lookups,
    deleted_clusters_warning,
    doubtful_clusters,
    followers_by_other_urls,
    is_of_deleted_cluster,
    key_of,
    other_urls_warning,
)
from kalypso_actions.compliance.interface import (
    LOOKUP_INTERVAL,
    DeletionLookup,
    FollowerLookup,
    SourceWarnings,
)
from kalypso_actions.compliance.verdicts import holds, superseded
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.gitops.provenance import contradicts
from kalypso_actions.inputs.chain import LONGEST_RUN, WaitingInputs
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport, FollowedTree
from kalypso_actions.model.github import Relation
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import BaseTree, GitOpsBranch
from kalypso_actions.model.urls import owner_of, repository_key
from kalypso_actions.model.writes import Write
from kalypso_actions.report.check_promote_document import ClusterEntry, ForeignPathsEntry

BRANCHES_AGE: Final = timedelta(minutes=1)
"""The longest time between two reads of the branches while the run waits."""

ReportsOfBranches = Mapping[GitOpsBranch, Sequence[ClusterReport]]
"""The reports of the clusters that follow a branch; a branch may hold several trees."""


class Watched(Protocol):
    """What a run waits for: a promotion to branches, or a change of a branch."""

    @property
    def promoted_commit(self) -> str | None:
        """The commit that is promoted; None: nothing goes on."""

    @property
    def started(self) -> datetime:
        """When the waiting began."""

    @property
    def branches(self) -> Sequence[FollowedBranch]:
        """The branches, each with the commit that it should name."""

    def tree_of(self, tree: BaseTree | None) -> EnvironmentTree:
        """Return a branch's tree, with the folders that clusters follow; None: not known yet."""

    def gone_back(self, relation: Callable[[str | None], Relation | None]) -> Verdict | None:
        """Return the verdict that another record than the branches took the commit back, if so.

        `relation` is that of a commit to the promoted one. Raise KalypsoError.
        """


class Watch:
    """Reads watched branches and the reports of their clusters, and judges them."""

    def __init__(
        self,
        watched: Watched,
        requirements: Requirements,
        reports: ClusterReports,
        context: CommandContext,
        seen: Callable[[ReportsOfBranches], None] = lambda _: None,
    ) -> None:
        """`seen` gets the reports of each look."""
        self._context = context
        self._seen = seen
        self._watched = watched
        self._reports = reports
        self._source_warnings: dict[GitOpsBranch, tuple[Problem, ...]] = {}
        self._checked: set[FollowedTree] = set()
        """The trees, without commits, for which the source has accepted its inputs."""
        self._other_urls = OtherUrls(context, reports)
        self._deleted = DeletedClusters(context, reports)
        self._promoted_commit = watched.promoted_commit
        self._relations: dict[str, Relation | None] = {}
        self._branches_read: datetime | None = None
        self._superseded: Verdict | None = None
        self._requirements = requirements
        self._started = watched.started
        self._until = watched.started + requirements.timeout
        self._branches = watched.branches

    @property
    def gitops_commit(self) -> str:
        """The newest commit of the run's own GitOps branch that belongs to the promotion."""
        return next(branch.gitops_commit for branch in self._branches if branch.is_own)

    @property
    def time_left(self) -> timedelta:
        """The time until the waiting has lasted too long."""
        return self._until - self._context.runtime.now()

    def check_inputs(self) -> None:
        """Raise UsageError if the source lacks inputs; without reporting clusters it needs none.

        Raise KalypsoError if the source does not answer.
        """
        for branch in self._branches:
            tree = self._tree(branch)
            if tree.reporting:
                self._check_inputs(branch.followed(tree))

    def _check_inputs(self, followed: FollowedTree) -> None:
        """Check the inputs for a tree once: a later commit may have other cluster types."""
        tree = replace(followed, commits=())
        if tree not in self._checked:
            self._reports.check_inputs(followed)
            self._checked.add(tree)

    def look(self) -> tuple[Verdict, bool]:
        """Read the reports and the branches; return the verdict, and whether clusters were read.

        While the run waits, it reads the branches once a minute: before the reports, because some
        sources report on known commits alone. A verdict counts if they were read after the reports:
        in this order, no cluster runs a commit that is newer than the known head of its branch.
        """
        self.read_branches(BRANCHES_AGE)
        reports = self._read_reports()
        for max_age in (BRANCHES_AGE, timedelta()):
            ending = self.read_branches(max_age)
            branches = [self._judged(branch, reports) for branch in self._branches]
            verdict = judge(branches, timed_out=self.time_left <= timedelta())
            if ending or verdict.is_open:
                break
        return verdict.ended_by(ending) if ending else verdict, bool(reports)

    def read_branches(self, max_age: timedelta = timedelta()) -> Verdict | None:
        """Read all branches, unless the last time is less than `max_age` ago.

        Return the verdict that another commit supersedes the promotion, if one does.
        """
        now = self._context.runtime.now()
        if self._branches_read is None or now - self._branches_read >= max_age:
            self._superseded = self._read_branches()
            self._branches_read = now
        return self._superseded

    def _read_branches(self) -> Verdict | None:
        """Read the record beside the branches last, right before the run starts anything."""
        for branch in self._branches:
            branch.read()
        for branch in self._branches:
            now = branch.promoted_commit
            relation = self._relation(now)
            if other := superseded(branch.expected, now, relation, is_own=branch.is_own):
                return other
        return self._watched.gone_back(self._relation)

    def _read_reports(self) -> ReportsOfBranches:
        """Read the reports of the clusters that follow the branches. Raise KalypsoError."""
        reports: dict[GitOpsBranch, Sequence[ClusterReport]] = {}
        for followed in self._branches:
            tree, branch = self._tree(followed), followed.branch
            if not tree.reporting:
                continue
            self._check_inputs(followed.followed(tree))
            of_branch: list[ClusterReport] = []
            warnings: list[Problem] = []
            for url in (branch.url, *self._other_urls.former_urls(branch, tree)):
                of_branch += self._reports.reports(
                    replace(followed.followed(tree), repository_url=url)
                )
                if isinstance(self._reports, SourceWarnings):
                    warnings += self._reports.warnings()
            reports[branch], self._source_warnings[branch] = of_branch, tuple(warnings)
        self._seen(reports)
        return reports

    def _judged(self, followed: FollowedBranch, reports: ReportsOfBranches) -> Verdict:
        """Judge a branch; ask which of its clusters are deleted, and judge it without them."""
        branch, tree = followed.branch, self._tree(followed)
        desired = DesiredState(followed.synced, tree, followed.later)
        of_branch = reports.get(branch)
        started, now = self._started, self._context.runtime.now()
        self._deleted.ask_again(of_branch or ())
        while True:
            existing = None if of_branch is None else self._deleted.without(of_branch)
            verdict = judge_clusters(
                existing, desired, self._requirements, started=started, now=now
            )
            known = self._deleted.known
            doubtful = doubtful_clusters(
                verdict.clusters, of_branch or (), known, started=started, now=now
            )
            if not self._deleted.ask(doubtful):
                break
        warnings: list[Problem] = []
        if followed.holds:
            where = Location(self._context.url(branch.repository))
            warnings += verdict.ignored(tree, where, self._reports.no_reports_advice)
            warnings += self._other_urls.warnings(branch, tree, verdict.missing)
            warnings += self._source_warnings.get(branch, ())
            if deleted := self._deleted.among(of_branch or ()):
                warnings.append(deleted_clusters_warning(deleted, where))
        return replace(
            verdict,
            warnings=tuple(warnings),
            branch=branch.name,
            is_own=followed.is_own,
            holds=followed.holds,
        )

    def _relation(self, commit: str | None) -> Relation | None:
        """Return the relation of a commit to the promoted one on main."""
        if self._promoted_commit is None or commit is None or commit == self._promoted_commit:
            return None
        if commit not in self._relations:
            github, repository = self._context.github, self._context.control_plane
            self._relations[commit] = (
                commits.relation(github, repository, self._promoted_commit, commit)
                if is_commit_id(commit)
                else None
            )
        return self._relations[commit]

    def _tree(self, branch: FollowedBranch) -> EnvironmentTree:
        """Return the environment's tree in a branch; one without assignments if none is known yet.

        A branch has a tree as soon as it has named the expected commit.
        """
        return self._watched.tree_of(branch.tree)


class FollowedBranch:
    """The head of a GitOps branch while the run waits, and the commits that count as synced.

    The branch should name the `expected` commit of main; `promoted_commit` is the commit that it
    names. Every commit from `gitops_commit` to the newest head that names the expected commit
    counts as synced: a merge that keeps the promoted commit belongs to the same promotion. A branch
    `is_own` if the run was started for it.
    """

    def __init__(
        self,
        context: CommandContext,
        environment: str,
        branch: GitOpsBranch,
        expected: str | None,
        *,
        gitops_commit: str = "",
    ) -> None:
        self.branch = branch
        self.is_own = bool(gitops_commit)
        self.expected = expected
        self.tree: BaseTree | None = None
        self.promoted_commit: str | None = None
        self.holds = False
        self.synced: frozenset[str] = frozenset()
        self.later: frozenset[str] = frozenset()
        self.gitops_commit = gitops_commit
        """The newest commit that names the expected commit; "" if there was none."""
        self._context = context
        self._environment = environment
        self._first = gitops_commit
        self._head: str | None = None
        self._after: tuple[str, ...] = ()
        """The commits after the first one that counts as synced, newest first."""

    def followed(self, tree: EnvironmentTree) -> FollowedTree:
        """Return the branch and its commits as sources of reports see them."""
        later = [commit for commit in self._after if commit not in self.synced]
        synced = [commit for commit in self._after if commit in self.synced]
        commits = (*later, *synced, *sorted(self.synced.difference(synced)))
        return tree.followed(self.branch.url, self.branch.branch, commits)

    def read(self) -> None:
        """Read the branch as it is now. Raise KalypsoError if that fails.

        Use git: a run asks every few seconds, and git does not count against the API's rate limit.
        """
        branch, context = self.branch, self._context
        head = context.remotes.heads(branch.url, [branch.branch]).get(branch.branch)
        if head is None and self.is_own:
            raise KalypsoError(
                f"the branch {branch.branch!r} of {branch.repository} is gone",
                branch.where,
                "restore it, or correct the GitOpsRepo",
            )
        if head == self._head:
            return
        self._head = head
        if head is None:
            self.promoted_commit, self.holds = None, False
            return
        tree = tree_at(context, branch, head)
        self.promoted_commit = named_commit(tree, self._environment)
        contradicted = self.expected is not None and contradicts(
            tree.sources, self._environment, self.expected
        )
        self.holds = holds(
            self.expected, self.promoted_commit, is_own=self.is_own, contradicted=contradicted
        )
        if self.holds:
            self.tree = tree
            self._set_newest(head)
        elif self.gitops_commit:
            after = self._between(self.gitops_commit, head) or ()
            self.later = frozenset(after)
            self._after = (*after, *(commit for commit in self._after if commit not in after))

    def _set_newest(self, head: str) -> None:
        """Count this head, and all commits on the way to it, as synced from now on."""
        between = self._between(self._first, head) if self._first else None
        if between is None:
            # The branch has no earlier head, or a forced push has replaced the earlier commits.
            self._first, between = head, ()
        self.gitops_commit = head
        self.synced = frozenset({self._first, *between})
        self._after = between

    def _between(self, base: str, head: str) -> tuple[str, ...] | None:
        """Return the commits after `base` up to `head`; None if `base` does not lead to `head`."""
        if base == head:
            return ()
        return self._context.remotes.ancestry(self.branch.url, head).since(base)


class OtherUrls:
    """Finds clusters that follow a GitOps branch by another URL.

    Clusters that use a former name of the repository count, because GitHub redirects git. A warning
    names other clusters if they have a cluster type that is missing.
    """

    def __init__(self, context: CommandContext, reports: ClusterReports) -> None:
        self._context = context
        self._lookup = reports if isinstance(reports, FollowerLookup) else None
        self._followers: dict[str, tuple[datetime, Sequence[BranchFollower]]] = {}
        self._ids: dict[tuple[str, str], int | None] = {}

    def former_urls(self, branch: GitOpsBranch, tree: EnvironmentTree) -> tuple[str, ...]:
        """Return the URLs with former names that clusters of a tree follow.

        Raise KalypsoError if the clusters or GitHub's repositories cannot be read, or if there are
        too many repositories.
        """
        urls = {
            key_of(follower): follower.repository_url
            for follower in self._at_other_urls(branch, tree, tree.reporting)
        }
        where = Location(self._context.url(branch.repository))
        check_lookups(set(filter(None, map(self._name, urls))), branch.branch, where)
        return tuple(url for key, url in urls.items() if self._leads_to(key, branch))

    def warnings(
        self, branch: GitOpsBranch, tree: EnvironmentTree, missing: Collection[str]
    ) -> Iterator[Problem]:
        """Yield a warning about clusters of `missing` types that follow other repositories."""
        strangers = [
            follower
            for follower in self._at_other_urls(branch, tree, missing)
            if not self._leads_to(key_of(follower), branch)
        ]
        if strangers:
            where = Location(self._context.url(branch.repository))
            yield other_urls_warning(strangers, branch.url, branch.branch, where)

    def _at_other_urls(
        self, branch: GitOpsBranch, tree: EnvironmentTree, cluster_types: Collection[str]
    ) -> Sequence[BranchFollower]:
        if self._lookup is None or not cluster_types:
            return ()
        now = self._context.runtime.now()
        asked_at, followers = self._followers.get(branch.branch, (None, ()))
        if asked_at is None or now - asked_at >= LOOKUP_INTERVAL:
            followers = self._lookup.followers(branch.branch)
            self._followers[branch.branch] = now, followers
        return followers_by_other_urls(followers, branch.url, tree, cluster_types)

    def _leads_to(self, key: str, branch: GitOpsBranch) -> bool:
        """Return whether GitHub redirects the repository with this key to that of a branch.

        The answer is no for repositories that the token cannot see, and for those of another
        server.
        """
        name, repository = self._name(key), branch.repository
        return name is not None and self._id(name, repository) == self._id(repository, repository)

    def _name(self, key: str) -> str | None:
        """Return `owner/name` of a repository on this server by its key; None on another server."""
        server, _, name = key.partition("/")
        is_here = server == repository_key(self._context.github.server.server_url)
        return name if is_here and owner_of(name) else None

    def _id(self, name: str, repository: str) -> int | None:
        """Return the id of the repository that a name leads to; None if the token cannot see it.

        The credential for `repository` reads it by all its names. Raises GitHubError for a rate
        limit. Another refusal may be temporary: the next call asks again.
        """
        key = name.lower(), repository
        if key not in self._ids:
            try:
                self._ids[key] = repositories.id_of_name(self._context.github, name, repository)
            except GitHubError as error:
                if (
                    error.status not in repositories.UNREADABLE
                    or error.limited
                    or name == repository
                ):
                    raise
                if error.status == 403:
                    return None
                self._ids[key] = None
        return self._ids[key]


class DeletedClusters:
    """Asks the source of reports whether clusters exist; not every source can answer."""

    def __init__(self, context: CommandContext, reports: ClusterReports) -> None:
        self._now = context.runtime.now
        self._lookup = reports if isinstance(reports, DeletionLookup) else None
        self._deleted: dict[str, datetime] = {}
        self._asked_at: dict[str, datetime] = {}

    @property
    def known(self) -> Collection[str]:
        """The clusters about which the source was asked recently."""
        now = self._now()
        return {cluster for cluster, at in self._asked_at.items() if now - at < LOOKUP_INTERVAL}

    def ask(self, clusters: Collection[str]) -> bool:
        """Ask whether clusters exist; return whether any was deleted."""
        if not clusters or self._lookup is None:
            return False
        deleted = self._lookup.deleted(clusters)
        now = self._now()
        self._asked_at |= dict.fromkeys(clusters, now)
        for cluster in clusters:
            self._deleted.pop(cluster, None)
        self._deleted |= dict.fromkeys(deleted, now)
        return bool(deleted)

    def ask_again(self, reports: Iterable[ClusterReport]) -> None:
        """Ask again about deleted clusters: one that exists again may not report yet."""
        known = self.known
        due = [cluster for cluster in self.among(reports) if cluster not in known]
        self.ask(sorted(due, key=self._asked_at.__getitem__)[:MOST])

    def without(self, reports: Iterable[ClusterReport]) -> list[ClusterReport]:
        """Leave out the reports of clusters that are known to be deleted."""
        return [report for report in reports if not is_of_deleted_cluster(report, self._deleted)]

    def among(self, reports: Iterable[ClusterReport]) -> tuple[str, ...]:
        """Return the clusters of these reports that are known to be deleted."""
        lingering = (report for report in reports if is_of_deleted_cluster(report, self._deleted))
        return tuple({report.cluster for report in lingering})


SHORTEST_PAUSE: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class WaitingTime:
    """A run `began` then, may wait for the `longest` time, and looks at each `interval`."""

    began: datetime
    longest: timedelta
    interval: timedelta


def requirements_of(inputs: WaitingInputs) -> Requirements:
    """Return the requirements on the clusters."""
    return Requirements(
        timeout=inputs.timeout,
        min_compliant=inputs.min_compliant,
        grace=inputs.grace_period,
        settle=inputs.settle,
        stale_after=inputs.stale_after,
        missing=inputs.missing,
        unreachable=inputs.unreachable,
        require_targets=inputs.require_targets,
        ignore_clusters=inputs.ignore_clusters,
    )


def waiting_time(
    inputs: WaitingInputs, began: datetime, source: ClusterReports, context: CommandContext
) -> WaitingTime:
    """Return the times of a run, with the interval of the inputs if the source bears it.

    The post-deployment command runs after the waiting.
    """
    given = inputs.poll_interval
    shortest: timedelta = getattr(source, "shortest_pause", given)
    if given < shortest:
        seconds = shortest.total_seconds()
        context.runtime.log(f"poll-interval is raised to {seconds:.0f} s for {source.title}.")
    longest = LONGEST_RUN - timedelta(seconds=LONGEST_HOOK if inputs.post_deployment else 0)
    return WaitingTime(began, longest, max(given, shortest))


HOOK: Final = "post-deployment"


def wait_and_run_hook(
    wait: WaitingTime,
    watch: Watch,
    inputs: WaitingInputs,
    about: Mapping[str, str],
    context: CommandContext,
    seen: Callable[[Verdict], None] = lambda _: None,
) -> tuple[Verdict, tuple[Cluster, ...], HookRun | None]:
    """Wait for the clusters; if they comply, run the user's command, which decides, too.

    Return the verdict, the clusters that have just changed, and the command's run. `about` tells
    the command what is deployed; `seen` gets every open verdict.
    """
    verdict, changed = wait_for_clusters(wait, watch, context, seen)
    if not (verdict.goes_on and inputs.post_deployment):
        return verdict, changed, None
    hook = run_hook(HOOK, inputs.post_deployment, context.runtime, about)
    ending = Verdict("failed", hook.reason) if hook.failed else watch.read_branches()
    return verdict.ended_by(ending) if ending else verdict, changed, hook


@contextmanager
def posting_failures(
    command: str, failure: Callable[[str], tuple[Write, ...]], context: CommandContext
) -> Iterator[None]:
    """If an error ends the run, carry out the writes of a `failure`, and raise the error again.

    Otherwise a cancelled job or a bug would leave the commit at `Deploying`. A killed run cannot
    post: then a person runs the job again, or the next merge continues.
    """
    try:
        yield
    except BaseException as error:
        match error:
            case KalypsoError():
                reason = error.problem.message
            case KeyboardInterrupt():
                reason = "the run was cancelled"
            case _:
                reason = f"{command} ended with an error of its own ({type(error).__name__})"
        try:
            carry_out(failure(reason), context)
        except KalypsoError as problem:
            context.runtime.log(f"The failure cannot be posted: {problem.problem.message}")
        raise


def wait_for_clusters(
    wait: WaitingTime,
    watch: Watch,
    context: CommandContext,
    seen: Callable[[Verdict], None] = lambda _: None,
) -> tuple[Verdict, tuple[Cluster, ...]]:
    """Look at the clusters until there is a verdict, or this run must end.

    `seen` gets every open verdict. Return the verdict, and the clusters that have just changed.
    """
    runtime = context.runtime
    progress = ProgressLog(runtime.log)
    while True:
        verdict, has_reports = watch.look()
        changed = progress.log(verdict, runtime.now()) if has_reports else ()
        if not verdict.is_open:
            return verdict, changed
        seen(verdict)
        pause = max(min(wait.interval, watch.time_left), SHORTEST_PAUSE)
        if runtime.job.in_actions and runtime.now() + pause - wait.began >= wait.longest:
            return verdict, changed
        runtime.sleep(pause.total_seconds())


MOST_CLUSTERS: Final = 20
"""The number of clusters that one entry of the log names."""

LOG_INTERVAL: Final = timedelta(minutes=5)
"""The log repeats the numbers after this time, so that the run does not seem to hang."""


class ProgressLog:
    """Logs the numbers and the clusters that changed; the first entry has only numbers."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._numbers = ""
        self._states: Mapping[tuple[str, str], str] = {}
        self._logged_at: datetime | None = None

    def log(self, verdict: Verdict, now: datetime) -> tuple[Cluster, ...]:
        """Log a verdict that differs from the last one; return the clusters that changed.

        The first verdict has none.
        """
        states = {(cluster.id, cluster.cluster_type): cluster.state for cluster in verdict.clusters}
        changed = [
            cluster
            for cluster in verdict.clusters
            if self._states
            and self._states.get((cluster.id, cluster.cluster_type)) != cluster.state
        ]
        numbers = verdict.progress()
        is_silent = self._logged_at is None or now - self._logged_at >= LOG_INTERVAL
        if changed or numbers != self._numbers or is_silent:
            self._log(numbers)
            self._log_clusters(changed)
            self._logged_at = now
        self._numbers, self._states = numbers, states
        return tuple(changed)

    def _log_clusters(self, changed: Sequence[Cluster]) -> None:
        for cluster in changed[:MOST_CLUSTERS]:
            before = self._states.get((cluster.id, cluster.cluster_type), "new")
            reason = f": {cluster.reason}" if cluster.reason else ""
            self._log(f"  {cluster.name}: {before} → {cluster.state}{reason}")
        if len(changed) > MOST_CLUSTERS:
            self._log(f"  … and {len(changed) - MOST_CLUSTERS} more")


def cluster_fields(verdict: Verdict, changed: Collection[Cluster]) -> dict[str, Any]:
    """Return the fields of a document that a verdict fills; `changed` clusters are marked."""
    return {
        "verdict": "" if verdict.is_open else verdict.name,
        "reason": verdict.reason,
        "clusters": verdict.counts(),
        "rows": tuple(
            ClusterEntry(
                id=cluster.id,
                cluster_type=cluster.cluster_type,
                state=cluster.state,
                reason=cluster.reason,
                revision=cluster.revision,
                changed=cluster in changed,
            )
            for cluster in verdict.clusters
        ),
        "missing": verdict.missing,
        "not_ours": tuple(
            ForeignPathsEntry(id=name, paths=paths) for name, paths in verdict.not_ours
        ),
    }
