"""The acts: a registration, a new configuration, a change that fails, and its correction.

Then a policy decides what enters: a hold, a join, and a way back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, cd_by_app, change
from kalypso_actions.commands.demo.scenario_runner import ScenarioRunner

REGISTRATION: Final = "Register hello-world"


def run_scenario(
    runner: ScenarioRunner, acts: Sequence[Callable[[ScenarioRunner], None]] | None = None
) -> None:
    """Run acts, by default all. Raises KalypsoError if a step differs from the expectation."""
    for act in ACTS if acts is None else acts:
        runner.act = (act.__doc__ or "").partition("\n")[0].rstrip(".")
        act(runner)
        runner.end_act()


def registration(runner: ScenarioRunner) -> None:
    """An application is registered."""
    files = change("registration", runner.sandbox)
    pull = runner.people.propose(CONTROL_PLANE, "register-hello-world", files, REGISTRATION)
    runner.person(
        f"propose #{pull.number} to main: {pull.title}",
        change="registrations/hello-world.yaml",
        links=[pull.url],
    )
    runner.job("ci", ends="checked")
    _, commit = runner.people.merge(CONTROL_PLANE, "main")
    runner.person(f"merge it to main: {commit[:7]}", links=[pull.url])
    runner.job("ci", ends="promoted")
    promotion(runner, "dev")
    promotion(runner, "stage")
    runner.statuses(commit, {"dev": ("success", "Deployed"), "stage": ("success", "Deployed")})


def configuration(runner: ScenarioRunner) -> None:
    """The configuration of one environment changes."""
    line = "config/environment.yaml: LOG_LEVEL: debug"
    push_to_dev(runner, "configuration", "Log more", line)


def failure(runner: ScenarioRunner) -> None:
    """A change of main overloads a cluster."""
    message = "A larger cache"
    line = "config/common.yaml: CACHE_MEGABYTES: 512"
    commit = runner.push("main", change("broken", runner.sandbox), message, line)
    runner.job("ci", ends="promoted")
    promotion(runner, "dev", ends="failed")
    runner.statuses(commit, {"dev": ("failure", "Failed to deploy")})


def correction(runner: ScenarioRunner) -> None:
    """A correction continues the promotion."""
    broken = runner.sandbox.git(CONTROL_PLANE).head("main") or ""
    line = "config/drones.yaml: CACHE_MEGABYTES: 96"
    push_to_dev(runner, "fix", "Smaller on drones", line)
    promotion(runner, "stage")
    runner.statuses(broken, {"dev": ("success", "Deployed"), "stage": ("success", "Deployed")})


def hold(runner: ScenarioRunner) -> None:
    """A hold keeps a commit out of an environment."""
    hold_line = "promotion.yaml: holds: the network is slow, by ada"
    runner.push("dev", change("hold", runner.sandbox), "Hold dev", hold_line)
    scheduled_again(runner, "dev")
    files = change("join", runner.sandbox) | cd_by_app()
    line = "dev goes on to perf and stage, perf to stage; cd uses the App"
    commit = runner.push("main", files, "Add the environment perf", line)
    runner.job("ci", ends="promoted")
    runner.job("cd", "dev", ends="waiting")
    runner.statuses(commit, {"dev": ("pending", "Waiting: hold by ada")})


def join(runner: ScenarioRunner) -> None:
    """An environment waits for two others."""
    commit = runner.sandbox.git(CONTROL_PLANE).head("main") or ""
    policy = change("join-policy", runner.sandbox)
    runner.push("stage", policy, "Join", "promotion.yaml: requires: deployed: [dev, perf]")
    scheduled_again(runner, "stage")
    runner.push(
        "dev", change("release", runner.sandbox), "Release dev", "promotion.yaml: holds: []"
    )
    scheduled_again(runner, "dev")
    runner.start("poll")
    runner.job("poll", ends="started")
    runner.job("cd", "dev", ends="written")
    runner.job("schedule", "perf", ends="created")  # poll found the new environment
    merged_by_app(runner, "dev")
    runner.job("cd", "perf", ends="written")
    runner.job("cd", "stage", ends="waiting")
    merged_by_app(runner, "perf", ends="updated")
    runner.job("cd", "stage", ends="written")
    merged_by_app(runner, "stage")
    deployed = ("success", "Deployed")
    runner.statuses(commit, dict.fromkeys(("dev", "perf", "stage"), deployed))


def going_back(runner: ScenarioRunner) -> None:
    """An environment goes back to its last good commit."""
    runner.start("rollback", environment="stage", reason="the pages are slow")
    runner.job("rollback", "stage", ends="write")
    runner.job("schedule", "stage", ends="created, promoted")
    runner.merge_proposal("stage")
    runner.job("notify", ends="started")
    runner.job("check-promote", "stage", ends="compliant")
    (good,) = runner.sandbox.git(CONTROL_PLANE).commit("main").parents
    deployed = ("success", "Deployed")
    runner.statuses(good, {"dev": deployed, "stage": deployed})


def merged_by_app(runner: ScenarioRunner, environment: str, *, ends: str = "created") -> None:
    """Propose and merge what cd wrote with the App, whose push starts a second run of schedule."""
    runner.job("start-schedule", environment, ends="started")
    runner.job("schedule", environment, ends=f"{ends}, promoted")
    runner.job("schedule", environment, ends="unchanged, promoted")
    runner.merge_proposal(environment)
    runner.job("notify", ends="started")
    runner.job("check-promote", environment, ends="compliant")


def scheduled_again(runner: ScenarioRunner, environment: str) -> None:
    """Run what a push to an environment's branch starts; nothing but the policy has changed."""
    runner.job("start-schedule", environment, ends="started")
    runner.job("schedule", environment, ends="unchanged")


def push_to_dev(runner: ScenarioRunner, name: str, message: str, line: str) -> None:
    """Push the named change to dev, and let the clusters apply it; `line` is the changed line."""
    runner.push("dev", change(name, runner.sandbox), message, line)
    runner.job("start-schedule", "dev", ends="started")
    runner.job("schedule", "dev", ends="created")
    runner.merge_proposal("dev")
    runner.job("notify", ends="started")
    runner.job("check-promote", "dev", ends="compliant")


def promotion(runner: ScenarioRunner, environment: str, *, ends: str = "compliant") -> None:
    """Promote a commit of main to an environment; `ends` is the expected verdict."""
    runner.job("cd", environment, ends="written")
    runner.job("schedule", environment, ends="created, promoted")
    runner.merge_proposal(environment)
    runner.job("notify", ends="started")
    runner.job("check-promote", environment, ends=ends)


ACTS: Final[tuple[Callable[[ScenarioRunner], None], ...]] = (
    registration,
    configuration,
    failure,
    correction,
    hold,
    join,
    going_back,
)
"""The acts; the first line of a docstring is the title."""
