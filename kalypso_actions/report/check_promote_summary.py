"""The step summary of `kalypso check-promote`: the verdict, its reasons, and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_actions.report.cluster_tables import cluster_tables, foreign_paths_line
from kalypso_actions.report.markdown import VERIFIED, code, findings, link, text
from kalypso_actions.report.pipeline_diagram import MAIN, Mark, PipelineNode, pipeline_diagram

HEADINGS: Final[Mapping[str, str]] = {
    "compliant": "deployed to {environment}",
    "nothing-scheduled": "nothing to deploy in {environment}",
    "waiting": "{environment} is waiting for another GitOps repository",
    "superseded": "another commit came to {environment}",
    "failed": "failed in {environment}",
    "none-targeted": "no cluster follows {environment}",
    "timed-out": "{environment} did not comply in time",
    "": "still waiting for {environment}",
}

ADVICE: Final[Mapping[str, str]] = {
    "waiting": "Merge the pull request there: its run continues the promotion.",
    "superseded": "There is nothing to do: the run of that commit decides.",
    "failed": "Correct the failure in main or on the environment's branch: the merge of the "
    "correction continues the promotion. If the cause was outside of git, run this job again.",
    "none-targeted": "{no_reports_advice}. If no cluster is to follow this branch, set "
    "require-targets to false. Then run this job again.",
    "timed-out": "Look at the clusters below. Repair them, give them more time (timeout), or leave "
    "them out (ignore-clusters, min-compliant, unreachable); then run this job again. The merge of "
    "a correction continues the promotion.",
    "": "There is nothing to do: a new run continues to wait.",
}


@dataclass(frozen=True, slots=True)
class CheckPromoteFacts:
    """Facts that the document lacks.

    The URLs are those of the repositories. `no_reports_advice` comes from the source of cluster
    reports. `hook` is the output of the post-deployment command as Markdown, `started` the URLs of
    the started runs, by environment. `arrows` lead from main ("") and each environment to the next
    ones.
    """

    control_plane_url: str
    gitops_url: str
    no_reports_advice: str = ""
    hook: str = ""
    started: Mapping[str, str] = field(default_factory=dict)
    arrows: Sequence[tuple[str, str]] = ()


def check_promote_summary(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Return the step summary."""
    if document.verify_only:
        heading = f"the inputs for {code(document.environment)} are right"
        return f"## kalypso check-promote: {heading}\n\n{_commits(document, facts)}\n\n{VERIFIED}"
    heading = HEADINGS[document.verdict].format(environment=code(document.environment))
    parts = [f"## kalypso check-promote: {heading}", _commits(document, facts)]
    if document.reason:
        parts.append(text(document.reason))
    parts.append(_next(document, facts))
    parts.append(_diagram(document, facts))
    parts.append(findings(document.findings))
    parts.append(cluster_tables(document.rows, document.missing))
    parts.append(foreign_paths_line(document.not_ours))
    parts.append(facts.hook)
    return "\n\n".join(part for part in parts if part)


def verdict_advice(verdict: str, facts: CheckPromoteFacts) -> str:
    """Return advice for people after a verdict."""
    advice = facts.no_reports_advice
    return ADVICE.get(verdict, "").format(no_reports_advice=advice[:1].upper() + advice[1:])


def _commits(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Name the GitOps commit and the promoted commit."""
    commit = document.gitops_commit
    merged = f"GitOps commit {link(commit[:7], f'{facts.gitops_url}/commit/{commit}')}"
    promoted = document.promoted_commit
    if not promoted:
        return f"{merged}: a configuration change, which is not promoted."
    url = f"{facts.control_plane_url}/commit/{promoted}"
    return f"{merged}, with the commit {link(promoted[:7], url)} of main."


def _diagram(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Draw the path of the promoted commit; "" for a configuration change."""
    if not document.promoted_commit:
        return ""
    own: Mark = "active"
    if document.verdict in {"compliant", "nothing-scheduled"}:
        own = "done"
    elif document.verdict in {"failed", "none-targeted", "timed-out"}:
        own = "failed"
    nodes = [PipelineNode(MAIN, document.promoted_commit[:7])]
    for name in dict.fromkeys(name for arrow in facts.arrows for name in arrow if name):
        if name == document.environment:
            nodes.append(PipelineNode(name, document.verdict or "waiting", own))
        elif name in facts.started:
            nodes.append(PipelineNode(name, "cd is started", "active"))
        else:
            nodes.append(PipelineNode(name))
    return pipeline_diagram(nodes, facts.arrows)


def _next(document: CheckPromoteDocument, facts: CheckPromoteFacts) -> str:
    """Return the next steps, of Kalypso and of people."""
    advice = verdict_advice(document.verdict, facts)
    if document.verdict not in {"compliant", "nothing-scheduled", ""}:
        return advice
    if facts.started:
        pages = ", ".join(link(name, url) for name, url in facts.started.items())
        return f"{advice} Started: {pages}.".strip()
    if not document.promoted_commit:
        return "No status was posted, and nothing was started."
    return f"{code(document.environment)} is the last environment: the promotion is complete."
