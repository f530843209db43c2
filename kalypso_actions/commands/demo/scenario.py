"""The acts: a registration, a new configuration, a change that fails, and its correction.

Then a policy decides what enters: a hold, a join, and a way back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kalypso_actions.commands.demo.organisation import (
    CONTROL_PLANE,
    MONITORING,
    cd_by_app,
    change,
)
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
    runner.job("start-schedule", "dev", ends="started")
    runner.job("schedule", "dev", ends="unchanged")
    files = change("join", runner.sandbox) | cd_by_app()
    line = "dev goes on to stage and perf; cd uses the App"
    commit = runner.push("main", files, "Add the environment perf", line)
    runner.job("ci", ends="promoted")
    runner.job("cd", "dev", ends="waiting")
    runner.statuses(commit, {"dev": ("pending", "Waiting: hold by ada")})


def join(runner: ScenarioRunner) -> None:
    """An environment waits for two others."""
    git = runner.sandbox.git(CONTROL_PLANE)
    held = git.head("main") or ""
    files, line = change("monitor-perf", runner.sandbox), "workload.yaml: an agent in perf"
    runner.push("main", files, "Monitor perf", line, MONITORING)
    (commit,) = git.commit(held).parents
    for promoted, ends in ((held, "waiting"), (commit, "written")):
        runner.start("cd", environment="perf", promoted_commit_id=promoted)
        runner.job("cd", "perf", ends=ends)
    # cd pushes with the App, and the push starts a second run of schedule.
    runner.job("start-schedule", "perf", ends="started")
    runner.job("schedule", "perf", ends="created, promoted")
    runner.job("schedule", "perf", ends="unchanged, promoted")
    merged(runner, "perf")
    deployed = ("success", "Deployed")
    runner.statuses(commit, dict.fromkeys(("dev", "perf", "stage"), deployed))


def going_back(runner: ScenarioRunner) -> None:
    """An environment goes back to its last good commit."""
    runner.start("rollback", environment="stage", reason="the pages are slow")
    runner.job("rollback", "stage", ends="write")
    runner.job("schedule", "stage", ends="created, promoted")
    merged(runner, "stage")
    git = runner.sandbox.git(CONTROL_PLANE)
    good = git.history("main", 3)[2]
    deployed = ("success", "Deployed")
    runner.statuses(good, {"dev": deployed, "stage": deployed})


def merged(runner: ScenarioRunner, environment: str, *, ends: str = "compliant") -> None:
    """Merge the proposal, and let the clusters apply it; `ends` is the expected verdict."""
    runner.merge_proposal(environment)
    runner.job("notify", ends="started")
    runner.job("check-promote", environment, ends=ends)


def push_to_dev(runner: ScenarioRunner, name: str, message: str, line: str) -> None:
    """Push the named change to dev, and let the clusters apply it; `line` is the changed line."""
    runner.push("dev", change(name, runner.sandbox), message, line)
    runner.job("start-schedule", "dev", ends="started")
    runner.job("schedule", "dev", ends="created")
    merged(runner, "dev")


def promotion(runner: ScenarioRunner, environment: str, *, ends: str = "compliant") -> None:
    """Promote a commit of main to an environment; `ends` is the expected verdict."""
    runner.job("cd", environment, ends="written")
    runner.job("schedule", environment, ends="created, promoted")
    merged(runner, environment, ends=ends)


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
