"""Rules of branches, approvals, and the settings of GitHub Actions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.model.github import ActionsSettings, BranchRules

REFUSING: Final = frozenset(
    {
        *("update", "pull_request", "merge_queue"),
        *("required_status_checks", "required_deployments", "required_signatures"),
        *("workflows", "code_scanning", "code_quality"),
        *("branch_name_pattern", "commit_message_pattern"),
        *("commit_author_email_pattern", "committer_email_pattern"),
        *("file_path_restriction", "file_extension_restriction"),
    }
)
"""Rules that refuse pushes of unsigned commits that no pull request has brought, or may do so.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
"""

REFUSING_OWN: Final = REFUSING | {"creation", "deletion", "non_fast_forward"}
"""Those for a branch that is created, pushed anew by force, and deleted."""


def push_checks(
    place: str,
    branch: str,
    rules: BranchRules,
    who: str,
    otherwise: str = "",
    *,
    is_own: bool = False,
) -> Iterator[Check]:
    """Whether rules of a branch keep `who` from pushing to it; `otherwise` is another way.

    `is_own`: the branch is ours, which comes and goes.
    """
    refusing = [one for one in rules.types if one in (REFUSING_OWN if is_own else REFUSING)]
    if rules.is_classic:
        yield warning(
            place,
            f"a classic rule protects {branch}, and what it asks is not looked at",
            f"see that {who} may push{' by force' if is_own else ''}{otherwise}",
            pages.CLASSIC_RULES,
        )
    elif refusing:
        yield warning(
            place,
            f"rules of {branch} refuse pushes ({', '.join(refusing)}), if they bind {who}: "
            "GitHub does not say whether",
            f"let {who} bypass them{otherwise}",
            pages.RULES,
        )
    else:
        yield ok(place, f"no rule keeps {who} from pushing to {branch}")


def approval_checks(place: str, branch: str, rules: BranchRules) -> Iterator[Check]:
    """Whether an approval of a pull request stands for content that came after it."""
    if rules.is_classic:
        yield warning(
            place,
            f"a classic rule protects {branch}, and what it asks is not looked at",
            "if it requires approvals, see that it dismisses stale ones",
            pages.CLASSIC_RULES,
        )
    elif not rules.required_approvals:
        yield ok(place, f"merges to {branch} need no approval")
    elif rules.dismisses_stale_approvals:
        yield ok(place, f"merges to {branch} need an approval of what is merged")
    else:
        yield warning(
            place,
            f"an approval for {branch} stays when the pull request changes, and ours are updated",
            "switch on 'Dismiss stale pull request approvals when new commits are pushed'",
            pages.RULES,
        )


def actions_checks(
    place: str, settings: ActionsSettings, used: Collection[str], *, proposes_by_job: bool
) -> Iterator[Check]:
    """Whether workflows run, with our actions; `proposes_by_job`: a job's token opens PRs.

    `used` are the repositories of the actions that the workflow files use.
    """
    if not settings.enabled:
        yield problem(place, "GitHub Actions is switched off", "switch it on", pages.ACTIONS)
        return
    owner = place.partition("/")[0].lower()
    others = sorted(one for one in used if one.partition("/")[0].lower() != owner)
    if settings.allowed == "all" or (used and not others):
        yield ok(place, "GitHub Actions runs, and may use Kalypso's actions")
    elif settings.allowed == "local_only":
        names = ", ".join(others) or "Kalypso's"
        yield problem(
            place,
            f"actions of other owners are not allowed: {names}",
            "allow them, or use a copy of your own",
            pages.ACTIONS,
        )
    else:
        names = ", ".join(others) or "Kalypso's"
        yield warning(
            place,
            "only selected actions are allowed",
            f"see that these are among them: {names}",
            pages.ACTIONS,
        )
    if proposes_by_job and not settings.jobs_may_open_pull_requests:
        yield problem(
            place,
            "jobs may not open pull requests, and cd is told to (mode: pull-request)",
            "allow it, also in the organization's settings, or let cd use the App",
            pages.ACTIONS,
        )
