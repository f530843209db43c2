"""Commits on branches whose rules require signatures: GitHub makes and signs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.schedule import schedule
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import CdInputs, ScheduleInputs
from kalypso_actions.report.chain_document import CdDocument
from kalypso_sandbox.git.objects import GitCommit
from kalypso_sandbox.store import BranchRule
from tests.commands.chain.founding import organisation
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Organisation
from tests.workers import work_here

OWN_BRANCH = "kalypso/dev"


def require_signatures(
    acme: Organisation, repository: str, pattern: str = "**/*", *, classic: bool = False
) -> None:
    rule = BranchRule(
        pattern=pattern, required_signatures=True, allow_force_push=True, classic=classic
    )
    with acme.sandbox.lock:
        acme.sandbox.repository(repository).rules.append(rule)


def run_cd(acme: Organisation, commit: str, **inputs: Any) -> CommandResult:
    return acme.run(cd, CdInputs, environment="dev", commit=commit, **inputs)


def run_schedule(acme: Organisation, **inputs: Any) -> CommandResult:
    return acme.run(schedule, ScheduleInputs, environment="dev", **inputs)


def newest(acme: Organisation, branch: str, repository: str = CONTROL_PLANE) -> GitCommit:
    return acme.sandbox.git(repository).commit(branch)


def change(acme: Organisation) -> str:
    return acme.commit({"notes.txt": f"{acme.clock()}"})


def test_cd_commits_where_signatures_are_required(acme: Organisation, app: dict[str, str]) -> None:
    require_signatures(acme, CONTROL_PLANE)
    before, commit = acme.head("dev"), change(acme)
    result = run_cd(acme, commit, **app)
    assert not result.failed, result.document.problems
    assert isinstance(result.document, CdDocument)
    assert result.document.environment_commit == acme.head("dev")
    made = newest(acme, "dev")
    assert made.signature and made.parents == (before,)
    assert made.author.name.endswith("[bot]") and made.committer.name == "GitHub"
    assert f"commit: {commit}" in acme.files("dev")["base-repo.yaml"]


def test_cd_proposes_where_signatures_are_required(acme: Organisation, app: dict[str, str]) -> None:
    require_signatures(acme, CONTROL_PLANE, "dev")
    for _ in range(2):  # the second proposal replaces the first commit
        result = run_cd(acme, change(acme), mode="pull-request", **app)
        assert not result.failed, result.document.problems
        assert newest(acme, "kalypso/promote/dev").signature
    (pull,) = acme.pulls(CONTROL_PLANE)
    acme.merge(pull["number"], CONTROL_PLANE)


def test_schedule_proposes_where_signatures_are_required(
    acme: Organisation, app: dict[str, str]
) -> None:
    require_signatures(acme, GITOPS)
    result = run_schedule(acme, **app)
    assert not result.failed, result.document.problems
    first = newest(acme, OWN_BRANCH, GITOPS)
    run_cd(acme, change(acme))
    result = run_schedule(acme, **app)
    assert not result.failed, result.document.problems
    second = newest(acme, OWN_BRANCH, GITOPS)
    assert first.signature and second.signature
    assert first.parents == second.parents and first.id != second.id
    (pull,) = acme.pulls()
    acme.merge(pull["number"])
    assert acme.files("dev", GITOPS).keys() > {".github/tracking/sources.json"}


@pytest.mark.parametrize("is_signed", [True, False], ids=["api", "git"])
def test_workers_write_what_is_proposed(
    acme: Organisation, app: dict[str, str], monkeypatch: pytest.MonkeyPatch, is_signed: bool
) -> None:
    """GitHub's API takes contents, and git the ids of blobs."""
    if is_signed:
        require_signatures(acme, GITOPS)
    written = work_here(monkeypatch)
    result = run_schedule(acme, **app)
    assert not result.failed, result.document.problems
    assert written
    files = acme.files(OWN_BRANCH, GITOPS)
    assert set(written) <= {text.encode() for text in files.values()}
    assert bool(newest(acme, OWN_BRANCH, GITOPS).signature) == is_signed


@pytest.mark.parametrize("pattern", ["dev", "kalypso/*", "**/*"])
def test_a_classic_rule_requires_signatures(
    acme: Organisation, app: dict[str, str], pattern: str
) -> None:
    """GitHub shows it for a branch that exists; for a new one, it refuses the push of git."""
    require_signatures(acme, GITOPS, pattern, classic=True)
    result = run_schedule(acme, auto_merge="always", **app)
    assert not result.failed and not result.document.warnings
    assert newest(acme, OWN_BRANCH, GITOPS).signature
    (pull,) = acme.pulls(state="closed")
    assert pull["merged_at"]


def test_the_tree_is_the_same_by_git_and_by_the_api(
    acme: Organisation, app: dict[str, str]
) -> None:
    run_schedule(acme, commit_by="git", **app)
    by_git = newest(acme, OWN_BRANCH, GITOPS)
    acme.reset(OWN_BRANCH, None, GITOPS)
    acme.close(acme.pulls()[0]["number"])
    run_schedule(acme, commit_by="api", force="true", **app)
    by_api = newest(acme, OWN_BRANCH, GITOPS)
    assert by_api.tree == by_git.tree and by_api.message.rstrip() == by_git.message.rstrip()
    assert by_api.signature and not by_git.signature


def test_the_author_is_the_tokens_own_account(acme: Organisation, app: dict[str, str]) -> None:
    for credential in (app, {"token": acme.sandbox.create_token("actions", owner="acme")}):
        run_cd(acme, change(acme), commit_by="git", **credential)
        author = newest(acme, "dev").author
        account = acme.sandbox.store.accounts[author.name]
        assert account.kind == "Bot"
        assert author.email == f"{account.id}+{account.login}@users.noreply.github.com"
    assert author.email == "41898282+github-actions[bot]@users.noreply.github.com"


def test_git_is_refused_with_advice(acme: Organisation, app: dict[str, str]) -> None:
    require_signatures(acme, CONTROL_PLANE)
    before = acme.head("dev")
    with pytest.raises(KalypsoError, match="verified signatures") as error:
        run_cd(acme, change(acme), commit_by="git", **app)
    assert "commit-by: api" in error.value.problem.advice
    assert acme.head("dev") == before


def test_a_personal_token_is_refused_with_advice(acme: Organisation) -> None:
    require_signatures(acme, CONTROL_PLANE)
    before = acme.head("dev")
    with pytest.raises(KalypsoError, match="verified signatures") as error:
        run_cd(acme, change(acme))
    assert "use a GitHub App" in error.value.problem.advice
    assert acme.head("dev") == before


def test_a_faster_run_is_not_overwritten(acme: Organisation, app: dict[str, str]) -> None:
    require_signatures(acme, CONTROL_PLANE)
    commit, newer = change(acme), change(acme)
    faster = acme.sandbox.interruptions.add(
        lambda: run_cd(acme, newer, **app), path="*/git/commits"
    )
    run_cd(acme, commit, promoted_from="ci", **app)
    assert not faster.result().failed
    assert f"commit: {newer}" in acme.files("dev")["base-repo.yaml"]


def test_an_old_server_only_adds_commits(tmp_path: Path) -> None:
    """Such a server cannot replace the commit of a proposal safely."""
    with organisation(tmp_path, flavour="ghes") as acme:
        number, key = acme.sandbox.create_app("acme")
        app = {"app_id": str(number), "app_private_key": key}
        require_signatures(acme, CONTROL_PLANE)
        require_signatures(acme, GITOPS)
        run_cd(acme, change(acme), **app)
        run_schedule(acme, **app)
        assert newest(acme, "dev").signature and newest(acme, OWN_BRANCH, GITOPS).signature
        proposed = acme.head(OWN_BRANCH, GITOPS)
        run_cd(acme, change(acme), **app)
        with pytest.raises(KalypsoError, match="updateRefs") as error:
            run_schedule(acme, **app)
        assert "delete the branch" in error.value.problem.advice
        assert acme.head(OWN_BRANCH, GITOPS) == proposed
