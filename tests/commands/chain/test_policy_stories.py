"""Random stories of a PromotionPolicy: what people, ci, cd and poll do in any order."""

from __future__ import annotations

import random

import pytest

from tests.commands.chain.cd_runs import change_main, document, has
from tests.commands.chain.cd_runs import run as promote
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation
from tests.commands.chain.polls import LONG
from tests.commands.chain.polls import run as poll

FILE = ".github/kalypso/promotion.yaml"
HEAD = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: any}\n"
HELD = "holds: [{reason: incident 42, by: alice}]"
OPEN = "holds: []"


def text(spec: str) -> str:
    return f"{HEAD}spec: {{{spec}}}\n"


POLICIES = {
    "open": OPEN,
    "oldest": "queue: oldest",
    "hold": HELD,
    "two holds": "holds: [{reason: a, by: alice}, {reason: b, by: bob, until: 2020-01-01T00:00:00Z}]",
    "freeze": "freezes: [{cron: '0 0 * * *', duration: 24h, timezone: Europe/Berlin, reason: always}]",
    "over": "freezes: [{from: 2020-01-01T00:00:00Z, to: 2020-01-02T00:00:00Z, reason: then}]",
    "check": "requires: {checks: [{name: smoke, from: acme-ci}]}",
    "invalid": "hold: []",
}
"""Policies by name; `open`, `oldest` and `over` let commits in."""

LETS_IN = {"open", "oldest", "over"}


class RandomStory:
    """People change main and the policy of dev; ci and poll start cd, whose jobs run in order."""

    def __init__(self, acme: Organisation, seed: int) -> None:
        self.acme = acme
        self.random = random.Random(seed)
        self.policy = "open"
        self.commits: list[str] = []
        self.entered: list[str] = []
        self.is_calm = False
        """Whether people and GitHub disturb nothing."""

    def play(self) -> None:
        for _ in range(8):
            step = self.random.choice([self.push, self.push, self.change_policy, self.poll])
            step()
        self.is_calm = True
        self.set_policy(self.random.choice(["open", "over"]))
        for _ in range(3):
            self.acme.clock.sleep(LONG)  # a start without a run counts as lost
            self.poll()

    def disturbed(self, share: float) -> bool:
        return not self.is_calm and self.random.random() < share

    def push(self) -> None:
        commit = change_main(self.acme, f"{len(self.commits)}")
        self.commits.append(commit)
        self.cd(commit)

    def change_policy(self) -> None:
        self.set_policy(self.random.choice(list(POLICIES)))

    def set_policy(self, name: str) -> None:
        self.policy = name
        self.acme.commit({FILE: text(POLICIES[name])}, "dev")

    def poll(self) -> None:
        with self.acme.sandbox.lock:
            self.acme.sandbox.repository(CONTROL_PLANE).runs.clear()
        poll(self.acme, environments="dev")
        for start in self.acme.dispatches():
            if start.workflow == "cd.yaml" and not self.disturbed(0.1):
                self.cd(start.inputs["promoted_commit_id"])

    def cd(self, commit: str) -> None:
        """Run both jobs, unless the first one says that the commit waits."""
        first = document(promote(self.acme, commit, promoted_from="ci", verify_only="true"))
        if first.waiting_for:
            return
        if self.disturbed(0.3):  # an approval takes its time
            self.change_policy()
        policy, before = self.policy, has(self.acme)
        done = document(promote(self.acme, commit, promoted_from="ci"))
        if done.action == "written":
            assert policy in LETS_IN, f"{commit} entered in spite of {policy}"
            self.entered.append(commit)
        else:
            assert has(self.acme) == before


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))]
)
def test_random_stories_of_policies(acme: Organisation, seed: int) -> None:
    """Safety: nothing enters against the policy. Liveness: the newest commit enters by itself."""
    story = RandomStory(acme, seed)
    story.play()
    assert not story.commits or has(acme) == story.commits[-1], story.entered
    waiting = [
        commit
        for commit in story.commits
        if acme.statuses(commit)["dev environment"][1].startswith("Waiting: ")
        and acme.statuses(commit)["dev environment"][1] != "Waiting: cd"
    ]
    assert waiting == []
