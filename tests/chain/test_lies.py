"""A dispatch can claim anything, and the commands check each claim."""

from __future__ import annotations

from tests.chain.driver import Chain
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS


def test_a_dispatch_that_lies(chain: Chain) -> None:
    first = chain.has("dev")
    newest = chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"cd"})
    aside = chain.acme.commit({"release.yaml": None}, "aside")
    old_merge = chain.acme.head("dev", GITOPS) or ""
    in_stage = chain.acme.head("stage", GITOPS) or ""
    unmerged = chain.acme.commit({"README.md": "?"}, "aside", GITOPS)
    assert chain.waiting == ["cd dev"]
    claim = {"environment": "dev", "promoted_commit_id": first, "commit_id": old_merge}
    lies = [
        {"environment": "prod"},
        {"promoted_commit_id": newest},
        {"promoted_commit_id": aside},
        {"promoted_commit_id": "1" * 40},
        {"commit_id": in_stage},
        {"commit_id": unmerged},
        {"commit_id": "1" * 40},
        {"environment": "stage"},
        {"gitops_repository": CONTROL_PLANE},
        {"gitops_repository": "acme/shop"},
        {"promoted_commit_id": "main"},
        {"started_at": "yesterday"},
    ]
    before = chain.statuses("dev"), chain.statuses("stage")
    for lie in lies:
        chain.start("check-promote", **claim | lie)
        (line,) = chain.run_everything(but={"cd dev"})
        assert line.endswith(": refused"), lie
    assert (chain.statuses("dev"), chain.statuses("stage")) == before
    assert chain.waiting == ["cd dev"]
    for lie in ({"environment": "prod"}, {"promoted_commit_id": aside}):
        chain.start("cd", **{"environment": "stage", "promoted_commit_id": newest} | lie)
    assert chain.run_everything(but={"cd dev"}) == ["cd prod: refused", "cd stage: refused"]
    assert chain.has("stage") == first
    chain.start("check-promote", **claim)
    assert chain.run_everything(but={"cd"}) == ["check-promote dev: compliant, starts stage"]
