"""The workflows that an event starts, and their jobs, with the features that Kalypso's own need.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from kalypso_actions.errors import KalypsoError, Location
from kalypso_sandbox.git.repositories import BRANCHES, NO_OBJECT, BareRepository
from kalypso_sandbox.github.workflow_files import DISPATCH, Workflow, workflows_of
from kalypso_sandbox.store import Event

ACTION: Final = re.compile(r"[\w.-]+/[\w.-]+(/actions/(?P<name>[a-z-]+))?@[\w./-]+")
"""One of Kalypso's actions. In the root action, without a name, `run` is the command."""

ARTIFACTS: Final = re.compile(r"actions/(?P<name>(?:up|down)load-artifact)@[0-9a-f]{40}")
"""GitHub's actions that keep the files of a run for later jobs, and fetch them."""

ARTIFACT_ACTIONS: Final = ("upload-artifact", "download-artifact")

SCHEDULE: Final = "schedule"
"""The event of a cron expression."""

ALWAYS: Final = "${{ !cancelled() }}"
"""The condition of a step or job that runs even after a failure."""

FILTERS: Final = frozenset(
    {
        *("branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore"),
        *("types", "workflows"),
    }
)
PULL_REQUEST_TYPES: Final = ("opened", "synchronize", "reopened")
"""The default types of a trigger `pull_request`."""

RUN_TYPES: Final = ("requested", "in_progress", "completed")
"""The default types of a trigger `workflow_run`."""

FILE: Final = frozenset({"name", "run-name", "on", "permissions", "concurrency", "jobs"})
STEP: Final = frozenset({"name", "id", "uses", "with", "if", "continue-on-error"})
JOB: Final = frozenset({"name", "runs-on", "permissions", "environment", "needs", "steps"}) | {
    "concurrency",
    "timeout-minutes",
    "if",
    "outputs",
}
"""The supported keys. Refuse other keys, because they would have no effect.

Time limits also have no effect, nor do concurrency groups of jobs, because the jobs of a run follow
each other."""

TAGS: Final = "refs/tags/"

PLACE: Final = re.compile(r"\$\{\{(.*?)\}\}")
VALUE: Final = re.compile(r"(?P<path>[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*)|'(?P<text>[^']*)'")


@dataclass(frozen=True, slots=True)
class Step:
    """An action by its command, with its inputs, which may contain expressions.

    The action is one of Kalypso's, or of `ARTIFACTS`. `is_always`: the step runs even after a
    failure. `may_fail`: its failure does not fail the job. `name` is its `id`, `title` its name for
    people.
    """

    inputs: Mapping[str, str]
    action: str
    is_always: bool = False
    may_fail: bool = False
    name: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its steps, its token's permissions (None means the default), its environment.

    The jobs in `needs` must succeed first. The environment's name may be an expression. `condition`
    is an expression ("": the job always runs). `outputs` are expressions of its steps' outputs.
    `title` is its name for people, which may contain expressions.
    """

    name: str
    steps: Sequence[Step]
    permissions: Mapping[str, str] | None
    environment: str
    needs: Sequence[str] = ()
    condition: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """The group of a workflow: its runs follow each other. Both fields are expressions.

    A new run cancels the one that waits, and with `cancel_in_progress` also the one that runs.
    https://docs.github.com/en/actions/concepts/workflows-and-actions/concurrency
    """

    group: str = ""
    cancel_in_progress: str = ""

    @classmethod
    def of(cls, workflow: Workflow) -> Concurrency:
        """Return the concurrency of a workflow; its group is "" without one."""
        described = workflow.described.get("concurrency", "")
        if isinstance(described, dict):
            return cls(
                str(described.get("group", "")), str(described.get("cancel-in-progress", ""))
            )
        return cls(str(described))


def started_by(event: Event, git: BareRepository) -> list[Workflow]:
    """Return the workflows that an event starts, sorted by file.

    Raises KalypsoError for a file with unsupported keys, also if the event does not start it.
    """
    workflows = candidates(event, git)
    for workflow in workflows:
        jobs_of(workflow)
    return [workflow for workflow in workflows if is_started(workflow, event, git)]


def candidates(event: Event, git: BareRepository) -> Sequence[Workflow]:
    """Return the workflows among which an event starts some, sorted by file."""
    if not event.starts_workflows or event.held:
        return []
    workflows = workflows_of(git, event.commit)
    if event.name == DISPATCH:
        named = event.payload["workflow"]
        workflows = [workflow for workflow in workflows if workflow.path == named]
    return workflows


def is_started(workflow: Workflow, event: Event, git: BareRepository) -> bool:
    """Return whether an event starts a workflow. Raises KalypsoError for an unsupported filter."""
    if event.name == SCHEDULE:
        return event.payload["schedule"] in crons_of(workflow)
    return _fits(event, workflow.triggers.get(event.name), git)


def crons_of(workflow: Workflow) -> Sequence[str]:
    """Return the cron expressions that start a workflow."""
    listed = (workflow.described.get("on") or {}) if workflow.triggers else {}
    entries = listed.get(SCHEDULE) if isinstance(listed, dict) else None
    crons = [entry.get("cron") for entry in entries or () if isinstance(entry, dict)]
    return [cron for cron in crons if isinstance(cron, str)]


def waits_for(git: BareRepository, branch: str, name: str) -> bool:
    """Return whether a workflow of a branch starts after runs of the workflow `name`."""
    filters = (workflow.triggers.get("workflow_run", {}) for workflow in workflows_of(git, branch))
    return any(name in item.get("workflows", ()) for item in filters)


def jobs_of(workflow: Workflow) -> Sequence[Job]:
    """Return the jobs of a workflow, each after the jobs that it needs.

    Raises KalypsoError for unsupported keys.
    """
    path, described = workflow.path, workflow.described
    if not isinstance(described.get("jobs"), dict):
        raise KalypsoError("the file is not a workflow with jobs", Location(path))
    _refuse_others(described, FILE, path, "the file")
    permissions = described.get("permissions")
    jobs = {name: _job(path, name, job, permissions) for name, job in described["jobs"].items()}
    try:
        order = TopologicalSorter({name: job.needs for name, job in jobs.items()}).static_order()
        return [jobs[name] for name in order]
    except (CycleError, KeyError) as error:
        message = "the jobs need each other in a circle, or one that is missing"
        raise KalypsoError(message, Location(path)) from error


def _job(path: str, name: str, described: Any, permissions: Any) -> Job:
    if not isinstance(described, dict):
        raise KalypsoError(f"the job {name} is not a mapping", Location(path))
    _refuse_others(described, JOB, path, f"the job {name}")
    environment = described.get("environment", "")
    needs = described.get("needs", [])
    return Job(
        name,
        [_step(path, name, step) for step in _steps_of(path, name, described)],
        _permissions(described.get("permissions", permissions), path),
        environment["name"] if isinstance(environment, dict) else environment,
        [needs] if isinstance(needs, str) else needs,
        described.get("if", ""),
        described.get("outputs", {}),
        str(described.get("name") or name),
    )


def _steps_of(path: str, job: str, described: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    steps = described.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise KalypsoError(f"the job {job} has no list of steps", Location(path))
    return steps


def _permissions(described: Any, path: str) -> Mapping[str, str] | None:
    """Return the permissions by their names in the sandbox; `{}` means none."""
    if described is None:
        return None
    if not isinstance(described, dict):
        raise KalypsoError("list the permissions one by one", Location(path))
    levels = {name.replace("-", "_"): level for name, level in described.items()}
    return {name: level for name, level in levels.items() if level != "none"}


def _step(path: str, job: str, described: Mapping[str, Any]) -> Step:
    _refuse_others(described, STEP, path, f"a step of the job {job}")
    uses = described.get("uses", "")
    action = ARTIFACTS.fullmatch(uses) or ACTION.fullmatch(uses)
    words = dict(described.get("with") or {})
    command = (action["name"] or words.pop("run", "")) if action else ""
    if not command:
        message = f"the step {uses!r} is not one of Kalypso's actions"
        raise KalypsoError(message, Location(path))
    condition = described.get("if", "")
    if condition not in {"", ALWAYS}:
        message = f"a step of the job {job}: if: {condition} is not supported here"
        raise KalypsoError(message, Location(path))
    may_fail = described.get("continue-on-error") == "true"
    return Step(
        words,
        command,
        condition == ALWAYS,
        may_fail,
        described.get("id", ""),
        str(described.get("name") or command),
    )


def _refuse_others(
    described: Mapping[str, Any], known: Collection[str], path: str, place: str
) -> None:
    others = sorted(described.keys() - known)
    if others:
        raise KalypsoError(f"{place}: {', '.join(others)} is not supported here", Location(path))


def _fits(event: Event, filters: Mapping[str, Any] | None, git: BareRepository) -> bool:
    """Return whether the event passes the filters of a trigger; None means no such trigger."""
    if filters is None:
        return False
    if event.name == DISPATCH:
        return True
    others = filters.keys() - FILTERS
    if others:
        raise KalypsoError(f"the filter {', '.join(sorted(others))} is not supported here")
    match event.name:
        case "push":
            return _fits_ref(event.ref, filters) and _fits_paths(_changed(event, git), filters)
        case "pull_request":
            types = filters.get("types", PULL_REQUEST_TYPES)
            base = event.payload["pull_request"]["base"]["ref"]
            return event.payload["action"] in types and _fits_branch(base, filters)
    return _fits_other(event, filters)


def _fits_other(event: Event, filters: Mapping[str, Any]) -> bool:
    match event.name:
        case "merge_group":
            base = event.payload["merge_group"]["base_ref"].removeprefix(BRANCHES)
            return _fits_branch(base, filters)
        case "workflow_run":
            is_wanted = event.payload["workflow_run"]["name"] in filters.get("workflows", ())
            return is_wanted and event.payload["action"] in filters.get("types", RUN_TYPES)
        case "repository_dispatch":
            return "types" not in filters or event.payload["action"] in filters["types"]
    return False


def _fits_ref(ref: str, filters: Mapping[str, Any]) -> bool:
    """Check a pushed ref; filters of only the other kind of refs let none of this kind through.

    https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
    """
    of_branches = any(name in filters for name in ("branches", "branches-ignore"))
    of_tags = any(name in filters for name in ("tags", "tags-ignore"))
    if ref.startswith(TAGS):
        tag = ref.removeprefix(TAGS)
        return _fits_name(tag, filters, "tags") if of_tags else not of_branches
    return _fits_branch(ref.removeprefix(BRANCHES), filters) if of_branches else not of_tags


def _fits_branch(branch: str, filters: Mapping[str, Any]) -> bool:
    return _fits_name(branch, filters, "branches")


def _fits_name(name: str, filters: Mapping[str, Any], kind: str) -> bool:
    if kind in filters:
        return _matches(name, filters[kind])
    ignored = f"{kind}-ignore"
    return ignored not in filters or not _matches(name, filters[ignored])


def _fits_paths(changed: Collection[str], filters: Mapping[str, Any]) -> bool:
    if "paths" in filters:
        return any(_matches(path, filters["paths"]) for path in changed)
    if "paths-ignore" in filters:
        return any(not _matches(path, filters["paths-ignore"]) for path in changed)
    return True


def _changed(event: Event, git: BareRepository) -> Collection[str]:
    """Return the paths that a push changed; for a new branch, all of its paths."""
    before = event.payload["before"]
    if before == NO_OBJECT:
        return git.files(event.commit)
    return git.changed_paths(before, event.commit)


def _matches(name: str, patterns: str | Sequence[str]) -> bool:
    """Match patterns: `*` matches all but `/`, `**` everything; `!` excludes."""
    matches = False
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        expression = re.escape(pattern.removeprefix("!"))
        expression = expression.replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
        if re.fullmatch(expression, name):
            matches = not pattern.startswith("!")
    return matches


Contexts = Mapping[str, Any]
"""The contexts of expressions: `github`, `inputs`, `vars`, `secrets`, `needs`, `steps`."""


def filled(text: str, contexts: Contexts) -> str:
    """Replace the expressions in `text` with their values; an absent value is "".

    An expression is a property of a context (`inputs.environment`), a string in quotes, a
    comparison of two of these (`==`, `!=`), or several of these with an operator between them.
    `||` gives the first value that is not empty; `&&` gives the last value, unless an earlier one
    is empty. Raises KalypsoError for an unsupported expression.

    https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
    """
    return PLACE.sub(lambda match: _value(match[1], contexts), text)


def _value(expression: str, contexts: Contexts) -> str:
    for alternative in expression.split("||"):
        values = [_operand(operand, expression, contexts) for operand in alternative.split("&&")]
        if all(values):
            return values[-1]
    return ""


def _operand(operand: str, expression: str, contexts: Contexts) -> str:
    """Return a value; for a comparison, `true`, or "", which counts as false on GitHub, too."""
    for operator in ("==", "!="):
        left, separator, right = operand.partition(f" {operator} ")
        if separator:
            values = [_operand(side, expression, contexts) for side in (left, right)]
            is_equal = values[0].lower() == values[1].lower()
            return "true" if is_equal == (operator == "==") else ""
    match = VALUE.fullmatch(operand.strip())
    if match is None or (match["path"] and match["path"].partition(".")[0] not in contexts):
        raise KalypsoError(
            f"the expression {expression.strip()!r} is not supported here",
            advice=f"begin with one of {', '.join(contexts)}",
        )
    return _as_text(_property(match["path"], contexts)) if match["path"] else match["text"]


def _property(path: str, contexts: Contexts) -> Any:
    value: Any = contexts
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _as_text(value: Any) -> str:
    """Convert a value as GitHub does."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
