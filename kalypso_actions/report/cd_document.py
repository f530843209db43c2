"""The output of `kalypso cd`: its document, its step summary, and its pull request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import ChainDocument

HEADLINES: Final[Mapping[str, str]] = {
    "written": "{environment} has {commit} now",
    "proposed": "{commit} is proposed to {environment}",
    "unchanged": "{environment} has {commit} already",
    "superseded": "{commit} is superseded in {environment}",
    "rejected": "{commit} was rejected for {environment}",
    "": "{commit} was not promoted to {environment}",
}
"""Headlines by the document's action."""


class CdDocument(ChainDocument):
    """The output of `kalypso cd --output json`.

    With `verify_only`, cd only compared the inputs with the repositories. If a rollback
    superseded the commit, `reason` names the rollback.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the branch or the pull request changed.",
        "environment-commit": "The head of the environment's branch; empty with a pull request.",
        "pull-request-number": "The number of the pull request, with mode pull-request.",
        "pull-request-url": "The page of the pull request.",
    }

    schema_name: str = Field("kalypso.cd/v1", alias="schema")
    environment: str = ""
    commit: str = ""
    verify_only: bool = False
    action: Literal["written", "proposed", "unchanged", "superseded", "rejected", ""] = ""
    reason: str = ""
    changed: bool = False
    environment_commit: str = ""
    pull_request_number: int | None = None
    pull_request_url: str = ""

    @property
    def headline(self) -> str:
        """The result as a line of plain text."""
        words = {"commit": self.commit[:7], "environment": self.environment}
        if self.verify_only:
            return "{commit} may come to {environment}".format(**words)
        headline = HEADLINES[self.action].format(**words)
        return f"{headline}: {self.reason}" if self.reason else headline


def cd_summary(
    document: CdDocument,
    *,
    repository_url: str,
    branch: str,
    before: str | None = None,
    hook: str = "",
    started: str = "",
) -> str:
    """Return the step summary.

    `repository_url` is that of the control plane, `branch` the environment's. `before` is the
    commit that the environment had or was about to have, `hook` the output of the pre-deployment
    command as Markdown, `started` the URL of schedule's run.
    """
    return markdown.render("cd_summary.md.j2", **locals())


def proposal_body(environment: str, repository_url: str, before: str | None, commit: str) -> str:
    """Return the body of the pull request that promotes a commit to an environment."""
    mark = markdown.marker("promotion", environment)
    return markdown.render("cd_pull_request.md.j2", **locals())
