"""The content that people removed from a branch, computed from its commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.gitops.merge_history import (
    MergeHistory,
    Rejection,
    read_merge_history,
    without_merges,
)
from kalypso_actions.gitops.proposed_commit import commit_message
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.history import FileVersion, FileVersions, HistoryCommit
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree
from tests.breaks import breaks, turned

M0, M1, M2 = "0" * 40, "1" * 40, "2" * 40
TRACKING = ".github/tracking/Promoted_Commit_Id"
SOURCES = ".github/tracking/sources.json"
CONFIG = "large/app/platform-config.yaml"
SPACE = "large/app/namespace.yaml"
Files = Mapping[str, str | None]


def version(text: str | None) -> FileVersion | None:
    return None if text is None else FileVersion("100644", blob_id(text.encode()))


@dataclass
class Branch:
    """A GitOps branch, commit by commit; `merges` are our pull requests by commit."""

    folder: str = ""
    files: dict[str, str] = field(default_factory=dict)
    commits: list[HistoryCommit] = field(default_factory=list)
    merges: dict[str, int] = field(default_factory=dict)
    taken: int = 0
    """The number of commits read."""

    def commit(self, files: Files, message: str = "By hand", number: int = 0) -> str:
        """Change or delete (None) files; `number` is our pull request that the commit merges."""
        changes = {}
        for place, text in files.items():
            path = f"{self.folder}/{place}" if self.folder else place
            if self.files.get(path) == text:
                continue
            changes[path] = FileVersions(version(self.files.get(path)), version(text))
            self.files.pop(path, None)
            if text is not None:
                self.files[path] = text
        name = f"c{len(self.commits)}"
        date = datetime(2026, 3, 1, tzinfo=UTC)
        self.commits.append(HistoryCommit(name, (), date, message, changes))
        if number:
            self.merges[name] = number
        return name

    def revert(self, *names: str) -> str:
        """Restore the files that these commits changed, newest first."""
        known = {version(text): text for text in (*"abcd", M0, M1, M2)}
        files: dict[str, str | None] = {}
        for name in names:
            commit = next(candidate for candidate in self.commits if candidate.id == name)
            for path, change in commit.changes.items():
                files[path] = known[change.before] if change.before else None
        return self.commit(files, "Revert")

    def history(self, promoted: str | None = M1) -> MergeHistory:
        entries = {
            path: FileEntry(path, "100644", blob_id(text.encode()), len(text))
            for path, text in self.files.items()
        }
        base = BaseTree("gitops", "dev", self.folder, entries)
        return read_merge_history(self._line(), base, ["large"], promoted, self.merges.get)

    def _line(self) -> Iterator[HistoryCommit]:
        for commit in reversed(self.commits):
            self.taken += 1
            yield commit

    def removed(self, promoted: str | None = M1) -> dict[tuple[str, str], int]:
        """Return the pull request by path and removed content; "" for no file."""
        known = {version(text): text for text in (*"abcd", M0, M1, M2)}
        removed = self.history(promoted).removed
        return {
            (path, known[content] if content else ""): rejection.number
            for (path, content), rejection in removed.items()
        }


def promoted() -> Branch:
    """Return a branch whose first merge names M0, and the second one M1."""
    branch = Branch()
    branch.commit({TRACKING: M0, CONFIG: "a", SPACE: "a", SOURCES: "a"}, number=1)
    branch.commit({TRACKING: M1, CONFIG: "b", SOURCES: "b"}, number=2)
    return branch


def test_nothing_was_removed() -> None:
    branch = promoted()
    assert branch.removed() == {}
    assert (branch.history().before_era, branch.history().is_as_merged) == (1, True)


@breaks(
    "what was reverted is proposed again",
    turned(
        "kalypso_actions.gitops.merge_history._Era._note_removals",
        "not (restored or promotes)",
        "restored",
    ),
)
def test_the_latest_merge_is_reverted() -> None:
    branch = promoted()
    branch.revert("c1")
    assert branch.removed() == {(TRACKING, M1): 2, (CONFIG, "b"): 2}
    assert branch.history().removed[CONFIG, version("b")] == Rejection(2, "undone", "c1")
    assert not branch.history().is_as_merged
    assert branch.removed(M2) == {}


def test_a_merge_that_is_not_the_latest_is_reverted() -> None:
    """The branch never had the resulting content before."""
    branch = promoted()
    branch.commit({CONFIG: "c", SOURCES: "c"}, number=3)
    branch.commit({TRACKING: M0, CONFIG: "d"})
    assert branch.removed() == {(TRACKING, M1): 2, (CONFIG, "c"): 3}
    assert {removal.commit for removal in branch.history().removed.values()} == {"c2"}


def test_several_merges_are_reverted_one_by_one_or_at_once() -> None:
    for reverts in ([("c2",), ("c1",)], [("c2", "c1")]):
        branch = promoted()
        branch.commit({CONFIG: "c", SPACE: "c"}, number=3)
        for names in reverts:
            branch.revert(*names)
        expected = {(TRACKING, M1): 2, (CONFIG, "c"): 3, (SPACE, "c"): 3}
        if len(reverts) > 1:
            expected[CONFIG, "b"] = 2
        assert branch.removed() == expected


def test_a_revert_of_a_revert_restores_content() -> None:
    branch = promoted()
    branch.revert(branch.revert("c1"))
    assert branch.removed() == {}
    assert branch.history().is_as_merged


def test_a_later_merge_of_ours_restores_content() -> None:
    branch = promoted()
    branch.revert("c1")
    branch.commit({TRACKING: M1, SPACE: "c"}, number=3)
    assert branch.removed() == {(CONFIG, "b"): 2}
    branch.commit({CONFIG: "b"}, number=4)
    assert branch.removed() == {}
    assert branch.history().merged[CONFIG, version("b")] == 4


def test_our_own_merges_remove_nothing() -> None:
    branch = promoted()
    branch.commit({CONFIG: "c"}, number=3)
    branch.commit({CONFIG: "b"}, number=4)
    assert branch.removed() == {}


@breaks(
    "hand-made changes look like our last merge",
    turned("kalypso_actions.gitops.merge_history.read_merge_history", "now == then", "True"),
)
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({CONFIG: "d"}, {(CONFIG, "b"): 2}),
        ({SPACE: None}, {(SPACE, "a"): 2}),
        ({"large/new/namespace.yaml": "d"}, {("large/new/namespace.yaml", ""): 2}),
        ({"small/README.md": README_TEXT.decode()}, {("small/README.md", ""): 2}),
        ({"small/app/namespace.yaml": "d", "large/app/notes": "d", "LICENSE": "d"}, {}),
        ({SOURCES: "d"}, {}),
    ],
)
def test_content_that_people_changed(files: Files, expected: dict[tuple[str, str], int]) -> None:
    branch = promoted()
    branch.commit(files)
    assert branch.removed() == expected
    assert branch.history().is_as_merged == (not expected)
    moved = Branch("fleet/dev")
    moved.commit({TRACKING: M1, CONFIG: "b", SPACE: "a"}, number=2)
    moved.commit(files)
    assert moved.removed() == {
        (f"fleet/dev/{path}", content): number for (path, content), number in expected.items()
    }


def test_a_deletion_of_ours_is_undone() -> None:
    branch = promoted()
    deletion = branch.commit({SPACE: None}, number=3)
    branch.revert(deletion)
    assert branch.removed() == {(SPACE, ""): 3}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({TRACKING: "9" * 40, CONFIG: "d"}, "Anything"),
        ({CONFIG: "d"}, "Merge pull request #7 from acme/deployment/2026-02-28\n"),
        ({CONFIG: "d"}, "Kalypso Scheduler commit\n"),
        ({CONFIG: "d"}, "Update manifests in dev from deployment/2026-02-28 (#7)"),
    ],
)
def test_a_promotion_by_others_is_no_rejection(files: Files, message: str) -> None:
    branch = promoted()
    branch.commit(files, message)
    assert branch.removed() == {}
    assert not branch.history().is_as_merged


def test_going_back_to_a_commit_of_long_ago_is_no_promotion() -> None:
    branch = Branch()
    branch.commit({TRACKING: M2}, number=1)
    branch.commit({TRACKING: M0}, number=2)
    branch.commit({TRACKING: M1}, number=3)
    branch.commit({TRACKING: M2})
    assert branch.removed() == {(TRACKING, M1): 3}
    gone = promoted()
    gone.commit({TRACKING: None})
    assert gone.removed() == {(TRACKING, M1): 2}


def test_only_the_era_is_read() -> None:
    branch = promoted()
    for number in range(3, 9):
        branch.commit({CONFIG: "ab"[number % 2]}, number=number)
    branch.taken = 0
    assert branch.history().before_era == 1
    assert branch.taken == 8
    branch.taken = 0
    assert branch.history(M2).before_era == 8
    assert branch.taken == 7  # the merge that named M1


def test_adopted_branches_are_not_read_to_their_beginning() -> None:
    """Upstream's operator promoted before us."""
    branch = Branch()
    for name in ("7", "8", "9"):
        branch.commit({TRACKING: name * 40}, "Kalypso Scheduler commit")
    branch.commit({CONFIG: "a"}, number=1)
    assert branch.history("9" * 40).before_era == 0
    assert branch.taken == 3  # the newest of the three is the present one
    branch.taken = 0
    assert branch.history(M1).before_era == 1
    assert branch.taken == 2


def test_a_merge_upon_a_revert_by_hand_ends_no_era() -> None:
    """Our pull request is based on M1, and changes another file."""
    branch = promoted()
    branch.commit({TRACKING: M0, CONFIG: "a"})
    branch.commit({SPACE: "c"}, number=3)
    assert branch.removed() == {(TRACKING, M1): 2, (CONFIG, "b"): 2}
    assert branch.history().is_as_merged


def test_a_merge_by_rebase_may_leave_several_commits() -> None:
    branch = promoted()
    branch.commit({CONFIG: "c"}, commit_message("v1:" + "0" * 64))
    branch.commit({SPACE: "c"}, "More", number=3)
    assert branch.removed() == {}


def test_an_environment_without_a_commit() -> None:
    branch = Branch()
    merge = branch.commit({CONFIG: "a"}, number=1)
    branch.revert(merge)
    assert branch.removed(None) == {(CONFIG, "a"): 1}


def test_before_our_first_merge() -> None:
    assert without_merges(BaseTree("gitops", "dev", "", {}), ["large"]).is_as_merged
    branch = Branch()
    branch.commit({"README.md": "a"})
    assert branch.history().is_as_merged
    branch.commit({CONFIG: "a"})
    assert branch.history() == MergeHistory({}, {}, 0, is_as_merged=False)


STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b", "c", None])), max_size=12)


@given(STEPS)
def test_a_model_of_one_file(more: Sequence[tuple[bool, str | None]]) -> None:
    """Compare with a model of one file: the contents that we merged and others removed last."""
    steps = [(True, "d"), *more]
    branch = Branch()
    for number, (is_ours, text) in enumerate(steps, start=1):
        files: dict[str, str | None] = {TRACKING: M1, CONFIG: text} if is_ours else {CONFIG: text}
        branch.commit(files, number=number if is_ours else 0)
    held: set[str | None] = set()
    ended: set[str | None] = set()
    now: str | None = None
    for is_ours, text in steps:
        if not is_ours and text != now and now in held and text not in ended:
            ended.add(now)
        now = text
        ended.discard(now)
        if is_ours:
            held.add(now)
    assert {content for (path, content) in branch.removed()} == {text or "" for text in ended}
    assert (CONFIG, version(now)) not in branch.history().removed
