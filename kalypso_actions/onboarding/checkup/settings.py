"""Rules of branches, approvals, and the settings of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.model.github import ActionsSettings, BranchRules
from kalypso_actions.onboarding.checkup.check import Check, ok, problem, warning


def push_checks(
    place: str, branch: str, rules: BranchRules, who: str, otherwise: str
) -> Iterator[Check]:
    """Whether rules of a branch keep `who` from pushing to it; `otherwise` is another way."""
    if not rules.refuses_pushes:
        yield ok(place, f"no rule keeps {who} from pushing to {branch}")
        return
    yield warning(
        place,
        f"rules of {branch} refuse pushes, if they bind {who}: GitHub does not say whether",
        f"let {who} bypass them (Settings, Rules){otherwise}",
    )


def approval_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Whether an approval of a pull request stands for content that came after it."""
    if not rules.required_approvals:
        yield ok(place, f"merges to {branch} need no approval")
    elif rules.dismisses_stale_approvals:
        yield ok(place, f"merges to {branch} need an approval of what is merged")
    else:
        yield warning(
            place,
            f"an approval for {branch} stays when the pull request changes, and ours are updated",
            "switch on 'Dismiss stale pull request approvals when new commits are pushed' in the "
            "branch's rules",
        )


def actions_checks(
    place: str, settings: ActionsSettings, *, proposes_by_job: bool
) -> Iterator[Check]:
    """Whether workflows run, with our actions; `proposes_by_job`: a job's token opens PRs."""
    if not settings.enabled:
        yield problem(
            place,
            "GitHub Actions is switched off",
            "switch it on (Settings, Actions, General)",
        )
        return
    if settings.allowed == "local_only":
        yield problem(
            place,
            "actions of other owners are not allowed",
            "allow Kalypso's (Settings, Actions, General), or use a copy of them",
        )
    elif settings.allowed == "selected":
        yield warning(
            place,
            "only selected actions are allowed",
            "see that Kalypso's are among them (Settings, Actions, General)",
        )
    else:
        yield ok(place, "GitHub Actions runs, with the actions of anybody")
    if proposes_by_job and not settings.jobs_may_open_pull_requests:
        yield problem(
            place,
            "jobs may not open pull requests, and cd is told to (mode: pull-request)",
            "allow it (Settings, Actions, General), or let cd use the App",
        )
