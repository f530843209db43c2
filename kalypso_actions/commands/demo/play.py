"""The play: a registration, a change of configuration, a change that fails, and its correction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, change
from kalypso_actions.commands.demo.stage import Stage

REGISTRATION: Final = "Register hello-world"


def play(stage: Stage) -> None:
    """All acts, one after the other. Raises KalypsoError where one goes another way."""
    for act in ACTS:
        stage.act = (act.__doc__ or "").partition("\n")[0].rstrip(".")
        act(stage)
        stage.end_act()


def registration(stage: Stage) -> None:
    """An application is registered."""
    files = change("registration", stage.sandbox)
    pull = stage.people.propose(CONTROL_PLANE, "register-hello-world", files, REGISTRATION)
    stage.person(
        f"propose #{pull.number} to main: {pull.title}",
        change="registrations/hello-world.yaml",
        links=[pull.url],
    )
    stage.job("ci", ends="checked")
    _, commit = stage.people.merge(CONTROL_PLANE, "main")
    stage.person(f"merge it to main: {commit[:7]}", links=[pull.url])
    stage.job("ci", ends="promoted")
    promotion(stage, "dev")
    promotion(stage, "stage")
    stage.statuses(commit, {"dev": ("pending", "Deployed"), "stage": ("success", "Deployed")})


def configuration(stage: Stage) -> None:
    """The configuration of one environment changes."""
    message = "Log more"
    files = change("configuration", stage.sandbox)
    commit = stage.people.push(CONTROL_PLANE, "dev", files, message)
    stage.person(
        f"push to dev: {message} ({commit[:7]})",
        environment="dev",
        change="config/environment.yaml: LOG_LEVEL: debug",
    )
    stage.job("start-schedule", "dev", ends="started")
    stage.job("schedule", "dev", ends="created")
    stage.merges("dev")
    stage.job("notify", ends="configuration")
    stage.job("check-promote", "dev", ends="compliant")


def failure(stage: Stage) -> None:
    """A change of main is too much for a cluster."""
    message = "A larger cache"
    commit = stage.people.push(CONTROL_PLANE, "main", change("broken", stage.sandbox), message)
    stage.person(
        f"push to main: {message} ({commit[:7]})",
        change="config/common.yaml: CACHE_MEGABYTES: 512",
    )
    stage.job("ci", ends="promoted")
    promotion(stage, "dev", ends="failed")
    stage.statuses(commit, {"dev": ("failure", "Failed to deploy")})


def correction(stage: Stage) -> None:
    """It is corrected, and goes on by itself."""
    broken = stage.sandbox.git(CONTROL_PLANE).head("main") or ""
    message = "Smaller on drones"
    commit = stage.people.push(CONTROL_PLANE, "dev", change("fix", stage.sandbox), message)
    stage.person(
        f"push to dev: {message} ({commit[:7]})",
        environment="dev",
        change="config/drones.yaml: CACHE_MEGABYTES: 96",
    )
    stage.job("start-schedule", "dev", ends="started")
    stage.job("schedule", "dev", ends="created")
    stage.merges("dev")
    stage.job("notify", ends="promotion")
    stage.job("check-promote", "dev", ends="compliant")
    promotion(stage, "stage")
    stage.statuses(broken, {"dev": ("pending", "Deployed"), "stage": ("success", "Deployed")})


def promotion(stage: Stage, environment: str, *, ends: str = "compliant") -> None:
    """A commit of main goes to an environment; `ends` is the verdict of its clusters."""
    stage.job("cd", environment, ends="written")
    stage.job("schedule", environment, ends="created, promoted")
    stage.merges(environment)
    stage.job("notify", ends="promotion")
    stage.job("check-promote", environment, ends=ends)


ACTS: Final[tuple[Callable[[Stage], None], ...]] = (
    registration,
    configuration,
    failure,
    correction,
)
"""Their first lines are the titles."""
