"""`kalypso app deploy`: propose the tree of an application's environment.

    read → plan → decide → scan → writes → carry out → document

What happens if …

- the configs, our branch or the GitOps branch moves during the run: a condition among the writes
  fails, and everything is read again.
- a newer commit is started while a proposal is open: our one pull request gets the newer tree.
- the configs change while a promotion is proposed: the proposal gets the new configs.
- people close the pull request of a commit: the commit stays out until a person names it. The
  closed proposal of a configuration stays out until the configs or the commit change.
- a scan runs in a job of its own, without secrets (`mode`): the job before it renders and keeps the
  files that it sees; the job after it renders again, and proposes only a tree with the scanned id.
- rendering or the scan refuses the tree: the commit gets a failure with the reason, the older pull
  request stays, and the commit counts again when the configs change or a person names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kalypso_actions.clients.github.labels import missing as missing_labels
from kalypso_actions.clients.process import write_file
from kalypso_actions.commands.app.environment import (
    ApplicationMoment,
    ApplicationPlaces,
    read_moment,
)
from kalypso_actions.commands.app.render import AppRepositories, AppTree, compute_release
from kalypso_actions.commands.app.source_files import OpenPlace
from kalypso_actions.commands.shared.auto_merge import is_enabled_by_us, warnings_of_ended
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.hook import HookRun, run_hook
from kalypso_actions.commands.shared.labels import KALYPSO, PROMOTED, WITHDRAWN
from kalypso_actions.commands.shared.own_proposals import (
    commit_to_propose,
    open_proposal,
    proposal_on_own_branch,
    push_of_proposal,
    while_others_write,
)
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.gitops import proposal_decision
from kalypso_actions.gitops.proposal_decision import (
    OpenProposal,
    ProposalDecision,
    ProposedTree,
    ends_auto_merge,
)
from kalypso_actions.gitops.proposed_commit import (
    TRAILER,
    committed_files,
    only_tracks,
    tree_digest,
)
from kalypso_actions.gitops.rejections import Restrictions, numbers
from kalypso_actions.inputs.app import AppDeployInputs
from kalypso_actions.model.application import RECORD_FILE
from kalypso_actions.model.change_titles import ChangeMeaning, harmless, shortened
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.model.writes import (
    ClosePullRequest,
    DisableAutoMerge,
    Later,
    MergePullRequest,
    NewCommit,
    NoteRefusal,
    OpenedPullRequest,
    OpenPullRequest,
    PostStatus,
    RecordTrees,
    StartWorkflow,
    Unmoved,
    Write,
    WriteComment,
)
from kalypso_actions.promotion import application as table
from kalypso_actions.promotion.application import ApplicationState, deploy_context, deploy_digest
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.starter_rights import PersonsInput
from kalypso_actions.promotion.starts import check_start, record_of
from kalypso_actions.promotion.version_records import Release
from kalypso_actions.report import markdown
from kalypso_actions.report.application_document import (
    AppDeployDocument,
    ApplicationProposal,
    DeployAction,
    app_deploy_summary,
    application_body,
)
from kalypso_actions.report.documents import ProblemEntry

SCAN: Final = "scan"
TREE: Final = "tree"
IMAGES: Final = "images"
CHARTS: Final = "charts"
COMMIT: Final = "commit"
"""The files of a scan; the hook gets the first three as $KALYPSO_TREE and so on."""
RECORDS: Final = (RecordTrees, PostStatus, StartWorkflow)
"""The writes without which a proposal stands: their refusal is a problem, and the run goes on."""


def app_deploy(inputs: AppDeployInputs, context: CommandContext) -> CommandResult:
    """Render an application for an environment, and propose the tree as one pull request.

    The command is idempotent, also if several jobs run at once. Raises KalypsoError if a repository
    cannot be read, or others keep changing it, and UsageError for a commit without a version
    record, for inputs that contradict the record, and for a start that the account must not make.
    """
    if inputs.mode == "scan":
        return _scan_kept_files(inputs, context)
    asked: list[PersonsInput] = ["allow-rollback"] if inputs.allow_rollback else []
    asked += ["allow-removals"] if inputs.allow_removals else []
    asked += ["adopt"] if inputs.adopt else []
    is_person = checked_start(context, asked).bot is None
    return while_others_write(partial(_attempt, inputs, is_person, context), context)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The decision of a run, with all that it was made from.

    `commit` is the commit that the environment should have. Without a `decision`, the tree cannot
    be made, or the scan refused it; `refusal` is the reason. `to_scan`: the scan's job must look at
    the tree. `waits_for` is the reason to write nothing yet. `adoption` is the version record of
    what upstream's workflows have deployed.
    """

    inputs: AppDeployInputs
    moment: ApplicationMoment
    commit: str
    release: Release
    tree: AppTree
    changes: TreeChanges
    proposed: ProposedTree
    own: OpenProposal | None = None
    decision: ProposalDecision | None = None
    refusal: str = ""
    hook: HookRun | None = None
    to_scan: bool = False
    waits_for: str = ""
    adoption: PostStatus | None = None

    @property
    def is_promotion(self) -> bool:
        """Whether another commit than the present one comes; else only its configuration."""
        return self.proposed.is_promotion

    @property
    def digest(self) -> str:
        """The digest of the inputs, which the record has."""
        return deploy_digest(self.commit, self.release, self.moment.configs_head)

    @property
    def is_open(self) -> bool:
        """Whether a pull request is open after the run."""
        return bool(self.decision and self.decision.action in {"create", "update", "leave"})

    @property
    def auto_merge(self) -> str:
        """The option by which this run merges the pull request; "" if people must merge it."""
        held = self.decision.hold if self.decision else ""
        return "" if held or self.inputs.auto_merge == "none" else self.inputs.auto_merge


def _attempt(inputs: AppDeployInputs, is_person: bool, context: CommandContext) -> CommandResult:
    places = ApplicationPlaces.of(inputs, context)
    moment = read_moment(places, inputs.environment, context)
    closed, merged = moment.earlier()
    asked = inputs.commit if is_person else ""
    commit = moment.wanted(closed, asked=asked, allow_rollback=inputs.allow_rollback)
    if not commit:
        return _nothing(moment, context)
    adoption = moment.adopt() if inputs.adopt else None
    release = _checked_release(inputs, moment, commit)
    force = is_person and (inputs.force or asked == commit)
    rejected = ""
    tree = _render(inputs, moment, commit, release, context)
    changes = _changes(tree)
    proposed = _proposed(moment, commit, changes)
    deployment = Deployment(
        inputs, moment, commit, release, tree, changes, proposed, adoption=adoption
    )
    if tree.findings.problems:
        refused = replace(deployment, refusal=tree.findings.problems[0].message)
        return _carry_out(refused, context)
    same = (commit, proposed.digest)
    last = merged.number if merged else 0
    again = [
        each.number for each in closed if each.number > last and (each.commit, each.digest) == same
    ]
    if again and not proposed.is_promotion:
        rejected = f"{numbers(sorted(again))} with the same content was closed without merging"
    elif merged and (merged.commit, merged.digest) == same:
        rejected = f"#{merged.number} with the same content was undone after its merge"
    own = proposal_on_own_branch(moment.branch, changes, context)
    present = open_proposal(moment.pull, own, moment.branch)
    restrictions = Restrictions(rejected, tuple(again))
    decision = proposal_decision.decide(proposed, present, restrictions, force=force)
    deployment = replace(deployment, own=own, decision=decision)
    if inputs.scan and decision.action in {"create", "update"}:
        if inputs.mode == "render":
            write_scan_files(deployment, context.runtime.job.workspace / inputs.scan_files)
            deployment = replace(deployment, to_scan=True)
        elif inputs.mode == "propose":
            deployment = _judged_scan(deployment)
        elif not inputs.dry_run:
            with TemporaryDirectory() as folder:
                write_scan_files(deployment, Path(folder))
                deployment = _scanned(deployment, _scan(inputs, Path(folder), context))
    return _carry_out(deployment, context)


def _checked_release(inputs: AppDeployInputs, moment: ApplicationMoment, commit: str) -> Release:
    """Return the release of the commit. Raises UsageError without one, or for other inputs.

    Otherwise whoever may start the workflow could deploy any image beside a reviewed commit.
    Inputs about another commit are those of a start that a newer one has overtaken.
    """
    release = moment.release(commit)
    given = {
        "version": inputs.version,
        "image-tag": inputs.image_tag,
        "image-name": inputs.image_name,
    }
    differences = release.differences(given) if inputs.commit in {"", commit} else []
    if differences:
        shown = ", ".join(f"{name} {given[name]!r}" for name in differences)
        raise UsageError(
            f"the commit {commit[:7]} is released as {release.description!r}, not with {shown}",
            moment.where,
            "leave these inputs out: the record of the commit decides",
        )
    return release


def _render(
    inputs: AppDeployInputs,
    moment: ApplicationMoment,
    commit: str,
    release: Release,
    context: CommandContext,
) -> AppTree:
    """Compute the tree as `kalypso app render` does, from the commits that were read."""
    places = moment.places

    def place(repository: str, at: str, branch: str) -> OpenPlace:
        files = context.repositories.open(context.url(repository), branch=branch, commit=at)
        return OpenPlace(files, repository, at, branch, branch)

    main = context.main()
    repositories = AppRepositories(
        place(places.source, commit, main),
        place(places.configs, moment.configs_head, moment.name),
        place(places.gitops, moment.branch.head, moment.name),
    )
    tree = compute_release(inputs, moment.name, release, context.runtime, repositories)
    # The record is the source of versions, so a difference to the tracking files is no news.
    tree.findings.warnings = [
        warning for warning in tree.findings.warnings if warning.code != "tracking-differs"
    ]
    return tree


def _changes(tree: AppTree) -> TreeChanges:
    changes = tree.changes
    return TreeChanges(
        dict(changes.files), changes.added, changes.modified, changes.deleted, changes.unchanged
    )


def _proposed(moment: ApplicationMoment, commit: str, changes: TreeChanges) -> ProposedTree:
    """Return the proposal; a configuration that changes no manifest needs no pull request."""
    is_promotion = commit != moment.tracked
    return ProposedTree(
        digest=tree_digest(changes, moment.branch.tree),
        has_changes=is_promotion or not only_tracks(changes, ""),
        promoted_commit=commit,
        branch_promoted_commit=moment.named or None,
        is_promotion=is_promotion,
    )


def write_scan_files(deployment: Deployment, folder: Path) -> None:
    """Write the files that a scan sees: the tree, its images, the archives of services.

    Raises UsageError for a folder with other files, which the scan would see.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"scan-files {folder} has files", advice="name a new folder")
    for path, content in deployment.tree.changes.files.items():
        write_file(folder / TREE, path, content)
    for path, content in deployment.tree.generated.archives.items():
        write_file(folder / CHARTS, path.replace("/", "-"), content)
    images = "".join(f"{name}\n" for name in _images(deployment.tree))
    write_file(folder, IMAGES, images.encode())
    write_file(folder, COMMIT, deployment.commit.encode())


def _scan(inputs: AppDeployInputs, folder: Path, context: CommandContext) -> HookRun:
    """Run the user's command on the rendered tree, before anything is written."""
    places = {name: folder / name for name in (TREE, IMAGES, CHARTS)}
    places[CHARTS].mkdir(exist_ok=True)
    about = {
        "environment": inputs.environment,
        "commit": (folder / COMMIT).read_text(encoding="utf-8"),
        **{name: str(place.resolve()) for name, place in places.items()},
    }
    return run_hook(SCAN, inputs.scan, context.runtime, about)


def _scanned(deployment: Deployment, hook: HookRun) -> Deployment:
    """Return the deployment after the scan."""
    scanned = replace(deployment, hook=hook)
    return replace(scanned, decision=None, refusal=hook.reason) if hook.failed else scanned


def _judged_scan(deployment: Deployment) -> Deployment:
    """Return the deployment after the job of the scan has ended: only its tree is proposed."""
    inputs = deployment.inputs
    if inputs.scanned_tree != deployment.proposed.digest:
        reason = "has changed since the scan" if inputs.scanned_tree else "was not scanned"
        return replace(deployment, waits_for=f"the tree {reason}; the next run scans it")
    if inputs.scan_result == "success":
        return deployment
    return replace(
        deployment, decision=None, refusal=f"the job of the scan ended with {inputs.scan_result!r}"
    )


def _scan_kept_files(inputs: AppDeployInputs, context: CommandContext) -> CommandResult:
    """Run the scan in a job without secrets; nothing else is read or written."""
    folder = context.runtime.job.workspace / inputs.scan_files
    if not (folder / COMMIT).is_file():
        raise UsageError(
            f"scan-files {folder} has no files of a run with mode render",
            advice="download the artifact of that job before",
        )
    hook = _scan(inputs, folder, context)
    problem = Problem(hook.reason, advice="see its output; the tree is not proposed")
    document = AppDeployDocument(
        environment=inputs.environment,
        action="refused" if hook.failed else "scanned",
        reason=hook.reason if hook.failed else "",
        problems=ProblemEntry.all_of([problem] if hook.failed else []),
    )
    context.runtime.log(f"{document.headline}.")
    summary = app_deploy_summary(document, context.url(context.control_plane), hook.summary())
    return CommandResult(document, summary, hook.failed)


def _carry_out(deployment: Deployment, context: CommandContext) -> CommandResult:
    writes = DeployWrites(deployment, context.runtime.job.run_url)
    ends = writes.auto_merge_ends(context)
    planned = writes.in_order(context)
    if deployment.inputs.mode == "render" or deployment.waits_for:
        ends = planned = ()
    if deployment.inputs.dry_run:
        document = _document(deployment, Done())
        return dry_run_result("app deploy", document, (*ends, *planned), context)
    warnings = warnings_of_ended(carry_out(ends, context), context)
    done = Done(goes_on_after=RECORDS, warnings=warnings)
    carry_out(planned, context, done)
    document = _document(deployment, done)
    failed = bool(document.problems)
    context.runtime.log(f"{document.headline}.")
    hook = deployment.hook.summary() if deployment.hook else ""
    summary = app_deploy_summary(document, context.url(context.control_plane), hook)
    return CommandResult(document, summary, failed)


@dataclass(frozen=True, slots=True)
class DeployWrites:
    """Makes the writes of a run after its decision; `page` is that of the run."""

    deployment: Deployment
    page: str

    @property
    def _source(self) -> str:
        return self.deployment.moment.places.source

    def auto_merge_ends(self, context: CommandContext) -> tuple[DisableAutoMerge, ...]:
        """Return the auto-merge that GitHub must not keep enabled while this run writes."""
        deployment, pull = self.deployment, self.deployment.moment.pull
        if pull is None or not pull.auto_merge_by:
            return ()
        repository = deployment.moment.branch.repository
        is_own = is_enabled_by_us(pull, context.github.identity(repository))
        merges = bool(deployment.auto_merge)
        ends = ends_auto_merge(deployment.decision, merges=merges, is_own=is_own)
        return (DisableAutoMerge(repository, pull),) if ends else ()

    def in_order(self, context: CommandContext) -> tuple[Write, ...]:
        """Return the writes: our branch first, because only its push conflicts; the record last."""
        deployment = self.deployment
        adopted = (deployment.adoption,) if deployment.adoption else ()
        if deployment.decision is None:
            return (*adopted, *self._refused(), *self._comment(), self._record("blocked"))
        opens = [*self._open(context)] if deployment.is_open else [*self._withdraw()]
        return (*opens, *adopted, *self._overtaken(), self._record("scheduled"))

    def _open(self, context: CommandContext) -> Iterator[Write]:
        deployment, moment = self.deployment, self.deployment.moment
        branch, pull = moment.branch, moment.pull
        assert deployment.decision  # noqa: S101 - the caller has checked it
        commit = commit_to_propose(branch, deployment.own, deployment.proposed, deployment.decision)
        configs = context.url(moment.places.configs)
        moved = "the configs have changed while they were read"
        yield Unmoved(moment.places.configs, configs, moment.name, moment.configs_head, moved)
        if isinstance(commit, NewCommit):
            changes = committed_files(deployment.changes, "")
            commit_by = deployment.inputs.commit_by
            yield push_of_proposal(branch, changes, self._message(), commit_by)
        record = deployment.changes.content(RECORD_FILE)
        trees = ((branch.url, commit, "", record),)
        yield RecordTrees(self._source, moment.name, deployment.commit, trees)
        labels = (KALYPSO, *([PROMOTED] if deployment.is_promotion else []))
        labels = (*labels, *deployment.inputs.labels)
        present = pull.labels if pull else ()
        text = self._text(context)
        yield OpenPullRequest(
            repository=branch.repository,
            head=branch.own_branch,
            base=branch.branch,
            title=self._title(),
            body=_body(text, commit) if isinstance(commit, str) else Later(_body, text, commit, ""),
            commit=commit,
            known=pull,
            read_first=bool(pull),
            labels=labels,
            dropped=tuple({PROMOTED, WITHDRAWN}.difference(labels)),
            new_labels=tuple(sorted(missing_labels(labels, present))),
        )
        message = f"another run has moved the branch {branch.own_branch!r} meanwhile"
        yield Unmoved(branch.repository, branch.url, branch.own_branch, commit, message)
        message = f"the branch {branch.branch!r} has changed what is proposed"
        place = (branch.repository, branch.url, branch.branch, branch.head)
        yield Unmoved(*place, message, deployment.changes, branch.tree)
        opened = OpenedPullRequest(branch.repository, branch.own_branch, branch.branch)
        yield self._promoted(opened, context.url(branch.repository))
        if deployment.auto_merge:
            merge = NewCommit(branch.repository, branch.branch)
            start = check_start(
                self._source,
                deployment.inputs.check_workflow,
                environment=moment.name,
                commit=deployment.commit,
                gitops_commit=merge,
            )
            title = shortened(harmless(self._title()))
            yield MergePullRequest(opened, commit, branch.head, pull, start, title)
        elif pull and pull.mergeable is False and deployment.decision.action == "leave":
            yield NoteRefusal(branch.repository, pull, branch.head)  # a new commit conflicts too

    def _promoted(self, opened: OpenedPullRequest, url: str) -> PostStatus:
        """Return the status of the commit, or of the configs' commit, with the pull request."""
        deployment, name = self.deployment, self.deployment.moment.name
        version = deployment.release.version if deployment.is_promotion else ""
        pages = f"{url}/pull/"
        shown = table.promoted(name, version, url)
        status = Later(_promoted, (name, version, pages), opened, shown)
        return self._on_commit(status)

    def _on_commit(self, status: CommitStatus | Later[CommitStatus]) -> PostStatus:
        """Post on the source commit that comes, or on the commit of the configs.

        The status of the commit that the environment has says how it was deployed, and stays.
        """
        moment = self.deployment.moment
        if self.deployment.is_promotion:
            return PostStatus(self._source, self.deployment.commit, status)
        return PostStatus(moment.places.configs, moment.configs_head, status)

    def _refused(self) -> Iterator[Write]:
        yield self._on_commit(table.failed(self.deployment.moment.name, self.deployment.refusal))

    def _comment(self) -> Iterator[WriteComment]:
        """Say on the older pull request why it is not updated."""
        moment, pull = self.deployment.moment, self.deployment.moment.pull
        if pull:
            mark = markdown.marker("refused", moment.name)
            commit, reason = self.deployment.commit[:7], markdown.text(self.deployment.refusal)
            run = f" See {markdown.link('the run', self.page)}." if self.page else ""
            body = f"The tree of {commit} is not proposed: {reason}.{run}"
            yield WriteComment(moment.branch.repository, pull.number, mark, f"{mark}\n{body}")

    def _withdraw(self) -> Iterator[ClosePullRequest]:
        moment, decision = self.deployment.moment, self.deployment.decision
        if moment.pull and decision and decision.action in {"withdraw", "stop"}:
            mark = markdown.marker("withdrawn", moment.name)
            reason = (
                f"The present content was rejected: {decision.reason}."
                if decision.action == "stop"
                else f"{markdown.code(moment.name)} already matches; nothing is left to propose."
            )
            pull = moment.pull
            repository = moment.branch.repository
            yield ClosePullRequest(repository, pull.number, mark, reason, pull.url, (WITHDRAWN,))

    def _overtaken(self) -> Iterator[PostStatus]:
        """End older starts, and tell the commits that were proposed before that another came."""
        moment, commit = self.deployment.moment, self.deployment.commit
        for other in moment.statuses:
            is_replaced = other == moment.proposed or moment.main.contains(commit, other)
            if other == commit or not is_replaced:
                continue
            record = moment.record(other)
            if record and record.kind in {"starting", "received"}:
                ended = StartRecord("not needed", record.subject)
                yield record_of(self._source, other, deploy_context(moment.name), ended)
            latest = moment.status(other, moment.name)
            is_merged = other == moment.named
            if table.state_of(latest) is ApplicationState.PROMOTED and not is_merged:
                by = commit[:7]
                status = table.status_of(moment.name, ApplicationState.SUPERSEDED, by)
                yield PostStatus(self._source, other, status)

    def _record(self, kind: str) -> PostStatus:
        deployment = self.deployment
        blocked = StartRecord("blocked", deployment.digest)
        record = blocked if kind == "blocked" else StartRecord("scheduled", deployment.digest)
        name = deploy_context(deployment.moment.name)
        return replace(
            record_of(self._source, deployment.commit, name, record), if_complete=kind != "blocked"
        )

    def _message(self) -> str:
        """Return the message of the commit: upstream's first line, and the digest."""
        deployment = self.deployment
        head = f"deployment {deployment.release.version}"
        return f"{head}\n\n{TRAILER}: {deployment.proposed.digest}\n"

    def _title(self) -> str:
        deployment, name = self.deployment, self.deployment.moment.name
        if deployment.inputs.title == "upstream":
            return f"Deploy to '{name}' '{deployment.release.version}'"
        return self._meaning().title

    def _meaning(self) -> ChangeMeaning:
        deployment, moment = self.deployment, self.deployment.moment
        files = sum(1 for _ in _manifests(deployment.changes))
        kind = "configuration"
        if deployment.is_promotion:
            goes_back = moment.tracked and moment.main.contains(moment.tracked, deployment.commit)
            kind = "rollback" if goes_back else "promotion"
        between = moment.main.since(moment.tracked) if moment.tracked else None
        more = sum(moment.main.contains(deployment.commit, each) for each in between or ())
        return ChangeMeaning(
            kind,  # type: ignore[arg-type]  # one of three literals
            moment.name,
            deployment.commit,
            more=max(0, more - 1),
            files=files,
        )

    def _text(self, context: CommandContext) -> ApplicationProposal:
        deployment, moment = self.deployment, self.deployment.moment
        decision, tracked = deployment.decision, moment.tracked
        before = tracked if deployment.is_promotion else ""
        is_known = bool(before) and moment.has_release(before)
        return ApplicationProposal(
            source=self._source,
            source_url=context.url(self._source),
            configs_url=context.url(moment.places.configs),
            environment=moment.name,
            version=deployment.release.version,
            commit=deployment.commit,
            before=before,
            version_before=moment.release(before).version if is_known else "",
            configs_commit=moment.configs_head,
            meaning=self._meaning(),
            title=deployment.inputs.title,
            changes=deployment.changes,
            targets=tuple(target.folder for target in deployment.tree.targets),
            images=_images(deployment.tree),
            auto_merge=deployment.auto_merge,
            again=decision.again if decision else (),
            warnings=ProblemEntry.all_of(deployment.tree.findings.warnings),
        )


def _promoted(given: tuple[str, str, str], number: int) -> CommitStatus:
    name, version, pages = given
    return table.promoted(name, version, f"{pages}{number}")


def _body(text: ApplicationProposal, commit: str) -> str:
    return application_body(text, commit)


def _images(tree: AppTree) -> tuple[str, ...]:
    return tuple(sorted({image for images in tree.images.values() for image in images}))


def _manifests(changes: TreeChanges) -> Iterator[str]:
    changed: Collection[str] = (*changes.added, *changes.modified, *changes.deleted)
    return (path for path in changed if not path.startswith(".github/"))


def _nothing(moment: ApplicationMoment, context: CommandContext) -> CommandResult:
    """Return the result for an environment without any commit to deploy."""
    warnings = []
    if moment.named:
        warnings.append(
            Problem(
                f"the branch {moment.name!r} names {moment.named[:7]}, which Kalypso did not "
                "propose here",
                Location(moment.branch.url),
                "revert the manual change, or start deploy with a commit of main",
            )
        )
    document = AppDeployDocument(
        environment=moment.name, action="nothing", warnings=ProblemEntry.all_of(warnings)
    )
    context.runtime.log(f"{document.headline}.")
    return CommandResult(document, app_deploy_summary(document, context.url(context.control_plane)))


def _action(deployment: Deployment) -> DeployAction:
    if deployment.decision is None:
        return "refused"
    if deployment.waits_for:
        return "wait"
    return "rendered" if deployment.inputs.mode == "render" else deployment.decision.action


def _document(deployment: Deployment, done: Done) -> AppDeployDocument:
    """Return the document of what was decided, and done."""
    moment, decision, findings = deployment.moment, deployment.decision, deployment.tree.findings
    opened = next(iter(done.pulls.values()), None)
    pull = opened[0] if opened else moment.pull if deployment.is_open else None
    problems = [*findings.problems]
    if deployment.hook and deployment.hook.failed:
        advice = "see its output; the tree is not proposed"
        problems.append(Problem(deployment.hook.reason, advice=advice))
    elif deployment.refusal and not findings.problems:
        advice = "see the log of that job; the tree is not proposed"
        problems.append(Problem(deployment.refusal, advice=advice))
    warnings = [*findings.warnings, *done.warnings]
    if decision and decision.action == "stop":
        advice = "to propose it again, start deploy with this commit, or with force"
        where = Location(moment.branch.url)
        warnings.append(Problem(f"nothing is proposed: {decision.reason}", where, advice))
    return AppDeployDocument(
        environment=moment.name,
        commit=deployment.commit,
        version=deployment.release.version,
        promoted=deployment.is_promotion,
        action=_action(deployment),
        reason=deployment.refusal or deployment.waits_for or (decision.reason if decision else ""),
        scan=deployment.to_scan,
        changed=any(outcome != "unchanged" for _, outcome in done.pulls.values()),
        digest=deployment.proposed.digest,
        images=_images(deployment.tree),
        targets=tuple(target.folder for target in deployment.tree.targets),
        pull_request_number=pull.number if pull else None,
        pull_request_url=pull.url if pull else "",
        notes=ProblemEntry.all_of(findings.notes),
        warnings=ProblemEntry.all_of(warnings),
        problems=ProblemEntry.all_of([*problems, *done.problems]),
    )
