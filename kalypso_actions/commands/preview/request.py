"""The commits that a preview compares, and the places where it shows the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kalypso_actions.clients.github import commits
from kalypso_actions.commands.preview.sides import ChangedBranch
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.local_context import CurrentClone
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.preview import PreviewInputs

DEPENDABOT: Final = "dependabot[bot]"


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """A change, and the places that show its preview.

    `status_commit` gets the status ("" for none). `pull_request` is the number of the pull request
    that gets the comment, as long as its head is `head_commit`. `is_restricted`: GitHub gives a
    job no secrets and a token that only reads.
    """

    change: ChangedBranch
    status_commit: str = ""
    pull_request: int | None = None
    head_commit: str = ""
    is_restricted: bool = False


def request_of_job(inputs: PreviewInputs, context: CommandContext) -> PreviewRequest:
    """Return the request of a pull request, a merge group, or the inputs. Raises KalypsoError."""
    job = context.runtime.job
    pull_request = job.event.get("pull_request")
    is_own = job.repository.lower() == context.control_plane.lower()
    if is_own and job.event_name == "pull_request" and isinstance(pull_request, Mapping):
        return _of_pull_request(inputs, context, pull_request)
    group = job.event.get("merge_group")
    if is_own and job.event_name == "merge_group" and isinstance(group, Mapping):
        branch = str(group["base_ref"]).removeprefix("refs/heads/")
        base, head = str(group["base_sha"]), str(group["head_sha"])
        return PreviewRequest(_change(context, branch, base, head), head)
    if not inputs.base:
        raise UsageError(
            "no base is named, and the job belongs to no pull request",
            advice="write the commits to compare: base and head",
        )
    main = context.main()
    branches = {item.control_plane.branch for item in context.environments().values()}
    branch = inputs.base if inputs.base in branches else main
    base = _resolved(context, branch, inputs.base)
    head = _resolved(context, branch, inputs.head or job.commit or main)
    return PreviewRequest(_change(context, branch, base, head))


def _resolved(context: CommandContext, branch: str, revision: str) -> str:
    """Return the commit of a branch, tag or id of the control plane; "" for ""."""
    url = context.url(context.control_plane)
    return context.repositories.resolve(url, branch, revision) if revision else ""


def _of_pull_request(
    inputs: PreviewInputs, context: CommandContext, event: Mapping[str, Any]
) -> PreviewRequest:
    """Compare the merge that GitHub tries with its first parent.

    The base in the event may be older: it is that of the last push to the pull request.
    """
    job = context.runtime.job
    branch = str(event["base"]["ref"])
    head = _resolved(context, branch, inputs.head) or job.commit
    base = _resolved(context, branch, inputs.base)
    if not base:
        parents = commits.get(context.github, context.control_plane, head).parents
        base = parents[0] if parents else str(event["base"]["sha"])
    head_repository = (event["head"]["repo"] or {}).get("full_name", "")
    is_fork = head_repository.lower() != context.control_plane.lower()
    head_commit = str(event["head"]["sha"])
    return PreviewRequest(
        _change(context, branch, base, head),
        status_commit=head_commit,
        pull_request=int(event["number"]),
        head_commit=head_commit,
        is_restricted=is_fork or job.actor == DEPENDABOT,
    )


def _change(context: CommandContext, branch: str, base: str, head: str) -> ChangedBranch:
    url, main = context.url(context.control_plane), context.main()
    head_of_main = head if branch == main else context.remotes.heads(url, [main])[main]
    return ChangedBranch(url, main, head_of_main, branch, base, head)


def request_of_clone(inputs: PreviewInputs, clone: CurrentClone) -> PreviewRequest:
    """Return the request of a person in a clone; the default is the change of the current branch.

    If `base` is main or an environment's branch, that branch gets the change: the comparison begins
    at the merge base, as a merge would. Raises KalypsoError.
    """
    branches = [clone.main, *(item.control_plane.branch for item in clone.environments.values())]
    named_branch = inputs.base.removeprefix("origin/")
    is_branch = not inputs.base or named_branch in branches
    branch = named_branch if named_branch in branches else clone.checked_out or clone.main
    head = clone.repository.resolve(inputs.head or "HEAD")
    base = clone.repository.resolve(inputs.base or branch)
    if is_branch:
        base = clone.repository.merge_base(base, head) or base
    url, remotes = str(clone.path), clone.repository.remotes()
    return PreviewRequest(
        ChangedBranch(url, clone.main, clone.head_of_main, branch, base, head, remotes)
    )
