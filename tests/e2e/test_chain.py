"""The promotion chain as users have it, with workflow templates and actions, run by act.

The story is that of `kalypso demo`, which runs the commands in its own process. Here jobs run, each
with the token, the variables and the identity that GitHub would give it.
"""

from __future__ import annotations

import pytest

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, GITOPS
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played
from tests.e2e.jobs import FinishedJob
from tests.e2e.state import State, masked

pytestmark = pytest.mark.e2e


def promotion(environment: str, verdict: str = "success") -> list[str]:
    """Return the jobs that bring a commit to an environment."""
    return [
        f"cd.yaml verify {environment}: success",
        f"cd.yaml cd {environment}: success",
        *rollout(environment, verdict),
    ]


def rollout(environment: str, verdict: str = "success") -> list[str]:
    """Return the jobs from a change in an environment to the verdict on its clusters."""
    return [
        f"schedule.yaml schedule {environment}: success",
        "check-promote.yaml notify: success",
        f"check-promote.yaml verify {environment}: success",
        f"check-promote.yaml check-promote {environment}: {verdict}",
    ]


PLAY = [
    "ci.yaml ci: success",
    "ci.yaml ci: success",
    *promotion("dev"),
    *promotion("stage"),
    "start-schedule.yaml start: success",
    *rollout("dev"),
    "ci.yaml ci: success",
    *promotion("dev", "failure"),
    "start-schedule.yaml start: success",
    *rollout("dev"),
    *promotion("stage"),
]


def line(job: FinishedJob) -> str:
    names = " ".join(filter(None, (job.run.file, job.name, job.environment)))
    return f"{names}: {job.outcome.result}"


def test_each_event_starts_the_jobs_that_it_should(played: Played) -> None:
    assert [line(job) for job in played.finished] == PLAY


def test_only_jobs_that_are_verified_enter_an_environment(played: Played) -> None:
    entered = {(job.run.file, job.name) for job in played.finished if job.deploys_to}
    assert entered == {("cd.yaml", "cd"), ("check-promote.yaml", "check-promote")}
    assert all(job.deploys_to in ("", job.environment) for job in played.finished)


def test_all_ends_as_the_demo_does(played: Played, of_demo: State) -> None:
    assert played.state == of_demo


def is_record(status: tuple[str, str, str]) -> bool:
    """Tell whether a status records a start, or the inputs of schedule."""
    return status[0].startswith("kalypso / ") and status[0] != "kalypso / ci"


def test_the_statuses_of_promoted_commits(played: Played) -> None:
    posted = [
        [status for status in statuses if not is_record(status)]
        for statuses in played.state.statuses
    ]
    _, first, second = filter(None, posted)
    waiting = ("pending", "Waiting: cd")
    begun = ("pending", "Promoted"), ("pending", "Deploying")
    error = "dev-drone-2: HealthCheckFailed: Deployment/hello-world ran out of memory"
    failed = ("failure", f"Failed to deploy: {error}")
    deployed = ("success", "Deployed")
    ci = ("kalypso / ci", "success", "10 assignments in 2 environments")

    def of(environment: str, *statuses: tuple[str, str]) -> list[tuple[str, str, str]]:
        return [(f"{environment} environment", *status) for status in statuses]

    # `Waiting: cd` for stage stands before the commit is deployed in dev.
    end = [*of("stage", waiting), *of("dev", deployed), *of("stage", *begun, deployed)]
    assert first == [ci, *of("dev", waiting, *begun), *end]
    assert second == [ci, *of("dev", waiting, *begun, failed, begun[1]), *end]


def test_pull_requests_describe_their_environment(played: Played) -> None:
    pulls = played.state.pull_requests[GITOPS]
    assert [(pull.title, "promoted" in pull.labels, pull.merged) for pull in pulls] == [
        ('dev: promote ID "Register hello-world"', True, True),
        ('stage: promote ID "Register hello-world"', True, True),
        ("dev: configuration (6 files)", False, True),
        ('dev: promote ID "A larger cache"', True, True),
        ("dev: correct ID", False, True),
        ('stage: promote ID "A larger cache"', True, True),
    ]
    for pull in pulls:
        mark = f"<!-- kalypso:v1 kind=pull-request environment={pull.base} commit=ID "
        assert pull.body.startswith(f"{mark}control-plane={CONTROL_PLANE} means=")
        assert "kalypso" in pull.labels


OUTPUTS = {
    "ci": {"environments": '["dev"]', "problems": "0", "warnings": "0"},
    "cd": {
        "changed": "true",
        "environment-commit": "ID",
        "pull-request-number": "",
        "pull-request-url": "",
        "waiting-for": "",
    },
    "schedule": {
        "changed": "true",
        "promoted": "true",
        "degraded": "false",
        "assignments": "6",
        "digest": "v1:ID",
        "pull-requests": '[{"repository":"acme/gitops","number":1,'
        '"title":"dev: promote ID \\"Register hello-world\\"",'
        '"url":"URL/acme/gitops/pull/1","action":"created","autoMerge":false}]',
        "pull-request-number": "1",
        "pull-request-url": "URL/acme/gitops/pull/1",
        "requeue-time": "",
    },
    "notify": {
        "promoted": "",
        "promoted-commit": "",
        "run-url": "URL/acme/control-plane/actions/runs/N",
    },
    "check-promote": {
        "verdict": "compliant",
        "clusters": '{"compliant":8}',
        "promoted-to": '["stage"]',
        "events": "[]",
        "more-events": "{}",
    },
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_jobs_have_outputs(played: Played, chain: Chain, command: str) -> None:
    """Check the jobs of the first promotion."""
    outcome = next(
        job.outcome
        for job in played.finished[1:]
        if job.command == command and job.name != "verify"
    )
    outputs = {name: masked(value, chain.sandbox.url) for name, value in outcome.outputs.items()}
    assert outputs == OUTPUTS[command]


def test_each_job_has_its_page(played: Played, chain: Chain) -> None:
    """Check the jobs of the failing promotion."""
    third = PLAY.index("start-schedule.yaml start: success") + 1 + len(rollout("dev"))
    pages = [
        job.outcome.summary for job in played.finished[third : third + 1 + len(promotion("dev"))]
    ]
    assert [masked(page, chain.sandbox.url).partition("\n")[0] for page in pages] == [
        "## kalypso ci: 10 assignments in 2 environments",
        "## kalypso cd: ID may come to dev",
        "## kalypso cd: dev has ID now",
        "## kalypso schedule: dev\\: \\#\u200b4 was created",
        "## kalypso notify: started check-promote for `dev`",
        "## kalypso check-promote: the inputs for `dev` are right",
        "## kalypso check-promote: failed in `dev`",
    ]
    assert all(
        job.outcome.summary.startswith(f"## kalypso {job.command}: ") for job in played.finished
    )


def test_only_the_failure_is_annotated(played: Played) -> None:
    annotations = [(line(job), note) for job in played.finished for note in job.outcome.annotations]
    text = "dev-drone-2: HealthCheckFailed: Deployment/hello-world ran out of memory\n"
    (failure,) = annotations
    assert failure[0] == "check-promote.yaml check-promote dev: failure"
    assert failure[1].text.startswith(text)
    assert (failure[1].level, failure[1].properties) == (
        "error",
        {"title": "kalypso check-promote"},
    )
