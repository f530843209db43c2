"""Scenes of an application: what people do first, and a command that has something to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kalypso_actions.commands.app.check import app_check
from kalypso_actions.commands.app.ci import app_ci
from kalypso_actions.commands.app.deploy import app_deploy
from kalypso_actions.commands.app.notify import app_notify
from kalypso_actions.commands.app.poll import app_poll
from kalypso_actions.commands.app.preview import app_preview
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.inputs.app import (
    AppCheckInputs,
    AppCiInputs,
    AppDeployInputs,
    AppNotifyInputs,
    AppPollInputs,
    AppPreviewInputs,
)
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application
from tests.commands.chain.organisation import Job
from tests.commands.chain.previews import newest
from tests.commands.chain.pushes import pushed

Run = Callable[[Mapping[str, str]], CommandResult]

REPOSITORIES: Final[Mapping[str, str]] = {
    "configs_repository": CONFIGS,
    "gitops_repository": GITOPS,
}


def propose(
    web: Application, files: dict[str, str | None], repository: str = SOURCE, base: str = "main"
) -> int:
    """Open a pull request with these changes; return its number."""
    web.acme.reset("change", web.acme.head(base, repository), repository)
    web.acme.commit(files, "change", repository)
    return web.acme.pull("change", base, repository)


def runs(web: Application, command: Any, model: Any, job: Job, **given: str) -> Run:
    """Return the command with these inputs, which counts what the scene's people have posted."""
    known: dict[str, Any] = {"former_identities": "somebody", **given}
    return lambda credential: web.acme.run(command, model, job=job, **{**known, **credential})


def ci(web: Application) -> Run:
    given = {"version": "1", "image_tag": "1@sha256:a", "commit": web.push()}
    return runs(web, app_ci, AppCiInputs, Job("push", repository=SOURCE), **given)


def deploys(web: Application, **more: str) -> Run:
    given = {"environment": "dev", **REPOSITORIES, **more}
    return runs(web, app_deploy, AppDeployInputs, Job(repository=SOURCE), **given)


def promotes(web: Application) -> Run:
    web.released("1")
    return deploys(web)


def merges(web: Application) -> Run:
    web.released("1")
    return deploys(web, auto_merge="always")


def configures(web: Application) -> Run:
    web.released("1")
    web.deploy()
    web.merge_open()
    web.acme.commit({"west/values.yaml": ""}, "dev", CONFIGS)
    return deploys(web)


def waits(web: Application) -> Run:
    """Check a merge whose branch no cluster follows, and go on."""
    web.released("1")
    web.deploy()
    web.merge_open()
    job = Job(repository=SOURCE)
    given = {"environment": "dev", "require_targets": "false", **REPOSITORIES}
    return runs(web, app_check, AppCheckInputs, job, **given)


def notifies(web: Application) -> Run:
    web.acme.commit({"west/values.yaml": ""}, "dev", CONFIGS)
    job = Job("push", "refs/heads/dev", repository=CONFIGS, payload=pushed(web.acme, CONFIGS))
    return runs(web, app_notify, AppNotifyInputs, job, source_repository=SOURCE, pushed="configs")


def polls(web: Application) -> Run:
    configures(web)
    web.end_runs()
    web.wait()
    return runs(web, app_poll, AppPollInputs, Job("schedule", repository=SOURCE), **REPOSITORIES)


def previews(web: Application) -> Run:
    web.released("1")
    propose(web, {"src/a.txt": "1"})
    event = newest(web.acme)
    job = Job(event.name, event.ref, event.commit, SOURCE, event.payload)
    return runs(web, app_preview, AppPreviewInputs, job, **REPOSITORIES)


def previews_configs(web: Application) -> Run:
    number = propose(web, {"west/values.yaml": ""}, CONFIGS, "dev")
    given = {"environment": "dev", "configs_pull_request": str(number), **REPOSITORIES}
    return runs(web, app_preview, AppPreviewInputs, Job(repository=SOURCE), **given)


SCENES: Final[Mapping[str, Mapping[str, Callable[[Application], Run]]]] = {
    "app-ci": {"a release": ci},
    "app-deploy": {"promotes": promotes, "merges": merges, "configures": configures},
    "app-check": {"clusters": waits},
    "app-notify": {"a push": notifies},
    "app-poll": {"a change": polls},
    "app-preview": {"source": previews, "configs": previews_configs},
}
