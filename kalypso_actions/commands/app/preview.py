"""`kalypso app preview`: compare an application's trees before and after a change.

A pull request of the source is rendered for each environment with its present configs, one of the
configs for the environment of its branch with the commit that the environment has. Nothing is
read from tracking files but that commit: a preview proposes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.github import commits, pull_requests
from kalypso_actions.commands.app.environment import (
    read_environments,
    read_release,
    tracked_at,
    without_configs,
)
from kalypso_actions.commands.app.render import AppRepositories, AppTree, compute_release
from kalypso_actions.commands.app.source_files import OpenPlace
from kalypso_actions.commands.preview import show_comparison
from kalypso_actions.commands.preview.document import PreviewDiffs, compared_commits, findings_of
from kalypso_actions.commands.preview.reading import ChangedBranch, PreviewRequest, request_of_job
from kalypso_actions.commands.shared.context import CommandContext, visibility_of
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.comparison import Mask
from kalypso_actions.comparison.differences import new_findings
from kalypso_actions.comparison.masking import less_visible
from kalypso_actions.errors import Location, UsageError
from kalypso_actions.inputs.app import AppPreviewInputs
from kalypso_actions.model.differences import Change, Comparison, FileChange, MaskedComparison
from kalypso_actions.model.kinds import Environment
from kalypso_actions.promotion.environments import arrival
from kalypso_actions.promotion.version_records import Release
from kalypso_actions.report.application_document import AppPreviewDocument
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.preview_document import (
    ArrivalEntry,
    PreviewDocument,
    PreviewEnvironmentEntry,
)

UNRELEASED: Final = Release("0.0.0-preview", "0.0.0-preview")
"""The version for an environment whose commit has no release."""


def app_preview(inputs: AppPreviewInputs, context: CommandContext) -> CommandResult:
    """Compare the trees of an application before and after a pull request, and show them.

    The pull request gets a status and a comment, and the run an artifact. New problems make it
    fail. Raises KalypsoError if a repository cannot be read, UsageError for a start without a pull
    request, and for a command of a fork's source.
    """
    request = _request(inputs, context)
    preview = ApplicationPreview(inputs, context, request)
    if preview.is_fork and "command" in inputs.generator:
        raise UsageError(
            "the generator command would run a program of a fork",
            advice="preview the change after a review, as a branch of the source",
        )
    return show_comparison(inputs, context, preview.repository, request, preview.compared)


def _request(inputs: AppPreviewInputs, context: CommandContext) -> PreviewRequest:
    """Return the pull request of the job, or that of the configs which the inputs name.

    People can start the workflow with any number: the pull request is read from GitHub.
    """
    if not inputs.configs_pull_request:
        return request_of_job(inputs, context)
    github, configs = context.github, inputs.configs_repository
    pull = pull_requests.get(github, configs, inputs.configs_pull_request)
    if pull.state != "open" or inputs.environment not in {"", pull.base_branch}:
        raise UsageError(
            f"#{pull.number} is no open pull request into {inputs.environment!r}",
            Location(context.url(configs)),
            "correct the inputs; a closed pull request needs no preview",
        )
    base = commits.merge_base(github, configs, pull.base_branch, pull.head_commit)
    url = context.url(configs)
    change = ChangedBranch(url, "", "", pull.base_branch, base, pull.head_commit)
    return PreviewRequest(
        change,
        pull.head_commit,
        pull.number,
        pull.head_commit,
        is_restricted=pull.head_repository.lower() != configs.lower(),
    )


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of the source's main, and of the environments' branches by name."""

    main: str
    configs: Mapping[str, str]
    gitops: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ApplicationPreview:
    """A change of the source, or of the configs, and what it changes in the environments."""

    inputs: AppPreviewInputs
    context: CommandContext
    request: PreviewRequest

    @property
    def of_configs(self) -> bool:
        """Whether the configs change; else the source."""
        return bool(self.inputs.configs_pull_request)

    @property
    def repository(self) -> str:
        """The repository with the pull request."""
        return self.inputs.configs_repository if self.of_configs else self.context.control_plane

    @property
    def is_fork(self) -> bool:
        """Whether somebody else's repository has the change."""
        return self.request.is_restricted

    def compared(self) -> tuple[PreviewDocument, str]:
        """Return the document, and the diffs of all files. Raises KalypsoError."""
        order = read_environments(self.context.control_plane, self.context)
        names = self._names(order)
        mask = Mask(self.inputs.mask, self._hidden())
        diffs = PreviewDiffs()
        heads = self._heads(names)
        changes = {name: mask.masked(self._change(name, heads, mask)) for name in names}
        entries = tuple(self._entry(name, changes[name], order, diffs) for name in names)
        nothing = mask.masked(Comparison(""))
        document = AppPreviewDocument(
            **compared_commits(self.request),
            files_changed=sum(entry.change.files_changed for entry in entries),
            environments=entries,
            **findings_of(nothing, changes),
        )
        return document, "".join(diffs.texts)

    def _names(self, order: Mapping[str, Environment]) -> Sequence[str]:
        given = self.request.change.branch if self.of_configs else self.inputs.environment
        names = [given] if given else list(order)
        if not names:
            raise UsageError(
                "no environment is known",
                Location(self.request.change.url),
                "give environment, or name them in .github/kalypso/environments.yaml",
            )
        return names

    def _hidden(self) -> frozenset[str]:
        """Return the repositories that fewer people may read than the pull request."""
        context, inputs = self.context, self.inputs
        own = visibility_of(context, context.url(self.repository)) or "public"
        places = (context.control_plane, inputs.configs_repository, inputs.gitops_repository)
        urls = {context.url(place) for place in places} - {context.url(self.repository)}
        return less_visible(own, {url: visibility_of(context, url) for url in urls})

    def _heads(self, names: Sequence[str]) -> Heads:
        """Read the present heads once for all environments."""
        context, inputs = self.context, self.inputs
        main, heads = context.main(), context.remotes.heads
        return Heads(
            heads(context.url(context.control_plane), [main])[main],
            heads(context.url(inputs.configs_repository), names),
            heads(context.url(inputs.gitops_repository), names),
        )

    def _change(self, name: str, heads: Heads, mask: Mask) -> Comparison:
        """Return what changes in an environment."""
        before, after = self._trees(name, heads)
        context, inputs = self.context, self.inputs
        origins = frozenset(map(context.url, (context.control_plane, inputs.configs_repository)))
        files = [
            mask.diff(each._replace(repositories=origins)) for each in _differences(before, after)
        ]
        old, new = before.findings, after.findings
        problems, known = new_findings(old.problems, new.problems)
        warnings, _ = new_findings(old.warnings, new.warnings)
        return Comparison(
            name,
            files=tuple(files),
            problems_new=problems,
            problems_known=known,
            warnings_new=warnings,
        )

    def _trees(self, name: str, heads: Heads) -> tuple[AppTree, AppTree]:
        """Render an environment before and after the change, as the same release."""
        context, inputs, change = self.context, self.inputs, self.request.change
        if name not in heads.configs:
            raise without_configs(name, context.url(inputs.configs_repository))
        head = heads.gitops.get(name)
        tree = self._place(inputs.gitops_repository, name, head) if head else None
        url = context.url(inputs.gitops_repository)
        tracked = tracked_at(url, head, context) if head else ""
        main = context.main()
        release = self._release(tracked)

        def rendered(at: str) -> AppTree:
            source_commit = (tracked or heads.main) if self.of_configs else at
            configs_commit = at if self.of_configs else heads.configs[name]
            repositories = AppRepositories(
                self._place(context.control_plane, main, source_commit),
                self._place(inputs.configs_repository, name, configs_commit),
                tree,
            )
            return compute_release(inputs, name, release, context.runtime, repositories)

        return rendered(change.base), rendered(change.head)

    def _place(self, repository: str, branch: str, commit: str) -> OpenPlace:
        """Open a repository; the commit of both sides has the same name in the manifests."""
        url = self.context.url(repository)
        files = self.context.repositories.open(url, branch=branch, commit=commit)
        shown = self.request.change.base if commit == self.request.change.head else commit
        return OpenPlace(files, repository, shown, branch, branch)

    def _release(self, commit: str) -> Release:
        """Return the release of the commit that an environment has."""
        if not commit:
            return UNRELEASED
        source, by = self.context.control_plane, self.inputs.release_by
        release, _ = read_release(source, by, commit, self.context)
        return release or UNRELEASED

    def _entry(
        self,
        name: str,
        change: MaskedComparison,
        order: Mapping[str, Environment],
        diffs: PreviewDiffs,
    ) -> PreviewEnvironmentEntry:
        when = None
        if not self.of_configs and name in order:
            due = arrival(name, order)
            when = ArrivalEntry(
                has="", commits=None, is_first=due.is_first, after=due.after, comparison=None
            )
        return PreviewEnvironmentEntry(
            environment=name,
            compared=True,
            blocked=bool(change.problems_new or change.problems_known),
            change=ComparisonEntry.of(change, diffs.of(change)),
            arrival=when,
        )


def _differences(before: AppTree, after: AppTree) -> Iterable[FileChange]:
    """Yield the manifests that differ; nothing if one side cannot be rendered."""
    if before.findings.problems or after.findings.problems:
        return
    old, new = before.changes.files, after.changes.files
    for path in sorted(old.keys() | new.keys()):
        contents = old.get(path), new.get(path)
        if contents[0] != contents[1] and not path.startswith("."):
            kinds: dict[bytes | None, Change] = {contents[0]: "added", contents[1]: "deleted"}
            yield FileChange(path, kinds.get(None, "modified"), *contents)
