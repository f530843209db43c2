"""Previews by the workflow templates: of a branch, a fork, Dependabot, and in a merge queue."""

from __future__ import annotations

import pytest

from kalypso_actions.report.preview_document import PreviewDocument
from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, SHOP
from tests.commands.chain.previews import CONTEXT

CHANGE = {"release.yaml": documents.config_map("base", RELEASE="one")}
MARK = "<!-- kalypso:v1 kind=preview -->"


@pytest.fixture
def chain(open_chain: OpenChain) -> Chain:
    chain = open_chain(Layout(), over_http=True)
    with chain.acme.sandbox.lock:
        chain.acme.sandbox.repository(SHOP).private = False
    return chain


def propose(chain: Chain, head: str = "change", base: str = "main") -> int:
    chain.acme.reset(head, chain.acme.head(base))
    chain.acme.commit(CHANGE, head)
    return chain.acme.pull(head, base)


def comments(chain: Chain, number: int) -> list[str]:
    return chain.acme.comments(number, CONTROL_PLANE)


def test_a_branch(chain: Chain) -> None:
    """The App posts the status and the comment; the second push updates it."""
    number = propose(chain)
    assert chain.run_everything() == ["ci: checked", "preview: comment written"]
    (first,) = comments(chain, number)
    assert first.startswith(MARK)
    head = chain.acme.commit({"more.yaml": documents.config_map("more", MORE="1")}, "change")
    assert chain.run_everything() == ["ci: checked", "preview: comment written"]
    (second,) = comments(chain, number)
    assert second != first
    assert chain.acme.statuses(head)[CONTEXT][0] == "success"


def test_an_environment_s_branch(chain: Chain) -> None:
    number = propose(chain, base="dev")
    assert chain.run_everything() == ["start-schedule: for nothing", "preview: comment written"]
    shown = chain.done[-1].outcome.document
    assert isinstance(shown, PreviewDocument)
    assert [item.environment for item in shown.environments] == ["dev"]
    assert len(comments(chain, number)) == 1


def test_a_fork(chain: Chain) -> None:
    """The first job may not comment, the second has no secrets and no code of the fork."""
    chain.acme.sandbox.fork(CONTROL_PLANE, "mallory")
    head = chain.acme.commit(CHANGE, "main", "mallory/control-plane")
    number = chain.acme.pull("mallory:main")
    lines = ["ci: checked", "preview: comment pending", "preview-comment: created"]
    assert chain.run_everything() == lines
    assert chain.acme.statuses(head) == {}
    (text,) = comments(chain, number)
    assert "RELEASE: one" in text
    chain.acme.commit({"notes.txt": "1"}, "main", "mallory/control-plane")
    assert chain.run_everything() == [*lines[:2], "preview-comment: updated"]
    assert len(comments(chain, number)) == 1


def test_a_merge_queue(chain: Chain) -> None:
    number = propose(chain)
    chain.run_everything()
    group = chain.acme.sandbox.queue(CONTROL_PLANE, number)
    assert chain.run_everything() == ["ci: checked", "preview: comment none"]
    assert chain.acme.statuses(group)[CONTEXT][0] == "success"
    assert len(comments(chain, number)) == 1


def test_a_branch_that_moved_during_the_preview_gets_no_old_comment(chain: Chain) -> None:
    """The comment of the fork's first state would describe the second one."""
    chain.acme.sandbox.fork(CONTROL_PLANE, "mallory")
    chain.acme.commit(CHANGE, "main", "mallory/control-plane")
    number = chain.acme.pull("mallory:main")
    preview = chain.take(1)
    chain.acme.commit({"notes.txt": "1"}, "main", "mallory/control-plane")
    chain.run(preview)
    late = next(run for run in chain.waiting_runs if run.event.name == "workflow_run")
    chain.run(late)
    assert comments(chain, number) == []
