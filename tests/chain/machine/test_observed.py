"""States of commits, read from outside, and changes that the table lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kalypso_actions.promotion.statuses import State
from tests.chain.machine.lifecycle_rules import OUTSIDE, PLAYED, WITHOUT_EVENT
from tests.chain.machine.observed import actors_of
from tests.chain.machine.steps import Story
from tests.chain.opening import Opening
from tools.reference.lifecycle import Actor

pytestmark = pytest.mark.slow

DEV = 0


@pytest.fixture
def story(begun: Callable[[str], Opening], tmp_path: Path) -> Iterator[Story]:
    story = Story(begun, tmp_path)
    with story.served:
        story.begin("a line")
        story.is_safe()
        yield story


def stands(story: Story, environment: str = "dev") -> State:
    """Return the state of main's newest commit."""
    commit = story.chain.acme.head("main") or ""
    return story.observed.look().get((commit, environment), State.ABSENT)


def offered(story: Story) -> str:
    """Return a commit whose pull request in the GitOps repository is open."""
    story.merge_to_main("release")
    story.run_everything()
    story.is_safe()
    return story.chain.acme.head("main") or ""


def post(story: Story, commit: str, description: str) -> None:
    story.chain.acme.status(commit, "dev environment", description)


def test_a_commit_goes_from_state_to_state(story: Story) -> None:
    states = [stands(story)]
    story.merge_to_main("release")
    states.append(stands(story))
    for _ in range(3):  # ci, cd, schedule
        story.run(place=0, times=1)
        story.is_safe()
        states.append(stands(story))
    story.merge_pull_request(DEV)
    story.is_safe()
    states.append(stands(story))
    story.run_everything()
    story.is_safe()
    assert [*states, stands(story), stands(story, "stage")] == [
        State.DEPLOYED,
        State.ABSENT,
        State.STARTING,
        State.PROMOTED,
        State.OFFERED,
        State.MERGED,
        State.DEPLOYED,
        State.OFFERED,
    ]


def test_acts_of_people_change_the_state(story: Story) -> None:
    offered(story)
    story.close_pull_request(DEV, "a person")
    story.is_safe()
    assert stands(story) is State.CLOSED
    story.start_schedule(DEV, force=True)
    story.run_everything()
    story.is_safe()
    assert stands(story) is State.OFFERED
    story.write_base_repo(DEV, older=1)
    story.is_safe()
    assert stands(story) is State.ROLLED_BACK
    story.write_base_repo(DEV, older=0)
    story.is_safe()
    assert stands(story) is State.OFFERED
    story.merge_pull_request(DEV)
    story.revert(DEV, back=0)
    story.is_safe()
    assert stands(story) is State.CLOSED


def test_a_proposal_of_cd_is_seen(begun: Callable[[str], Opening], tmp_path: Path) -> None:
    story = Story(begun, tmp_path)
    with story.served:
        story.begin("cd proposes")
        offered(story)
        assert stands(story) is State.PROPOSED
        story.merge_pull_request(DEV)
        story.is_safe()
        assert stands(story) is State.PROMOTED


def test_a_person_lets_in_what_the_policy_keeps_out(
    begun: Callable[[str], Opening], tmp_path: Path
) -> None:
    """The merge posts nothing, so the commit keeps the status of a commit that waits."""
    story = Story(begun, tmp_path)
    with story.served:
        story.begin("cd proposes")
        post(story, offered(story), "Waiting: check smoke is missing")
        assert stands(story) is State.WAITING
        story.merge_pull_request(DEV)
        story.is_safe()
        assert stands(story) is State.PROMOTED


@pytest.mark.parametrize(
    ("description", "actors"),
    [
        ("Deployed", {Actor.PEOPLE}),
        ("Deployed", {Actor.CHECK_PROMOTE, Actor.NOTIFY}),
        ("Deploying", {Actor.CHECK_PROMOTE}),
        ("Failed to deploy: why", {Actor.SCHEDULE}),
        ("Superseded by 1111111", {Actor.SCHEDULE, Actor.POLL, Actor.NOTIFY}),
        ("Rolled back to 1111111", {Actor.START_SCHEDULE}),
        ("Waiting for #7", {Actor.SCHEDULE}),
    ],
)  # fmt: skip
def test_a_status_by_a_wrong_actor_is_noticed(
    story: Story, description: str, actors: set[Actor]
) -> None:
    commit = offered(story)
    if description.startswith("Waiting"):  # a commit that base-repo.yaml does not name
        commit = story.chain.acme.commit({"docs/more.md": "?\n"})
    post(story, commit, description)
    with pytest.raises(AssertionError, match=f"{commit[:7]} in dev was"):
        story.observed.every_change_is_allowed(actors)


def test_a_deployed_commit_does_not_fail_later(story: Story) -> None:
    post(story, story.chain.acme.head("main") or "", "Failed to deploy: why")
    with pytest.raises(AssertionError, match="was deployed and became failed"):
        story.observed.every_change_is_allowed({Actor.CHECK_PROMOTE, Actor.POLL})


def test_a_run_that_does_the_work_of_another_command_is_noticed(story: Story) -> None:
    """Schedule writes `base-repo.yaml`, which only cd may."""
    story.merge_to_main("release")
    commit, first = story.chain.acme.head("main") or "", story.promotions.names("dev")
    text = story.chain.acme.files("dev")["base-repo.yaml"].replace(first, commit)
    story.observed.note()
    story.chain.acme.commit({"base-repo.yaml": text}, "dev")
    with pytest.raises(AssertionError, match="was absent and became promoted by schedule"):
        story.observed.every_change_is_allowed({Actor.SCHEDULE})


def test_the_actors_of_a_run_are_its_commands(story: Story) -> None:
    story.merge_to_main("release")
    assert actors_of(story.chain.waiting_runs) == {Actor.CI}


def test_every_event_from_outside_is_played() -> None:
    assert PLAYED.keys() == OUTSIDE
    assert all(PLAYED.values())


def test_every_rule_causes_an_event_or_has_a_reason(
    begun: Callable[[str], Opening], tmp_path: Path
) -> None:
    rules = {rule.function.__name__ for rule in Story(begun, tmp_path).rules}
    playing = {name for names in PLAYED.values() for name in names}
    assert playing | WITHOUT_EVENT.keys() == rules
    assert not playing & WITHOUT_EVENT.keys()
