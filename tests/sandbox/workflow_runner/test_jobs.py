"""The workflows that an event starts, and the parsing of their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.git.objects import Person
from kalypso_sandbox.git.repositories import NO_OBJECT, BareRepository
from kalypso_sandbox.github.workflow_files import parse
from kalypso_sandbox.store import Event
from kalypso_sandbox.workflow_runner.jobs import Step, filled, jobs_of, started_by
from tests.commands.chain.organisation import NOON
from tests.git_repositories import programs

JOBS = "jobs: {one: {runs-on: ubuntu-latest, steps: []}}\n"
TEMPLATES = Path(__file__).resolve().parents[3] / "workflows-templates"
FILE = ".github/workflows/one.yaml"


@pytest.fixture
def git(tmp_path: Path) -> BareRepository:
    made = BareRepository(tmp_path / "one.git", programs())
    made.create("main")
    return made


def commit(git: BareRepository, **files: str) -> str:
    changes = {path.replace("__", "/"): text for path, text in files.items()}
    return git.commit_files("main", changes, "Change", Person("n", "n@example.com", NOON))


def event(name: str, commit: str, payload: Mapping[str, Any], **more: Any) -> Event:
    fields = {"ref": "refs/heads/main", "actor": "somebody", "repository": "acme/one", **more}
    return Event(id=1, name=name, commit=commit, payload=dict(payload), created_at=NOON, **fields)


def starts(git: BareRepository, on: str, event: Event) -> bool:
    changes = {FILE: f"on: {on}\n{JOBS}"}
    head = git.commit_files("main", changes, "on", Person("n", "n@example.com", NOON))
    started = started_by(event.model_copy(update={"commit": head}), git)
    return [file.path for file in started] == [FILE]


@pytest.mark.parametrize(
    ("on", "branch", "expected"),
    [
        ("push", "main", True),
        ("[pull_request, push]", "main", True),
        ("pull_request", "main", False),
        ("{push: }", "main", True),
        ("{push: {branches: [main]}}", "main", True),
        ("{push: {branches: [main]}}", "dev", False),
        ("{push: {branches: ['release/*']}}", "release/1", True),
        ("{push: {branches: ['release/*']}}", "release/1/x", False),
        ("{push: {branches: ['release/**']}}", "release/1/x", True),
        ("{push: {branches: ['**', '!kalypso/**']}}", "kalypso/dev", False),
        ("{push: {branches-ignore: ['kalypso/**']}}", "kalypso/dev", False),
        ("{push: {branches-ignore: ['kalypso/**']}}", "dev", True),
        ("{push: {branches-ignore: ['revert-**']}}", "revert-7-kalypso/dev", False),
        ("{push: {branches-ignore: ['revert-*']}}", "revert-7-kalypso/dev", True),
    ],
)
def test_pushes_by_their_branch(git: BareRepository, on: str, branch: str, expected: bool) -> None:
    pushed = event("push", "", {"before": NO_OBJECT}, ref=f"refs/heads/{branch}")
    assert starts(git, on, pushed) is expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("paths: ['config/**']", True),
        ("paths: ['docs/**']", False),
        ("paths-ignore: ['config/**', '.github/**']", False),
        ("paths-ignore: ['config/**']", True),
    ],
)
def test_pushes_by_their_paths(git: BareRepository, filters: str, expected: bool) -> None:
    before = commit(git, README="one")
    commit(git, config__one="1")
    pushed = event("push", "", {"before": before})
    assert starts(git, f"{{push: {{{filters}}}}}", pushed) is expected


def pull(action: str) -> Event:
    payload = {"action": action, "pull_request": {"base": {"ref": "main"}}}
    return event("pull_request", "", payload)


MOVED = event("repository_dispatch", "", {"action": "moved"})
DISPATCHED = event("workflow_dispatch", "", {"workflow": FILE, "inputs": {}})


@pytest.mark.parametrize(
    ("on", "happened", "expected"),
    [
        ("pull_request", pull("opened"), True),
        ("pull_request", pull("synchronize"), True),
        ("pull_request", pull("closed"), False),
        ("{pull_request: {types: [closed]}}", pull("closed"), True),
        ("{pull_request: {branches: [main]}}", pull("opened"), True),
        ("{pull_request: {branches: [dev]}}", pull("opened"), False),
        ("repository_dispatch", MOVED, True),
        ("{repository_dispatch: {types: [moved]}}", MOVED, True),
        ("{repository_dispatch: {types: [other]}}", MOVED, False),
        ("workflow_dispatch", DISPATCHED, True),
        ("push", DISPATCHED, False),
        ("push", event("push", "", {"before": NO_OBJECT}, starts_workflows=False), False),
        ("push", event("push", "", {"before": NO_OBJECT}, held=True), False),
    ],
)
def test_other_events_by_their_payload(
    git: BareRepository, on: str, happened: Event, expected: bool
) -> None:
    assert starts(git, on, happened) is expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("on: push\nenv: {A: b}\n" + JOBS, "the file: env"),
        ("on: push\njobs: {one: {strategy: {}, steps: []}}", "the job one: strategy"),
        ("on: push\njobs: {one: {steps: [{run: x}]}}", "a step of the job one: run"),
        ("on: push\njobs: {one: {steps: [{uses: actions/checkout@v4}]}}", "not one of Kalypso's"),
        ("on: push\npermissions: write-all\n" + JOBS, "list the permissions one by one"),
        ("on: {push: {names: ['v*']}}\n" + JOBS, "the filter names"),
    ],
)
def test_unsupported_syntax_is_an_error(git: BareRepository, content: str, message: str) -> None:
    head = git.commit_files("main", {FILE: content}, "on", Person("n", "n@example.com", NOON))
    with pytest.raises(KalypsoError, match=message):
        started_by(event("push", head, {"before": NO_OBJECT}), git)


def test_a_job_has_its_own_permissions_or_those_of_the_file() -> None:
    content = """\
        on: push
        permissions: {contents: read, id-token: write, issues: none}
        jobs:
          one: {steps: []}
          two: {steps: [], permissions: {}}
        """
    first, two = jobs_of(parse(FILE, content.encode()))
    assert first.permissions == {"contents": "read", "id_token": "write"}
    assert two.permissions == {}


def test_a_job_comes_after_those_that_it_needs() -> None:
    content = "jobs: {c: {needs: [a, b], steps: []}, b: {needs: a, steps: []}, a: {steps: []}}"
    jobs = jobs_of(parse(FILE, content.encode()))
    assert [(job.name, job.needs) for job in jobs] == [("a", []), ("b", ["a"]), ("c", ["a", "b"])]


def test_the_action_of_the_root_runs_a_command_by_its_name() -> None:
    step = "{uses: acme/kalypso-actions@v0, with: {run: start-schedule, branch: dev}}"
    content = f"on: push\njobs: {{one: {{steps: [{step}]}}}}"
    (job,) = jobs_of(parse(FILE, content.encode()))
    assert job.steps == [Step({"branch": "dev"}, action="start-schedule", title="start-schedule")]


# The sandbox publishes no pages: their workflow has steps of GitHub's own actions.
@pytest.mark.parametrize(
    "file",
    sorted(set(TEMPLATES.rglob("*.yaml")) - set(TEMPLATES.glob("control-plane-pages/*"))),
    ids=lambda file: "-".join(file.parts[-5:]),
)
def test_our_own_are_understood(file: Path) -> None:
    jobs = jobs_of(parse(file.name, file.read_bytes()))
    assert [job.steps for job in jobs]


CONTEXTS = {
    "github": {"event": {"before": "abc", "forced": False, "number": 7}, "ref_name": "dev"},
    "inputs": {"environment": "dev", "commit": ""},
    "vars": {},
    "secrets": {"KEY": "hush"},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nothing to fill", "nothing to fill"),
        ("${{ inputs.environment }}", "dev"),
        ("${{inputs.environment}}", "dev"),
        ("run-${{ inputs.environment }}-${{ github.event.before }}", "run-dev-abc"),
        ("${{ github.event.forced }}", "false"),
        ("${{ github.event.number }}", "7"),
        ("${{ github.event.absent.too }}", ""),
        ("${{ vars.ABSENT }}", ""),
        ("${{ secrets.KEY }}", "hush"),
        ("${{ inputs.commit || github.event.before }}", "abc"),
        ("${{ inputs.commit || vars.ABSENT || 'none' }}", "none"),
        ("${{ inputs.environment || 'none' }}", "dev"),
        ("${{ secrets.KEY && inputs.environment }}", "dev"),
        ("${{ inputs.commit && inputs.environment }}", ""),
        ("${{ inputs.commit && vars.ABSENT || inputs.environment }}", "dev"),
        ("${{ inputs.environment == 'DEV' }}", "true"),
        ("${{ inputs.commit == 'x' || inputs.environment != 'dev' || 'neither' }}", "neither"),
        ("$ENVIRONMENT ${ENVIRONMENT}", "$ENVIRONMENT ${ENVIRONMENT}"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert filled(text, CONTEXTS) == value


@pytest.mark.parametrize(
    "expression", ["always()", "inputs.a < inputs.b", "matrix.os", "!inputs.a", "inputs.a &&", ""]
)
def test_an_unsupported_expression_is_an_error(expression: str) -> None:
    with pytest.raises(KalypsoError, match="is not supported here"):
        filled(f"${{{{ {expression} }}}}", CONTEXTS)
