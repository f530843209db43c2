"""Whether schedule has anything to do about a pull request of ours that is open."""

from __future__ import annotations

from typing import Final

READY: Final = frozenset({"clean", "unstable", "has_hooks"})
"""GitHub's words for a pull request that can be merged.

https://docs.github.com/graphql/reference/enums#mergestatestatus
"""


def why_schedule(
    *,
    base_head: str,
    mergeable: bool | None,
    merge_state: str,
    auto_merge: bool,
    tried: tuple[str, str] | None,
) -> str:
    """Say why schedule should look at an open pull request again; "" where it should not.

    `base_head` is the head of the branch that it goes into. `tried` is the head of that branch at
    the last refused merge, and the merge state then. `auto_merge` asks for a merge without a
    person. Each state is tried once. GitHub says None for `mergeable` until it knows.
    """
    is_tried = tried is not None and tried[0] == base_head
    if mergeable is False:
        return "" if is_tried else "conflicts with its branch"
    if not auto_merge:
        return ""
    if tried is None or not is_tried:
        return "is to be merged"
    is_ready, was_ready = merge_state in READY, tried[1] in READY
    return "can be merged now" if is_ready and not was_ready else ""
