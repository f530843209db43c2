"""Stories that failed once, as steps of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chain.machine.policies import PolicyStory
from tests.chain.machine.steps import Story
from tests.chain.opening import Opening

pytestmark = pytest.mark.slow

DEV, STAGE = 0, 1


@pytest.fixture
def story(begun: Callable[[str], Opening], tmp_path: Path) -> Iterator[Story]:
    story = Story(begun, tmp_path)
    with story.served:
        yield story


def release(story: Story, *merged: int) -> str:
    """Run a commit of main until it waits, and merge it in these environments."""
    story.merge_to_main("release")
    story.run_everything()
    for place in merged:
        story.merge_pull_request(place)
        story.run_everything()
    return story.chain.acme.head("main") or ""


def run_again(story: Story, file: str) -> None:
    """Return the newest run of a workflow file."""
    runs = [job.run.file for job in reversed(story.chain.done)]
    story.run_again(place=runs.index(file))
    story.run_everything()


def end(story: Story) -> None:
    story.is_safe()
    story.come_to_rest()


def test_variables_beside_annotations(story: Story) -> None:
    story.begin("a line by a variable")
    release(story)
    end(story)


@pytest.mark.parametrize("with_sources", [False, True])
def test_a_tracking_file_names_a_commit_that_waits_for_approval(
    story: Story, with_sources: bool
) -> None:
    story.begin("a line")
    story.require_approval(DEV)
    release(story)
    story.write_tracking(DEV, older=0, with_sources=with_sources)
    story.run_everything()
    while "check-promote dev" in story.chain.waiting_for_approval:
        place = story.chain.waiting_for_approval.index("check-promote dev")
        story.decide(place=place, approved=True)
        story.run_everything()
    end(story)


@pytest.mark.parametrize("by_cd", [False, True])
def test_a_deployment_that_waits_for_days_is_replaced(story: Story, by_cd: bool) -> None:
    story.begin("a line")
    story.require_approval(STAGE)
    release(story, DEV)
    story.wait(3 * 86400)
    if by_cd:
        story.start_cd(DEV, older=1, claim=False)
        story.run_everything()
    else:
        story.write_base_repo(DEV, older=1)
    story.decide(place=0, approved=True)
    story.run_everything()
    end(story)


def test_an_environment_is_rolled_back_while_it_is_checked(story: Story) -> None:
    story.begin("a line")
    release(story)
    story.slow_cluster(DEV, minutes=2)
    story.merge_pull_request(DEV)
    story.run(place=0, times=1)
    story.meddle(place=0, deed="roll back", environment=DEV, writes=0, seconds=100)
    story.run_everything()
    end(story)


def test_an_old_run_of_ci_is_run_again_after_a_rollback(story: Story) -> None:
    story.begin("a line")
    release(story, DEV, STAGE)
    story.start_cd(DEV, older=1, claim=False)
    story.run_everything()
    story.merge_pull_request(DEV)
    story.run_everything()
    run_again(story, "ci.yaml")
    end(story)


def test_a_second_environment_promotes_a_commit_that_was_rolled_back(story: Story) -> None:
    story.begin("a diamond")
    qa, perf, stage = (story.names.index(name) for name in ("qa", "perf", "stage"))
    release(story, DEV, qa, stage)
    story.start_cd(stage, older=1, claim=False)
    story.run_everything()
    story.merge_pull_request(perf)
    story.run_everything()
    end(story)


@pytest.mark.parametrize("layout", ["a line", "schedule merges"])
@pytest.mark.parametrize("back", [0, 1])
def test_one_of_several_merges_is_reverted(story: Story, layout: str, back: int) -> None:
    story.begin(layout)
    release(story, DEV)
    story.configure(DEV, "region")
    story.run_everything()
    story.merge_pull_request(DEV)
    story.run_everything()
    story.revert(DEV, back)
    story.start_schedule(DEV, force=False)
    story.run_everything()
    end(story)


def test_a_revert_is_reverted(story: Story) -> None:
    story.begin("a line")
    release(story, DEV)
    story.revert(DEV, back=0)
    story.revert(DEV, back=0)
    story.start_schedule(DEV, force=False)
    story.run_everything()
    end(story)


@pytest.mark.parametrize("closer", ["a bot", "the deletion of its branch"])
def test_no_person_closed_it(story: Story, closer: str) -> None:
    story.begin("a line")
    release(story)
    story.close_pull_request(DEV, closer)
    story.start_schedule(DEV, force=False)
    story.run_everything()
    end(story)


def test_the_row_of_a_deleted_cluster_lingers(story: Story) -> None:
    story.begin("a line")
    story.delete_cluster(DEV)
    release(story)
    end(story)


def test_a_cluster_follows_a_foreign_path(story: Story) -> None:
    story.begin("a line")
    story.follow_elsewhere(DEV)
    release(story)
    end(story)


def test_a_merge_in_the_middle_of_schedule(story: Story) -> None:
    """The merge takes the earlier proposal."""
    story.begin("a line")
    release(story)
    story.merge_to_main("release")
    for _ in range(2):
        story.run(place=0, times=1)
    story.meddle(place=0, deed="merge", environment=DEV, writes=0, seconds=0)
    end(story)


@pytest.fixture
def policy_story(begun: Callable[[str], Opening], tmp_path: Path) -> Iterator[PolicyStory]:
    story = PolicyStory(begun, tmp_path)
    with story.served:
        yield story


def test_a_joined_environment_passes_over_what_waits_first(policy_story: PolicyStory) -> None:
    """The queue of stage must go on without the commit that qa never deploys."""
    story = policy_story
    story.begin("a join of three", policies=[{"soak", "oldest"}, set(), {"checks"}])
    story.commits_come(2)
    end(story)


def test_a_chain_goes_back_with_policies(policy_story: PolicyStory) -> None:
    story = policy_story
    story.begin("a join of three", policies=[{"oldest"}, {"soak"}])
    story.commits_come(2)
    story.roll_back(0, chain=True)
    story.poll_lets_in()
    end(story)
