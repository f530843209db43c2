"""The checks of random stories find planted violations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, SOURCES_FILE
from kalypso_actions.model.promotion_policy import POLICY_FILE
from tests.chain.machine.entries import WRITTEN
from tests.chain.machine.policies import HEAD
from tests.chain.machine.steps import Story
from tests.chain.opening import Opening
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

pytestmark = pytest.mark.slow

UNKNOWN = "1" * 40


def newest(story: Story) -> str:
    return story.chain.acme.head("main") or ""


def changed(story: Story) -> str:
    story.merge_to_main("release")
    return newest(story)


def promote(story: Story, environment: str, commit: str) -> None:
    """Write to a branch as a run that no person has started."""
    text = story.chain.acme.files(environment)["base-repo.yaml"]
    text = text.replace(story.chain.has(environment), commit)
    story.chain.acme.commit({"base-repo.yaml": text}, environment)


def bring(story: Story, environment: str, commit: str) -> None:
    """Bring a commit to an environment, whose cluster complies with it."""
    promote(story, environment, commit)
    track(story, environment, commit)
    story.chain.wait(10)  # its Kustomizations begin with the commit
    look(story)


def track(story: Story, environment: str, commit: str) -> None:
    story.chain.acme.commit({PROMOTED_COMMIT_FILE: commit}, environment, GITOPS)


def look(story: Story) -> None:
    """Check the changes against the rules, as after each run."""
    story.watched(list, [])


def start(story: Story, workflow: str, **inputs: str) -> None:
    """Start a workflow as the chain does."""
    bot = story.chain.acme.sandbox.create_token("actions", repositories=[CONTROL_PLANE])
    path = f"{CONTROL_PLANE}/actions/workflows/{workflow}.yaml/dispatches"
    story.chain.acme.ask("POST", path, {"ref": "main", "inputs": inputs}, token=bot)


def start_cd(story: Story, environment: str, commit: str, promoted_from: str) -> None:
    inputs = {"environment": environment, "promoted_commit_id": commit}
    start(story, "cd", promoted_from=promoted_from, **inputs)


def propose(story: Story, files: dict[str, str | bytes | None]) -> None:
    """Set our branch to dev's head, and commit these files on top of it."""
    head = story.chain.acme.head("dev", GITOPS)
    story.chain.acme.reset("kalypso/dev", head, GITOPS)
    story.chain.acme.commit(files, "kalypso/dev", GITOPS)


def issue(story: Story, title: str) -> int:
    return int(story.chain.acme.ask("POST", f"{GITOPS}/issues", {"title": title})["number"])


def comment(story: Story, body: str) -> int:
    path = f"{GITOPS}/issues/1/comments"
    return int(story.chain.acme.ask("POST", path, {"body": body})["id"])


def log(story: Story, text: str) -> None:
    folder = story.chain.acme.folder / "runs" / "99-cd"
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text(text)


PLANTED: dict[str, Callable[[Story], object]] = {
    "a file of others": lambda story: propose(story, {"notes/owners.txt": None}),
    "a branch": lambda story: story.chain.acme.commit({"a": "b"}, "kalypso/prod", GITOPS),
    "a tree that is not whole": lambda story: propose(
        story, {"large/shop-web/platform-config.yaml": "kind: Other\n"}
    ),
    "an issue": lambda story: [issue(story, "twice") for _ in range(2)],
    "a comment": lambda story: [comment(story, "<!-- mark -->\nsome text") for _ in range(2)],
    "a token": lambda story: issue(story, f"my token is {story.chain.acme.token}"),
    "a token in a log": lambda story: log(story, f"my token is {story.chain.acme.token}"),
}


def two_first_environments(story: Story) -> None:
    commit = changed(story)
    start_cd(story, "dev", commit, "ci")
    start_cd(story, "stage", commit, "ci")


def an_environment_that_is_not_before(story: Story) -> None:
    start_cd(story, "dev", newest(story), "stage")


def a_start_that_was_never_compliant(story: Story) -> None:
    commit = changed(story)
    promote(story, "dev", commit)
    start_cd(story, "stage", commit, "dev")


def a_start_by_a_tracking_file(story: Story) -> None:
    commit = changed(story)
    story.write_tracking(place=0, older=0, with_sources=True)
    start_cd(story, "stage", commit, "dev")


def a_start_from_what_was_left(story: Story) -> None:
    older, commit = newest(story), changed(story)
    bring(story, "dev", commit)
    story.write_base_repo(place=0, older=1)
    assert story.promotions.names("dev") == older
    story.wait(60)
    start_cd(story, "stage", commit, "dev")


def a_rollback_undone(story: Story) -> None:
    commit = changed(story)
    bring(story, "dev", commit)
    story.write_base_repo(place=0, older=1)
    promote(story, "dev", commit)


def a_rollback_undone_half(story: Story) -> None:
    """Promote a commit between the undone one and the target of the rollback."""
    middle, commit = changed(story), changed(story)
    bring(story, "dev", commit)
    story.write_base_repo(place=0, older=2)
    promote(story, "dev", middle)


def a_step_back(story: Story) -> None:
    older = newest(story)
    bring(story, "dev", changed(story))
    promote(story, "dev", older)


def a_deployed_commit_that_nobody_ran(story: Story) -> None:
    story.chain.acme.status(changed(story), "dev environment", "Deployed")


def reverted_content(story: Story) -> None:
    changed(story)
    story.settle()
    story.revert(place=0, back=0)
    head = story.chain.acme.sandbox.git(GITOPS).commit("dev").parents[0]
    story.chain.acme.reset("kalypso/dev", head, GITOPS)
    story.chain.acme.commit({"large/shop-web/more.txt": "?\n"}, "kalypso/dev", GITOPS)
    story.chain.acme.commit({"large/shop-web/more.txt": None}, "kalypso/dev", GITOPS)
    story.chain.acme.pull("kalypso/dev", "dev", GITOPS)


def a_commit_that_ci_has_not_passed(story: Story) -> None:
    story.merge_to_main("broken")
    promote(story, "dev", newest(story))


def a_commit_that_dev_never_had(story: Story) -> None:
    promote(story, "stage", changed(story))


def a_tracking_file_that_nobody_wrote(story: Story) -> None:
    track(story, "dev", changed(story))


PROMOTED: dict[Callable[[Story], None], str] = {
    a_commit_that_ci_has_not_passed: "which never passed ci",
    a_commit_that_dev_never_had: "which was never compliant in dev",
    a_tracking_file_that_nobody_wrote: "which nobody brought there",
    two_first_environments: "ci started",
    an_environment_that_is_not_before: "stage started dev",
    a_start_that_was_never_compliant: "which was never compliant there",
    a_start_by_a_tracking_file: "which base-repo.yaml never named",
    a_start_from_what_was_left: "which it had left",
    a_rollback_undone: "was rolled back from",
    a_rollback_undone_half: "was rolled back from",
    a_step_back: "went back from",
    a_deployed_commit_that_nobody_ran: "is called deployed in dev",
    reverted_content: "is proposed again what people took out",
}


@pytest.fixture
def story(begun: Callable[[str], Opening], tmp_path: Path) -> Iterator[Story]:
    story = Story(begun, tmp_path)
    with story.served:
        story.begin("a line")
        story.is_safe()
        yield story


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_fault_is_noticed(story: Story, planted: str) -> None:
    PLANTED[planted](story)
    with pytest.raises(AssertionError):
        story.is_safe()


@pytest.mark.parametrize("planted", PROMOTED, ids=lambda story: story.__name__)
def test_a_wrong_promotion_is_noticed(story: Story, planted: Callable[[Story], None]) -> None:
    planted(story)
    with pytest.raises(AssertionError, match=PROMOTED[planted]):
        look(story)


FREEZE = "freezes: [{reason: x, from: '2020-01-01T00:00:00Z', to: '2050-01-01T00:00:00Z'}]"
AGAINST = {
    "holds: [{reason: x, by: bob}]": "hold by bob",
    "holds: [{reason: x, by: bob}], requires: {}": "hold by bob",
    FREEZE: "freeze: x",
    "freezes: [{reason: x, cron: '0 0 * * *', timezone: Asia/Tokyo, duration: 1d}]": "freeze: x",
    "requires: {checks: [{name: smoke, from: acme-ci}]}": "smoke has not succeeded",
    "requires: {deployed: [stage]}": "not deployed in stage",
    "hold: []": "the policy is invalid",
    "queue: oldest": "waits before it",
}


@pytest.mark.parametrize("spec", AGAINST)
def test_a_write_against_a_policy_is_noticed(story: Story, spec: str) -> None:
    """A status shows that an older commit waits; only a queue cares."""
    story.chain.acme.commit({POLICY_FILE: f"{HEAD}spec: {{{spec}}}\n"}, "dev")
    story.chain.acme.status(changed(story), "dev environment", "Waiting: soak until 14:00 UTC")
    commit = changed(story)
    text = story.chain.acme.files("dev")["base-repo.yaml"]
    files = {"base-repo.yaml": text.replace(story.chain.has("dev"), commit)}
    sandbox = story.chain.acme.sandbox

    def write() -> list[str]:
        sandbox.commit(CONTROL_PLANE, files, branch="dev", message=WRITTEN)
        return []

    with pytest.raises(AssertionError, match=f"in spite of its policy: .*{AGAINST[spec]}"):
        story.watched(write, [])


@pytest.mark.parametrize("spec", [each for each in AGAINST if AGAINST[each][0] in "hf"])
def test_a_status_against_a_policy_is_noticed(story: Story, spec: str) -> None:
    acme = story.chain.acme
    acme.commit({POLICY_FILE: f"{HEAD}spec: {{{spec}}}\n"}, "dev")
    base = story.chain.has("dev")
    acme.commit({PROMOTED_COMMIT_FILE: base}, "dev", GITOPS)
    acme.reset("kalypso/dev", acme.head("dev", GITOPS), GITOPS)
    proposed = acme.head("kalypso/dev", GITOPS)

    def write() -> list[str]:
        body = {"context": "kalypso / policy", "state": "success", "description": ""}
        acme.ask("POST", f"{GITOPS}/statuses/{proposed}", body)
        return []

    with pytest.raises(AssertionError, match=f"is told to be open in spite of .*{AGAINST[spec]}"):
        story.watched(write, [])


def test_a_promotion_by_a_person_is_not_wrong(story: Story) -> None:
    """A person rolls back, and returns to the undone commit; then the chain goes beyond it."""
    older = newest(story)
    bring(story, "dev", changed(story))
    for back in (1, 0):
        story.write_base_repo(place=0, older=back)
        look(story)
    story.write_base_repo(place=0, older=1)
    assert story.promotions.names("dev") == older
    bring(story, "dev", changed(story))
    promote(story, "stage", newest(story))
    look(story)


def test_a_merge_over_a_change_of_people_is_noticed(story: Story) -> None:
    """Schedule with `auto-merge` must not merge over it."""
    path = "large/shop-web/platform-config.yaml"
    story.change_by_hand("dev", {path: "kind: Other\n"}, "changes a file")
    story.chain.acme.commit({path: "kind: ConfigMap\n"}, "dev", GITOPS)
    with pytest.raises(AssertionError, match="was merged over what people changed"):
        look(story)


def test_a_run_that_writes_elsewhere_is_noticed(story: Story) -> None:
    before = story.safety.trees()
    promote(story, "dev", UNKNOWN)
    story.safety.only_base_repo_was_written(before)
    for place in ((CONTROL_PLANE, "main"), (GITOPS, "dev"), (GITOPS, "main")):
        before = story.safety.trees()
        story.chain.acme.commit({"base-repo.yaml": "?\n"}, place[1], place[0])
        with pytest.raises(AssertionError):
            story.safety.only_base_repo_was_written(before)


def test_a_tree_is_rendered_from_the_commits_that_it_names(story: Story) -> None:
    """The check must not use the present heads."""
    story.configure(place=0, change="region")
    story.register("web, api")
    changed(story)
    story.is_safe()
    sources = json.loads(story.chain.acme.files("dev", GITOPS)[SOURCES_FILE])
    assert sources["environmentBranch"]["commit"] != story.chain.acme.head("dev")
