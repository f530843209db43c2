"""An environment of an application as its repositories record it at one moment.

    moment = read_moment(places, "dev", context)
    moment.tracked, moment.proposed, moment.release(commit)

The commands of the chain decide from it alone: every start only says when to look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final

from kalypso_actions.clients.github import issues, pull_requests, statuses
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import WITHDRAWN
from kalypso_actions.commands.shared.own_statuses import own_statuses_of
from kalypso_actions.commands.shared.reading.base_trees import read_gitops_branch
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.gitops.proposed_commit import digest_of, tracked_commit
from kalypso_actions.gitops.provenance import tree_id
from kalypso_actions.gitops.rejections import closed_by_people
from kalypso_actions.inputs.app import (
    AppCheckInputs,
    AppDeployInputs,
    AppPollInputs,
    AppStatusInputs,
)
from kalypso_actions.model.application import (
    CONFIG_COMMIT_FILE,
    IMAGE_NAME_FILE,
    IMAGE_TAG_FILE,
    ORDER_FILE,
    RECORD_FILE,
    VARIABLE_VALUE,
    VERSION_FILE,
)
from kalypso_actions.model.documents import content_of
from kalypso_actions.model.github import CommitStatus, PullRequest
from kalypso_actions.model.history import Ancestry
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import OWN_BRANCHES, PROMOTED_COMMIT_FILE
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.model.writes import PostStatus
from kalypso_actions.promotion.application import (
    ApplicationState,
    DeployFacts,
    deploy_context,
    deploy_digest,
    desired_commit,
    read_order,
    refused,
    state_of,
)
from kalypso_actions.promotion.cd_decision import left_commits
from kalypso_actions.promotion.start_records import (
    StartRecord,
    read_record,
    read_trees,
    tree_context,
)
from kalypso_actions.promotion.statuses import posted_by_chain
from kalypso_actions.promotion.version_records import (
    VERSION_CONTEXT,
    Release,
    ReleaseBy,
    makes_releases,
    no_release,
    release_of,
)
from kalypso_actions.report.pull_request import read_mark

NEWEST: Final = 100
"""The commits of main whose records are read; newer commits replace older ones."""

NEWEST_NAMED: Final = 10
"""The commits whose records are read beside them, because the branch has named them last."""

RELEASE_FILES: Final = (VERSION_FILE, IMAGE_TAG_FILE)
MAX_COMMITS: Final = 1000
"""The most commits of a GitOps branch to read."""

Statuses = Mapping[str, Mapping[str, CommitStatus]]
"""The chain's latest statuses of commits by context, in lower case."""


@dataclass(frozen=True, slots=True)
class ApplicationPlaces:
    """The repositories of an application as owner/name, and whose version records count."""

    source: str
    configs: str
    gitops: str
    release_by: ReleaseBy = "job"

    @classmethod
    def of(
        cls,
        inputs: AppDeployInputs | AppCheckInputs | AppPollInputs | AppStatusInputs,
        context: CommandContext,
    ) -> ApplicationPlaces:
        """Return the repositories that the inputs of a command name; the job runs in the source."""
        repositories = inputs.configs_repository, inputs.gitops_repository
        return cls(context.control_plane, *repositories, inputs.release_by)


@dataclass(frozen=True, slots=True)
class EarlierProposal:
    """A pull request of ours that people closed: the commit that it tracks, and its digest."""

    number: int
    commit: str
    digest: str | None


@dataclass(slots=True)
class ApplicationMoment:
    """An environment of an application.

    `main` is the ancestry of the source's main, `configs_head` the head of the configs branch.
    `named` is the commit that the tracking file names, `past` are those that it has named, newest
    first, and `tree` is the id of the branch's tree. `pull` is our open pull request; `own_named`
    is the commit that its tree names.
    """

    places: ApplicationPlaces
    name: str
    main: Ancestry
    configs_head: str
    branch: GitOpsBranch
    named: str
    tree: str
    past: Sequence[str]
    statuses: Statuses
    context: CommandContext
    pull: PullRequest | None = None
    own_named: str = ""
    _releases: dict[str, tuple[Release | None, Problem | None]] = field(default_factory=dict)

    @property
    def where(self) -> Location:
        """The place of the source."""
        return Location(self.context.url(self.places.source))

    def status(self, commit: str, status_context: str) -> CommitStatus | None:
        """Return the chain's latest status of a commit in a context."""
        return self.statuses.get(commit, {}).get(status_context.lower())

    def record(self, commit: str) -> StartRecord | None:
        """Return the record of deploy on a commit."""
        return read_record(self.status(commit, deploy_context(self.name)))

    def trees(self, commit: str) -> tuple[str, ...]:
        """Return the ids of the trees that Kalypso has proposed here for a commit."""
        status = self.status(commit, tree_context(self.name))
        identity = self.context.github.identity(self.places.source)
        return read_trees(status) if status and identity.is_of_chain(status.author) else ()

    @property
    def tracked(self) -> str:
        """The commit that the environment has; "" if Kalypso has not proposed it here.

        A branch into which Kalypso has merged nothing yet, such as that of a new ring, has what it
        names.
        """
        is_begun = any(self.trees(commit) for commit in self.past)
        return self.named if self.trees(self.named) or not is_begun else ""

    @property
    def proposed(self) -> str:
        """The commit of our open pull request; "" without one that Kalypso has proposed."""
        return self.own_named if self.pull and self.trees(self.own_named) else ""

    @property
    def goes_back(self) -> bool:
        """Whether our open pull request is a rollback, which only a person asks for."""
        mark = read_mark(self.pull.body) if self.pull else None
        return bool(mark and mark.means.startswith("rollback"))

    def release(self, commit: str) -> Release:
        """Return the release of a commit. Raises UsageError without one, or with two."""
        release, problem = self._release(commit)
        if release is None:
            by = self.places.release_by
            raise UsageError.of([problem or no_release(commit, by, self.where)])
        return release

    def has_release(self, commit: str) -> bool:
        """Whether a commit has exactly one release."""
        return self._release(commit)[0] is not None

    def _release(self, commit: str) -> tuple[Release | None, Problem | None]:
        if commit not in self._releases:
            source, by = self.places.source, self.places.release_by
            self._releases[commit] = read_release(source, by, commit, self.context)
        return self._releases[commit]

    def adopt(self) -> PostStatus | None:
        """Take the version and image of the tracking files as those of the commit that they name.

        Return the record of it; None if the commit has a release. Everybody who may write to the
        branch decides what the files say, so only a person asks for this. Raises UsageError for
        tracking files without a commit of main, or without a version.
        """
        if self.named not in self.main:
            raise UsageError(
                f"the branch {self.name!r} tracks no commit of the source's main",
                Location(self.branch.url),
                "release a commit: there is nothing to adopt",
            )
        if self.has_release(self.named):
            return None
        files = self.context.repositories.open(self.branch.url, commit=self.branch.head)
        wanted = [name for name in (*RELEASE_FILES, IMAGE_NAME_FILE) if name in files.entries()]
        texts = {
            name: content.decode("utf-8", "replace").strip()
            for name, content in files.read(wanted).items()
        }
        image_name, _, tag = texts.get(IMAGE_NAME_FILE, "").rpartition(":")
        version = texts.get(VERSION_FILE, "")
        release = Release(version, texts.get(IMAGE_TAG_FILE) or tag or version, image_name)
        wrong = [text for text in texts.values() if not VARIABLE_VALUE.fullmatch(text)]
        if wrong or not version:
            raise UsageError(
                f"the tracked version and image of {self.name!r} cannot be used: "
                f"{wrong[0] if wrong else 'there is no version'!r}",
                Location(self.branch.url, VERSION_FILE),
                "release a commit: nothing can be adopted",
            )
        record = release.status()
        self._releases[self.named] = (release, None)
        return PostStatus(self.places.source, self.named, record, is_new=True)

    def left(self) -> frozenset[str]:
        """Return the commits that people rolled the environment back from.

        The commits of a branch from which this one was cut do not count.
        """
        here = [commit for commit in self.past if self.trees(commit)]
        if not self.named:  # people have reverted the first merge
            return frozenset(commit for commit in here if commit in self.main)
        return left_commits(self.named, here, self.main)

    def earlier(self) -> tuple[list[EarlierProposal], EarlierProposal | None]:
        """Return our proposals that people closed, newest first, and the one merged last.

        Proposals that are older than the release of each commit on its way are left out.
        """
        github, branch = self.context.github, self.branch
        closed: list[EarlierProposal] = []
        last: PullRequest | None = None
        since = self._released_since()
        pages = pull_requests.closed_pages(
            github,
            branch.repository,
            head=branch.own_branch,
            base=branch.branch,
            without=WITHDRAWN,
        )
        for pull in (pull for page in pages for pull in page):
            if pull.merged:
                last = last or pull
                if since is None or (pull.merged_at and pull.merged_at < since):
                    break
            elif closed_by_people(issues.events(github, branch.repository, pull.number)):
                proposal = self._proposal(pull)
                closed += [proposal] if proposal else []
        return closed, self._proposal(last) if last else None

    def _released_since(self) -> datetime | None:
        """Return when the first of the commits was released that are on their way."""
        versions = (
            self.status(commit, VERSION_CONTEXT)
            for commit in self._on_their_way()
            if commit != self.proposed
        )
        times = [each.created_at for each in versions if each and each.created_at]
        return min(times, default=None)

    def _proposal(self, pull: PullRequest) -> EarlierProposal | None:
        """Return what a closed pull request proposed; None if its commit is gone."""
        try:
            named = self.named_at(pull.head_commit)
            line = self.context.remotes.history(self.branch.url, pull.head_commit)
            message = next(commit.message for commit in line)
        except KalypsoError:
            return None
        return EarlierProposal(pull.number, named, digest_of(message))

    def wanted(
        self,
        closed: Iterable[EarlierProposal],
        *,
        asked: str = "",
        allow_rollback: bool = False,
    ) -> str:
        """Return the commit that the environment should have; "" for none.

        `closed` are the proposals that people closed, and `asked` is the commit that a person
        names. Raises UsageError as `desired_commit`.
        """
        return desired_commit(
            DeployFacts(
                main=self.main,
                tracked=self.tracked,
                proposed=self.proposed,
                started=[*self._on_their_way()],
                left=self.left(),
                out={each.commit for each in closed},
                asked=asked,
                allow_rollback=allow_rollback,
                goes_back=self.goes_back,
            )
        )

    def _on_their_way(self) -> Iterator[str]:
        """Yield the commits that are on their way, and refused ones with new configs.

        These have a start that has not ended, or a proposal that was neither merged nor closed.
        """
        for commit in self.statuses:
            record = self.record(commit)
            if record is None or self.main.contains(self.tracked, commit):
                continue
            state = state_of(self.status(commit, self.name))
            if record.kind in {"starting", "received"} or state is ApplicationState.PROMOTED:
                yield commit
            elif record.kind == "blocked" and self.has_release(commit):
                digest = deploy_digest(commit, self.release(commit), self.configs_head)
                if not refused(record, digest):
                    yield commit

    def configuration_status(self) -> CommitStatus | None:
        """Return the status of the environment on the commit of the configs that the tree names."""
        files = self.context.repositories.open(self.branch.url, commit=self.branch.head)
        commit = _commit(content_of(files, CONFIG_COMMIT_FILE))
        if not commit:
            return None
        github, configs = self.context.github, self.places.configs
        posted = statuses.of_commits(github, configs, [commit]).get(commit, {})
        own = posted_by_chain(posted, github.identity(configs), any_app=True)
        return own.get(self.name.lower())

    def named_at(self, commit: str) -> str:
        """Return the commit of the source that the tree of a GitOps commit names; "" for none."""
        return tracked_at(self.branch.url, commit, self.context)


def tracked_at(url: str, commit: str, context: CommandContext) -> str:
    """Return the commit of the source that the tree of a GitOps commit names; "" for none."""
    files = context.repositories.open(url, commit=commit)
    return _commit(content_of(files, PROMOTED_COMMIT_FILE))


def _commit(content: bytes | None) -> str:
    commit = tracked_commit(content) or ""
    return commit if is_commit_id(commit) else ""


def read_release(
    source: str, release_by: ReleaseBy, commit: str, context: CommandContext
) -> tuple[Release | None, Problem | None]:
    """Return the release of a commit, or the problem of two. Raises GitHubError."""
    counts = makes_releases(context.github.identity(source), release_by)
    posted = statuses.history(context.github, source, commit)
    return release_of(posted, counts, commit, Location(context.url(source)))


def read_main(source: str, context: CommandContext) -> tuple[str, Ancestry]:
    """Return the name of the source's main branch, and its ancestry. Raises KalypsoError."""
    url, main = context.url(source), context.main()
    return main, context.remotes.ancestry(url, context.remotes.heads(url, [main])[main])


def read_environments(source: str, context: CommandContext) -> dict[str, Environment]:
    """Return the environments that the source's main names, in order; none without the file.

    Raises KalypsoError.
    """
    files = context.repositories.open(context.url(source), branch=context.main())
    return read_order(content_of(files, ORDER_FILE), context.url(source))


def environment_names(
    given: Sequence[str], places: ApplicationPlaces, context: CommandContext
) -> Sequence[str]:
    """Return the names of the environments: the given ones, else by the order on main.

    Raises UsageError without any.
    """
    known = given or tuple(read_environments(places.source, context))
    if not known:
        raise UsageError(
            "no environment is known",
            Location(context.url(places.source)),
            "give environments, or name them in .github/kalypso/environments.yaml",
        )
    return known


def read_moment(places: ApplicationPlaces, name: str, context: CommandContext) -> ApplicationMoment:
    """Read an environment. Raises KalypsoError if a repository or a branch cannot be read.

    The heads of our own branches are read before the configs: if a later push finds the same
    heads, no other run has proposed newer configs.
    """
    url = context.url(places.gitops)
    branch = GitOpsBranch(
        repository=places.gitops,
        url=url,
        branch=name,
        folder="",
        where=Location(url),
        own_branch=f"{OWN_BRANCHES}{name}",
    )
    branch = read_gitops_branch(branch, context)
    configs = context.url(places.configs)
    configs_head = context.remotes.heads(configs, [name]).get(name)
    if configs_head is None:
        raise without_configs(name, configs)
    main, ancestry = read_main(places.source, context)
    files = context.repositories.open(url, commit=branch.head)
    record = content_of(files, RECORD_FILE)
    moment = ApplicationMoment(
        places=places,
        name=name,
        main=ancestry,
        configs_head=configs_head,
        branch=branch,
        named=_commit(branch.tree.promoted_commit),
        tree=tree_id(record, files.folder_ids("")),
        past=[*_past(branch, context)],
        statuses={},
        context=context,
    )
    pulls = pull_requests.find(
        context.github, places.gitops, head=branch.own_branch, base=branch.branch
    )
    moment.pull = next(iter(pulls), None)
    if moment.pull and branch.own_head:
        # Raises for the pull request of somebody else.
        pull_requests.is_own(context.github, places.gitops, moment.pull)
        if not moment.pull.merge_state:  # a list lacks it and `mergeable`
            moment.pull = pull_requests.get(context.github, places.gitops, moment.pull.number)
        moment.own_named = moment.named_at(branch.own_head)
    moment.statuses = _read_statuses(moment, main)
    return moment


def without_configs(name: str, url: str) -> KalypsoError:
    """Return the error of an environment without a branch of the configs at a URL."""
    return KalypsoError(
        f"the configs have no branch {name!r}",
        Location(url),
        "create it with the configuration of the environment, or correct the environment",
    )


def _past(branch: GitOpsBranch, context: CommandContext) -> Iterator[str]:
    """Yield the commits that the tracking file of a branch has named, newest first."""
    line = islice(context.remotes.history(branch.url, branch.head), MAX_COMMITS)
    versions = [
        version
        for commit in line
        for version in [commit.changes.get(PROMOTED_COMMIT_FILE)]
        if version
    ]
    ids = {each.after.object_id for each in versions if each.after}
    contents = context.remotes.blobs(branch.url, ids) if ids else {}
    for version in versions:
        if version.after and version.after.object_id in contents:
            yield _commit(contents[version.after.object_id])


def _read_statuses(moment: ApplicationMoment, main: str) -> Statuses:
    """Return the chain's statuses of main's newest commits, and of those that trees name."""
    context, source = moment.context, moment.places.source
    newest = statuses.of_history(context.github, source, main, NEWEST)
    identity = context.github.identity(source)
    own: dict[str, Mapping[str, CommitStatus]] = {
        commit: posted_by_chain(posted, identity, any_app=True) for commit, posted in newest.items()
    }
    named = {moment.named, moment.own_named, *moment.past[:NEWEST_NAMED]}
    others = named - own.keys() - {""}
    if others:
        own |= own_statuses_of(context, sorted(others), any_app=True)
    return own
