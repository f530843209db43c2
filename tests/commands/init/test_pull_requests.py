"""init with --pull-request."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.store import BranchRule
from tests.commands.chain.killing import is_killed
from tests.commands.init import upstream
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, WORKFLOWS, Acme, outline


def pulls(acme: Acme, repository: str) -> list[tuple[str, str]]:
    """Return head and base of every pull request."""
    with acme.sandbox.lock:
        issues = acme.sandbox.repository(repository).issues.values()
        return [
            (issue.pull_request.head_branch, issue.pull_request.base_branch)
            for issue in issues
            if issue.pull_request
        ]


def test_existing_branches_are_proposed_to_and_new_ones_created(acme: Acme) -> None:
    upstream.found(acme)
    before = acme.state()
    document = acme.init(pull_request=True)
    for repository, branches in before.items():
        for branch, head in branches.items():
            assert acme.branches(repository)[branch] == head
    assert pulls(acme, CONTROL_PLANE) == [
        ("kalypso/set-up/dev", "dev"),
        ("kalypso/set-up/main", "main"),
    ]
    assert pulls(acme, GITOPS) == [("kalypso/set-up/dev", "dev"), ("kalypso/set-up/main", "main")]
    assert {"stage"} == acme.branches().keys() - before[CONTROL_PLANE].keys() - {
        "kalypso/set-up/dev",
        "kalypso/set-up/main",
    }
    # main is only proposed to, so the new environment names main's present commit.
    assert f"commit: {before[CONTROL_PLANE]['main']}\n" in acme.files("stage")["base-repo.yaml"]
    (task,) = [
        remaining
        for remaining in document.remaining
        if remaining.title == "Merge the pull requests"
    ]
    assert list(task.links) == [
        "acme/gitops, dev",
        "acme/gitops, main",
        "acme/control-plane, dev",
        "acme/control-plane, main",
    ]
    proposed = acme.files("kalypso/set-up/main")
    assert "kalypso-actions/actions/ci@" in proposed[f"{WORKFLOWS}/ci.yaml"]


def test_the_text_of_a_pull_request(acme: Acme) -> None:
    upstream.found(acme)
    acme.init(pull_request=True)
    with acme.sandbox.lock:
        pull = acme.sandbox.repository(GITOPS).issues[1]
    assert pull.title == "Set up Kalypso on dev"
    assert pull.body == (
        "<!-- kalypso:v1 kind=init environment=dev -->\n"
        "`kalypso init` proposes the files that Kalypso needs on the branch `dev`.\n\n"
        "| File | Action | Reason |\n"
        "| --- | --- | --- |\n"
        "| `.github/workflows/check-promote.yaml` | replace | in place of upstream\\'s workflow |\n\n"
        "Another run of `kalypso init --pull-request` updates this pull request."
    )


def test_in_empty_repositories_main_is_begun_with_a_readme(acme: Acme) -> None:
    acme.create()
    acme.init(pull_request=True)
    assert list(acme.files("main")) == ["README.md"]
    assert list(acme.files("main", GITOPS)) == ["README.md"]
    assert pulls(acme, CONTROL_PLANE) == [("kalypso/set-up/main", "main")]
    assert "templates/flux.yaml" in acme.files("kalypso/set-up/main")
    assert "gitops-repo.yaml" in acme.files("dev")


def test_again_nothing_is_changed_and_an_outdated_proposal_is_renewed(acme: Acme) -> None:
    upstream.found(acme)
    acme.init(pull_request=True)
    before = acme.state()
    acme.init(pull_request=True)
    assert acme.state() == before
    acme.sandbox.commit(CONTROL_PLANE, {"notes.md": "x"})
    acme.init(pull_request=True)
    assert acme.files("kalypso/set-up/main")["notes.md"] == "x"
    assert len(pulls(acme, CONTROL_PLANE)) == 2


def test_merged_files_are_not_proposed_again(acme: Acme) -> None:
    upstream.found(acme)
    acme.init(pull_request=True)
    for repository in (CONTROL_PLANE, GITOPS):
        for head, base in pulls(acme, repository):
            git = acme.sandbox.git(repository)
            with acme.sandbox.lock:
                assert git.update_ref(f"refs/heads/{base}", git.head(head), git.head(base))
    lines = outline(acme.init(pull_request=True))
    assert [action.split()[0] for actions in lines.values() for action in actions] == [
        "delete",
        "delete",
    ]


def test_a_protected_branch_is_refused_with_the_way_out(acme: Acme) -> None:
    upstream.found(acme)
    with acme.sandbox.lock:
        rule = BranchRule(pattern="main", required_reviews=1)
        acme.sandbox.repository(CONTROL_PLANE).rules.append(rule)
    with pytest.raises(KalypsoError, match="protected") as caught:
        acme.init()
    assert caught.value.problem.advice.endswith("or use --pull-request")
    acme.init(pull_request=True)
    assert ("kalypso/set-up/main", "main") in pulls(acme, CONTROL_PLANE)


@pytest.mark.parametrize("writes", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_killed_the_next_run_completes_it(acme: Acme, writes: int) -> None:
    upstream.found(acme)

    def act() -> object:
        return acme.init(pull_request=True)

    assert is_killed(writes, act)
    act()
    assert len(pulls(acme, CONTROL_PLANE)) == 2
    assert len(pulls(acme, GITOPS)) == 2
    before = acme.state()
    act()
    assert acme.state() == before


def test_the_writes_of_a_dry_run(acme: Acme) -> None:
    """They are those of the run that follows: each branch once, in the order of writing."""
    upstream.found(acme)
    acme.sandbox.commit(GITOPS, {"a": "b"}, branch="kalypso/set-up/dev")
    before = acme.state()
    document = acme.init(lambda _: None, pull_request=True, dry_run=True)
    assert acme.state() == before
    shown = [write.line.replace(" files ", " file ") for write in document.writes]
    counts = {
        f"{branch.repository}: push: {sum(file.action in {'add', 'replace'} for file in branch.files)}"
        for branch in document.branches
    }
    assert {line.partition(" file")[0] for line in shown if " push: " in line} == counts
    # Words of few files name them.
    ends = [line.partition(" to ")[2].partition(": ")[0] or line for line in shown]
    assert ends == [
        "kalypso/set-up/dev",
        f"{GITOPS}: open pull request: Set up Kalypso on dev",
        "stage (a new branch)",
        "kalypso/set-up/main (a new branch)",
        f"{GITOPS}: open pull request: Set up Kalypso on main",
        "kalypso/set-up/dev (a new branch)",
        f"{CONTROL_PLANE}: open pull request: Set up Kalypso on dev",
        "stage (a new branch)",
        "kalypso/set-up/main (a new branch)",
        f"{CONTROL_PLANE}: open pull request: Set up Kalypso on main",
    ]
    assert not acme.init().writes
