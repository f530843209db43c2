"""Several GitOpsRepos of one environment get the same tree, all or none."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import KalypsoError
from tests.commands.chain import documents
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    EDGE,
    GITOPS,
    Dispatch,
    Organisation,
)
from tests.commands.chain.proposals import (
    FLUX,
    SOURCES,
    TRACKING,
    actions,
    configure,
    run,
    run_schedule,
)


def add_repository(acme: Organisation) -> None:
    """Add a second GitOpsRepo, in another repository."""
    acme.sandbox.create_repository(EDGE, {"README.md": "x"})
    repo = documents.gitops_repo(acme.url(EDGE), "main", "edge")
    acme.commit({"gitops-repo-edge.yaml": repo}, "dev")


def add_branch(acme: Organisation, path: str = "fleet") -> None:
    """Add a second GitOpsRepo, in the same repository and branch."""
    repo = documents.gitops_repo(acme.url(GITOPS), "dev", "other", path)
    acme.commit({"gitops-repo-other.yaml": repo}, "dev")


def test_each_repository_gets_the_tree(acme: Organisation) -> None:
    add_repository(acme)
    document = run(acme)
    assert [
        (pull_request.repository, pull_request.number, pull_request.action)
        for pull_request in document.pull_requests
    ] == [
        (EDGE, 1, "created"),
        (GITOPS, 1, "created"),
    ]
    assert document.pull_request_url == f"{acme.url(EDGE)}/pull/1"
    trees = [acme.files("kalypso/dev", repository) for repository in (EDGE, GITOPS)]
    for path in (FLUX, TRACKING, SOURCES):
        assert trees[0][path] == trees[1][path]
    acme.forget()
    assert {pull_request.action for pull_request in run(acme).pull_requests} == {"unchanged"}
    assert acme.writes() == []


def test_a_lost_start_is_repeated_once_all_have_the_commit(acme: Organisation) -> None:
    add_repository(acme)
    run(acme)
    main = acme.head("main") or ""
    acme.status(main, "dev environment", "Promoted")
    heads = {EDGE: acme.merge(1, EDGE)}
    run(acme)
    assert acme.dispatches() == []
    heads[GITOPS] = acme.merge(1)
    run(acme)
    by_repository = sorted(
        acme.dispatches(), key=lambda dispatch: dispatch.inputs["gitops_repository"]
    )
    assert by_repository == [
        Dispatch(
            "check-promote.yaml",
            {
                "environment": "dev",
                "promoted_commit_id": main,
                "commit_id": head,
                "gitops_repository": repository,
            },
        )
        for repository, head in sorted(heads.items())
    ]


def test_two_in_one_repository_have_branches_of_their_own(acme: Organisation) -> None:
    run(acme)
    add_branch(acme)
    document = run(acme)
    assert actions(document) == [(2, "created"), (3, "created"), (1, "withdrawn")]
    heads = {pull["head"]["ref"]: pull["number"] for pull in acme.pulls()}
    assert heads == {"kalypso/dev.main": 2, "kalypso/dev.other": 3}
    assert f"fleet/{FLUX}" in acme.files("kalypso/dev.other", GITOPS)
    acme.forget()
    assert actions(run(acme)) == [(2, "unchanged"), (3, "unchanged")]
    assert acme.writes() == []
    # Neither of them is stale for the other.
    configure(acme, REGION="north")
    assert actions(run(acme)) == [(2, "updated"), (3, "updated")]
    acme.commit({"gitops-repo-other.yaml": None}, "dev")
    assert actions(run(acme))[:1] == [(4, "created")]
    assert [pull["head"]["ref"] for pull in acme.pulls()] == ["kalypso/dev"]


def test_if_one_cannot_be_read_nothing_is_written(acme: Organisation) -> None:
    acme.sandbox.create_repository(EDGE, {"README.md": "x"})
    for branch, words in (("nowhere", "has no branch 'nowhere'"), ("main", "")):
        repo = documents.gitops_repo(acme.url(EDGE), branch, "zone")
        acme.commit({"gitops-repo-edge.yaml": repo}, "dev")
        acme.forget()
        if words:
            with pytest.raises(KalypsoError, match=words):
                run(acme)
            assert acme.writes() == []
        else:
            assert len(run(acme).pull_requests) == 2


def test_all_are_merged_at_once(acme: Organisation) -> None:
    add_repository(acme)
    document = run(acme, auto_merge="always")
    assert [pull_request.action for pull_request in document.pull_requests] == ["merged", "merged"]
    assert [dispatch.inputs["gitops_repository"] for dispatch in acme.dispatches()] == [
        EDGE,
        GITOPS,
    ]
    assert run_schedule(acme).document.outputs()["changed"] == "false"


def test_another_prefix_withdraws_what_was_proposed_from_the_old_branch(
    acme: Organisation,
) -> None:
    """poll would wait for people to merge it: author and marker say that it is ours."""
    run(acme)
    assert actions(run(acme, branch_prefix="bot-")) == [(2, "created"), (1, "withdrawn")]
    (pull,) = acme.pulls()
    assert pull["head"]["ref"] == "bot-dev"
    assert "Kalypso proposes to `dev` from `bot-dev` now." in acme.comments(1)[0]


def test_another_prefix_withdraws_what_an_earlier_version_proposed(acme: Organisation) -> None:
    """The marker of an earlier version does not name the control plane."""
    run(acme)
    (pull,) = acme.pulls()
    body = pull["body"].replace(f" control-plane={CONTROL_PLANE}", "")
    acme.ask("PATCH", f"{GITOPS}/pulls/1", {"body": body})
    assert actions(run(acme, branch_prefix="bot-")) == [(2, "created"), (1, "withdrawn")]


def test_another_control_plane_keeps_its_proposals(acme: Organisation) -> None:
    """Both control planes propose to one branch with one account, each with its own prefix."""
    other = "acme/other"
    acme.sandbox.create_repository(other, acme.files("main"))
    acme.reset("dev", acme.head("main", other), other)
    acme.commit(dict(acme.files("dev")), "dev", other)
    assert actions(run(acme)) == [(1, "created")]
    assert actions(run(acme, control_plane=other, branch_prefix="other-")) == [(2, "created")]
    assert actions(run(acme)) == [(1, "unchanged")]
    assert len(acme.pulls()) == 2
