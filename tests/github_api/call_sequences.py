"""Calls of the clients that take several steps, each on all of its paths."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import (
    GitHub,
    branches,
    comments,
    commits,
    issues,
    merging,
    pull_requests,
    statuses,
)
from kalypso_actions.model.github import CommitStatus
from tests.github_api.populated_sandbox import Scene

FLEET: Final = "acme/fleet"
MARK: Final = "<!-- mark -->"


def ensure_comment(github: GitHub, scene: Scene) -> None:
    number = scene.issue()
    for body in ("first", "second"):
        comments.ensure(github, FLEET, number, MARK, body)
    for _ in range(2):
        scene.json("POST", f"issues/{number}/comments", {"body": f"{MARK}\ndoubled"})
    comments.ensure(github, FLEET, number, MARK, "second")


def outdated(github: GitHub, scene: Scene) -> None:
    comments.delete_of_other_bots(github, FLEET, scene.issue(), MARK)


def ensure_issue(github: GitHub, scene: Scene) -> None:
    title = scene.name()
    issue, _ = issues.ensure(github, FLEET, title=title, body="first", labels=["kalypso"])
    scene.json("PATCH", f"issues/{issue.number}", {"state": "closed"})
    issues.ensure(github, FLEET, title=title, body="second", labels=["kalypso"])
    scene.json("POST", "issues", {"title": title, "labels": ["kalypso"]})
    scene.json("PATCH", f"issues/{issue.number}", {"labels": []})
    issues.ensure(github, FLEET, title=title, body="second", labels=["kalypso"])


def ensure_pull_request(github: GitHub, scene: Scene) -> None:
    head = scene.branch()
    for body in ("first", "second"):
        pull_requests.ensure(
            github, FLEET, head=head, base="main", title="t", body=body, labels=["kalypso"]
        )


def set_texts(github: GitHub, scene: Scene) -> None:
    pull = pull_requests.get(github, FLEET, scene.pull())
    pull_requests.set_texts(github, FLEET, pull, "t", "another")


def close_pull_request(github: GitHub, scene: Scene) -> None:
    pull_requests.close(
        github, FLEET, scene.pull(), mark=MARK, comment="why", labels=["superseded"]
    )


def labelled(scene: Scene) -> int:
    number = scene.issue()
    scene.json("POST", f"issues/{number}/labels", {"labels": ["bug"]})
    return number


def merge(github: GitHub, scene: Scene) -> None:
    for number in (scene.pull(), scene.clashing_pull()):
        head = pull_requests.get(github, FLEET, number).head_commit
        merging.merge(github, FLEET, number, head=head)


def merge_as_allowed(github: GitHub, scene: Scene) -> None:
    number = scene.pull()
    head = pull_requests.get(github, FLEET, number).head_commit
    merging.merge_as_allowed(github, FLEET, number, head=head)


def merge_when_allowed(github: GitHub, scene: Scene) -> None:
    number = scene.clashing_pull()
    head = pull_requests.get(github, FLEET, number).head_commit
    merging.merge_when_allowed(github, FLEET, number, head=head)


def create_and_delete(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    branches.create(github, FLEET, branch, scene.first)
    branches.delete(github, FLEET, branch, expected=scene.first)


def update(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    branches.create(github, FLEET, branch, scene.first)
    branches.update(github, FLEET, branch, scene.second, expected=scene.first)


def move(github: GitHub, scene: Scene) -> None:
    branch = scene.name()
    branches.move(github, FLEET, branch, scene.second, expected=None, fast_forward=False)
    branches.move(github, FLEET, branch, scene.first, expected=scene.second, fast_forward=False)


def create_commit(github: GitHub, scene: Scene) -> None:
    changes = {"notes.txt": b"text", "logo.png": b"\x89\0", "README.md": None}
    commits.create(github, FLEET, parent=scene.second, changes=changes, message="m")


def post_status(github: GitHub, scene: Scene) -> None:
    for url in ("", "https://example.com/run"):
        status = CommitStatus(scene.name(), "success", "d" * 200, url)
        statuses.post(github, FLEET, scene.second, status)


def positions(github: GitHub, scene: Scene) -> None:
    for commit in (scene.first, "e" * 40):
        commits.position(github, FLEET, commit, "main")


def relations(github: GitHub, scene: Scene) -> None:
    for head in ("main", "e" * 40):
        commits.relation(github, FLEET, scene.first, head)
