"""Branches, and the rules that protect them.

https://docs.github.com/rest/branches/branches, https://docs.github.com/rest/repos/rules
"""

from __future__ import annotations

from urllib.parse import quote

from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import commits
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import BranchRule


@endpoint("GET", "/repos/{owner}/{repo}/branches/{branch}", "contents: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a branch with the commit at its head."""
    view, repository = View.of(call), call.named_repository
    branch = call.parameters["branch"]
    git = call.store.git(repository)
    head = git.head(branch)
    if head is None:
        raise RefusedError(404, "Branch not found")
    protecting = branch_rules.rules_for_branch(repository, branch)
    contexts = [context for rule in protecting for context in rule.required_contexts]
    url = f"{view.api(repository)}/branches/{quote(branch)}"
    answer = {
        "name": branch,
        "commit": commits.full(view, repository, git.commit(head)),
        "_links": {"self": url, "html": f"{view.html(repository)}/tree/{quote(branch)}"},
        "protected": bool(protecting),
        "protection": {
            "enabled": bool(protecting),
            "required_status_checks": {
                "enforcement_level": "everyone" if contexts else "off",
                "contexts": contexts,
                "checks": [{"context": context, "app_id": None} for context in contexts],
            },
        },
        "protection_url": f"{url}/protection",
    }
    return Answer(200, answer)


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/rules/branches/{branch}",
    "metadata: read",
    statuses=(200,),
)
def read_rules(call: Call) -> Answer:
    """List the rules for a branch name; the branch need not exist."""
    repository = call.named_repository
    parts = [
        {
            **part,
            "ruleset_source_type": "Repository",
            "ruleset_source": repository.full_name,
            "ruleset_id": 1 + repository.rules.index(rule),
        }
        for rule in branch_rules.rules_for_branch(repository, call.parameters["branch"])
        if not rule.classic
        for part in rule_parts(rule)
    ]
    page, headers = paginate(call, parts)
    return Answer(200, page, headers)


def rule_parts(rule: BranchRule) -> list[Json]:
    """Return the rules into which GitHub splits this rule."""
    parts: list[Json] = [{"type": "deletion"}]
    if not rule.allow_force_push:
        parts.append({"type": "non_fast_forward"})
    if rule.restrict_pushes:
        parts.append({"type": "update"})
    if rule.required_signatures:
        parts.append({"type": "required_signatures"})
    if rule.required_reviews:
        reviews = {
            "required_approving_review_count": rule.required_reviews,
            "dismiss_stale_reviews_on_push": rule.dismiss_stale_reviews,
            "require_code_owner_review": False,
            "require_last_push_approval": False,
            "required_review_thread_resolution": False,
            "allowed_merge_methods": ["merge", "squash", "rebase"],
        }
        parts.append({"type": "pull_request", "parameters": reviews})
    if rule.required_contexts:
        checks = {
            "strict_required_status_checks_policy": False,
            "do_not_enforce_on_create": True,
            "required_status_checks": [{"context": name} for name in rule.required_contexts],
        }
        parts.append({"type": "required_status_checks", "parameters": checks})
    return parts
