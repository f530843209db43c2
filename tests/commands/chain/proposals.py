"""Run schedule in the organisation, and read its results."""

from __future__ import annotations

from typing import Any

from kalypso_actions.commands.schedule import schedule
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.chain import ScheduleInputs
from kalypso_actions.report.schedule_document import ScheduleDocument
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation

OWN = "kalypso/dev"
TRACKING = ".github/tracking/Promoted_Commit_Id"
SOURCES = ".github/tracking/sources.json"
FLUX = "large/shop-web/reconciler.yaml"


def run_schedule(acme: Organisation, **given: Any) -> CommandResult:
    return acme.run(schedule, ScheduleInputs, **{"environment": "dev", **given})


def run(acme: Organisation, **given: Any) -> ScheduleDocument:
    """Run schedule successfully; return its document."""
    done = run_schedule(acme, **given)
    assert not done.failed, done.document.problems
    assert isinstance(done.document, ScheduleDocument)
    return done.document


def token_without_statuses(acme: Organisation) -> str:
    """Return a token that may do everything that schedule does, but post no statuses."""
    return acme.sandbox.create_token(
        permissions={
            "contents": "write",
            "issues": "write",
            "pull_requests": "write",
            "statuses": "read",
        }
    )


def actions(document: ScheduleDocument) -> list[tuple[int, str]]:
    """Return the numbers of the pull requests, with the actions."""
    return [(entry.number, entry.action) for entry in document.pull_requests]


def messages(document: ScheduleDocument, *, problems: bool = False) -> list[str]:
    """Return the messages of the warnings, or of the problems."""
    return [problem.message for problem in (document.problems if problems else document.warnings)]


def configure(acme: Organisation, environment: str = "dev", **values: str) -> str:
    """Change the platform configuration of an environment as a person; return the commit."""
    return acme.commit({"config.yaml": documents.config_map(**values)}, environment)


def promote(acme: Organisation, commit: str, environment: str = "dev") -> None:
    """Write another commit of main to an environment, as cd does."""
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), commit)}, environment)


def change_main(acme: Organisation) -> str:
    """Push a commit of main that changes no manifest; return it."""
    return acme.commit({"docs/notes.txt": acme.head("main") or ""})


def settle(acme: Organisation, environment: str = "dev") -> str:
    """Merge the environment's first pull request; return the merge commit."""
    (pull,) = run(acme, environment=environment).pull_requests
    return acme.merge(pull.number)


def labels(pull: Any) -> set[str]:
    return {label["name"] for label in pull["labels"]}


def edit_gitops(acme: Organisation, files: dict[str, str | None], branch: str = "dev") -> str:
    """Push to the GitOps repository as a person; return the commit."""
    return acme.commit(dict(files), branch, GITOPS)
