"""Which open pull requests of ours schedule looks at again."""

from __future__ import annotations

import pytest

from kalypso_actions.gitops.open_proposal import why_schedule

BASE, EARLIER = "a" * 40, "b" * 40
CONFLICTS = "conflicts with its branch"
TO_MERGE = "is to be merged"
NOW = "can be merged now"


@pytest.mark.parametrize(
    ("mergeable", "merge_state", "auto_merge", "tried", "why"),
    [
        pytest.param(True, "clean", False, None, "", id="people merge it"),
        pytest.param(True, "clean", False, (EARLIER, "blocked"), "", id="people merge it now"),
        pytest.param(None, "unknown", False, None, "", id="GitHub does not know yet"),
        pytest.param(False, "dirty", False, None, CONFLICTS, id="conflicts"),
        pytest.param(False, "dirty", True, None, CONFLICTS, id="conflicts, to be merged"),
        pytest.param(
            False, "dirty", True, (EARLIER, "dirty"), CONFLICTS, id="conflicts, another base"
        ),
        pytest.param(False, "dirty", True, (BASE, "dirty"), "", id="conflicts, tried"),
        pytest.param(False, "dirty", False, (BASE, ""), "", id="conflicts, tried by nobody"),
        pytest.param(True, "clean", True, None, TO_MERGE, id="never tried"),
        pytest.param(None, "unknown", True, None, TO_MERGE, id="never tried, unknown"),
        pytest.param(True, "blocked", True, None, TO_MERGE, id="never tried, blocked"),
        pytest.param(True, "blocked", True, (EARLIER, "blocked"), TO_MERGE, id="another base"),
        pytest.param(True, "blocked", True, (BASE, "blocked"), "", id="blocked as before"),
        pytest.param(None, "unknown", True, (BASE, "blocked"), "", id="unknown after blocked"),
        pytest.param(True, "behind", True, (BASE, "blocked"), "", id="behind after blocked"),
        pytest.param(True, "clean", True, (BASE, "blocked"), NOW, id="clean after blocked"),
        pytest.param(True, "unstable", True, (BASE, ""), NOW, id="unstable after no state"),
        pytest.param(True, "has_hooks", True, (BASE, "unknown"), NOW, id="hooks after unknown"),
        pytest.param(True, "clean", True, (BASE, "clean"), "", id="refused though clean"),
        pytest.param(True, "clean", True, (BASE, "unstable"), "", id="refused though unstable"),
        pytest.param(True, "clean", False, (BASE, "blocked"), "", id="no longer asked for"),
    ],
)
def test_why_schedule_is_started(
    mergeable: bool | None,
    merge_state: str,
    auto_merge: bool,
    tried: tuple[str, str] | None,
    why: str,
) -> None:
    found = why_schedule(
        base_head=BASE,
        mergeable=mergeable,
        merge_state=merge_state,
        auto_merge=auto_merge,
        tried=tried,
    )
    assert found == why
