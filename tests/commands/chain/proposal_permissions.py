"""Scenes in which schedule, its starters and preview use all permissions that they ever need."""

from __future__ import annotations

from typing import Final

from kalypso_actions.commands.poll.command import poll
from kalypso_actions.commands.preview import preview
from kalypso_actions.commands.preview_comment import preview_comment
from kalypso_actions.commands.schedule.command import schedule
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.start_schedule import start_schedule
from kalypso_actions.inputs.chain import (
    PollInputs,
    PreviewCommentInputs,
    PreviewInputs,
    ScheduleInputs,
    StartScheduleInputs,
)
from tests.commands.chain import documents, previews
from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    GITOPS,
    SHOP,
    Dispatch,
    Job,
    Organisation,
)
from tests.commands.chain.permission_scene import READ, RECORDS, Credential, Run, Scene, runs
from tests.commands.chain.polls import LONG, at_rest, propose, push_to_shop
from tests.commands.chain.proposals import configure, labels

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


PROPOSAL_SCENES: Final = (
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
