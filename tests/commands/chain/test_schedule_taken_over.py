"""`kalypso schedule` takes over folders of exactly the tree that it has written, and of no other."""

from __future__ import annotations

import json

from kalypso_actions.gitops import provenance
from tests.commands.chain.documents import cluster_type
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.proposals import (
    FLUX,
    OWN,
    SOURCES,
    configure,
    edit_gitops,
    run,
    settle,
    token_without_statuses,
)

CONTEXT = "kalypso / tree dev"
SMALL = {"cluster-types/small.yaml": cluster_type("small")}
"""One more cluster type: the folder of the other one stays."""


def taken_over(acme: Organisation) -> list[str]:
    """Add a cluster type and run; return the log lines about folders that were taken over."""
    acme.commit(SMALL, "dev")
    acme.logged.clear()
    run(acme)
    return [line for line in acme.logged if line.endswith("the inputs of the tree")]


def tree_id(acme: Organisation, branch: str = "dev") -> str:
    """Return the id of a GitOps tree as it is."""
    git = acme.sandbox.git(GITOPS)
    files = acme.files(branch, GITOPS)
    names = {path.partition("/")[0] for path in files if "/" in path}
    folders = {name: found for name in names if (found := git.tree_id(branch, name))}
    return provenance.tree_id(files[SOURCES].encode(), folders)


def test_only_new_inputs_are_rendered(acme: Organisation) -> None:
    settle(acme)
    edit_gitops(acme, {"notes.md": "a file of people\n", "monitoring/notes.md": "text\n"})
    assert taken_over(acme) == ["2 of 3 assignments have the inputs of the tree"]
    proposed = acme.files(OWN, GITOPS)
    assert proposed[FLUX] == acme.files("dev", GITOPS)[FLUX]
    assert FLUX.replace("large", "small") in proposed
    before = acme.head(OWN, GITOPS)
    acme.logged.clear()
    run(acme, verify="true")
    assert not [line for line in acme.logged if line.endswith("the inputs of the tree")]
    assert acme.head(OWN, GITOPS) == before


def test_each_proposal_is_recorded_and_the_merged_one_counts(acme: Organisation) -> None:
    settle(acme)
    configure(acme, REGION="north")
    (pull,) = run(acme).pull_requests
    written = tree_id(acme, OWN)
    assert written in acme.records(acme.head("dev") or "")[CONTEXT][1]
    acme.merge(pull.number)
    assert tree_id(acme) == written
    configure(acme, REGION="north", OTHER="1")
    run(acme)
    configure(acme, REGION="north")
    assert taken_over(acme) == ["2 of 3 assignments have the inputs of the tree"]


def test_a_folder_that_people_edit_is_rendered(acme: Organisation) -> None:
    settle(acme)
    content = acme.files("dev", GITOPS)[FLUX]
    edit_gitops(acme, {FLUX: "kind: Forged\n"})
    assert taken_over(acme) == []
    assert acme.files(OWN, GITOPS)[FLUX] == content


def test_forged_records_pass_nothing_on(acme: Organisation) -> None:
    """Neither another `sources.json` nor a status by somebody else makes a tree ours."""
    settle(acme)
    content = acme.files("dev", GITOPS)[FLUX]
    sources = json.loads(acme.files("dev", GITOPS)[SOURCES])
    forged = json.dumps({**sources, "targets": {}})
    edit_gitops(acme, {FLUX: "kind: Forged\n", SOURCES: forged})
    commit = sources["environmentBranch"]["commit"]
    body = {"context": CONTEXT, "description": f"Written: {tree_id(acme)}", "state": "success"}
    token = acme.sandbox.create_token("user", None, login="mallory", owner="acme")
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{commit}", body, token=token)
    assert taken_over(acme) == []
    assert acme.files(OWN, GITOPS)[FLUX] == content


def test_a_squashed_merge_counts_as_well(acme: Organisation) -> None:
    (pull,) = run(acme).pull_requests
    acme.ask("PUT", f"{GITOPS}/pulls/{pull.number}/merge", {"merge_method": "squash"})
    assert taken_over(acme) == ["2 of 3 assignments have the inputs of the tree"]


def test_without_permission_for_statuses_everything_is_rendered(acme: Organisation) -> None:
    (pull,) = run(acme, token=token_without_statuses(acme)).pull_requests
    acme.merge(pull.number)
    assert any(line.startswith("The tree is not recorded: ") for line in acme.logged)
    assert taken_over(acme) == []
