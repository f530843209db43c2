"""The page of a check-promote run: what it found, and what there is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.report.chain_documents import CheckPromoteDocument
from kalypso_actions.report.cluster_tables import cluster_tables, foreign_paths_line
from kalypso_actions.report.markdown import VERIFIED, code, findings, link, text

HEADINGS: Final[Mapping[str, str]] = {
    "compliant": "deployed to {environment}",
    "nothing-scheduled": "nothing to deploy in {environment}",
    "waiting": "{environment} is waiting for another GitOps repository",
    "superseded": "another commit came to {environment}",
    "failed": "failed in {environment}",
    "none-targeted": "no cluster follows {environment}",
    "timed-out": "{environment} did not comply in time",
    "": "{environment} is still waited for",
}

ADVICE: Final[Mapping[str, str]] = {
    "waiting": "Merge the pull request there: its own run goes on with this commit.",
    "superseded": "Nothing is to be done: the run of that commit decides.",
    "failed": "Correct what fails, in main or on the environment's branch: the merge of a "
    "correction goes on by itself. Where the cause was outside of git, run this job again.",
    "none-targeted": "Let the clusters' Flux configurations follow this repository and branch, and "
    "give the identity the role Reader on their subscriptions (azure-scopes). Where no cluster is "
    "to follow it, set require-targets to false. Then run this job again.",
    "timed-out": "Look at the clusters below. Give them more time (timeout), leave them out "
    "(ignore-clusters, min-compliant), or repair them; then run this job again. The merge of a "
    "correction goes on by itself.",
    "": "A new run goes on with the same waiting; nothing is to be done.",
}


@dataclass(frozen=True, slots=True)
class CheckPromoteFacts:
    """What the document does not say.

    The URLs are those of the repositories. `hook` is what the post-deployment command has written,
    `started` the pages of what was started, by the environment it is for.
    """

    control_plane_url: str
    gitops_url: str
    hook: str = ""
    started: Mapping[str, str] = field(default_factory=dict)


def check_promote_summary(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """The step's summary."""
    if document.verify_only:
        heading = f"what is claimed of {code(document.environment)} holds"
        return f"## kalypso check-promote: {heading}\n\n{_what(document, facts)}\n\n{VERIFIED}"
    heading = HEADINGS[document.verdict].format(environment=code(document.environment))
    parts = [f"## kalypso check-promote: {heading}", _what(document, facts)]
    if document.reason:
        parts.append(text(document.reason))
    parts.append(_next(document, facts))
    parts.append(findings(document.warnings, ()))
    parts.append(cluster_tables(document.rows, document.missing))
    parts.append(foreign_paths_line(document.not_ours))
    parts.append(facts.hook)
    return "\n\n".join(part for part in parts if part)


def _what(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Which commits this is about."""
    commit = document.gitops_commit
    merged = f"GitOps commit {link(commit[:7], f'{facts.gitops_url}/commit/{commit}')}"
    promoted = document.promoted_commit
    if not promoted:
        return f"{merged}: a configuration change, which is not promoted."
    url = f"{facts.control_plane_url}/commit/{promoted}"
    return f"{merged}, with the commit {link(promoted[:7], url)} of main."


def _next(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """What comes next, by itself or by somebody."""
    advice = ADVICE.get(document.verdict, "")
    if document.verdict not in {"compliant", "nothing-scheduled", ""}:
        return advice
    if facts.started:
        pages = ", ".join(link(name, url) for name, url in facts.started.items())
        return f"{advice} It goes on: {pages}.".strip()
    if not document.promoted_commit:
        return "No status was posted, and nothing was started."
    return f"{code(document.environment)} is the last environment: the commit has arrived."
