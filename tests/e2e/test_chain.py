"""The promotion chain as users have it: workflow templates, actions and all, run by act.

The play is that of `kalypso demo`, which runs the commands in its own process. Here jobs run, each
with the token, the variables and the identity that GitHub would give it.
"""

from __future__ import annotations

import pytest

from kalypso_actions.commands.demo.organisation import GITOPS
from tests.e2e.chain import Chain
from tests.e2e.conftest import Played
from tests.e2e.jobs import Done
from tests.e2e.state import State, masked

pytestmark = pytest.mark.e2e


def promotion(environment: str, verdict: str = "success") -> list[str]:
    """The jobs that bring a commit to an environment."""
    return [
        f"cd.yaml verify {environment}: success",
        f"cd.yaml cd {environment}: success",
        *rollout(environment, verdict),
    ]


def rollout(environment: str, verdict: str = "success") -> list[str]:
    """The jobs from a change in an environment until its clusters comply, or not."""
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
    "schedule.yaml start: success",
    *rollout("dev"),
    "ci.yaml ci: success",
    *promotion("dev", "failure"),
    "schedule.yaml start: success",
    *rollout("dev"),
    *promotion("stage"),
]


def line(done: Done) -> str:
    names = " ".join(filter(None, (done.run.file, done.name, done.environment)))
    return f"{names}: {done.ended.result}"


def test_each_event_starts_the_jobs_that_it_should(played: Played) -> None:
    assert [line(one) for one in played.done] == PLAY


def test_only_jobs_that_are_verified_enter_an_environment(played: Played) -> None:
    entered = {(one.run.file, one.name) for one in played.done if one.deploys_to}
    assert entered == {("cd.yaml", "cd"), ("check-promote.yaml", "check-promote")}
    assert all(one.deploys_to in ("", one.environment) for one in played.done)


def test_all_ends_as_the_demo_does(played: Played, of_demo: State) -> None:
    assert played.state == of_demo


def is_record(status: tuple[str, str, str]) -> bool:
    """Whether a status records a start, or what schedule has looked at."""
    return status[0].startswith("kalypso / ") and status[0] != "kalypso / ci"


def test_what_a_promoted_commit_is_told_of_its_environments(played: Played) -> None:
    told = [[one for one in each if not is_record(one)] for each in played.state.statuses]
    _, first, second = filter(None, told)
    begun = ("pending", "Promoted"), ("pending", "Deploying")
    error = "dev-drone-2: HealthCheckFailed: Deployment/hello-world ran out of memory"
    failed = ("failure", f"Failed to deploy: {error}")
    corrected = ("pending", "Deploying"), ("pending", "Deployed")
    ci = ("kalypso / ci", "success", "10 assignments in 2 environments")

    def of(environment: str, *told: tuple[str, str]) -> list[tuple[str, str, str]]:
        return [(f"{environment} environment", *one) for one in told]

    stage = of("stage", *begun, ("success", "Deployed"))
    assert first == [ci, *of("dev", *begun, ("pending", "Deployed")), *stage]
    assert second == [ci, *of("dev", *begun, failed, *corrected), *stage]


def test_what_is_proposed_says_what_it_is(played: Played) -> None:
    pulls = played.state.pull_requests[GITOPS]
    assert [(one.base, "promoted" in one.labels, one.merged) for one in pulls] == [
        ("dev", True, True),
        ("stage", True, True),
        ("dev", False, True),
        ("dev", True, True),
        ("dev", False, True),
        ("stage", True, True),
    ]
    for one in pulls:
        assert one.title == f"Update manifests in {one.base} from kalypso/{one.base}"
        mark = f"<!-- kalypso:v1 kind=pull-request environment={one.base} commit=ID -->\n"
        assert one.body.startswith(mark)
        assert "kalypso" in one.labels


OUTPUTS = {
    "ci": {"environments": '["dev"]', "problems": "0", "warnings": "0"},
    "cd": {
        "changed": "true",
        "environment-commit": "ID",
        "pull-request-number": "",
        "pull-request-url": "",
    },
    "schedule": {
        "changed": "true",
        "promoted": "true",
        "degraded": "false",
        "assignments": "6",
        "digest": "v1:ID",
        "pull-requests": '[{"repository":"acme/gitops","number":1,'
        '"url":"URL/acme/gitops/pull/1","action":"created"}]',
        "pull-request-number": "1",
        "pull-request-url": "URL/acme/gitops/pull/1",
    },
    "notify": {
        "promoted": "true",
        "promoted-commit": "ID",
        "run-url": "URL/acme/control-plane/actions/runs/N",
    },
    "check-promote": {
        "verdict": "compliant",
        "clusters": '{"compliant":8}',
        "promoted-to": '["stage"]',
    },
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_jobs_have_outputs(played: Played, chain: Chain, command: str) -> None:
    """Of the first promotion."""
    ended = next(
        one.ended for one in played.done[1:] if one.command == command and one.name != "verify"
    )
    found = {name: masked(value, chain.sandbox.url) for name, value in ended.outputs.items()}
    assert found == OUTPUTS[command]


def test_each_job_has_its_page(played: Played, chain: Chain) -> None:
    """Of the promotion that fails."""
    third = PLAY.index("schedule.yaml start: success") + 1 + len(rollout("dev"))
    pages = [one.ended.summary for one in played.done[third : third + 1 + len(promotion("dev"))]]
    assert [masked(page, chain.sandbox.url).partition("\n")[0] for page in pages] == [
        "## kalypso ci: 10 assignments in 2 environments",
        "## kalypso cd: ID may come to dev",
        "## kalypso cd: dev has ID now",
        "## kalypso schedule: dev\\: \\#\u200b4 was created",
        "## kalypso notify: started check-promote for `dev`",
        "## kalypso check-promote: the inputs for `dev` are right",
        "## kalypso check-promote: failed in `dev`",
    ]
    assert all(one.ended.summary.startswith(f"## kalypso {one.command}: ") for one in played.done)


def test_only_the_failure_is_annotated(played: Played) -> None:
    found = [(line(one), note) for one in played.done for note in one.ended.annotations]
    text = "dev-drone-2: HealthCheckFailed: Deployment/hello-world ran out of memory\n"
    (failure,) = found
    assert failure[0] == "check-promote.yaml check-promote dev: failure"
    assert failure[1].text.startswith(text)
    assert (failure[1].level, failure[1].properties) == (
        "error",
        {"title": "kalypso check-promote"},
    )
