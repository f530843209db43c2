"""Issues with our exact title, label and hidden first line, by somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.proposals import run, run_schedule

BROKEN = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="nowhere")}
WHOLE = {"cluster-types/large.yaml": documents.cluster_type("large")}


def token_of(acme: Organisation, login: str) -> str:
    kind: Any = "user"
    return acme.sandbox.create_token(kind, None, login=login, owner="acme")


@pytest.mark.parametrize("state", ["open", "closed"])
def test_an_issue_that_looks_like_ours_stays_theirs(acme: Organisation, state: str) -> None:
    acme.commit(BROKEN, "dev")
    run_schedule(acme)
    (ours,) = acme.issues()
    acme.ask("PATCH", f"{GITOPS}/issues/{ours['number']}", {"state": "closed"})
    labels = [label["name"] for label in ours["labels"]]
    copy = {"title": ours["title"], "body": ours["body"], "labels": labels}
    token = token_of(acme, "mallory")
    theirs = acme.ask("POST", f"{GITOPS}/issues", copy, token=token)
    acme.ask("PATCH", f"{GITOPS}/issues/{theirs['number']}", {"state": state}, token=token)
    run_schedule(acme)
    of_kalypso = [issue for issue in acme.issues() if issue["user"]["login"] != "mallory"]
    assert [issue["title"] for issue in of_kalypso] == [ours["title"]]
    acme.commit(WHOLE, "dev")
    run(acme)
    after = acme.ask("GET", f"{GITOPS}/issues/{theirs['number']}")
    assert (after["title"], after["body"], after["state"]) == (ours["title"], ours["body"], state)
    assert after["comments"] == 0


def test_a_comment_that_looks_like_ours_is_not_edited(acme: Organisation) -> None:
    acme.commit({"config.yaml": documents.config_map(REGION="north")}, "dev")
    (pull,) = run(acme).pull_requests
    body = acme.ask("GET", f"{GITOPS}/pulls/{pull.number}")["body"]
    path = f"{GITOPS}/issues/{pull.number}/comments"
    first_lines = [body.partition("\n")[0], "<!-- kalypso:v1 conflict -->"]
    for line in first_lines:
        acme.ask("POST", path, {"body": f"{line}\nhostile"}, token=token_of(acme, "mallory"))
    run_schedule(acme)
    comments = acme.ask("GET", path)
    theirs = [comment["body"] for comment in comments if comment["user"]["login"] == "mallory"]
    assert theirs == [f"{line}\nhostile" for line in first_lines]
