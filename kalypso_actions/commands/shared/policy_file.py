"""The PromotionPolicy on an environment's branch, and who edits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.environment_branch import EnvironmentBranch
from kalypso_actions.commands.shared.policy_entry import policy_of
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.documents import content_of
from kalypso_actions.model.promotion_policy import PromotionPolicy, policy_path
from kalypso_actions.sources.source_tree import normalize

MOST_REASON: Final = 200
"""The characters of a hold's reason that are kept: everybody who waits reads it."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The text of a policy (None without one) at `path`, and its meaning; `problems` if invalid."""

    path: str
    where: Location
    text: str | None
    policy: PromotionPolicy
    problems: tuple[Problem, ...]


def read_policy_file(branch: EnvironmentBranch, context: CommandContext) -> PolicyFile:
    """Read the policy at the head of an environment's branch. Raises KalypsoError."""
    files = context.remotes.fetch(branch.url, commit=branch.head)
    path = policy_path(normalize(branch.environment.control_plane.path))
    content = content_of(files, path)
    text = None if content is None else content.decode("utf-8", "replace")
    reading = policy_of(branch, context)
    where = Location(branch.url, path, branch=branch.name)
    return PolicyFile(path, where, text, reading.policy or PromotionPolicy(), reading.problems)


def short_reason(text: str) -> str:
    """Return a reason as one line of at most `MOST_REASON` characters."""
    return " ".join(text.split())[:MOST_REASON]
