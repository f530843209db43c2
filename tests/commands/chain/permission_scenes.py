"""Scenes in which the commands of the chain use all permissions that they ever need.

All repositories of acme are private: nothing can be read without permission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.check_promote import check_promote
from kalypso_actions.commands.ci import ci
from kalypso_actions.commands.notify import notify
from kalypso_actions.commands.observe import observe
from kalypso_actions.commands.poll import poll
from kalypso_actions.commands.preview import preview
from kalypso_actions.commands.preview_comment import preview_comment
from kalypso_actions.commands.registry import Level
from kalypso_actions.commands.rollback import rollback
from kalypso_actions.commands.schedule import schedule
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.start_schedule import start_schedule
from kalypso_actions.inputs.chain import (
    CdInputs,
    CheckPromoteInputs,
    CiInputs,
    NotifyInputs,
    ObserveInputs,
    PollInputs,
    PreviewCommentInputs,
    PreviewInputs,
    RollbackInputs,
    ScheduleInputs,
    StartScheduleInputs,
)
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_sandbox.store import AutoMerge, BranchRule
from tests.commands.chain import documents, previews
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    GITOPS,
    SHOP,
    Dispatch,
    Job,
    Organisation,
)
from tests.commands.chain.polls import LONG, at_rest, propose, push_to_shop
from tests.commands.chain.promotions import main_commit, merge
from tests.commands.chain.proposals import configure, labels, promote
from tests.commands.chain.pushes import pushed

Credential = Mapping[str, str]
"""The inputs for the identity of a command: a token, or an App's id and key."""

Run = Callable[[Credential], CommandResult]

READ: Final[Mapping[str, Level]] = {"contents": "read"}
RECORDS: Final[Mapping[str, Level]] = {"contents": "read", "statuses": "write"}
PROMOTES: Final[Mapping[str, Level]] = {
    "contents": "write",
    "statuses": "write",
    "actions": "write",
}
PROPOSES: Final[Mapping[str, Level]] = {"contents": "write", "pull-requests": "write"}


@dataclass(frozen=True)
class Scene:
    """A command that needs exactly `needs`: the level of each permission, by repository.

    `prepare` sets up the scene and returns the command. `check` asserts its whole effect.
    With `verify_only`, the command gets this input.
    """

    command: str
    name: str
    prepare: Callable[[Organisation], Run]
    check: Callable[[Organisation], None]
    needs: Mapping[str, Mapping[str, Level]]
    verify_only: bool = False

    @property
    def id(self) -> str:
        return f"{self.command}, {self.name}"

    @property
    def is_job(self) -> bool:
        """Whether the job's own token suffices: the command uses no other repository."""
        return self.needs.keys() == {CONTROL_PLANE}


def runs(acme: Organisation, command: Any, model: Any, **given: Any) -> Run:
    """Return the command with these inputs, to be run with a credential."""
    return lambda credential: acme.run(command, model, **{**given, **credential})


DEV = "dev environment"


def _ci(acme: Organisation) -> Run:
    main_commit(acme)
    return runs(acme, ci, CiInputs, job=Job("push"))


def _ci_done(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    assert acme.statuses(commit)["kalypso / ci"] == ("success", "4 assignments in 2 environments")
    inputs = {"promoted_commit_id": commit, "environment": "dev", "promoted_from": "ci"}
    assert acme.dispatches() == [Dispatch("cd.yaml", inputs)]


def _cd(acme: Organisation, **more: str) -> Run:
    given = {"environment": "dev", "promoted_from": "ci", **more}
    return runs(acme, cd, CdInputs, commit=main_commit(acme), **given)


def _cd_done(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    assert acme.files("dev")["base-repo.yaml"] == documents.base_repo(acme.url(), commit)
    assert acme.statuses(commit) == {DEV: ("pending", "Promoted")}
    assert acme.dispatches() == [Dispatch("schedule.yaml", {"environment": "dev"})]


def _cd_proposes(acme: Organisation) -> Run:
    return _cd(acme, mode="pull-request")


def _cd_goes_back(acme: Organisation) -> Run:
    """Prepare a rollback by cd while GitHub's auto-merge waits with a newer commit."""
    older = acme.head("main") or ""
    promote(acme, main_commit(acme))
    number = propose(acme, auto_merge="always")
    with acme.sandbox.lock:
        somebody = acme.sandbox.store.tokens[acme.token]
        gitops = acme.sandbox.repository(GITOPS)
        gitops.rules = [BranchRule(pattern="dev", required_contexts=["tests"])]
        pull = gitops.issues[number].pull_request
        assert pull
        pull.auto_merge = AutoMerge(identity=somebody, method="merge")
    given = {"commit": older, "allow_rollback": "true", "former_identities": "somebody"}
    return runs(acme, cd, CdInputs, environment="dev", **given)


def _cd_went_back(acme: Organisation) -> None:
    (pull,) = acme.pulls()
    assert pull["auto_merge"] is None


def _rollback(acme: Organisation) -> Run:
    """Prepare a rollback while GitHub's auto-merge waits with the commit that dev leaves."""
    good = acme.head("main") or ""
    acme.status(good, DEV, "Deployed", "success")
    run = _cd_goes_back(acme)
    del run
    return runs(
        acme,
        rollback,
        RollbackInputs,
        environment="dev",
        former_identities="somebody",
        chain="true",
    )


def _rolled_back(acme: Organisation) -> None:
    _cd_went_back(acme)
    assert "by: 'somebody'" in acme.files("dev")[POLICY_FILE]
    assert acme.dispatches()[-1] == Dispatch("schedule.yaml", {"environment": "dev"})


def _rollback_verifies(acme: Organisation) -> Run:
    good = acme.head("main") or ""
    acme.status(good, DEV, "Deployed", "success")
    promote(acme, main_commit(acme))
    return runs(acme, rollback, RollbackInputs, environment="dev", verify_only="true")


def _cd_verifies(acme: Organisation) -> Run:
    """Prepare cd with `verify-only`, after ci recorded the start."""
    run = _cd(acme, verify_only="true")
    acme.status(acme.head("main") or "", "kalypso / cd dev", "Starting, attempt 1: ci")
    return run


def _nothing_done(acme: Organisation) -> None:
    assert acme.statuses(acme.head("main") or "") == {}
    assert acme.dispatches() == acme.pulls(CONTROL_PLANE) == []


def _cd_proposed(acme: Organisation) -> None:
    (pull,) = acme.pulls(CONTROL_PLANE)
    commit = acme.head("main") or ""
    assert pull["title"] == f"dev: promote {commit[:7]}"
    assert acme.statuses(commit) == {DEV: ("pending", f"Waiting for #{pull['number']}")}


def _notify(acme: Organisation) -> Run:
    """Prepare notify after a merge with the same commit of main, which is not deployed yet."""
    commit = main_commit(acme)
    merge(acme, commit)
    merge(acme, commit, config="2")
    acme.status(commit, DEV, "Failed to deploy", "failure")
    payload = pushed(acme)
    job = Job("push", payload["ref"], payload["after"], GITOPS, payload)
    return runs(acme, notify, NotifyInputs, job=job, control_plane=CONTROL_PLANE)


def _notified(acme: Organisation) -> None:
    inputs = {
        "environment": "dev",
        "promoted_commit_id": acme.head("main") or "",
        "commit_id": acme.head("dev", GITOPS) or "",
        "gitops_repository": GITOPS,
    }
    assert acme.dispatches() == [Dispatch("check-promote.yaml", inputs)]


def _check_promote(acme: Organisation, **more: str) -> Run:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    given = {"environment": "dev", "promoted_commit": commit, "gitops_commit": merged}
    return runs(acme, check_promote, CheckPromoteInputs, timeout="10m", **given, **more)


def _check_promote_verifies(acme: Organisation) -> Run:
    return _check_promote(acme, verify_only="true")


def _check_promoted(acme: Organisation) -> None:
    commit = acme.head("main") or ""
    waiting = {"stage environment": ("pending", "Waiting: cd")}
    assert acme.statuses(commit) == {DEV: ("success", "Deployed"), **waiting}
    inputs = {"promoted_commit_id": commit, "environment": "stage", "promoted_from": "dev"}
    assert acme.dispatches() == [Dispatch("cd.yaml", inputs)]


PROMOTION_SCENES: Final = (
    Scene(
        "ci",
        "a push to main",
        _ci,
        _ci_done,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: READ,
            SHOP: READ,
        },
    ),
    Scene(
        "cd",
        "a commit",
        _cd,
        _cd_done,
        {CONTROL_PLANE: PROMOTES},
    ),
    Scene(
        "cd",
        "a pull request",
        _cd_proposes,
        _cd_proposed,
        {CONTROL_PLANE: {"contents": "write", "statuses": "write", "pull-requests": "write"}},
    ),
    Scene(
        "cd",
        "a rollback",
        _cd_goes_back,
        _cd_went_back,
        {
            CONTROL_PLANE: PROMOTES,
            GITOPS: PROPOSES,
        },
    ),
    Scene(
        "cd",
        "verify-only",
        _cd_verifies,
        _nothing_done,
        {CONTROL_PLANE: RECORDS},
        verify_only=True,
    ),
    Scene(
        "rollback",
        "a chain",
        _rollback,
        _rolled_back,
        {
            CONTROL_PLANE: PROMOTES,
            GITOPS: PROPOSES,
        },
    ),
    Scene(
        "rollback",
        "verify-only",
        _rollback_verifies,
        _nothing_done,
        {CONTROL_PLANE: {"contents": "read", "statuses": "read"}},
        verify_only=True,
    ),
    Scene(
        "notify",
        "a merge",
        _notify,
        _notified,
        {CONTROL_PLANE: {**RECORDS, "actions": "write"}, GITOPS: READ},
    ),
    Scene(
        "check-promote",
        "a promotion",
        _check_promote,
        _check_promoted,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: READ,
        },
    ),
    Scene(
        "check-promote",
        "verify-only",
        _check_promote_verifies,
        _nothing_done,
        {CONTROL_PLANE: RECORDS, GITOPS: READ},
        verify_only=True,
    ),
)


BROKEN = {"cluster-types/large.yaml": documents.cluster_type("large", reconciler="nowhere")}


def _schedule(acme: Organisation) -> Run:
    """Prepare schedule, which proposes a promotion while one assignment fails."""
    acme.commit(BROKEN, "dev")
    return runs(acme, schedule, ScheduleInputs, environment="dev", on_failure="keep")


def _schedule_done(acme: Organisation) -> None:
    (pull,) = acme.pulls()
    assert labels(pull) == {"kalypso", "promoted"}
    (issue,) = acme.issues()
    assert labels(issue) == {"kalypso", "kalypso-failure"}


def _schedule_merges(acme: Organisation) -> Run:
    return runs(acme, schedule, ScheduleInputs, environment="dev", auto_merge="always")


def _schedule_merged(acme: Organisation) -> None:
    (pull,) = acme.pulls(state="closed")
    (started,) = acme.dispatches()
    assert started.workflow == "check-promote.yaml"
    assert started.inputs["commit_id"] == pull["merge_commit_sha"] == acme.head("dev", GITOPS)


def _schedule_holds(acme: Organisation) -> Run:
    policy = "kind: PromotionPolicy\nmetadata: {name: dev}\nspec: {holds: [{reason: x, by: ann}]}\n"
    acme.commit({POLICY_FILE: f"apiVersion: kalypso.io/v1alpha1\n{policy}"}, "dev")
    return runs(acme, schedule, ScheduleInputs, environment="dev", force="true")


def _schedule_held(acme: Organisation) -> None:
    (pull,) = acme.pulls()
    assert acme.statuses(pull["head"]["sha"], GITOPS)["kalypso / policy"][0] == "failure"


def _poll(acme: Organisation) -> Run:
    at_rest(acme)
    push_to_shop(acme)
    return _polls(acme)


def _poll_merges(acme: Organisation) -> Run:
    """Prepare poll, which starts schedule to merge our pull request."""
    propose(acme, auto_merge="always")
    at_rest(acme)
    return _polls(acme)


def _polls(acme: Organisation) -> Run:
    """Run poll with pauses, after which a start without a run counts as lost."""
    run = runs(acme, poll, PollInputs, environments="dev")

    def later(credential: Credential) -> CommandResult:
        acme.clock.sleep(LONG)
        return run(credential)

    return later


def _start_schedule(acme: Organisation) -> Run:
    configure(acme, REGION="north")
    return runs(acme, start_schedule, StartScheduleInputs, job=Job("push", "refs/heads/dev"))


def _scheduled(acme: Organisation) -> None:
    assert acme.dispatches() == [Dispatch("schedule.yaml", {"environment": "dev"})]


def _preview(acme: Organisation) -> Run:
    previews.propose(acme, previews.setting("two"))
    job = previews.job_of(previews.newest(acme))
    return runs(acme, preview, PreviewInputs, job=job)


def _previewed(acme: Organisation) -> None:
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert len(acme.comments(pull["number"], CONTROL_PLANE)) == 1
    assert acme.statuses(pull["head"]["sha"])[previews.CONTEXT][0] == "success"


def _preview_comment(acme: Organisation) -> Run:
    """Prepare preview-comment after a preview with a read-only token, as in a fork."""
    previews.propose(acme, previews.setting("two"))
    file = previews.pending_artifact(acme)
    job = previews.job_after(acme)
    return runs(acme, preview_comment, PreviewCommentInputs, job=job, file=str(file))


def _commented(acme: Organisation) -> None:
    (pull,) = acme.pulls(CONTROL_PLANE)
    assert len(acme.comments(pull["number"], CONTROL_PLANE)) == 1


def _observe(acme: Organisation) -> Run:
    workload = documents.workload("shop", acme.url(SHOP), ENVIRONMENTS)
    acme.commit({"workload/shop.yaml": workload}, "main", SHOP)
    merge(acme, main_commit(acme))
    acme.clock.sleep(600)  # its clusters apply it
    return runs(acme, observe, ObserveInputs)


def _observed(acme: Organisation) -> None:
    files = acme.files("kalypso-observability")
    assert "\tsuccess\tcurrent\t" in files["real/dev/drone.tsv"]


PROPOSAL_SCENES: Final = (
    Scene(
        "observe",
        "the first look",
        _observe,
        _observed,
        {
            CONTROL_PLANE: {"contents": "write", "statuses": "read"},
            GITOPS: {"contents": "read", "pull-requests": "read"},
            SHOP: READ,
        },
    ),
    Scene(
        "schedule",
        "a failing assignment",
        _schedule,
        _schedule_done,
        {
            CONTROL_PLANE: RECORDS,
            GITOPS: {"contents": "write", "pull-requests": "write", "issues": "write"},
            SHOP: READ,
        },
    ),
    Scene(
        "schedule",
        "auto-merge",
        _schedule_merges,
        _schedule_merged,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: {"contents": "write", "pull-requests": "write", "issues": "read"},
            SHOP: READ,
        },
    ),
    Scene(
        "schedule",
        "a hold",
        _schedule_holds,
        _schedule_held,
        {
            CONTROL_PLANE: RECORDS,
            GITOPS: {
                "contents": "write",
                "pull-requests": "write",
                "issues": "read",
                "statuses": "write",
            },
            SHOP: READ,
        },
    ),
    Scene(
        "poll",
        "an application has moved",
        _poll,
        _scheduled,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: {"contents": "read", "pull-requests": "read"},
            SHOP: READ,
        },
    ),
    Scene(
        "poll",
        "a pull request is ready for a merge",
        _poll_merges,
        _scheduled,
        {
            CONTROL_PLANE: {**RECORDS, "actions": "write"},
            GITOPS: {"contents": "read", "pull-requests": "read"},
            SHOP: READ,
        },
    ),
    Scene(
        "start-schedule",
        "a push to dev",
        _start_schedule,
        _scheduled,
        {CONTROL_PLANE: {**RECORDS, "actions": "write"}},
    ),
    Scene(
        "preview",
        "a pull request",
        _preview,
        _previewed,
        {
            CONTROL_PLANE: {**RECORDS, "pull-requests": "write"},
            GITOPS: READ,
            SHOP: READ,
        },
    ),
    Scene(
        "preview-comment",
        "a pull request",
        _preview_comment,
        _commented,
        {CONTROL_PLANE: {"pull-requests": "write"}},
    ),
)


SCENES: Final = (*PROMOTION_SCENES, *PROPOSAL_SCENES)
