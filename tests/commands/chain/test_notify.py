"""`kalypso notify`: the meaning of a push to a GitOps branch, and the starts."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.report.chain_document import NotifyDocument
from kalypso_sandbox import Fault
from kalypso_sandbox.store import Permissions
from tests.breaks import breaks, returning
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.promotions import main_commit, merge, name_in_base, tree
from tests.commands.chain.pushes import DEV, checks, document, pushed, run, starts

TRACKING = ".github/tracking/Promoted_Commit_Id"


def test_a_promotion(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    result = run(acme)
    assert starts(acme) == [checks(merged, commit)]
    notified = document(result)
    assert (notified.environments, notified.promoted, notified.promoted_commit) == (
        ("dev",),
        True,
        commit,
    )
    assert notified.run_url.startswith(f"{acme.url()}/actions/")
    assert notified.outputs() == {
        "promoted": "true",
        "promoted-commit": commit,
        "run-url": notified.run_url,
    }
    assert result.summary.startswith("## kalypso notify: started check-promote for `dev`\n")
    assert f"| `dev` | promote {commit[:7]} |" in result.summary
    assert acme.statuses(commit) == {}


@pytest.mark.parametrize("named", ["never", "before"])
def test_a_commit_that_the_environment_does_not_name(acme: Organisation, named: str) -> None:
    """A commit that it named before was merged late: check-promote watches it."""
    old = acme.head("main")
    merge(acme, old)
    commit = main_commit(acme)
    if named == "before":
        name_in_base(acme, commit)
        name_in_base(acme, main_commit(acme, "another"))
    pushed = acme.commit({TRACKING: commit}, "dev", GITOPS)
    notified = document(run(acme))
    if named == "before":
        assert (starts(acme), notified.warnings) == ([checks(pushed, commit)], ())
        return
    assert starts(acme) == [checks(pushed)]
    (warning,) = notified.warnings
    assert f"never named the commit {commit[:7]}" in warning.message


def test_a_merge_without_another_commit(acme: Organisation) -> None:
    commit = main_commit(acme)
    merge(acme, commit)
    merged = merge(acme, commit, config="2")
    for description, promoted in (
        ("Failed to deploy: x", commit),
        ("Deployed", ""),
    ):
        acme.status(commit, DEV, description)
        notified = document(run(acme))
        assert starts(acme) == [checks(merged, promoted)], description
        assert notified.promoted == bool(promoted)


def base_repo(acme: Organisation, commit: str) -> None:
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), commit)}, "dev")


def test_a_revert_is_not_promoted_and_a_rollback_by_cd_is(acme: Organisation) -> None:
    old = acme.head("main") or ""
    new = main_commit(acme)
    merge(acme, old)
    merge(acme, new)
    merged = merge(acme, old)
    base_repo(acme, new)
    assert "revert that promotes nothing" in run(acme).summary
    assert starts(acme) == [checks(merged)]
    base_repo(acme, old)
    run(acme)
    assert starts(acme) == [checks(merged, old)]


def test_a_push_of_other_files_starts_nothing(acme: Organisation) -> None:
    merge(acme, main_commit(acme))
    acme.commit({"README.md": "2", ".github/tracking/sources.json": "{}"}, "dev", GITOPS)
    result = run(acme)
    assert starts(acme) == []
    assert document(result) == NotifyDocument()
    assert "changes nothing that a cluster runs" in result.summary


def test_a_branch_of_no_environment(acme: Organisation) -> None:
    acme.commit(tree(main_commit(acme)), "proposal", GITOPS)
    result = run(acme)
    assert not result.failed
    assert starts(acme) == []
    assert "no environment has its GitOpsRepo on the branch proposal" in result.summary


def test_a_branch_that_is_deleted_and_a_tag(acme: Organisation) -> None:
    payload = dict(pushed(acme))
    assert "was deleted" in run(acme, {**payload, "after": "0" * 40, "deleted": True}).summary
    assert "no branch was pushed" in run(acme, {**payload, "ref": "refs/tags/v1"}).summary
    assert starts(acme) == []


def test_a_branch_that_is_cut_from_another_environments(acme: Organisation) -> None:
    """Until its own first merge it names the other environment's commit."""
    commit = main_commit(acme)
    acme.reset("dev", None, GITOPS)
    cut = merge(acme, commit, environment="stage")
    assert not document(run(acme)).promoted
    assert starts(acme) == [checks(cut)]
    merged = merge(acme, commit, environment="dev")
    assert document(run(acme)).promoted_commit == commit
    assert starts(acme) == [checks(merged, commit)]


def test_a_forced_push(acme: Organisation) -> None:
    commit = main_commit(acme)
    base = acme.head("dev", GITOPS)
    merge(acme, commit)
    acme.status(commit, DEV, "Deployed")
    acme.reset("dev", base, GITOPS)
    merged = merge(acme, commit, config="2")
    lost = {**pushed(acme), "before": "e" * 40, "forced": True}
    result = run(acme, lost)
    assert starts(acme) == [checks(merged, commit)]
    (warning,) = document(result).warnings
    assert warning.message.startswith("the commit that the forced push replaced cannot be read: ")
    with pytest.raises(KalypsoError, match="e" * 40):
        run(acme, {**lost, "forced": False})


def test_the_commit_before_a_forced_push_is_read_if_possible(acme: Organisation) -> None:
    commit = main_commit(acme)
    base = acme.head("dev", GITOPS)
    replaced = merge(acme, commit)
    acme.status(commit, DEV, "Deployed")
    acme.reset("dev", base, GITOPS)
    merged = merge(acme, commit, config="2")
    run(acme, {**pushed(acme), "before": replaced, "forced": True})
    assert starts(acme) == [checks(merged)]


def two_environments(acme: Organisation) -> None:
    """Put dev and stage into one branch, each in its folder."""
    for name in ("dev", "stage"):
        repo = documents.gitops_repo(acme.url(GITOPS), "dev", path=f"fleet/{name}")
        acme.commit({"gitops-repo.yaml": repo}, name)


def test_environments_that_share_a_branch(acme: Organisation) -> None:
    two_environments(acme)
    commit = main_commit(acme)
    name_in_base(acme, commit, "stage")
    merged = merge(acme, commit, folder="fleet/stage")
    run(acme)
    assert starts(acme) == [checks(merged, commit, "stage")]
    both = {**tree(commit, folder="fleet/dev"), **tree(commit, config="2", folder="fleet/stage")}
    merged = acme.commit(both, "dev", GITOPS)
    notified = document(run(acme))
    assert starts(acme) == [checks(merged, commit), checks(merged, environment="stage")]
    assert (notified.environments, notified.promoted_commit) == (("dev", "stage"), commit)
    run(acme, environment="stage")
    assert starts(acme) == [checks(merged, environment="stage")]


def test_several_trees_of_an_environment_are_one_start(acme: Organisation) -> None:
    for name, folder in (("gitops-repo", "east"), ("second", "west")):
        repo = documents.gitops_repo(acme.url(GITOPS), "dev", folder, path=folder)
        acme.commit({f"{name}.yaml": repo}, "dev")
    commit = main_commit(acme)
    name_in_base(acme, commit)
    acme.commit(tree(None, folder="east"), "dev", GITOPS)
    both = {**tree(None, config="2", folder="east"), **tree(commit, folder="west")}
    merged = acme.commit(both, "dev", GITOPS)
    run(acme)
    assert starts(acme) == [checks(merged, commit)]


def test_urls_of_any_form_name_the_repository(acme: Organisation) -> None:
    url = acme.url(GITOPS).replace("acme", "ACME") + ".git"
    acme.commit({"gitops-repo.yaml": documents.gitops_repo(url, "dev")}, "dev")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    run(acme)
    assert starts(acme) == [checks(merged, commit)]


def test_an_environment_that_cannot_be_read(acme: Organisation) -> None:
    acme.commit({"broken.yaml": "kind: [GitOpsRepo"}, "stage")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    result = run(acme)
    assert starts(acme) == [checks(merged, commit)]
    assert not result.failed
    (warning,) = document(result).warnings
    assert warning.message.startswith("environment stage: ")
    assert warning.where and warning.where.path == "broken.yaml"
    merge(acme, commit, "stage")
    result = run(acme)
    assert starts(acme) == []
    assert result.failed
    (problem,) = document(result).problems
    assert problem.message.startswith("environment stage: ")
    assert result.summary.startswith("## kalypso notify: some environments cannot be read\n")


def test_an_environment_that_does_not_exist(acme: Organisation) -> None:
    merge(acme, main_commit(acme))
    with pytest.raises(UsageError, match="there is no Environment 'prod'"):
        run(acme, environment="prod")


@pytest.mark.parametrize("payload", [{}, {"ref": "refs/heads/dev"}, {"inputs": None}])
def test_without_a_push(acme: Organisation, payload: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="the event is not a push"):
        run(acme, payload)


def test_a_gitops_repository_of_another_owner(acme: Organisation) -> None:
    """The job can read its own repository, which may have any owner."""
    acme.sandbox.create_repository("others/gitops", {"README.md": ""})
    repo = documents.gitops_repo(acme.url("others/gitops"), "dev")
    acme.commit({"gitops-repo.yaml": repo}, "dev")
    commit = main_commit(acme)
    merged = merge(acme, commit, repository="others/gitops")
    run(acme, repository="others/gitops", token=acme.sandbox.create_token())
    (start,) = starts(acme)
    assert (start.inputs["commit_id"], start.inputs["gitops_repository"]) == (
        merged,
        "others/gitops",
    )


def test_a_lost_answer_and_what_is_not_allowed(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    acme.sandbox.faults.add(Fault("POST", "*/dispatches", "lost"))
    run(acme)
    assert starts(acme) == [checks(merged, commit)] * 2
    permissions: Permissions = {"contents": "read", "metadata": "read"}
    token = acme.sandbox.create_token("user", permissions, owner="acme")
    with pytest.raises(KalypsoError, match=r"check-promote\.yaml cannot be started") as caught:
        run(acme, token=token)
    assert "actions: write" in caught.value.problem.advice


@pytest.fixture
def notifier(acme: Organisation) -> dict[str, Any]:
    """The inputs of a notifier, and of a job that reads its own repository."""
    allowed: Permissions = {"actions": "write", "metadata": "read"}
    number, key = acme.sandbox.create_app(
        "acme", allowed, repositories=[CONTROL_PLANE], slug="kalypso-notifier"
    )
    return {"app_id": str(number), "app_private_key": key, "job_token": job_token(acme)}


def job_token(acme: Organisation) -> str:
    reads: Permissions = {"contents": "read", "metadata": "read"}
    return acme.sandbox.create_token("actions", reads, owner="acme", repositories=[GITOPS])


@pytest.mark.parametrize("by", ["sources.json", "branch", "input"])
def test_a_notifier_tells_of_a_push(acme: Organisation, notifier: dict[str, Any], by: str) -> None:
    commit = main_commit(acme)
    branch = "live" if by == "input" else "dev"
    merged = merge(acme, commit, branch, environment="dev" if by == "sources.json" else "")
    given: dict[str, Any] = {"environment": "dev"} if by == "input" else {}
    result = run(acme, **notifier, **given)
    assert starts(acme) == [checks(merged)]
    told = document(result)
    assert (told.environments, told.promoted, told.promoted_commit) == (("dev",), None, "")
    assert told.outputs() == {"promoted": "", "promoted-commit": "", "run-url": told.run_url}
    assert told.run_url.startswith(f"{acme.url()}/actions/")
    assert told.warnings == ()
    assert not any("may use more" in line for line in acme.logged)
    assert "| `dev` | what check\\-promote finds out |" in result.summary
    assert acme.recorded() == []


@breaks(
    "a notifier tells of every push",
    returning("kalypso_actions.commands.notify._changes", True),
)
def test_a_notifier_tells_of_the_trees_that_a_push_changed(
    acme: Organisation, notifier: dict[str, Any]
) -> None:
    commit = main_commit(acme)
    both = {
        **tree(commit, folder="fleet/dev", environment="dev"),
        **tree(commit, folder="fleet/stage", environment="stage"),
    }
    merged = acme.commit(both, "live", GITOPS)
    run(acme, **notifier)
    assert starts(acme) == [checks(merged), checks(merged, environment="stage")]
    run(acme, **notifier, environment="stage")
    assert starts(acme) == [checks(merged, environment="stage")]
    merged = acme.commit({"fleet/stage/drone/shop-web/reconciler.yaml": "kind: X"}, "live", GITOPS)
    run(acme, **notifier)
    assert starts(acme) == [checks(merged, environment="stage")]
    gone = acme.commit(dict.fromkeys(acme.files("live", GITOPS)), "live", GITOPS)
    run(acme, **notifier)
    assert starts(acme) == [checks(gone), checks(gone, environment="stage")]
    acme.commit({"README.md": "?"}, "live", GITOPS)
    result = run(acme, **notifier)
    assert starts(acme) == []
    assert "changes nothing that a cluster runs" in result.summary


def test_a_token_as_the_notifier(acme: Organisation) -> None:
    allowed: Permissions = {"actions": "write", "metadata": "read"}
    token = acme.sandbox.create_token("user", allowed, owner="acme", repositories=[CONTROL_PLANE])
    merged = merge(acme, main_commit(acme))
    run(acme, token=token, job_token=job_token(acme))
    assert starts(acme) == [checks(merged)]


@pytest.mark.parametrize("kind", ["App", "token"])
def test_a_key_that_reaches_more_than_a_notifier_s(acme: Organisation, kind: str) -> None:
    number, key = acme.sandbox.create_app("acme")
    given: dict[str, Any] = {"app_id": str(number), "app_private_key": key} if kind == "App" else {}
    commit = main_commit(acme)
    merged = merge(acme, commit)
    run(acme, **given, job_token=job_token(acme))
    assert starts(acme) == [checks(merged, commit)]
    reach = "the GitHub App may use more than Actions: " if given else "the token may read acme/"
    (line,) = [line for line in acme.logged if line.startswith(reach)]
    assert "replace it with a notifier" in line


def test_a_job_without_a_notifier(acme: Organisation) -> None:
    merge(acme, main_commit(acme))
    token = job_token(acme)
    result = run(acme, token=token, job_token=token)
    assert (result.failed, starts(acme)) == (False, [])
    assert "poll finds the push later" in result.summary
    assert any("no notifier is set up" in line for line in acme.logged)


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_repository_with_a_new_name(acme: Organisation, is_taken: bool) -> None:
    commit = main_commit(acme)
    merge(acme, commit)
    acme.sandbox.rename_repository(GITOPS, "fleet")
    merged = acme.commit(tree(commit, config="2"), "dev", "acme/fleet")
    if is_taken:
        acme.sandbox.repository("acme/fleet").former_names.clear()
        acme.sandbox.create_repository(GITOPS, {"README.md": ""})
    run(acme, repository="acme/fleet")
    assert starts(acme) == ([] if is_taken else [checks(merged)])
