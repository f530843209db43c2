"""The public application of upstream's author is adopted, and gets the tree that upstream proposed.

The repositories are not part of the project. KALYPSO_REAL_APPLICATION names a folder with bare clones
of eedorenko/hello-world, hello-world-configs and hello-world-gitops, named `<repository>.git`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from kalypso_actions.commands.app.ci import app_ci
from kalypso_actions.commands.app.deploy import app_deploy
from kalypso_actions.commands.app.init import app_init
from kalypso_actions.inputs.app import AppCiInputs, AppDeployInputs
from kalypso_actions.inputs.local import DEFAULT_ACTION, AppInitInputs
from kalypso_actions.model.own_account import JOBS
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.application_document import AppDeployDocument
from tests.commands.chain.organisation import Job, Organisation
from tests.commands.init.repositories import runtime
from tests.git_repositories import git
from tests.planning.application.applications import PROGRAMS

FOLDER: Final = os.environ.get("KALYPSO_REAL_APPLICATION", "")
SOURCE, CONFIGS, GITOPS = (f"eedorenko/hello-world{end}" for end in ("", "-configs", "-gitops"))
ENVIRONMENT: Final = "dev-green"
ENVIRONMENTS: Final = "dev-gray, dev-green, dev-red, stage-gray, stage-green, stage-red"
COMMIT: Final = "2da6a937fc1e1b79ff69c1b4d460a42c4a6ec72d"
VERSION: Final = "0.0.1-36"
PROPOSED: Final = f"deploy/{COMMIT}/{ENVIRONMENT}"
"""The branch of upstream's proposal."""

pytestmark = pytest.mark.skipif(
    not FOLDER, reason="KALYPSO_REAL_APPLICATION names no folder of the public repositories"
)


@pytest.fixture
def real(acme: Organisation, helm: None) -> Organisation:
    """The sandbox with the three repositories and their history."""
    for name, main in ((SOURCE, "main"), (CONFIGS, "dev-gray"), (GITOPS, "dev-gray")):
        acme.sandbox.create_repository(name, default_branch=main)
        clone = Path(FOLDER) / f"{name.partition('/')[2]}.git"
        place = acme.sandbox.git(name).git_dir
        git(clone, "push", "--quiet", str(place), "+refs/heads/*:refs/heads/*")
    acme.token = acme.sandbox.create_token(owner="eedorenko")
    return acme


def run(acme: Organisation, command: Any, model: Any, *, actor: str = JOBS, **given: Any) -> Any:
    job = Job(repository=SOURCE, actor=actor, event="workflow_dispatch")
    return acme.run(command, model, job=job, **given).document


def deploy(acme: Organisation, **given: str) -> AppDeployDocument:
    places = {"configs_repository": CONFIGS, "gitops_repository": GITOPS}
    rendered = {"compatibility": "current", "release_name": "release-name"}
    document = run(
        acme, app_deploy, AppDeployInputs, environment=ENVIRONMENT, **places, **rendered, **given
    )
    assert isinstance(document, AppDeployDocument)
    return document


@pytest.mark.slow
def test_the_public_application_is_adopted(real: Organisation) -> None:
    machine = {"PATH": PROGRAMS, "HOME": str(real.folder), **real.sandbox.environment()}
    inputs = AppInitInputs.model_validate(
        {
            "source_repository": SOURCE,
            "environments": ENVIRONMENTS,
            "token": real.token,
            "yes": True,
            "update_workflows": True,
            "delete_upstream_workflows": True,
            "action": DEFAULT_ACTION,
        }
    )
    agreed = Consent(inputs.update_workflows, inputs.delete_upstream_workflows)
    document = app_init(inputs, runtime(machine, real.clock), lambda _: agreed)
    assert document.written
    assert any(
        f"environment={ENVIRONMENT} " in line for task in document.remaining for line in task.lines
    )
    adopted = deploy(real, actor="ada", adopt="true")
    assert (adopted.version, adopted.promoted) == ("0.0.1-34", False)
    release = {"version": VERSION, "image_tag": VERSION, "start_environment": ENVIRONMENT}
    run(real, app_ci, AppCiInputs, commit=COMMIT, **release)
    proposed = deploy(real)
    assert (proposed.commit, proposed.version, proposed.promoted) == (COMMIT, VERSION, True)
    ours, theirs = real.files(f"kalypso/{ENVIRONMENT}", GITOPS), real.files(PROPOSED, GITOPS)
    tracking = ".github/tracking/"
    differ = {path for path in {**ours, **theirs} if ours.get(path) != theirs.get(path)}
    # The workflow files are exchanged, which is a commit of the configs, too.
    assert {path for path in differ if not path.startswith(".github/workflows/")} == {
        f"{tracking}application.json",
        f"{tracking}Config_Commit_Id",
    }
    (pull,) = [
        each for each in real.pulls(GITOPS) if each["head"]["ref"] == f"kalypso/{ENVIRONMENT}"
    ]
    assert pull["title"] == f"Deploy to '{ENVIRONMENT}' '{VERSION}'"
    assert "promoted" in {label["name"] for label in pull["labels"]}
