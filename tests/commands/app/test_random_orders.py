"""Any order and repetition of events ends where a naive recomputation says."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Final

import pytest

from kalypso_actions.report.application_document import AppCheckDocument
from tests.commands.app.shop import CONFIGS, GITOPS, Application
from tests.commands.chain.killing import KilledError, killed_after

STEPS: Final = 7
EVENTS: Final = (
    *("release", "release", "configs", "merge", "merge", "close", "revert", "deploy", "late"),
    *("edit", "check", "approve", "lose", "cron", "person"),
)
STORIES: Final = os.environ.get("KALYPSO_STORIES", "0-100")
"""The seeds to play, as first-end; CI plays the default."""


class Story:
    """Plays random events, and remembers what they mean."""

    def __init__(self, web: Application, seed: int) -> None:
        self.web = web
        self.random = random.Random(seed)
        self.released: list[str] = []
        self.closed: set[str] = set()
        """The commits whose proposals were closed."""
        self.overtaken: set[str] = set()
        """The commits that a run left behind for another one."""
        self.proposed = ""
        """The commit of the open proposal, "" if it is that of the branch."""
        self.named: list[str] = [""]
        self.before: list[tuple[dict[str, str], bool]] = []
        """The files of the branch before each merge that nobody has reverted; whether edited."""
        self.edited = self.merged_edited = False
        """Whether people have changed what is proposed, and what the branch has."""
        self.went_on: set[str] = set()
        """The commits that the chain has sent on to the next environment."""
        self.current: set[str] = set()
        """Those that nobody has rolled back."""
        self.told: list[str] = []

    def play(self) -> None:
        event = self.random.choice(EVENTS)
        self.told.append(event)
        action: Callable[[], None] = getattr(self, event)
        action()

    def release(self) -> None:
        self.released.append(self.web.released(str(len(self.released) + 1)))

    def configs(self) -> None:
        number = self.random.randrange(1000)
        self.web.acme.commit({f"t{number}/values.yaml": ""}, "dev", CONFIGS)

    def deploy(self, commit: str = "") -> None:
        self._left_behind(self.expected())
        self.web.deploy(commit=commit)
        self.edited = False

    def _left_behind(self, expected: str) -> None:
        """Remember what a run that deploys a commit has left behind."""
        if expected:
            self.overtaken.update(self.released[: self.released.index(expected)])
        if self.proposed != expected:
            self.overtaken.add(self.proposed)
        self.overtaken.discard(expected)
        self.proposed = expected if expected != self.named[-1] else ""

    def late(self) -> None:
        """A start that says an old commit."""
        if self.released:
            self.deploy(self.random.choice(self.released))

    def person(self) -> None:
        """A person names any commit."""
        if self.released:
            commit = self.random.choice(self.released)
            self._left_behind(commit)
            self.web.deploy(commit=commit, actor="ada", allow_rollback="true")
            self.edited = False

    def lose(self) -> None:
        """A run is lost after some of its writes; the next one does the rest."""
        try:
            with killed_after(self.random.randrange(6)):
                self.web.deploy()
        except KilledError:
            pass
        self.deploy()

    def cron(self) -> None:
        """The clock finds what is due."""
        self.web.wait()
        self.web.end_runs()
        for workflow, environment, _ in self.web.poll(environments="dev"):
            if workflow == "deploy.yml" and environment == "dev":
                self.deploy()

    def check(self) -> None:
        """Job 1 of the check looks at the head of the branch."""
        self.web.check(verify_only="true")

    def approve(self) -> None:
        """A person approves job 2 of the check, which waits for clusters, and goes on."""
        done = self.web.check(platform_gitops="", require_targets="false").document
        assert isinstance(done, AppCheckDocument)
        order = {commit: place for place, commit in enumerate(self.released)}
        commit = self.named[-1]
        newer = {each for each in self.current if order[each] > order.get(commit, -1)}
        goes_on = bool(commit) and not (newer or self.merged_edited or commit in self.current)
        assert done.promoted_to == (("dev-red",) if goes_on else ()), self.told
        if goes_on:
            self.went_on.add(commit)
            self.current.add(commit)
        elif commit and newer and done.meaning == "rollback":
            self.current -= newer

    def edit(self) -> None:
        """A person changes what is proposed."""
        if self.web.pulls():
            files = {"us/gen_manifests.yaml": f"# {self.random.randrange(1000)}\n"}
            self.web.acme.commit(files, "kalypso/dev", GITOPS)
            self.edited = True

    def merge(self) -> None:
        if self.web.pulls():
            self.before.append((self.web.acme.files("dev", GITOPS), self.merged_edited))
            self.merged_edited, self.edited = self.edited, False
            self.web.merge_open()
            self.named.append(self.web.tracking("dev", "Promoted_Commit_Id"))
            self.proposed = ""

    def close(self) -> None:
        for pull in self.web.pulls():
            commit = self.web.acme.files("kalypso/dev", GITOPS)[
                ".github/tracking/Promoted_Commit_Id"
            ].strip()
            self.closed.add(commit)
            self.proposed = ""
            self.web.acme.close(pull["number"], GITOPS)
            self.edited = False

    def revert(self) -> None:
        if not self.before:
            return
        (then, edited), now = self.before.pop(), self.web.acme.files("dev", GITOPS)
        files = {path: then.get(path) for path in then.keys() | now.keys()}
        if all(then.get(path) == text for path, text in now.items()):
            return
        self.web.acme.commit(files, "dev", GITOPS)
        self.merged_edited = edited
        self.named.append(then.get(".github/tracking/Promoted_Commit_Id", "").strip())
        if self.proposed == self.named[-1]:
            self.proposed = ""

    def expected(self) -> str:
        """Return the commit that the environment should have, by the events alone."""
        order = {commit: place for place, commit in enumerate(self.released)}
        tracked = self.named[-1]
        left = [order[each] for each in self.named if order.get(each, -1) > order.get(tracked, -1)]
        newer = [
            commit
            for commit in self.released
            if order[commit] > order.get(tracked, -1)
            and (
                commit == self.proposed
                or (
                    commit not in self.closed | self.overtaken
                    and (not left or order[commit] > max(left))
                )
            )
        ]
        return newer[-1] if newer else self.proposed or tracked


FIRST, END = map(int, STORIES.split("-"))


@pytest.mark.slow
@pytest.mark.usefixtures("azure")
@pytest.mark.parametrize("seed", range(FIRST, END))
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
    web.wait()
    web.end_runs()
    starts = [workflow for workflow, *_ in web.poll(environments="dev")]
    assert "deploy.yml" not in starts, story.told
    newest = [commit for commit in story.released if commit in story.went_on][-1:]
    follows = web.deployment("dev-red")
    assert [follows.commit] == (newest or [""]), story.told
