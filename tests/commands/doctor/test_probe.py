"""`kalypso doctor --probe`: each refusal of GitHub, and the remains of the probe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.github import branches, pull_requests
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS
from kalypso_actions.model.workflow_files import FOLDER
from kalypso_actions.report.doctor_document import CheckEntry
from kalypso_sandbox.faults import Fault
from tests.commands.chain.writes import written as written_request
from tests.commands.doctor.organisation import Acme, acme
from tests.commands.doctor.planted_faults import archived, rule

Plant = Callable[[Acme], None]

ALL: Final = "kalypso/**"
ISSUE: Final = "/repos/{owner}/{repo}/issues/{issue_number}"
BYPASS: Final = "let the identity of the jobs bypass the rule, or exempt kalypso/** from it"


@pytest.fixture
def healthy(tmp_path: Path) -> Iterator[Acme]:
    with acme(tmp_path) as made:
        yield made


def lacks(permission: str) -> Plant:
    def act(organisation: Acme) -> None:
        app = organisation.sandbox.store.apps[int(organisation.app_id)]
        app.permissions = {**app.permissions, permission: "read"}

    return act


def refuses(method: str, path: str) -> Plant:
    fault = Fault(method, path, "status", count=0, status=403)
    return lambda organisation: organisation.sandbox.faults.add(fault)


def both(*plants: Plant) -> Plant:
    def act(organisation: Acme) -> None:
        for plant in plants:
            plant(organisation)

    return act


REFUSALS: Final[dict[str, tuple[Plant, str, str]]] = {
    "a rule refuses pushes": (
        rule(GITOPS, pattern=ALL, restrict_pushes=True),
        r"problem acme/gitops: the branch 'kalypso/probe-\S+-base' cannot be pushed: .* "
        r"\(schedule pushes the branches of its proposals\)",
        BYPASS,
    ),
    "a rule refuses pushes by force": (
        rule(GITOPS, pattern="kalypso/*[0-9]"),
        r"problem acme/gitops: the branch 'kalypso/probe-[\d-]+' cannot be pushed: ",
        BYPASS,
    ),
    "no permission to push": (
        lacks("contents"),
        r"problem acme/control-plane: the branch \S+ cannot be pushed: .* "
        r"\(cd pushes to the environment branches\)",
        "",
    ),
    "an archived repository": (
        archived,
        r"problem acme/gitops: the branch \S+ cannot be pushed: ",
        "",
    ),
    "no permission to open": (
        lacks("pull_requests"),
        r"problem acme/gitops: the pull request from \S+ into \S+ cannot be opened: GitHub says: "
        r"Resource not accessible by integration \(schedule opens pull requests\)",
        "give the token the permission pull-requests: write",
    ),
    "no permission to open in the control plane": (
        lacks("pull_requests"),
        r"warning acme/control-plane: .* cannot be opened: .* "
        r"\(cd opens pull requests with mode: pull-request\)",
        "give the token the permission pull-requests: write",
    ),
    "no labels": (
        refuses("POST", f"{ISSUE}/labels"),
        r"problem acme/gitops: #1 cannot be labelled .* \(schedule labels its pull requests\)",
        "",
    ),
    "no labels in the control plane": (
        refuses("POST", f"{ISSUE}/labels"),
        r"ok acme/control-plane: #1 cannot be labelled .* \(no job labels pull requests here\)",
        "",
    ),
    "no comments": (
        refuses("POST", f"{ISSUE}/comments"),
        r"problem acme/gitops: #1 cannot be commented on: .* \(schedule comments on ",
        "",
    ),
    "no permission to post statuses": (
        lacks("statuses"),
        r"problem acme/control-plane: the status\S* .* cannot be posted: GitHub says: Resource not "
        r"accessible by integration \(every job records the state of commits in statuses\)",
        "give the token the permission statuses: write",
    ),
    "a merge needs a review": (
        rule(GITOPS, pattern="kalypso/*-base", required_reviews=1),
        r"warning acme/gitops: pull request #1 cannot be merged: GitHub says: At least 1 approving "
        r"review is required .* \(schedule merges with auto-merge; people merge otherwise\)",
        BYPASS,
    ),
    "a merge needs a check": (
        rule(GITOPS, pattern="kalypso/*-base", required_contexts=["build"]),
        r"warning acme/gitops: pull request #1 cannot be merged: GitHub says: Required status check",
        BYPASS,
    ),
    "a branch cannot be deleted": (
        rule(GITOPS, pattern=ALL, allow_force_push=True),
        r"warning acme/gitops: the branch kalypso/probe-[\d-]+ cannot be deleted: GitHub says: .*",
        BYPASS,
    ),
    "a branch remains": (
        rule(GITOPS, pattern=ALL, allow_force_push=True),
        r"warning acme/gitops: the probe could not delete the branch \S+-base, the branch \S+",
        "delete it yourself",
    ),
    "a label cannot be deleted": (
        refuses("DELETE", "/repos/{owner}/{repo}/labels/{name}"),
        r"warning acme/gitops: the probe could not delete the label kalypso/probe-",
        "delete it yourself",
    ),
    "a rule requires signatures": (
        rule(GITOPS, pattern=ALL, required_signatures=True, allow_force_push=True),
        "ok acme/gitops: GitHub let the probe push branches, .* comment and merge",
        "",
    ),
    "a classic rule requires signatures": (
        rule(GITOPS, pattern=ALL, required_signatures=True, allow_force_push=True, classic=True),
        "ok acme/gitops: GitHub let the probe push branches, .* comment and merge",
        "",
    ),
    "a rule of an environment branch": (
        rule(CONTROL_PLANE, pattern="dev", required_reviews=1),
        r"warning acme/control-plane: dev has rules that the probe's branches lack: deletion, "
        r"non_fast_forward, pull_request; cd pushes to dev",
        "let the identity of cd bypass them, or let cd propose (mode: pull-request)",
    ),
    "a rule of a GitOps branch": (
        rule(GITOPS, pattern="dev", required_contexts=["build"]),
        r"ok acme/gitops: dev has rules that the probe's branches lack: .*required_status_checks; "
        r"merges wait for them",
        "",
    ),
    "a classic rule": (
        rule(GITOPS, pattern="dev", classic=True),
        r"warning acme/gitops: the probe could not try the classic rule that protects dev",
        "see that it lets people, or auto-merge, merge",
    ),
}


QUICK: Final = (
    "a rule refuses pushes",
    "no permission to open",
    "no labels",
    "a merge needs a review",
    "a branch remains",
    "a rule of an environment branch",
)
"""The other refusals differ only in the advice, which `tests/doctor_rules` tests, and in the
sandbox's response.
"""


@pytest.mark.parametrize(
    ("plant", "line", "advice"),
    [
        pytest.param(*refusal, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, refusal in REFUSALS.items()
    ],
)
def test_a_refusal_is_reported(healthy: Acme, plant: Plant, line: str, advice: str) -> None:
    plant(healthy)
    entries = healthy.doctor(probe=True).probe
    lines = {written(entry): entry.advice for entry in entries}
    matching = [text for text in lines if re.match(line, text)]
    assert matching, "\n".join(lines)
    assert lines[matching[0]].startswith(advice)


def written(entry: CheckEntry) -> str:
    return f"{entry.state} {entry.place}: {entry.text}"


def test_a_correct_set_up(healthy: Acme) -> None:
    repositories = (CONTROL_PLANE, GITOPS)
    before = [heads(healthy, name) for name in repositories]
    document = healthy.doctor(probe=True)
    assert not document.fails
    accepted = "push branches, post a status, open a pull request, add a label, comment and merge"
    assert [written(entry) for entry in document.probe] == [
        text
        for name in repositories
        for text in (
            f"ok {name}: GitHub let the probe {accepted}",
            f"ok {name}: dev has no rules that the probe's branches lack",
            f"ok {name}: stage has no rules that the probe's branches lack",
            f"ok {name}: the probe has deleted what it made; pull request #1 remains, because "
            "GitHub deletes none",
        )
    ]
    assert [heads(healthy, name) for name in repositories] == before
    assert not healthy.control_plane.labels
    assert not healthy.gitops.labels
    assert not [
        exchange for exchange in healthy.sandbox.traffic if "dispatches" in exchange.template
    ]


def test_a_dry_run(healthy: Acme) -> None:
    healthy.sandbox.traffic.clear()
    document = healthy.doctor(probe=True, dry_run=True)
    assert [entry.repository for entry in document.writes] == [CONTROL_PLANE, GITOPS]
    assert document.writes[0].what == (
        "push branches, post a status, open a pull request, add a label, comment and merge, on "
        "branches kalypso/probe-…, and delete these"
    )
    assert not document.probe
    writes = [request for each in healthy.sandbox.traffic if (request := written_request(each))]
    assert [request for request in writes if not request.endswith("/access_tokens")] == []


def test_the_branches_have_no_workflow_files(
    healthy: Acme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_requests, "ensure", interrupt)
    rule(CONTROL_PLANE, pattern=ALL, allow_force_push=True)(healthy)
    with pytest.raises(KeyboardInterrupt):
        healthy.doctor(probe=True)
    git = healthy.sandbox.git(CONTROL_PLANE)
    (head,) = (ref for ref in git.refs() if re.fullmatch(r"refs/heads/kalypso/probe-[\d-]+", ref))
    assert not [path for path in git.files(head) if path.startswith(FOLDER)]


@pytest.mark.parametrize("interrupted", ["before", "after"])
@pytest.mark.parametrize(
    ("owner", "name"),
    [(RemoteRepositories, "push"), (pull_requests, "ensure")],
    ids=["push", "open"],
)
def test_an_interruption(
    healthy: Acme, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, interrupted: str
) -> None:
    """A write may have happened even if it never returned."""
    write = getattr(owner, name)

    def act(*arguments: object, **options: object) -> object:
        if interrupted == "after":
            write(*arguments, **options)
        return interrupt()

    monkeypatch.setattr(owner, name, act)
    before = heads(healthy, CONTROL_PLANE)
    with pytest.raises(KeyboardInterrupt):
        healthy.doctor(probe=True)
    assert heads(healthy, CONTROL_PLANE) == before
    assert {issue.state for issue in healthy.control_plane.issues.values()} <= {"closed"}
    assert healthy.log[-1] == "Everything is deleted, but GitHub deletes no pull request"


def test_an_interrupted_push_lands_late(healthy: Acme, monkeypatch: pytest.MonkeyPatch) -> None:
    """git was stopped, but GitHub had the whole push already."""
    git, delete = healthy.sandbox.git(CONTROL_PLANE), branches.delete
    late: set[str] = set()

    def act(github: GitHub, repository: str, branch: str, *, expected: str) -> object:
        if branch not in late:
            late.add(branch)
            git.update_ref(f"refs/heads/{branch}", git.head("main"), expected)
        return delete(github, repository, branch, expected=expected)

    monkeypatch.setattr(branches, "delete", act)
    monkeypatch.setattr(pull_requests, "ensure", interrupt)
    before = heads(healthy, CONTROL_PLANE)
    with pytest.raises(KeyboardInterrupt):
        healthy.doctor(probe=True)
    assert len(late) == 2
    assert heads(healthy, CONTROL_PLANE) == before


def test_an_interruption_names_the_remains(healthy: Acme, monkeypatch: pytest.MonkeyPatch) -> None:
    rule(CONTROL_PLANE, pattern="kalypso/*-base", allow_force_push=True)(healthy)
    monkeypatch.setattr(pull_requests, "ensure", interrupt)
    with pytest.raises(KeyboardInterrupt):
        healthy.doctor(probe=True)
    assert re.fullmatch(
        f"Not deleted: the branch kalypso/probe-[0-9-]+-base of {CONTROL_PLANE}; "
        "delete it yourself",
        healthy.log[-1],
    )


def interrupt(*_: object, **__: object) -> object:
    raise KeyboardInterrupt


def heads(organisation: Acme, repository: str) -> dict[str, str]:
    refs = organisation.sandbox.git(repository).refs()
    return {ref: commit for ref, commit in refs.items() if ref.startswith("refs/heads/")}
