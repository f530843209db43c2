"""`kalypso status`: the pipeline of Acme."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from kalypso_actions.commands.rollback import rollback
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.status import status as read_status
from kalypso_actions.commands.status import watch
from kalypso_actions.compliance import ClusterReports
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import RollbackInputs, StatusInputs
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_actions.report.failure_issues import assignment_title
from kalypso_actions.report.status_document import (
    EnvironmentStatusEntry,
    StatusDocument,
    print_status,
)
from kalypso_sandbox import Fault
from tests.breaks import breaks, turned
from tests.commands.chain.fake_cluster_reports import FakeClusterReports
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, NOON, Organisation
from tests.commands.chain.promotions import check, main_commit, merge, name_in_base, sign_in
from tests.commands.chain.proposals import run as schedule_dev

BROKEN = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Environment\nmetadata: {name: dev}\n"


def status(
    acme: Organisation, reports: ClusterReports | None = None, **given: Any
) -> StatusDocument:
    documents: list[StatusDocument] = []

    def command(inputs: StatusInputs, context: CommandContext) -> CommandResult:
        documents.append(read_status(inputs, context, reports))
        return CommandResult(documents[0], "")  # type: ignore[arg-type]  # it has no summary

    acme.run(command, StatusInputs, **given)
    return documents[0]


def entry(document: StatusDocument, name: str = "dev") -> EnvironmentStatusEntry:
    return next(each for each in document.environments if each.environment == name)


def text(document: StatusDocument) -> str:
    console = Console(width=160, record=True, file=None, highlight=False)
    with console.capture() as capture:
        print_status(console, document)
    return capture.get()


def test_a_commit_on_its_way(acme: Organisation) -> None:
    promoted = main_commit(acme)
    merge(acme, promoted)
    acme.status(promoted, "dev environment", "Deploying")
    main_commit(acme, "another change")
    document = status(acme)
    dev, stage = entry(document), entry(document, "stage")
    assert dev.commit is not None
    assert (dev.commit.commit, dev.ahead, dev.state.text) == (promoted, 1, "Deploying")
    assert (dev.assignments, dev.gitops[0].promoted_commit) == (2, promoted)
    assert [(wait.waits_for, wait.text) for wait in dev.waits] == [
        ("clusters", "report that they comply")
    ]
    subject = dev.commit.subject
    assert [(wait.waits_for, wait.text) for wait in stage.waits] == [
        ("a run", "of schedule, which proposes the tree"),
        ("an environment", f"dev, until {promoted[:7]} {subject} is deployed there"),
    ]
    assert (stage.ahead, stage.state.text, stage.assignments) == (
        2,
        "Promoted, without a status",
        0,
    )
    head = acme.head("main") or ""
    assert [(wait.waits_for, wait.text.partition(" ")[0]) for wait in document.waits] == [
        ("a run", "of")
    ]
    assert f"of ci with {head[:7]}" in document.waits[0].text
    printed = text(document)
    assert "dev waits for clusters: report that they comply" in printed
    assert "1 commit" in printed


def test_pull_requests_and_failures(acme: Organisation) -> None:
    for branch in ("kalypso/dev", "someone"):
        acme.reset(branch, acme.head("dev", GITOPS), GITOPS)
        acme.commit({"proposed.txt": branch}, branch, GITOPS)
    acme.pull("kalypso/dev", "dev", GITOPS)
    acme.pull("someone", "dev", GITOPS)
    title = assignment_title("shop-web", "drone", "dev")
    others = "Can't generate manifests for other deployment targets in dev environment"
    unusable = "Can't read the workload registration shop in stage environment"
    for name, body in ((title, ""), (others, "\n- `a` in cluster type `b`: x" * 3), (unusable, "")):
        acme.ask(
            "POST", f"{GITOPS}/issues", {"title": name, "body": body, "labels": ["kalypso-failure"]}
        )
    document = status(acme)
    dev, stage = entry(document), entry(document, "stage")
    assert [(each.repository, each.title) for each in dev.pull_requests] == [
        (GITOPS, "kalypso/dev")
    ]
    assert dev.waits[0].text.startswith(f"review and merge {GITOPS}#")
    assert (dev.failing, dev.degraded, stage.failing, stage.degraded) == (4, 0, 0, 1)
    assert "4 failing" in text(document)


@pytest.mark.slow
def test_the_issues_and_pull_requests_of_many_environments(acme: Organisation) -> None:
    """GitHub answers a query with at most 100 issues and 50 pull requests."""
    head = acme.head("dev", GITOPS)
    for number in range(52):
        acme.reset(f"kalypso/env-{number}", head, GITOPS)
        acme.commit({"proposed.txt": str(number)}, f"kalypso/env-{number}", GITOPS)
    acme.reset("kalypso/dev", head, GITOPS)
    acme.commit({"proposed.txt": "dev"}, "kalypso/dev", GITOPS)
    own = acme.pull("kalypso/dev", "dev", GITOPS)
    for number in range(52):
        acme.pull(f"kalypso/env-{number}", "dev", GITOPS)
    for number in range(103):
        title = assignment_title("shop-web", f"drone-{number}", "dev")
        body = {"title": title, "labels": ["kalypso-failure"]}
        acme.ask("POST", f"{GITOPS}/issues", body)
    dev = entry(status(acme))
    assert [each.number for each in dev.pull_requests] == [own]
    assert (dev.failing, len(dev.issues)) == (103, 103)


def test_pull_requests_to_main_wait_for_people(acme: Organisation) -> None:
    merge(acme, acme.head("main"), "stage")
    assert text(status(acme, environment="stage")).endswith("nothing waits\n")
    acme.reset("change", acme.head("main"))
    acme.commit({"README.md": "changed"}, "change")
    number = acme.pull("change")
    document = status(acme, environment="stage")
    said = f"review and merge {CONTROL_PLANE}#{number}: change"
    assert [(wait.waits_for, wait.text) for wait in document.waits] == [("people", said)]
    assert f"main waits for people: {said}" in text(document)


def test_clusters_on_request(acme: Organisation) -> None:
    promoted = main_commit(acme)
    merge(acme, promoted)
    acme.status(promoted, "dev environment", "Deploying")
    reports = FakeClusterReports(lambda _url, _branch: [])
    document = status(acme, reports, clusters="true", environment="dev")
    assert entry(document).clusters == {"missing": 2}
    assert entry(document).state.text == "Deploying 0/2"
    assert "dev: missing: cluster type drone: no cluster reports that it" in text(document)
    assert [each.environment for each in document.environments] == ["dev"]


def test_clusters_that_do_not_comply_have_reasons(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(acme, monkeypatch)
    acme.cluster("dev", "drone", behaviour="fail")
    merge(acme, main_commit(acme))
    acme.clock.sleep(timedelta(hours=1).total_seconds())
    document = status(acme, clusters="true", environment="dev")
    dev = entry(document)
    assert dev.not_compliant is not None
    assert dev.clusters == {"compliant": 1, "failed": 1}
    assert [(item.name, item.cluster_type, item.state) for item in dev.not_compliant] == [
        ("dev-drone", "drone", "failed")
    ]
    assert f"dev: failed: dev-drone (drone): {dev.not_compliant[0].reason}" in text(document)


def test_the_numbers_of_a_waiting_run(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    """check-promote records them on the promoted commit; status asks no cluster reports."""
    sign_in(acme, monkeypatch)
    acme.cluster("dev", "drone", delay=100)
    promoted = main_commit(acme)
    merged = merge(acme, promoted)
    name_in_base(acme, promoted)
    seen: list[str] = []
    sleep = acme.clock.sleep

    def sleeping(seconds: float) -> None:
        sleep(seconds)
        if acme.clock() >= NOON + timedelta(seconds=90) and not seen:
            seen.append("")
            seen.append(entry(status(acme)).state.text)

    acme.clock.sleep = sleeping  # type: ignore[method-assign]  # of this clock only
    check(acme, merged, promoted)
    assert seen == ["", "Deploying 1/2"]
    assert entry(status(acme)).state.text == "Deployed"
    record = {f"kalypso / check-promote dev {GITOPS}": ("success", f"Received: {merged}")}
    assert acme.records(promoted).items() >= record.items()


def test_an_unknown_environment(acme: Organisation) -> None:
    with pytest.raises(UsageError, match="there is no Environment 'dve' on main"):
        status(acme, environment="dve")


def test_a_faulty_branch_is_the_problem_of_its_environment(acme: Organisation) -> None:
    acme.commit({"gitops-repo.yaml": None}, "stage")
    document = status(acme)
    assert entry(document).problems == ()
    assert ["has no GitOpsRepo" in each.message for each in entry(document, "stage").problems] == [
        True
    ]


def test_one_graphql_request_for_each_repository(acme: Organisation) -> None:
    acme.forget()
    status(acme)
    asked = [each for each in acme.sandbox.traffic if each.path.endswith("/graphql")]
    assert len(asked) == 2


def test_without_its_permission_started_rollbacks_are_not_shown(acme: Organisation) -> None:
    runs = f"/repos/{CONTROL_PLANE}/actions/workflows/rollback.yaml/runs"
    with acme.sandbox.faults.on(Fault("GET", runs, "status", status=403, count=0)):
        assert entry(status(acme)).waits
    assert acme.logged[-1].startswith("Started rollbacks are not shown: ")


def test_a_path_that_leaves_the_repository_is_a_problem_of_its_environment(
    acme: Organisation,
) -> None:
    """Nothing is known of its policy, so its page is left out."""
    place = ".environments/dev.yaml"
    acme.commit({place: acme.files("main")[place].replace("path: .", "path: ../x")}, "main")
    document = status(acme)
    (problem,) = entry(document).problems
    assert problem.message == "the path '../x' leads out of the repository"
    assert (entry(document).policy_url, bool(entry(document, "stage").policy_url)) == ("", True)


def test_watch_looks_again_by_the_clock(acme: Organisation) -> None:
    """Each look shows all waits; status goes on after a failed look, which shows nothing."""
    promoted = main_commit(acme)
    acme.status(promoted, "dev environment", "Promoted")
    name_in_base(acme, promoted)
    shown: list[str] = []

    def show(document: StatusDocument) -> None:
        dev = entry(document)
        shown.append(f"{dev.state.text}: {', '.join(wait.waits_for for wait in dev.waits)}")

    def after(seconds: float) -> None:
        acme.clock.sleep(seconds)
        moment = (acme.clock() - NOON).total_seconds()
        if moment == 15:
            acme.status(promoted, "dev environment", "Failed to deploy: x", "failure")
        elif moment == 30:
            acme.commit({".environments/dev.yaml": BROKEN}, "main")
        elif moment == 45:
            raise KeyboardInterrupt

    def command(inputs: StatusInputs, context: CommandContext) -> CommandResult:
        watch(inputs, replace(context.runtime, sleep=after), show)

    with pytest.raises(KeyboardInterrupt):
        acme.run(command, StatusInputs)
    assert shown == ["Promoted: a run", "Failed to deploy: x: people"]
    assert acme.logged[-1].endswith("; looking again in 15 s")


def test_a_rollback_no_longer_recommends_the_proposal_of_what_was_left(acme: Organisation) -> None:
    good = acme.head("main") or ""
    acme.status(good, "dev environment", "Deployed", "success")
    left = main_commit(acme)
    name_in_base(acme, left)
    (pull,) = schedule_dev(acme).pull_requests
    recommended = f"review and merge {GITOPS}#{pull.number}"
    assert entry(status(acme)).waits[0].text.startswith(recommended)
    acme.run(rollback, RollbackInputs, environment="dev")
    waits = entry(status(acme)).waits
    outdated = f"of schedule: {GITOPS}#{pull.number} still proposes {left[:7]}, which dev has left"
    assert ("a run", outdated) in [(wait.waits_for, wait.text) for wait in waits]
    assert not any(wait.text.startswith(recommended) for wait in waits)
    schedule_dev(acme)
    waits = entry(status(acme)).waits
    assert [wait.text for wait in waits if left[:7] in wait.text] == [
        f"release the hold by somebody: rolled back from {left[:7]} "
        f"(except {good[:7]}, since 2026-03-01 12:00 UTC)"
    ]


@breaks(
    "status takes a hold that names no commit for one that lets everything in",
    turned(
        "kalypso_actions.promotion.policy._holds",
        "hold.at and hold.at == facts.commit",
        "not hold.at",
    ),
)
def test_what_keeps_commits_out(acme: Organisation) -> None:
    policy = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"
    acme.commit({POLICY_FILE: f"{policy}spec: {{holds: [{{reason: audit, by: bob}}]}}\n"}, "dev")
    dev = entry(status(acme))
    assert dev.waiting_for == "hold by bob: audit"
    told = f"release the hold by bob: audit (since {NOON:%Y-%m-%d %H:%M} UTC)"
    assert told in [wait.text for wait in dev.waits]
    (hold,) = dev.holds
    assert (hold.by, hold.reason, hold.since, hold.until, hold.at) == (
        "bob",
        "audit",
        NOON,
        None,
        "",
    )


def hold_dev(acme: Organisation, *holds: str) -> None:
    policy = "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"
    acme.commit({POLICY_FILE: f"{policy}spec: {{holds: [{', '.join(holds)}]}}\n"}, "dev")


@breaks(
    "status says that a hold began with the last change of the policy",
    turned(
        "kalypso_actions.commands.status.read.held_since",
        "since.update(dict.fromkeys(sought, commit.date))",
        "[since.setdefault(hold, commit.date) for hold in sought]",
    ),
)
def test_since_when_each_hold_is(acme: Organisation) -> None:
    hold_dev(acme, "{reason: audit, by: bob}")
    acme.clock.sleep(3600)
    hold_dev(acme, "{reason: audit, by: bob}", "{reason: leak, by: ann}")
    acme.commit({"notes.txt": "later"}, "dev")
    since = {hold.by: hold.since for hold in entry(status(acme)).holds}
    assert since == {"bob": NOON, "ann": NOON + timedelta(hours=1)}


def test_what_waits_behind_a_hold(acme: Organisation) -> None:
    merge(acme, acme.head("main"))
    schedule_dev(acme)
    for pull in acme.pulls(GITOPS):
        acme.merge(pull["number"], GITOPS)
    hold_dev(acme, "{reason: audit, by: bob}")
    assert not [wait for wait in entry(status(acme)).waits if "proposed" in wait.text]
    acme.commit({"config.yaml": acme.files("dev")["config.yaml"] + "  A: b\n"}, "dev")
    waits = [(wait.waits_for, wait.text) for wait in entry(status(acme)).waits]
    assert ("people", "config.yaml on dev is not proposed: hold by bob") in waits
    hold_dev(acme)
    (pull,) = schedule_dev(acme).pull_requests
    hold_dev(acme, "{reason: audit, by: bob}")
    waits = [(wait.waits_for, wait.text) for wait in entry(status(acme)).waits]
    assert waits[0] == (
        "people",
        f"merge {GITOPS}#{pull.number} after the end of this: hold by bob",
    )
    assert not [text for _, text in waits if "is not proposed" in text or "review" in text]
