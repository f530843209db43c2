"""The acts: a registration, a new configuration, a change that fails, and its correction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, change
from kalypso_actions.commands.demo.scenario_runner import ScenarioRunner

REGISTRATION: Final = "Register hello-world"


def run_scenario(runner: ScenarioRunner) -> None:
    """Run all acts. Raises KalypsoError if a step differs from the expectation."""
    for act in ACTS:
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
    commit = runner.people.push(CONTROL_PLANE, "main", change("broken", runner.sandbox), message)
    runner.person(
        f"push to main: {message} ({commit[:7]})",
        change="config/common.yaml: CACHE_MEGABYTES: 512",
    )
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


def push_to_dev(runner: ScenarioRunner, name: str, message: str, line: str) -> None:
    """Push the named change to dev, and let the clusters apply it; `line` is the changed line."""
    commit = runner.people.push(CONTROL_PLANE, "dev", change(name, runner.sandbox), message)
    runner.person(f"push to dev: {message} ({commit[:7]})", environment="dev", change=line)
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
)
"""The acts; the first line of a docstring is the title."""
