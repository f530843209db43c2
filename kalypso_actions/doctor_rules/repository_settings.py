"""Rules of branches, approvals, and the settings of GitHub Actions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.model.github import ActionsSettings, BranchRules

PULL_REQUESTS: Final = re.compile(
    r"^\s*(?:pull-requests:\s*write|permissions:\s*write-all)\b", re.MULTILINE
)

REFUSING: Final = frozenset(
    {
        *("update", "pull_request", "merge_queue"),
        *("required_status_checks", "required_deployments"),
        *("workflows", "code_scanning", "code_quality"),
        *("branch_name_pattern", "commit_message_pattern"),
        *("commit_author_email_pattern", "committer_email_pattern"),
        *("file_path_restriction", "file_extension_restriction"),
    }
)
"""Rules that refuse, or may refuse, a push without a pull request.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
"""

REFUSING_OWN: Final = REFUSING | {"creation", "deletion", "non_fast_forward"}
"""Rules that refuse what Kalypso does with its own branches: create, force-push, delete."""


def push_checks(
    place: str,
    branch: str,
    rules: BranchRules,
    command: str,
    alternative: str = "",
    *,
    is_own: bool = False,
) -> Iterator[Check]:
    """Check that rules let a command push to a branch; `alternative` extends the advice.

    `is_own`: the branch is one that Kalypso creates, force-pushes and deletes.
    """
    refusing = [rule for rule in rules.types if rule in (REFUSING_OWN if is_own else REFUSING)]
    if rules.is_classic:
        yield _unknown_classic_rule(
            place,
            branch,
            f"see that {command} may push{' by force' if is_own else ''}{alternative}",
        )
    elif refusing:
        yield warning(
            place,
            f"rules of {branch} refuse pushes ({', '.join(refusing)}); GitHub does not say whether "
            f"they apply to {command}",
            f"let {command} bypass them as a GitHub App, since GITHUB_TOKEN cannot{alternative}",
            pages.RULES,
        )
    else:
        yield ok(place, f"no rule keeps {command} from pushing to {branch}")


def signature_checks(place: str, branch: str, rules: BranchRules, command: str) -> Iterator[Check]:
    """Tell how a command commits if a ruleset requires signatures."""
    if rules.requires_signatures:
        yield ok(
            place,
            f"commits on {branch} must be signed: GitHub makes and signs those of {command}, if it "
            "runs as an App or by the job's token (commit-by: auto or api)",
        )


def approval_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Check that an approval does not outlive new commits: Kalypso updates its pull requests."""
    if rules.is_classic:
        yield _unknown_classic_rule(
            place, branch, "if it requires approvals, see that it dismisses stale ones"
        )
    elif not rules.required_approvals:
        yield ok(place, f"merges to {branch} need no approval")
    elif rules.dismisses_stale_approvals:
        yield ok(place, f"merges to {branch} need an approval of the latest commit")
    else:
        yield warning(
            place,
            f"approvals for {branch} outlive new commits, and Kalypso updates its pull requests",
            "enable 'Dismiss stale pull request approvals when new commits are pushed'",
            pages.RULES,
        )


def _unknown_classic_rule(place: str, branch: str, advice: str) -> Check:
    text = f"a classic rule protects {branch}; its content is not checked"
    return warning(place, text, advice, pages.CLASSIC_RULES)


def actions_checks(
    place: str, settings: ActionsSettings, used: Collection[str], *, proposes_by_job: bool
) -> Iterator[Check]:
    """Check that workflows run, with Kalypso's actions, and may open pull requests if they do.

    `used` are the repositories of the actions in the workflow files. `proposes_by_job`: cd opens
    pull requests by its job's token.
    """
    if not settings.enabled:
        yield problem(place, "GitHub Actions is disabled", "enable it", pages.ACTIONS)
        return
    owner = place.partition("/")[0].lower()
    others = sorted(name for name in used if name.partition("/")[0].lower() != owner)
    names = ", ".join(others) or "Kalypso's"
    if settings.allowed == "all" or (used and not others):
        yield ok(place, "GitHub Actions is enabled, and may use Kalypso's actions")
    elif settings.allowed == "local_only":
        yield problem(
            place,
            f"actions of other owners are not allowed: {names}",
            "allow them, or use a copy of your own",
            pages.ACTIONS,
        )
    else:
        yield warning(
            place,
            "only selected actions are allowed",
            f"see that these are among them: {names}",
            pages.ACTIONS,
        )
    if proposes_by_job and not settings.jobs_may_open_pull_requests:
        yield problem(
            place,
            "jobs may not open pull requests, but cd is to do so (mode: pull-request)",
            "allow it, also in the organization's settings, or let cd use the App",
            pages.ACTIONS,
        )


def proposal_checks(place: str, branch: str, path: str, text: str) -> Iterator[Check]:
    """Check that the job of a workflow file with `mode: pull-request` may open pull requests."""
    if not PULL_REQUESTS.search(text):
        yield problem(
            place,
            f"{path} on {branch} has mode: pull-request, but its job may open no pull request",
            "add pull-requests: write to the job's permissions",
            pages.file(branch, path),
        )
