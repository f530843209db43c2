"""Previews of pull requests: of the source, of the configs, of forks."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.app.notify import app_notify
from kalypso_actions.commands.app.preview import app_preview
from kalypso_actions.commands.preview_comment import preview_comment
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.app import AppNotifyInputs, AppPreviewInputs
from kalypso_actions.inputs.chain import PreviewCommentInputs
from kalypso_actions.report.application_document import AppNotifyDocument, AppPreviewDocument
from kalypso_sandbox.store import Event, Permissions
from tests.breaks import breaks, turned
from tests.commands.app.scenes import propose
from tests.commands.app.shop import CONFIGS, GITOPS, MANIFEST, SOURCE, Application
from tests.commands.chain.organisation import Job
from tests.commands.chain.previews import READS, newest

CONTEXT = "kalypso / preview"
CHART = {
    "helm/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
    "helm/templates/a.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: {{ .Values.size | quote }}}\n"
    ),
}


def previewed(web: Application, **given: Any) -> tuple[AppPreviewDocument, bool]:
    """Preview the newest pull request of the source as its job does."""
    event: Event = newest(web.acme)
    job = Job(event.name, event.ref, event.commit, SOURCE, event.payload, actor=event.actor)
    given = {"configs_repository": CONFIGS, "gitops_repository": GITOPS, **given}
    if "configs_pull_request" in given:
        job = Job(repository=SOURCE)
    done = web.acme.run(app_preview, AppPreviewInputs, job=job, **given)
    assert isinstance(done.document, AppPreviewDocument)
    return done.document, done.failed


def comments(web: Application, number: int, repository: str = SOURCE) -> list[str]:
    path = f"{repository}/issues/{number}/comments"
    return [comment["body"] for comment in web.acme.ask("GET", path)]


def head_of(web: Application, number: int, repository: str = SOURCE) -> str:
    return str(web.acme.ask("GET", f"{repository}/pulls/{number}")["head"]["sha"])


def test_a_pull_request_of_the_source_shows_every_environment(web: Application) -> None:
    web.released("1")
    web.deploy()
    web.merge_open()
    number = propose(web, {"manifests/web.yaml": MANIFEST.replace("name: web\n", "name: shop\n")})
    document, failed = previewed(web)
    assert not failed
    changed = {item.environment: item.change for item in document.environments}
    assert list(changed) == ["dev", "dev-red", "stage"]
    paths = [file.path for file in changed["dev"].files]
    assert paths == ["eu/gen_manifests.yaml", "us/gen_manifests.yaml"]
    diff = changed["dev"].files[0].diff or ""
    assert "+  name: shop" in diff
    assert "$IMAGE_TAG" not in diff
    assert web.statuses(head_of(web, number))[CONTEXT][0] == "success"
    (comment,) = comments(web, number)
    assert "name: shop" in comment
    assert "after `dev`" in comment
    assert web.pulls() == []


@pytest.mark.usefixtures("helm")
def test_a_pull_request_of_the_configs_shows_its_environment(web: Application) -> None:
    web.push(CHART | {"manifests/web.yaml": None})
    for name in ("dev", "stage"):
        web.acme.commit(
            {"eu/values.yaml": "size: 1\n", "us/values.yaml": "size: 1\n"}, name, CONFIGS
        )
    number = propose(web, {"eu/values.yaml": "size: 2\n"}, CONFIGS, "dev")
    web.acme.commit({"us/values.yaml": "size: 3\n"}, "dev", CONFIGS)  # after the change began
    event = newest(web.acme)
    job = Job(event.name, event.ref, event.commit, CONFIGS, event.payload)
    told = web.acme.run(
        app_notify, AppNotifyInputs, job=job, source_repository=SOURCE, pushed="configs"
    )
    assert isinstance(told.document, AppNotifyDocument)
    assert (told.document.workflow, told.document.environment) == ("preview.yml", "dev")
    document, _ = previewed(web, environment="dev", configs_pull_request=str(number))
    (item,) = document.environments
    assert [file.path for file in item.change.files] == ["eu/gen_manifests.yaml"]
    assert '+data: {size: "2"}' in (item.change.files[0].diff or "")
    assert web.statuses(head_of(web, number, CONFIGS), CONFIGS)[CONTEXT][0] == "success"
    assert len(comments(web, number, CONFIGS)) == 1


def test_an_environment_without_configs_is_told(web: Application) -> None:
    order = "- name: dev\n  next: fresh\n- name: fresh\n"
    web.acme.commit({".github/kalypso/environments.yaml": order}, "main", SOURCE)
    number = propose(web, {"src/a.txt": "1"})
    with pytest.raises(KalypsoError, match="the configs have no branch 'fresh'"):
        previewed(web)
    assert web.statuses(head_of(web, number))[CONTEXT][0] == "failure"


def test_a_preview_of_another_branch_than_the_start_says_is_refused(web: Application) -> None:
    number = propose(web, {"eu/values.yaml": "size: 2\n"}, CONFIGS, "dev")
    with pytest.raises(UsageError, match="no open pull request into 'stage'"):
        previewed(web, environment="stage", configs_pull_request=str(number))
    web.acme.close(number, CONFIGS)
    with pytest.raises(UsageError, match="no open pull request"):
        previewed(web, environment="dev", configs_pull_request=str(number))


def test_new_problems_fail(web: Application) -> None:
    number = propose(web, {"manifests/web.yaml": "kind: [\n"})
    document, failed = previewed(web)
    assert failed
    assert document.problems
    assert web.statuses(head_of(web, number))[CONTEXT][0] == "failure"
    _, failed = previewed(web, comment="false", status_context="")
    assert failed


def of_fork(web: Application, files: dict[str, str | None]) -> None:
    web.acme.sandbox.fork(SOURCE, "mallory")
    web.acme.commit(files, "main", "mallory/web")
    web.acme.pull("mallory:main", "main", SOURCE)


def restricted(web: Application, repositories: list[str]) -> str:
    permissions: Permissions = READS
    return web.acme.sandbox.create_token(
        "actions", permissions, owner="acme", repositories=repositories
    )


def test_a_fork_gets_a_comment_by_the_second_workflow(web: Application, tmp_path: Path) -> None:
    of_fork(web, {"manifests/web.yaml": MANIFEST.replace("name: web\n", "name: shop\n")})
    token = restricted(web, [SOURCE, CONFIGS, GITOPS])
    document, failed = previewed(web, token=token, out=str(tmp_path))
    assert (failed, document.comment) == (False, "pending")
    artifact = tmp_path / "preview.json"
    assert json.loads(artifact.read_text())["comment"] == "pending"
    run = {
        "event": "pull_request",
        "head_branch": "main",
        "head_sha": document.head_commit,
        "head_repository": {"full_name": "mallory/web", "owner": {"login": "mallory"}},
        "html_url": "https://example.org/run",
    }
    job = Job("workflow_run", repository=SOURCE, payload={"workflow_run": run})
    web.acme.run(preview_comment, PreviewCommentInputs, job=job, file=str(artifact))
    (comment,) = comments(web, document.pull_request or 0)
    assert "name: shop" in comment
    assert "author of the pull request can change this preview" in comment


@breaks(
    "a command of a fork runs",
    turned("kalypso_actions.commands.app.preview.app_preview", "preview.is_fork", "False"),
)
def test_no_command_of_a_fork_runs(web: Application, tmp_path: Path) -> None:
    of_fork(web, {"make.sh": f"touch {tmp_path}/run"})
    command = {"generator": "command", "generator_command": "bash $KALYPSO_SOURCE/make.sh"}
    with pytest.raises(UsageError, match="a program of a fork"):
        previewed(web, **command)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("helm")
@breaks(
    "values of private configs are shown to the public",
    turned(
        "kalypso_actions.commands.app.preview.ApplicationPreview._hidden",
        "visibility_of(context, context.url(self.repository)) or 'public'",
        "'private'",
    ),
)
def test_nothing_of_private_configs_is_shown_in_a_public_source(web: Application) -> None:
    sandbox = web.acme.sandbox
    with sandbox.lock:
        sandbox.repository(SOURCE).private = False
        assert sandbox.repository(CONFIGS).private
    web.push(CHART | {"manifests/web.yaml": None})
    for name in ("dev", "dev-red", "stage"):
        web.acme.commit({"eu/values.yaml": "size: of-the-private\n"}, name, CONFIGS)
    template = CHART["helm/templates/a.yaml"].replace("name: a", "name: b")
    number = propose(web, {"helm/templates/a.yaml": template})
    document, _ = previewed(web)
    assert "of-the-private" not in document.to_json()
    (comment,) = comments(web, number)
    assert "of-the-private" not in comment
    assert "fewer people may read" in comment


def test_a_fork_of_the_configs_has_no_preview(web: Application) -> None:
    web.acme.sandbox.fork(CONFIGS, "mallory")
    web.acme.commit({"eu/values.yaml": "a: 1\n"}, "dev", "mallory/web-configs")
    web.acme.pull("mallory:dev", "dev", CONFIGS)
    event = newest(web.acme)
    job = dataclasses.replace(
        Job(event.name, event.ref, event.commit, CONFIGS, event.payload), actor="mallory"
    )
    told = web.acme.run(
        app_notify, AppNotifyInputs, job=job, source_repository=SOURCE, pushed="configs"
    )
    assert isinstance(told.document, AppNotifyDocument)
    assert told.document.workflow == ""
    assert "pull request of a fork" in told.document.reason
