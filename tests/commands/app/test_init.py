"""`kalypso app init`: three repositories become an application's, and its chain renders them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kalypso_actions.commands.app.init import app_init, app_register
from kalypso_actions.commands.app.render import app_render
from kalypso_actions.commands.init import Decide
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.inputs.local import DEFAULT_ACTION, AppInitInputs, AppRegisterInputs
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.processes import no_progress
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.promotion.application import read_order
from kalypso_actions.report.init_document import AppInitDocument
from tests.commands.chain.organisation import NOON
from tests.commands.init.repositories import WORKFLOWS, Acme, acme_in, outline
from tests.git_repositories import git, programs
from tests.planning.application.applications import PROGRAMS, find_program
from tools.reference.schemas import schema_of

SOURCE, CONFIGS, GITOPS = "acme/shop", "acme/shop-configs", "acme/shop-gitops"
RENDERED = ("dev", "dev-green", "stage")
UPSTREAM = "jobs: {cd: {steps: [{env: {GH_TOKEN: '${{ secrets.CD_BOOTSTRAP_TOKEN }}'}}]}}\n"


class Shop:
    """The three repositories, and app init on them."""

    def __init__(self, acme: Acme) -> None:
        self.acme = acme

    def create(self, source: Mapping[str, str] | None = None, branch: str = "main") -> None:
        """Create the repositories; the source with these files."""
        sandbox = self.acme.sandbox
        sandbox.create_repository(SOURCE, source, default_branch=branch)
        sandbox.create_repository(CONFIGS, default_branch="main")
        sandbox.create_repository(GITOPS, default_branch="main")

    def init(self, decide: Decide[AppInitDocument] | None = None, **given: Any) -> AppInitDocument:
        """Run app init with `--yes`."""
        options = {"source_repository": SOURCE, "token": self.acme.token, "yes": True}
        inputs = AppInitInputs.model_validate(options | {"action": DEFAULT_ACTION} | given)
        agreed = Consent(inputs.update_workflows, inputs.delete_upstream_workflows)
        document = app_init(inputs, self.acme.runtime(), decide or (lambda _: agreed))
        Draft202012Validator(schema_of(AppInitDocument)).validate(json.loads(document.to_json()))
        return document

    def heads(self) -> dict[str, dict[str, str]]:
        return {name: self.acme.branches(name) for name in (SOURCE, CONFIGS, GITOPS)}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with acme_in(tmp_path) as acme:
        yield Shop(acme)


PREVIEWS = [f"add {WORKFLOWS}/{name}.yml" for name in ("preview-comment", "preview")]
OF_SOURCE = [
    *(f"add {WORKFLOWS}/{name}.yml" for name in ("ci", "deploy", "poll", "post-deployment")),
    *PREVIEWS,
    "add .github/kalypso/environments.yaml",
    "add README.md",
    "add helm/Chart.yaml",
    "add helm/templates/deployment.yaml",
    "add helm/values.yaml",
    "add workload/workload.yaml",
]
NOTIFY_CONFIGS = [f"add {WORKFLOWS}/{name}.yml" for name in ("notify-on-config-change", "preview")]
NOTIFY_GITOPS = f"add {WORKFLOWS}/notify-on-pr.yml"


def test_empty_repositories_become_an_application(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_program("helm")
    monkeypatch.setenv("PATH", PROGRAMS)
    shop.create()
    document = shop.init()
    assert outline(document) == {
        **{f"{CONFIGS}@{name}": [*NOTIFY_CONFIGS, "add web/values.yaml"] for name in RENDERED},
        f"{CONFIGS}@main": [*NOTIFY_CONFIGS, "add README.md"],
        **{f"{GITOPS}@{name}": [NOTIFY_GITOPS] for name in RENDERED},
        f"{GITOPS}@main": [NOTIFY_GITOPS, "add README.md"],
        f"{SOURCE}@main": OF_SOURCE,
    }
    assert document.written
    files = shop.acme.files("main", SOURCE)
    order = read_order(files[".github/kalypso/environments.yaml"].encode(), "")
    assert {name: order[name].next_environments for name in order} == {
        "dev": ("dev-green",),
        "dev-green": ("stage",),
        "stage": (),
    }
    workload = yaml.safe_load(files["workload/workload.yaml"])
    assert [
        (target["name"], target["environment"], target["manifests"]["branch"])
        for target in workload["spec"]["deploymentTargets"]
    ] == [("dev", "dev", "dev"), ("dev-green", "dev", "dev-green"), ("stage", "stage", "stage")]
    heads = shop.heads()
    assert shop.init().written is False
    assert shop.heads() == heads
    for name in (SOURCE, CONFIGS, GITOPS):
        folder = shop.acme.sandbox.git(name).git_dir
        git(tmp_path, "clone", "--quiet", "--bare", str(folder), f"{name[5:]}.git")
    for name in RENDERED:
        inputs = AppRenderInputs.model_validate(
            {
                "environment": name,
                "source": str(tmp_path / "shop.git"),
                "configs": f"{tmp_path / 'shop-configs.git'}@{name}",
                "gitops": f"{tmp_path / 'shop-gitops.git'}@{name}",
                "version": "1",
                "image_tag": "1",
                "source_repository": SOURCE,
                "gitops_repository": GITOPS,
                "out": tmp_path / f"out-{name}",
            }
        )
        rendered = app_render(inputs, LocalContext(programs(), no_progress), lambda: NOON)
        assert rendered.problems == ()
        manifests = (tmp_path / f"out-{name}/web/gen_manifests.yaml").read_text()
        assert f'value: "{name}"' in manifests


def test_in_upstreams_set_up_the_build_and_the_branches_of_people_stay(shop: Shop) -> None:
    shop.create(
        {
            "helm/Chart.yaml": "name: shop\n",
            f"{WORKFLOWS}/ci.yml": UPSTREAM,
            f"{WORKFLOWS}/cd.yml": UPSTREAM,
            f"{WORKFLOWS}/post-deployment.yml": UPSTREAM,
        }
    )
    sandbox = shop.acme.sandbox
    config = f"{WORKFLOWS}/notify-on-config-change.yml"
    sandbox.commit(CONFIGS, {config: UPSTREAM, "eu/values.yaml": "a: 1\n"}, branch="dev")
    tracked = {"eu/gen_manifests.yaml": "a: 1\n", PROMOTED_COMMIT_FILE: f"{'1' * 40}\n"}
    sandbox.commit(GITOPS, tracked, branch="dev")
    document = shop.init(environments="dev")
    assert outline(document) == {
        f"{CONFIGS}@dev": [f"replace {config}", NOTIFY_CONFIGS[1]],
        f"{CONFIGS}@main": [*NOTIFY_CONFIGS, "add README.md"],
        f"{GITOPS}@dev": [NOTIFY_GITOPS],
        f"{GITOPS}@main": [NOTIFY_GITOPS, "add README.md"],
        f"{SOURCE}@main": [
            f"add {WORKFLOWS}/deploy.yml",
            f"add {WORKFLOWS}/poll.yml",
            f"replace {WORKFLOWS}/post-deployment.yml",
            *PREVIEWS,
            f"delete {WORKFLOWS}/cd.yml",
            "add .github/kalypso/environments.yaml",
        ],
    }
    assert shop.acme.files("main", SOURCE)[f"{WORKFLOWS}/ci.yml"] == UPSTREAM
    assert shop.acme.files("dev", CONFIGS)["eu/values.yaml"] == "a: 1\n"
    tasks = {task.title: task for task in document.remaining}
    assert tasks["Adopt what the environments have"].lines == (
        f"gh workflow run deploy.yml --repo {SOURCE} --field environment=dev --field adopt=true",
    )
    assert "  release:" in tasks["Let ci.yml release each commit of main"].lines
    assert f"{WORKFLOWS}/cd.yml" in shop.acme.files("main", SOURCE)
    shop.init(delete_upstream_workflows=True)
    assert f"{WORKFLOWS}/cd.yml" not in shop.acme.files("main", SOURCE)


def test_the_default_branch_of_upstreams_set_up_is_an_environment(shop: Shop) -> None:
    """Upstream's script pushes the first environment into empty repositories."""
    shop.create()
    for name in (CONFIGS, GITOPS):
        with shop.acme.sandbox.lock:
            shop.acme.sandbox.repository(name).default_branch = "dev"
        shop.acme.sandbox.commit(name, {"eu/values.yaml": "a: 1\n"}, branch="dev")
    document = shop.init(environments="dev")
    assert [key for key, files in outline(document).items() if files] == [
        f"{CONFIGS}@dev",
        f"{GITOPS}@dev",
        f"{SOURCE}@main",
    ]
    assert NOTIFY_GITOPS.partition(" ")[2] in shop.acme.files("dev", GITOPS)
    with pytest.raises(UsageError, match="cannot be named 'main'"):
        shop.init(environments="main")


def test_an_environment_whose_name_begins_another_one_is_set_up(shop: Shop) -> None:
    """Upstream takes dev for present, or cuts it from main with all that main has."""
    shop.create()
    for name in (CONFIGS, GITOPS):
        shop.acme.sandbox.commit(name, {"eu/gen_manifests.yaml": "a: 1\n"}, branch="main")
        shop.acme.sandbox.commit(name, {"README.md": "A ring.\n"}, branch="dev-green")
    shop.init(environments="dev,dev-green")
    for name in (CONFIGS, GITOPS):
        files = shop.acme.files("dev", name)
        assert files
        assert "eu/gen_manifests.yaml" not in files


def test_a_new_ring_is_a_branch_and_a_task(shop: Shop) -> None:
    shop.create()
    shop.init()
    document = shop.init(environments="dev-red")
    assert document.environments == (*RENDERED, "dev-red")
    assert {key for key, files in outline(document).items() if files} == {
        f"{CONFIGS}@dev-red",
        f"{GITOPS}@dev-red",
    }
    (task,) = [task for task in document.remaining if task.title.startswith("Say what comes")]
    assert task.lines == ("dev-red",)


def test_pull_requests_and_a_dry_run(shop: Shop) -> None:
    shop.create({"README.md": "Hello\n"})
    heads = shop.heads()
    preview = shop.init(lambda _: None, dry_run=True, pull_request=True)
    assert [write for write in preview.writes if "pull request" in write.line]
    assert shop.heads() == heads
    document = shop.init(pull_request=True)
    proposed = [branch for branch in document.branches if branch.pull_request_url]
    assert {branch.branch for branch in proposed} == {"main"}
    assert [branch.repository for branch in proposed] == [CONFIGS, GITOPS, SOURCE]
    assert document.remaining[-1].title == "Merge the pull requests"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"environments": "main"}, "cannot be named 'main'"),
        ({"gitops_repository": CONFIGS}, "is the"),
    ],
)
def test_refusals(shop: Shop, given: dict[str, Any], message: str) -> None:
    shop.create()
    with pytest.raises(UsageError, match=message):
        shop.init(**given)
    assert shop.heads() == {SOURCE: {}, CONFIGS: {}, GITOPS: {}}


def test_the_lines_name_every_variable_and_key_that_the_templates_read(shop: Shop) -> None:
    shop.create()
    document = shop.init()
    lines = "\n".join(line for task in document.remaining for line in task.lines)
    templates = "".join(
        text
        for name in (SOURCE, CONFIGS, GITOPS)
        for path, text in shop.acme.files("main", name).items()
        if path.startswith(WORKFLOWS)
    )
    for name in ("CONFIGS_REPO", "MANIFESTS_REPO", "SRC_REPO", "PLATFORM_GITOPS"):
        assert f"vars.{name}" in templates
        assert f"set {name} " in lines
    for name in ("KALYPSO_APP_PRIVATE_KEY", "KALYPSO_NOTIFIER_PRIVATE_KEY"):
        assert f"secret set {name} " in lines
    assert f"KALYPSO_APP_PRIVATE_KEY --repo {GITOPS}" not in lines
    for line in lines.splitlines():
        if line.startswith("gh "):
            words = shlex.split(line)  # it raises for a quote that does not end
            assert all(word.startswith("<") for word in words if word.endswith(">")), line


def test_the_registration_is_the_file_with_lines_that_propose_it() -> None:
    inputs = AppRegisterInputs(
        workspace="shop-team", source_repository=SOURCE, control_plane="acme/plane"
    )
    document = app_register(inputs, {})
    assert yaml.safe_load(document.text)["spec"] == {
        "workload": {
            "repo": f"https://github.com/{SOURCE}",
            "branch": "main",
            "path": "./workload",
        },
        "workspace": "shop-team",
    }
    assert document.file == "registrations/shop.yaml"
    assert document.lines[-1].endswith("gh pr create --fill")
