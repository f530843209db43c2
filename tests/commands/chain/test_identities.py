"""Whose issues, pull requests and records are ours, also after a change of the token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import start_records
from tests.command_line import call_kalypso
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Job, Organisation
from tests.commands.chain.polls import LONG, at_rest, started
from tests.commands.chain.polls import run as poll
from tests.commands.chain.proposals import OWN, actions, configure, labels, run, run_schedule

LARGE = "Can't generate manifests for deplyment target shop-web in cluster type large in dev environment"
BROKEN = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="nowhere")}
WHOLE = {"cluster-types/large.yaml": documents.cluster_type("large")}


def token_of(acme: Organisation, login: str) -> str:
    """Return a token of another account: `ada`, `github-actions[bot]`."""
    kind: Any = "user"
    return acme.sandbox.create_token(kind, None, login=login, owner="acme")


def authors(items: list[Any]) -> list[tuple[str, str]]:
    return [(item["user"]["login"], item["state"]) for item in items]


def test_after_a_change_of_the_token_the_pull_request_is_opened_again(acme: Organisation) -> None:
    before = token_of(acme, "ada")
    (old,) = run(acme, token=before).pull_requests
    configure(acme, REGION="north")
    document = run(acme, former_identities="ada")
    assert authors(acme.pulls(state="all")) == [("ada", "closed"), ("somebody", "open")]
    assert actions(document) == [(2, "created")]
    (comment,) = acme.comments(old.number)
    assert "somebody writes for Kalypso now" in comment
    assert f"/pulls?q=is%3Apr+is%3Aopen+head%3A{OWN.replace('/', '%2F')}" in comment
    assert "withdrawn" in labels(acme.pulls(state="closed")[0])
    acme.forget()
    assert actions(run(acme, former_identities="ada")) == [(2, "unchanged")]
    assert acme.writes() == []


def test_a_former_pull_request_that_people_forced_is_opened_again(acme: Organisation) -> None:
    ada = token_of(acme, "ada")
    (old,) = run(acme, token=ada).pull_requests
    acme.close(old.number)
    run(acme, token=ada, force="true")
    assert actions(run(acme, former_identities="ada")) == [(3, "created")]


@pytest.mark.parametrize("former", ["", "github-actions[bot]"])
def test_a_pull_request_of_another_workflow_is_not_edited(acme: Organisation, former: str) -> None:
    """All workflows of a repository share one account."""
    job = acme.sandbox.create_token("actions", owner="acme")
    run(acme, token=job)
    acme.ask("PATCH", f"{GITOPS}/pulls/1", {"title": "Theirs", "body": "By another workflow."})
    (before,) = acme.pulls()
    configure(acme, REGION="north")
    with pytest.raises(KalypsoError) as caught:
        run_schedule(acme, former_identities=former, **({} if former else {"token": job}))
    assert caught.value.problem.message.startswith("another workflow opened the pull request #1")
    assert acme.pulls() == [before]


def test_a_person_s_pull_request_from_our_branch_is_not_edited(acme: Organisation) -> None:
    run(acme, token=token_of(acme, "ada"))
    configure(acme, REGION="north")
    (before,) = acme.pulls()
    with pytest.raises(KalypsoError) as caught:
        run_schedule(acme)
    assert "ada opened the pull request #1 from kalypso/dev" in caught.value.problem.message
    assert "former-identities" in caught.value.problem.advice
    assert acme.pulls() == [before]


def test_a_proposal_of_cd_is_opened_again(acme: Organisation) -> None:
    new = acme.commit({"notes.txt": "a change"})
    given: dict[str, Any] = {"environment": "dev", "mode": "pull-request", "commit": new}
    acme.run(cd, CdInputs, token=token_of(acme, "ada"), **given)
    with pytest.raises(KalypsoError, match="ada opened the pull request #1"):
        acme.run(cd, CdInputs, **given)
    acme.run(cd, CdInputs, former_identities="ada", **given)
    assert authors(acme.pulls(CONTROL_PLANE, "all")) == [("ada", "closed"), ("somebody", "open")]


def test_the_issue_of_a_former_identity_is_closed_with_a_link(acme: Organisation) -> None:
    acme.commit(BROKEN, "dev")
    run_schedule(acme, token=token_of(acme, "ada"))
    (old,) = acme.issues()
    run_schedule(acme, former_identities="ada")
    assert authors(acme.issues(state="all")) == [("ada", "closed"), ("somebody", "open")]
    (comment,) = acme.comments(old["number"])
    assert comment.endswith("somebody writes for Kalypso now: #2 replaces this issue.")
    assert acme.issues(state="closed")[0]["body"] == old["body"]
    acme.forget()
    run_schedule(acme, former_identities="ada")
    assert acme.writes() == []


def test_former_issues_do_not_count_for_the_limit(acme: Organisation) -> None:
    drone = documents.cluster_type("drone", reconciler="nowhere")
    acme.commit({**BROKEN, "cluster-types/drone.yaml": drone}, "dev")
    run_schedule(acme, token=token_of(acme, "ada"))
    assert len(acme.issues()) == 2
    run_schedule(acme, former_identities="ada", max_issues="1")
    ours = [issue for issue in acme.issues() if issue["user"]["login"] == "somebody"]
    assert len(ours) == 2
    collected = "Can't generate manifests for other deployment targets in dev environment"
    assert collected in [issue["title"] for issue in ours]


def test_the_same_title_by_somebody_else_is_left_alone(acme: Organisation) -> None:
    body = {"title": LARGE, "body": "mine", "labels": ["kalypso", "kalypso-failure"]}
    acme.ask("POST", f"{GITOPS}/issues", body, token=token_of(acme, "ada"))
    acme.commit(BROKEN, "dev")
    run_schedule(acme)
    assert authors(acme.issues()) == [("ada", "open"), ("somebody", "open")]
    acme.commit(WHOLE, "dev")
    run(acme)
    assert authors(acme.issues(state="all")) == [("ada", "open"), ("somebody", "closed")]


@pytest.mark.parametrize(
    ("login", "former", "is_repeated"),
    [
        ("mallory", "", False),
        ("mallory", "Mallory", True),
        ("github-actions[bot]", "", True),
        ("somebody", "", True),
    ],
)
def test_poll_repeats_starts_that_our_own_accounts_recorded(
    acme: Organisation, login: str, former: str, is_repeated: bool
) -> None:
    at_rest(acme)
    new = acme.commit({"notes.txt": "a change"})
    status: CommitStatus = start_records.starting("ci").status("kalypso / cd dev")
    body = {"context": status.context, "description": status.description, "state": status.state}
    acme.ask("POST", f"{CONTROL_PLANE}/statuses/{new}", body, token=token_of(acme, login))
    acme.clock.sleep(LONG)
    expected = [("cd.yaml", "dev", 2)] if is_repeated else []
    assert started(poll(acme, former_identities=former)) == expected


@pytest.fixture
def job(acme: Organisation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a job outside of any clone."""
    monkeypatch.chdir(tmp_path)
    return acme.job_environment(Job()) | {"KALYPSO_TOKEN": acme.token, "COLUMNS": "200"}


def test_explain(job: dict[str, str]) -> None:
    named = ("--control-plane", CONTROL_PLANE)
    done = call_kalypso("explain", "dev", *named, "--target", "shop-web", variables=job)
    assert done.returncode == 0, done.stderr
    assert "shop-web" in done.stdout


def test_validate(job: dict[str, str]) -> None:
    done = call_kalypso("validate", "--control-plane", CONTROL_PLANE, variables=job)
    assert done.returncode == 0, done.stderr
    assert "of 3 branches: 0 problems" in done.stdout


def test_the_report_of_the_job_s_repository(job: dict[str, str], tmp_path: Path) -> None:
    """The inputs of the action hold the token, and the job's variables name the repository."""
    secret = job.pop("KALYPSO_TOKEN")
    job["KALYPSO_INPUTS"] = json.dumps({"token": secret})
    done = call_kalypso("report", "--out", "page", variables=job)
    assert "4 assignments of 2 environments" in done.stdout, done.stderr
    text = (tmp_path / "page" / "report.json").read_text()
    assert secret not in text
    pipeline = json.loads(text)["pipeline"]
    assert (pipeline["controlPlane"], pipeline["problems"]) == (CONTROL_PLANE, [])


def test_a_job_reads_allowed_repositories_only(acme: Organisation, job: dict[str, str]) -> None:
    inputs = {"token": acme.token, "allowed-repositories": "acme/gitops"}
    job["KALYPSO_INPUTS"] = json.dumps(inputs)
    done = call_kalypso("report", "--out", "page", variables=job)
    assert "0 assignments of 2 environments" in done.stdout
    document = json.loads(Path("page/report.json").read_text())
    warnings = document["environments"][0]["warnings"]
    assert "this repository is not among those that may be read" in str(warnings)
