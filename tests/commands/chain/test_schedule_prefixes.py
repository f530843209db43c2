"""Proposals from branches with another prefix: our own are withdrawn, others are kept."""

from __future__ import annotations

from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.proposals import OWN, actions, edit_gitops, run


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


def test_with_nothing_to_propose_another_prefix_withdraws_all_the_same(
    acme: Organisation,
) -> None:
    run(acme)
    edit_gitops(acme, dict(acme.files(OWN, GITOPS)))
    assert actions(run(acme, branch_prefix="bot-")) == [(1, "withdrawn")]
    assert acme.pulls() == []


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
