"""Any order and repetition of events ends where a naive recomputation says."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.commands.app.shop import CONFIGS, GITOPS, Application

STEPS = 7
EVENTS = ("release", "release", "configs", "merge", "merge", "close", "revert", "deploy", "late")


class Story:
    """Plays random events, and remembers what they mean."""

    def __init__(self, web: Application, seed: int) -> None:
        self.web = web
        self.random = random.Random(seed)
        self.released: list[str] = []
        self.closed: set[str] = set()
        """The commits whose proposals were closed since the last merge."""
        self.overtaken: set[str] = set()
        """The commits that a run left behind for a newer one."""
        self.named: list[str] = [""]
        self.before: list[dict[str, str]] = []
        """The files of the branch before each merge that nobody has reverted."""
        self.told: list[str] = []

    def play(self) -> None:
        event = self.random.choice(EVENTS)
        action: Callable[[], None] = getattr(self, event)
        action()
        self.told.append(event)

    def release(self) -> None:
        self.released.append(self.web.released(str(len(self.released) + 1)))

    def configs(self) -> None:
        number = self.random.randrange(1000)
        self.web.acme.commit({f"t{number}/values.yaml": ""}, "dev", CONFIGS)

    def deploy(self, commit: str = "") -> None:
        expected = self.expected()
        if expected:
            self.overtaken.update(self.released[: self.released.index(expected)])
        self.web.deploy(commit=commit)

    def late(self) -> None:
        if self.released:
            self.deploy(self.random.choice(self.released))

    def merge(self) -> None:
        if self.web.pulls():
            self.before.append(self.web.acme.files("dev", GITOPS))
            self.web.merge_open()
            self.named.append(self.web.tracking("dev", "Promoted_Commit_Id"))
            self.closed.clear()

    def close(self) -> None:
        for pull in self.web.pulls():
            commit = self.web.acme.files("kalypso/dev", GITOPS)[
                ".github/tracking/Promoted_Commit_Id"
            ].strip()
            self.closed.add(commit)
            self.web.acme.close(pull["number"], GITOPS)

    def revert(self) -> None:
        if not self.before:
            return
        then, now = self.before.pop(), self.web.acme.files("dev", GITOPS)
        files = {path: then.get(path) for path in then.keys() | now.keys()}
        if all(then.get(path) == text for path, text in now.items()):
            return
        self.web.acme.commit(files, "dev", GITOPS)
        self.named.append(then.get(".github/tracking/Promoted_Commit_Id", "").strip())

    def expected(self) -> str:
        """Return the commit that the environment should have, by the events alone."""
        order = {commit: place for place, commit in enumerate(self.released)}
        tracked = self.named[-1]
        left = [order[each] for each in self.named if order.get(each, -1) > order.get(tracked, -1)]
        allowed = [
            commit
            for commit in self.released
            if order[commit] > order.get(tracked, -1)
            and commit not in self.closed | self.overtaken
            and (not left or order[commit] > max(left))
        ]
        return allowed[-1] if allowed else tracked


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_any_order_ends_in_the_same_state(web: Application, seed: int) -> None:
    story = Story(web, seed)
    for _ in range(STEPS):
        story.play()
    story.deploy()
    expected, tracked = story.expected(), story.named[-1]
    version = str(story.released.index(expected) + 1) if expected else ""
    pulls = web.pulls()
    assert len(pulls) <= 1, story.told
    if expected != tracked:
        assert [pull["title"] for pull in pulls] == [f"Deploy to 'dev' '{version}'"], story.told
    for pull in pulls:
        assert pull["title"] == f"Deploy to 'dev' '{version}'", story.told
        is_promotion = "promoted" in {label["name"] for label in pull["labels"]}
        assert is_promotion is (expected != tracked), story.told
    before = web.acme.writes()
    web.deploy()
    assert web.acme.writes() == before, story.told
