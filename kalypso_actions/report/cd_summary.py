"""The step summary of `kalypso cd`, and the body of its pull request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.report import markdown
from kalypso_actions.report.cd_document import CdDocument

HEADLINES: Final[Mapping[str, str]] = {
    "written": "{environment} has {commit} now",
    "proposed": "{commit} is proposed to {environment}",
    "unchanged": "{environment} has {commit} already",
    "superseded": "{commit} is superseded in {environment}",
    "rejected": "{commit} was rejected for {environment}",
    "": "{commit} was not promoted to {environment}",
}
"""Headlines by the document's action."""


@dataclass(frozen=True, slots=True)
class CdFacts:
    """Facts that the document lacks.

    `repository_url` is that of the control plane, `branch` the environment's. `before` is the
    commit that the environment had or was about to have, `hook` the output of the pre-deployment
    command as Markdown, `started` the URL of schedule's run.
    """

    repository_url: str
    branch: str
    before: str | None = None
    hook: str = ""
    started: str = ""


def cd_summary(document: CdDocument, facts: CdFacts) -> str:
    """Return the step summary."""
    heading = f"## kalypso cd: {markdown.text(cd_headline(document))}"
    if document.verify_only:
        return f"{heading}\n\n{markdown.VERIFIED}"
    rows = [
        ("Environment", markdown.code(document.environment)),
        ("Commit of main", _commit(facts, document.commit)),
    ]
    if facts.before and facts.before != document.commit:
        rows.append(("Before", _commit(facts, facts.before)))
    if document.environment_commit:
        branch = markdown.code(facts.branch)
        rows.append(("Branch", f"{branch} at {_commit(facts, document.environment_commit)}"))
    if document.pull_request_number:
        rows.append(("Pull request", _pull_request(document)))
    if facts.started:
        rows.append(("Started", markdown.link("schedule", facts.started)))
    parts = [
        heading,
        _next(document, facts),
        markdown.properties(rows),
        facts.hook,
        markdown.findings(document.findings),
    ]
    return "\n\n".join(part for part in parts if part)


def cd_headline(document: CdDocument) -> str:
    """Return the result as a line of plain text."""
    words = {"commit": document.commit[:7], "environment": document.environment}
    if document.verify_only:
        return "{commit} may come to {environment}".format(**words)
    headline = HEADLINES[document.action].format(**words)
    return f"{headline}: {document.reason}" if document.reason else headline


def proposal_body(environment: str, repository_url: str, before: str | None, commit: str) -> str:
    """Return the body of the pull request that promotes a commit to an environment."""
    if before:
        changes = markdown.link(
            "what changes on main", f"{repository_url}/compare/{before}...{commit}"
        )
        was = f"The environment has {before} now: {changes}."
    else:
        was = "The environment has no commit of main yet."
    return "\n".join(
        (
            markdown.marker("promotion", environment),
            f"This pull request promotes {commit} to the environment {markdown.code(environment)}.",
            "",
            was,
            "",
            "After the merge, schedule proposes the manifests to the GitOps repository. If a newer "
            "commit arrives before the merge, it replaces this one here.",
        )
    )


def _next(document: CdDocument, facts: CdFacts) -> str:
    """Return the next steps, of Kalypso and of people."""
    match document.action:
        case "written" | "unchanged":
            return "schedule proposes the changes of the environment's manifests."
        case "proposed":
            return f"**Next:** review and merge {_pull_request(document)}."
        case "superseded" if not document.reason:
            newer = _commit(facts, facts.before or "")
            return f"Nothing was written: the environment has, or is about to have, {newer}."
    return "Nothing was written."


def _pull_request(document: CdDocument) -> str:
    return markdown.link(f"#{document.pull_request_number}", document.pull_request_url)


def _commit(facts: CdFacts, commit: str) -> str:
    return markdown.link(commit[:7], f"{facts.repository_url}/commit/{commit}")
