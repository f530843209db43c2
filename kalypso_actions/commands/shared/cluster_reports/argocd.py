"""The Applications of Argo CD servers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from kalypso_actions.clients.argocd import ArgoCD
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.compliance.argocd_applications import (
    ArgoServer,
    followers_of_applications,
    reports_of_applications,
)
from kalypso_actions.doctor_rules.check import Check, ok, warning
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.inputs.chain import ClusterSources
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport, FollowedTree
from kalypso_actions.model.urls import is_loopback

TOKEN_OF: Final = re.compile(r"(https?://[^=\s]+?)/?=(\S+)")

PAGE: Final = "/applications"
"""The first page of Argo CD in a browser."""


class ArgoCDApplications:
    """The Applications that follow the branch, on all `argocd-servers`."""

    title = "Argo CD"
    no_reports_advice = (
        "check the repository, the branch and the path of the Applications, and what the token may "
        "see (applications, get, */*)"
    )

    shortest_pause = timedelta(seconds=30)
    """A list has about 11 kB for each Application, and no filter by repository that suffices."""

    def __init__(self, inputs: ClusterSources, context: CommandContext) -> None:
        self._inputs, self._context, self._runtime = inputs, context, context.runtime
        self._clients: tuple[ArgoCD, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self._servers: Sequence[ArgoServer] = ()
        self._served: set[FollowedTree] = set()
        """The trees, without commits, that the last look served."""
        self._read_at = datetime.min.replace(tzinfo=UTC)
        self._commits: set[str] = set()
        """The commits of all trees."""
        self._blind: list[str] | None = None
        """The servers whose token may not see all Applications; None before they are asked."""

    @property
    def knows_all_clusters(self) -> bool:
        """Whether the tokens see all Applications."""
        return not self._blind

    def check_inputs(self, followed: FollowedTree) -> None:
        """Ask each server once what the token may see.

        Raise UsageError if the inputs are missing or wrong, or if a token may overlook clusters
        that nobody lists, and KalypsoError if a server does not answer.
        """
        self._commits.update(followed.commits)
        if self._blind is None:
            clients = self._beginning_look()
            answers = in_parallel(ArgoCD.sees_all_applications, clients)
            sees = zip(clients, answers, strict=True)
            self._blind = [client.url for client, sees_all in sees if not sees_all]
        if self._blind and followed.unlisted:
            raise UsageError(
                f"the token for {', '.join(self._blind)} may not see all Applications "
                "(applications, get, */*): Argo CD leaves out what it may not see, without a word",
                advice="allow `p, role:kalypso, applications, get, */*, allow`, or list the "
                f"clusters of {', '.join(followed.unlisted)} in the annotation kalypso.io/clusters",
            )

    def setup_advice(self) -> str:
        """Return the inputs that `kalypso doctor` lacks to send requests."""
        if self._inputs.argocd_servers and self._inputs.argocd_tokens.get_secret_value():
            return ""
        return "give --argocd-servers and KALYPSO_ARGOCD_TOKENS to have Argo CD asked"

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Return the reports of all Applications that follow the branch.

        A look asks about each tree once, and reads the servers once for all of them. Raise
        KalypsoError if a server does not answer.
        """
        tree = replace(followed, commits=())
        servers = self._look(is_new=tree in self._served)
        self._served.add(tree)
        try:
            reports, self._problems = reports_of_applications(
                servers, followed, lambda: self._default_branch(followed) == followed.branch
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            urls = ", ".join(server.url for server in servers)
            raise KalypsoError(
                f"{urls}: an Application is not of Argo CD's form: {type(error).__name__}: {error}",
                advice="check that argocd-servers names API servers of Argo CD",
            ) from error
        return reports

    def followers(self, branch: str) -> tuple[BranchFollower, ...]:
        """Return the Applications that follow a branch of this name, of any repository.

        Raise KalypsoError if a server does not answer.
        """
        return tuple(followers_of_applications(self._look(), branch, self._commits))

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings of the last look."""
        return self._problems

    def checks(self, followed: FollowedTree) -> Sequence[Check]:  # noqa: ARG002 # the protocol's
        """Return the version of each server, and whether its token sees all Applications.

        Raise KalypsoError if a server does not answer.
        """
        return tuple(
            warning(
                self.title,
                f"{client.url}: {client.version()}; the token may not see all Applications",
                "allow `p, role:kalypso, applications, get, */*, allow`: until then, a cluster "
                "that its cluster type does not list is overlooked",
            )
            if client.url in (self._blind or ())
            else ok(self.title, f"{client.url}: {client.version()}; the token sees everything")
            for client in self._connected()
        )

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            client.close()

    def _look(self, *, is_new: bool = False) -> Sequence[ArgoServer]:
        """Read the servers, unless they were read for the present look."""
        if is_new or self._runtime.now() - self._read_at >= self.shortest_pause:
            self._served.clear()
            self._servers = in_parallel(self._read, self._beginning_look())
            self._read_at = self._runtime.now()
        return self._servers

    def _default_branch(self, followed: FollowedTree) -> str:
        """Return the default branch of the repository, which git reads once."""
        return self._context.remotes.default_branch(followed.repository_url)

    def _read(self, client: ArgoCD) -> ArgoServer:
        applications = client.applications(self._inputs.argocd_selector)
        return ArgoServer(client.url, applications, client.cluster_names())

    def _beginning_look(self) -> tuple[ArgoCD, ...]:
        for client in self._connected():
            client.begin_look()
        return self._clients

    def _connected(self) -> tuple[ArgoCD, ...]:
        if not self._clients:
            runtime = self._runtime
            tokens = self._inputs.argocd_tokens.get_secret_value()
            self._clients = tuple(
                ArgoCD(url, token, runtime.environment, now=runtime.now, sleep=runtime.sleep)
                for url, token in tokens_of(self._inputs.argocd_servers, tokens).items()
            )
        return self._clients


def tokens_of(servers: Sequence[str], tokens: str) -> Mapping[str, str]:
    """Return the token of each server: one for all, or lines of `URL=token`. Raise UsageError."""
    if not servers:
        raise UsageError(
            "argocd-servers is missing", advice="name the URLs of Argo CD's API servers"
        )
    urls = list({url.rstrip("/").lower(): url.rstrip("/") for url in servers}.values())
    for url in urls:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url))
        is_page = parts.query or parts.fragment or url.endswith(PAGE)
        if not is_safe or not parts.hostname or parts.username or is_page:
            raise UsageError(
                f"argocd-servers: {url} is no https URL of a server",
                advice="write it as https://argocd.example.com, without a user, page or query",
            )
    lines = [line.strip() for line in tokens.splitlines() if line.strip()]
    if len(lines) == 1 and not TOKEN_OF.fullmatch(lines[0]):
        return dict.fromkeys(urls, lines[0])
    matches = [TOKEN_OF.fullmatch(line) for line in lines]
    by_url = {match[1].lower(): match[2] for match in matches if match}
    missing = [url for url in urls if url.lower() not in by_url]
    if missing or not all(matches):
        what = f"no token for {', '.join(missing)}" if missing else "a line that is no URL=token"
        raise UsageError(
            f"argocd-tokens has {what}",
            advice="give one token, or a line URL=token for each server",
        )
    return {url: by_url[url.lower()] for url in urls}
