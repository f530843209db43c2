"""Rules of branches, approvals, and the settings of GitHub Actions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.model.github import REFUSING, ActionsSettings, BranchRules

PULL_REQUESTS: Final = re.compile(
    r"^\s*(?:pull-requests:\s*write|permissions:\s*write-all)\b", re.MULTILINE
)

REFUSING_OWN: Final = REFUSING | {"creation", "deletion", "non_fast_forward"}
"""Rules that keep Kalypso from creating, force-pushing or deleting its own branches."""


def push_checks(
    place: str,
    branch: str,
    rules: BranchRules,
    command: str,
    alternative: str = "",
    *,
    is_own: bool = False,
    by_job: bool = False,
) -> Iterator[Check]:
    """Check that rules let a command push to a branch; `alternative` extends the advice.

    `is_own`: Kalypso creates, force-pushes and deletes the branch. `by_job`: the command pushes
    with its job's token, which no ruleset can exempt.
    """
    refusing = [rule for rule in rules.types if rule in (REFUSING_OWN if is_own else REFUSING)]
    if rules.is_classic:
        yield _unknown_classic_rule(
            place,
            branch,
            f"see that {command} may push{' by force' if is_own else ''}{alternative}",
        )
    elif refusing and by_job:
        yield problem(
            place,
            f"rules of {branch} refuse pushes ({', '.join(refusing)}), and no ruleset can let the "
            f"job's GITHUB_TOKEN, with which {command} runs, bypass them",
            "let the App bypass them, and give it to the job: kalypso init --update-workflows "
            f"writes its lines{alternative}",
            pages.RULES,
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
    """Report how a command commits if a ruleset requires signatures."""
    if rules.requires_signatures:
        yield ok(
            place,
            f"commits on {branch} must be signed: GitHub makes and signs those of {command}, if it "
            "runs as an App or by the job's token (commit-by: auto or api)",
        )


def approval_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Check that new commits dismiss an approval, because Kalypso updates its pull requests."""
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
    """Check that workflows run, may use Kalypso's actions, and may open pull requests if needed.

    `used` are the repositories of the actions in the workflow files. `proposes_by_job`: cd opens
    pull requests with its job's token.
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


def required_check_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Check that required checks can run for pull requests that a job's token opens.

    Since June 2026, the workflows of such pull requests wait until a person approves them.
    """
    if rules.requires_checks:
        yield warning(
            place,
            f"{branch} requires checks, but workflows of pull requests that cd opens with "
            "GITHUB_TOKEN wait until a person approves them",
            "let cd open them as the App: set app-id and app-private-key in cd.yaml",
            pages.RULES,
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
