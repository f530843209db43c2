"""What must never happen is noticed where it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kalypso_actions.model.layout import SOURCES_FILE
from tests.chain import opening
from tests.chain.machine.acme import SMALL
from tests.chain.machine.steps import Story
from tests.commands.chain.world import CONTROL_PLANE, GITOPS

PLANTED: dict[str, Callable[[Story], object]] = {
    "a commit that ci has not passed": lambda story: promote(story, "dev", "1" * 40),
    "a commit that dev never had": lambda story: promote(story, "stage", changed(story)),
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


def changed(story: Story) -> str:
    story.merge_to_main("release")
    return story.chain.acme.head("main") or ""


def promote(story: Story, environment: str, commit: str) -> None:
    text = story.chain.acme.files(environment)["base-repo.yaml"]
    text = text.replace(story.chain.has(environment), commit)
    story.chain.acme.commit({"base-repo.yaml": text}, environment)


def propose(story: Story, files: dict[str, str | bytes | None]) -> None:
    """Our branch has this upon what it has already."""
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


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> opening.Opening:
    return opening.settled(tmp_path_factory.mktemp("opening"), SMALL)


@pytest.fixture
def story(begun: opening.Opening, tmp_path: Path) -> Iterator[Story]:
    story = Story(begun, tmp_path)
    with story.served:
        story.is_safe()
        yield story


@pytest.mark.parametrize("planted", PLANTED)
def test_what_must_not_be_is_noticed(story: Story, planted: str) -> None:
    PLANTED[planted](story)
    with pytest.raises(AssertionError):
        story.is_safe()


def test_a_run_that_writes_elsewhere_is_noticed(story: Story) -> None:
    before = story.safety.trees()
    promote(story, "dev", "1" * 40)
    story.safety.only_base_repo_was_written(before)
    for place in ((CONTROL_PLANE, "main"), (GITOPS, "dev"), (GITOPS, "main")):
        before = story.safety.trees()
        story.chain.acme.commit({"base-repo.yaml": "?\n"}, place[1], place[0])
        with pytest.raises(AssertionError):
            story.safety.only_base_repo_was_written(before)


def test_a_tree_is_rendered_from_what_it_names(story: Story) -> None:
    """Not from the heads of today."""
    story.configure("dev", "region")
    story.register("web, api")
    changed(story)
    story.is_safe()
    sources = json.loads(story.chain.acme.files("dev", GITOPS)[SOURCES_FILE])
    assert sources["environmentBranch"]["commit"] != story.chain.acme.head("dev")
