"""What a platform's GitOps branches let clusters apply of an application."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.compliance.child_reports import (
    Reconcilers,
    child_kustomizations,
    child_reports,
    cluster_type_folder,
)
from kalypso_actions.compliance.interface import DeletionLookup, SourceWarnings
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.inputs.app import PLATFORM_BRANCH
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.urls import name_in
from kalypso_actions.sources.yaml_documents import parse_yaml

RECONCILER: Final = "/reconciler.yaml"


@dataclass(slots=True)
class PlatformBranch:
    """A GitOps branch of the platform, `owner/name@branch[:folder]`.

    `head` is the commit whose `reconcilers` were read; `problems` are those of its files.
    """

    repository: str
    url: str
    branch: str
    folder: str = ""
    head: str = ""
    reconcilers: Reconcilers = field(default_factory=Reconcilers)
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, text: str, context: CommandContext) -> PlatformBranch:
        """Return the branch that a checked input names."""
        match = PLATFORM_BRANCH.fullmatch(text)
        if match is None:
            raise ValueError(text)
        repository, branch, folder = match.group("repository", "branch", "path")
        return cls(repository, context.url(repository), branch, (folder or "").strip("./"))

    def read(self, url: str, branch: str, context: CommandContext) -> None:
        """Read what the reconcilers do with a branch of the application's repository at a URL.

        Only files that name the repository are parsed, because a platform may have 100,000 others;
        and where one of them has no Kustomization, the files of its cluster type. Raise
        KalypsoError if the platform's branch, or such a file, cannot be read: an overlooked
        assignment would count as compliant.
        """
        head = context.remotes.heads(self.url, [self.branch]).get(self.branch)
        if head is None:
            raise KalypsoError(
                f"platform-gitops: {self.repository} has no branch {self.branch!r}",
                Location(self.url),
                "correct the input platform-gitops",
            )
        if head == self.head:
            return
        files = context.repositories.open(self.url, branch=self.branch, commit=head)
        prefix = f"{self.folder}/" if self.folder else ""
        paths = [
            path
            for path in files.entries()
            if path.startswith(prefix) and path.endswith(RECONCILER)
        ]
        name = name_in(url).lower().encode()
        contents = files.read(paths) if paths else {}
        documents = self._documents(
            {path: content for path, content in contents.items() if name in content.lower()}
        )
        self.reconcilers = child_kustomizations(documents, url, branch)
        lonely = {cluster_type_folder(path) for path in self.reconcilers.unobserved}
        if lonely:
            documents |= self._documents(
                {
                    path: content
                    for path, content in contents.items()
                    if path not in documents and cluster_type_folder(path) in lonely
                }
            )
            self.reconcilers = child_kustomizations(documents, url, branch)
        self.problems = tuple(self._unobserved())
        self.head = head

    def _documents(self, contents: Mapping[str, bytes]) -> dict[str, list[object]]:
        """Parse files. Raises KalypsoError for one that cannot be parsed."""
        documents: dict[str, list[object]] = {}
        for path, content in contents.items():
            parsed = parse_yaml(self.url, path, content)
            if parsed.problems:
                raise KalypsoError.of(parsed.problems)
            documents[path] = [document.body for document in parsed.documents]
        return documents

    def _unobserved(self) -> Iterator[Problem]:
        files = self.reconcilers.unobserved
        if files:
            yield Problem(
                f"{abbreviated(files)} let clusters apply this branch without a Kustomization of "
                "Flux: their state is not known, and does not count",
                Location(self.url, files[0]),
                "look at these clusters by other means",
                "assignment-unobserved",
            )


class PlatformReports:
    """The reports of an application's Kustomizations on the clusters of a platform.

    `platform` reports the clusters that follow the platform's branches.
    """

    def __init__(
        self, platform: ClusterReports, branches: Sequence[PlatformBranch], context: CommandContext
    ) -> None:
        self._platform = platform
        self._branches = branches
        self._context = context
        names = " and ".join(f"{each.repository}@{each.branch}" for each in branches)
        self.title = f"{platform.title}, for the assignments of {names}"
        self.no_reports_advice = (
            f"check that {names} assigns this branch of the GitOps repository to clusters; "
            f"{platform.no_reports_advice}"
        )
        self.shortest_pause: timedelta = getattr(platform, "shortest_pause", timedelta())

    @property
    def knows_all_clusters(self) -> bool:
        """Whether the platform's source knows all its clusters."""
        return self._platform.knows_all_clusters

    def paths(self, url: str, branch: str) -> frozenset[str]:
        """Return the folders of a branch that clusters apply, as of the last look.

        Raise KalypsoError if the platform's branches cannot be read for the first one.
        """
        for platform in self._branches:
            if not platform.head:
                platform.read(url, branch, self._context)
        return frozenset().union(*(each.reconcilers.paths for each in self._branches))

    def check_inputs(self, followed: FollowedTree) -> None:
        """Raise UsageError if the inputs of the platform's source are missing or wrong."""
        self._platform.check_inputs(followed)

    def setup_advice(self) -> str:
        """Return the inputs that the platform's source lacks."""
        return self._platform.setup_advice()

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Return a report for each cluster and Kustomization. Raise KalypsoError."""
        reports: list[ClusterReport] = []
        for platform in self._branches:
            platform.read(followed.repository_url, followed.branch, self._context)
            if platform.reconcilers.followed:
                of_platform = self._platform.reports(FollowedTree(platform.url, platform.branch))
                reports += child_reports(of_platform, platform.reconcilers.followed)
        return reports

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings of the last look, and the assignments that nobody can observe."""
        of_source = self._platform.warnings() if isinstance(self._platform, SourceWarnings) else ()
        return (*of_source, *(problem for each in self._branches for problem in each.problems))

    def deleted(self, clusters: Iterable[str]) -> Collection[str]:
        """Return those of the clusters that certainly no longer exist."""
        platform = self._platform
        return platform.deleted(clusters) if isinstance(platform, DeletionLookup) else frozenset()

    def close(self) -> None:
        """Close the connections of the platform's source."""
        self._platform.close()
