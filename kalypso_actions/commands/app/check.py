"""`kalypso app check`: wait until the clusters run what was merged, then go on.

    read → observe → judge → writes → carry out → document

What happens if …

- the start of the run is old, or names another commit: the head of the branch is checked.
- people merge a proposal with changes of their own: the commit gets a failure; deploy repairs it.
- people revert a merge: the newer commits get `Rolled back to`, and nothing goes on.
- only the configuration changed: its status stands on the commit of the configs; nothing goes on.
- another commit is merged while the run waits: its run decides, and this one ends.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from kalypso_actions.clients.github import commits
from kalypso_actions.commands.app.environment import (
    ApplicationMoment,
    ApplicationPlaces,
    read_environments,
    read_moment,
)
from kalypso_actions.commands.app.platform import PlatformBranch, PlatformReports
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.cluster_reports import open_cluster_reports
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.hook import HookRun
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.commands.shared.watch import (
    FollowedBranch,
    Watch,
    cluster_fields,
    posting_failures,
    requirements_of,
    wait_and_run_hook,
    waiting_time,
)
from kalypso_actions.compliance import Cluster, ClusterReports, EnvironmentTree, Verdict
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.gitops.proposed_commit import tracked_commit
from kalypso_actions.inputs.app import AppCheckInputs
from kalypso_actions.model.application import CONFIG_COMMIT_FILE, MANIFESTS_FILE, RECORD_FILE
from kalypso_actions.model.github import CommitStatus, Relation
from kalypso_actions.model.tree import BaseTree
from kalypso_actions.model.writes import PostStatus, Write
from kalypso_actions.planning.application.tree import KUSTOMIZATION_NAMES, read_record
from kalypso_actions.promotion import application as table
from kalypso_actions.promotion.application import (
    ApplicationState,
    HeadFacts,
    HeadKind,
    check_context,
    is_current,
    meaning_of_head,
    state_of,
)
from kalypso_actions.promotion.environments import next_environments
from kalypso_actions.promotion.requests import claimed_start, waiting_start
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.starts import check_start, deploy_start, record_of
from kalypso_actions.report.application_document import AppCheckDocument, app_check_summary
from kalypso_actions.report.check_promote_document import verdict_advice
from kalypso_actions.report.documents import ProblemEntry

PROMOTIONS: Final[frozenset[HeadKind]] = frozenset({"promotion", "continuation"})
WATCHED: Final[frozenset[HeadKind]] = PROMOTIONS | {"configuration", "rollback"}
"""What the run waits for; nothing is known of the other heads, so it tells them and ends."""

TARGET_FILES: Final = frozenset({MANIFESTS_FILE, *KUSTOMIZATION_NAMES})
"""Files of a target's folder, in a tree without a record of its targets."""


def app_check(
    inputs: AppCheckInputs, context: CommandContext, reports: ClusterReports | None = None
) -> CommandResult:
    """Wait until the clusters run what was merged, then deploy it to the next environments.

    The head of the GitOps branch and the records on the source say what was merged. With
    `verify-only` the run only says so, and records its start; with `dry-run` it looks once.
    `reports` replaces the source that the inputs name. Raise KalypsoError if a repository or the
    clusters cannot be read, UsageError for missing inputs.
    """
    checked_start(context)
    began = context.runtime.now()
    check = observe(inputs, context)
    writes = CheckWrites(check, inputs)
    received = writes.received(check.moment.branch.head)
    if not inputs.dry_run:
        carry_out(received, context)
    if inputs.verify_only or check.meaning not in WATCHED:
        told = () if inputs.verify_only else writes.told()
        if inputs.dry_run:
            return _result(check, None, context, planned=(*received, *told))
        carry_out(told, context)
        return _result(check, None, context)
    changed: tuple[Cluster, ...] = ()
    hook: HookRun | None = None
    with closing(reports or _open_reports(inputs, context)) as source:
        watched = WatchedApplication(check, source, inputs.clusters_of_targets, context)
        watch = Watch(watched, requirements_of(inputs), source, context)
        advice = source.no_reports_advice
        superseded = watch.read_branches()
        if superseded is None:
            watch.check_inputs()  # before the run posts anything
        deploying = () if superseded else writes.deploying()
        if inputs.dry_run:
            verdict = superseded or watch.look()[0]
            after = () if verdict.is_open else writes.after(verdict, watch.gitops_commit)
            planned = (*received, *deploying, *after)
            return _result(check, verdict, context, advice=advice, planned=planned)
        carry_out(deploying, context)
        with posting_failures("app check", writes.failure, context):
            verdict = superseded or Verdict("waiting", is_open=True)
            if verdict.is_open:
                wait = waiting_time(inputs, began, source, context)
                verdict, changed, hook = wait_and_run_hook(
                    wait, watch, inputs, check.about(), context
                )
            done = carry_out(writes.after(verdict, watch.gitops_commit), context)
    started = {"app check": done.page} if verdict.is_open else done.started()
    return _result(
        check, verdict, context, advice=advice, changed=changed, hook=hook, started=started
    )


@dataclass(frozen=True, slots=True)
class ApplicationCheck:
    """What the head of a GitOps branch is, and where its commit goes.

    `configs_commit` is the commit of the configs that the tree names ("" for none), and
    `is_new_configuration` whether no status says that it is Configured. `onward` are the next
    environments, `started` the time since when the clusters are awaited.
    """

    moment: ApplicationMoment
    meaning: HeadKind
    configs_commit: str
    is_new_configuration: bool
    targets: tuple[str, ...]
    onward: tuple[str, ...]
    started: datetime
    version: str = ""

    @property
    def is_promotion(self) -> bool:
        """Whether the commit goes on when the clusters comply."""
        return self.meaning in PROMOTIONS

    def about(self) -> dict[str, str]:
        """Return what the user's command gets to know."""
        return {
            "environment": self.moment.name,
            "commit": self.moment.named if self.is_promotion else "",
            "gitops_commit": self.moment.branch.head,
            "version": self.version,
        }


def observe(inputs: AppCheckInputs, context: CommandContext) -> ApplicationCheck:
    """Read what the head of the branch is. Raise KalypsoError if that cannot be read."""
    places = ApplicationPlaces.of(inputs, context)
    moment = read_moment(places, inputs.environment, context)
    configs_commit, targets = _tracked(moment)
    latest = moment.configuration_status()
    is_new = bool(configs_commit) and state_of(latest) is not ApplicationState.CONFIGURED
    meaning = meaning_of_head(
        HeadFacts(
            is_on_main=moment.named in moment.main,
            tree=moment.tree,
            proposed_trees=moment.trees(moment.named),
            latest=moment.status(moment.named, moment.name),
            is_older=any(moment.main.contains(newer, moment.named) for newer in _newest(moment)),
            is_new_configuration=is_new,
        )
    )
    onward: tuple[str, ...] = ()
    version = ""
    if meaning in PROMOTIONS:
        version = moment.release(moment.named).version
        environments = read_environments(places.source, context)
        given = inputs.next_environment
        onward = given if not environments else next_environments(given, moment.name, environments)
    elif moment.named and moment.has_release(moment.named):
        version = moment.release(moment.named).version
    started = _waiting_since(inputs, moment)
    return ApplicationCheck(
        moment, meaning, configs_commit, is_new, targets, onward, started, version
    )


def _newest(moment: ApplicationMoment) -> list[str]:
    """Return the newest other commit that is Deploying or Deployed here, if there is one."""
    current = {
        commit
        for commit in moment.statuses
        if commit != moment.named and is_current(moment.status(commit, moment.name))
    }
    return [commit for commit in moment.main.parents if commit in current][:1]


def _tracked(moment: ApplicationMoment) -> tuple[str, tuple[str, ...]]:
    """Return the commit of the configs that the tree names, and the folders of its targets."""
    branch = moment.branch
    files = moment.context.repositories.open(branch.url, commit=branch.head)
    names = [name for name in (CONFIG_COMMIT_FILE, RECORD_FILE) if name in files.entries()]
    contents = files.read(names) if names else {}
    record = read_record(contents.get(RECORD_FILE))
    targets = record.targets if record else _folders(files.entries())
    return tracked_commit(contents.get(CONFIG_COMMIT_FILE)) or "", tuple(targets)


def _folders(paths: Iterable[str]) -> Sequence[str]:
    """Return the folders of targets in a tree without a record."""
    folders = {
        posixpath.dirname(path) for path in paths if posixpath.basename(path) in TARGET_FILES
    }
    return sorted(folders - {""})


def _waiting_since(inputs: AppCheckInputs, moment: ApplicationMoment) -> datetime:
    """Return when the waiting began: at the time of `started-at`, or now if a job runs again.

    Raise UsageError if `started-at` is not a time with an offset.
    """
    runtime = moment.context.runtime
    now = runtime.now()
    if not inputs.started_at or runtime.job.attempt > 1:
        return now
    given = claimed_start(inputs.started_at)
    branch = moment.branch
    merged = commits.get(moment.context.github, branch.repository, branch.head).committed_at
    return waiting_start(given, merged=merged, now=now).astimezone(UTC)


def _open_reports(inputs: AppCheckInputs, context: CommandContext) -> ClusterReports:
    """Return the source of reports: with `platform-gitops`, of the platform's child objects."""
    if "commit-statuses" in inputs.cluster_reports and not inputs.expected_clusters:
        raise UsageError(
            "expected-clusters is needed: a cluster that posts no status would be overlooked",
            advice="list the clusters of each target: <target> = <names>",
        )
    own = open_cluster_reports(inputs, context)
    if not inputs.platform_gitops:
        return own
    branches = [PlatformBranch.parse(text, context) for text in inputs.platform_gitops]
    return PlatformReports(own, branches, context)


class WatchedApplication:
    """The branch of an application, with the targets that clusters should apply."""

    def __init__(
        self,
        check: ApplicationCheck,
        source: ClusterReports,
        expected: Mapping[str, tuple[str, ...]],
        context: CommandContext,
    ) -> None:
        moment = check.moment
        self.promoted_commit = moment.named if check.is_promotion else None
        self.started = check.started
        branch = moment.branch
        self.branches = [
            FollowedBranch(
                context, moment.name, branch, moment.named or None, gitops_commit=branch.head
            )
        ]
        self._branch = branch
        self._targets = frozenset(check.targets)
        self._platform = source if isinstance(source, PlatformReports) else None
        self._expected = expected

    def tree_of(self, tree: BaseTree | None) -> EnvironmentTree:
        """Return the tree with the folders of its targets in place of cluster types.

        Those count that the platform assigns, or for which clusters are expected. Without any, all
        targets do: a wait that no cluster answers must not pass.
        """
        if tree is None:
            return EnvironmentTree("", frozenset())
        assigned: frozenset[str] = frozenset(self._expected)
        if self._platform:
            assigned = self._platform.paths(self._branch.url, self._branch.branch)
        return EnvironmentTree(
            "",
            self._targets | assigned,
            assigned or self._targets,
            listed=self._expected,
        )

    def gone_back(
        self,
        relation: Callable[[str | None], Relation | None],  # noqa: ARG002 # the protocol's
    ) -> Verdict | None:
        """Return None: an application has no record beside its branch."""
        return None


@dataclass(frozen=True, slots=True)
class CheckWrites:
    """Makes the writes of a run, on the source commit and on the commit of the configs."""

    check: ApplicationCheck
    inputs: AppCheckInputs

    @property
    def _source(self) -> str:
        return self.check.moment.places.source

    @property
    def _name(self) -> str:
        return self.check.moment.name

    def received(self, gitops_commit: str) -> tuple[Write, ...]:
        """Return the record that a run checks a commit of the branch."""
        if self.check.meaning == "by hand":  # its commit has no records
            return ()
        record = StartRecord("received", gitops_commit)
        name = check_context(self._name)
        return (record_of(self._source, self.check.moment.named, name, record),)

    def told(self) -> tuple[Write, ...]:
        """Return the status of a commit that was merged with changes by others."""
        if self.check.meaning != "edited":
            return ()
        return self._on_source(table.status_of(self._name, ApplicationState.EDITED))

    def deploying(self) -> tuple[Write, ...]:
        """Return the statuses while the run waits; those of a rollback tell it at once."""
        if self.check.meaning == "rollback":
            return tuple(self._others(ApplicationState.ROLLED_BACK))
        return self._status(table.status_of(self._name, ApplicationState.DEPLOYING))

    def failure(self, reason: str) -> tuple[Write, ...]:
        """Return the status after an error has ended the run."""
        return self._status(table.failed(self._name, reason))

    def after(self, verdict: Verdict, gitops_commit: str) -> tuple[Write, ...]:
        """Return the starts after a verdict, then the statuses.

        Deploy starts before the status becomes `Deployed`: if the run ends in between, the next
        run starts it again. While the verdict is open, another run continues the waiting.
        """
        check, moment = self.check, self.check.moment
        if verdict.is_open:
            start = check_start(
                self._source,
                self.inputs.check_workflow,
                environment=self._name,
                commit=moment.named,
                gitops_commit=gitops_commit,
            )
            started_at = {"started_at": check.started.isoformat()}
            return (replace(start, inputs={**start.inputs, **started_at}),)
        record = self.received(gitops_commit)
        if verdict.goes_on:
            starts = (
                deploy_start(
                    self._source,
                    self.inputs.deploy_workflow,
                    environment=name,
                    commit=moment.named,
                    origin=self._name,
                )
                for name in check.onward
            )
            deployed = table.deployed(self._name, check.version, gitops_commit)
            return (
                *starts,
                *(self._on_source(deployed) if check.is_promotion else ()),
                *self._configured(gitops_commit),
                *(self._others(ApplicationState.SUPERSEDED) if check.is_promotion else ()),
                *record,
            )
        if verdict.is_failure:
            return (*self._status(table.failed(self._name, verdict.reason)), *record)
        if verdict.name == "superseded" and check.is_promotion:
            state = (
                ApplicationState.ROLLED_BACK if verdict.goes_back else ApplicationState.SUPERSEDED
            )
            by = (verdict.by or "none")[:7]
            return (*self._on_source(table.status_of(self._name, state, by)), *record)
        return record

    def _others(self, state: ApplicationState) -> Iterable[Write]:
        """Yield the statuses of other commits that this one has overtaken, or taken back."""
        moment, main = self.check.moment, self.check.moment.main
        for commit in moment.statuses:
            if commit == moment.named or commit not in main:
                continue
            latest = state_of(moment.status(commit, self._name))
            older = main.contains(moment.named, commit)
            if state is ApplicationState.ROLLED_BACK:
                applies = is_current(moment.status(commit, self._name)) and main.contains(
                    commit, moment.named
                )
            else:
                applies = older and latest in {
                    ApplicationState.DEPLOYING,
                    ApplicationState.EDITED,
                }
            if applies:
                status = table.status_of(self._name, state, moment.named[:7])
                yield PostStatus(self._source, commit, status)

    def _status(self, status: CommitStatus) -> tuple[Write, ...]:
        """Post on the promoted commit; of a change of the configuration, on that of the configs."""
        match self.check.meaning:
            case "promotion" | "continuation":
                return self._on_source(status)
            case "configuration":
                return self._on_configs(status)
        return ()

    def _configured(self, gitops_commit: str) -> tuple[Write, ...]:
        """Return the status of the configuration; a promotion may bring a new one, too."""
        if not self.check.is_new_configuration:
            return ()
        status = table.status_of(self._name, ApplicationState.CONFIGURED, gitops_commit)
        return self._on_configs(status)

    def _on_source(self, status: CommitStatus) -> tuple[Write, ...]:
        return (PostStatus(self._source, self.check.moment.named, status),)

    def _on_configs(self, status: CommitStatus) -> tuple[Write, ...]:
        if not self.check.configs_commit:
            return ()
        return (PostStatus(self.check.moment.places.configs, self.check.configs_commit, status),)


BY_HAND: Final = (
    "the branch {branch!r} names {commit}, which Kalypso did not propose here: nothing goes on"
)
EDITED: Final = "{commit} was merged with changes by others: nothing goes on"
MANUAL: Final = "the manifests of {commit} were changed by hand: nothing goes on"


def _head_problem(check: ApplicationCheck) -> Problem | None:
    """Return what is wrong with a head that is not watched."""
    moment, where = check.moment, Location(check.moment.branch.url)
    commit = moment.named[:7] or "no commit"
    match check.meaning:
        case "by hand":
            message = BY_HAND.format(branch=moment.name, commit=commit)
            return Problem(message, where, "start deploy with a commit of main")
        case "edited":
            advice = "start deploy: it proposes the commit as it should be"
            return Problem(EDITED.format(commit=commit), where, advice)
        case "manual":
            advice = "start deploy to bring back what the configs and the chart make"
            return Problem(MANUAL.format(commit=commit), where, advice)
    return None


def _result(
    check: ApplicationCheck,
    verdict: Verdict | None,
    context: CommandContext,
    *,
    advice: str = "",
    changed: Sequence[Cluster] = (),
    hook: HookRun | None = None,
    started: Mapping[str, str] | None = None,
    planned: Iterable[Write] | None = None,
) -> CommandResult:
    """Return the result of a verdict; None: nothing was awaited.

    `planned` are the writes of a dry run.
    """
    moment = check.moment
    seen = verdict or Verdict("waiting", is_open=True)
    problems: list[Problem] = []
    warnings = list(seen.warnings)
    if problem := _head_problem(check):
        (problems if check.meaning == "edited" else warnings).append(problem)
    if seen.is_failure:
        problems.append(Problem(seen.reason, advice=verdict_advice(seen.name, advice)))
    document = AppCheckDocument(
        environment=moment.name,
        promoted_commit=moment.named,
        gitops_commit=moment.branch.head,
        verify_only=verdict is None,
        version=check.version,
        meaning=check.meaning,
        promoted=check.is_promotion,
        promoted_to=() if seen.is_open else tuple(started or ()),
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of(problems),
        **cluster_fields(seen, changed),
    )
    if planned is not None:
        return dry_run_result("app check", document, planned, context)
    page = app_check_summary(
        document,
        context.url(moment.places.source),
        context.url(moment.places.gitops),
        advice,
        hook.summary() if hook else "",
        started or {},
    )
    return CommandResult(document, page, failed=bool(document.problems))
