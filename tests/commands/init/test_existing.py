"""Existing control planes: upstream's, and ours with changes of people."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.onboarding.branches import Consent, next_environment_changes
from tests.breaks import breaks, turned
from tests.commands.init import upstream
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, WORKFLOWS, Acme, outline
from tests.conformance.real_control_planes import DATA


def test_in_upstreams_control_plane_only_workflow_files_change(acme: Acme) -> None:
    upstream.found(acme)
    main, dev = acme.files("main"), acme.files("dev")
    document = acme.init()
    assert outline(document) == {
        "acme/gitops@dev": [f"replace {WORKFLOWS}/check-promote.yaml"],
        "acme/gitops@stage": [f"add {WORKFLOWS}/check-promote.yaml", "add README.md"],
        "acme/gitops@main": [f"add {WORKFLOWS}/check-promote.yaml"],
        "acme/control-plane@dev": [
            f"add {WORKFLOWS}/preview.yaml",
            f"add {WORKFLOWS}/start-schedule.yaml",
        ],
        "acme/control-plane@stage": [
            f"add {WORKFLOWS}/preview.yaml",
            f"add {WORKFLOWS}/start-schedule.yaml",
            "add base-repo.yaml",
            "add gitops-repo.yaml",
        ],
        "acme/control-plane@main": [
            f"replace {WORKFLOWS}/cd.yaml",
            f"add {WORKFLOWS}/check-promote.yaml",
            f"replace {WORKFLOWS}/ci.yaml",
            f"add {WORKFLOWS}/poll.yaml",
            f"add {WORKFLOWS}/preview-comment.yaml",
            f"add {WORKFLOWS}/preview.yaml",
            f"add {WORKFLOWS}/report.yaml",
            f"add {WORKFLOWS}/rollback.yaml",
            f"add {WORKFLOWS}/schedule.yaml",
            f"delete {WORKFLOWS}/check-promote.yml",
            f"delete {WORKFLOWS}/utils/update-status.sh",
        ],
    }
    for before, branch in ((main, "main"), (dev, "dev")):
        after = acme.files(branch)
        changed = {path for path in before | after if before.get(path) != after.get(path)}
        assert all(path.startswith(WORKFLOWS) for path in changed)
    assert f"commit: {acme.branches()['main']}\n" in acme.files("stage")["base-repo.yaml"]
    tasks = {task.title: task for task in document.remaining}
    assert tasks["Delete upstream's workflow files"].lines == (
        f"{WORKFLOWS}/check-promote.yml",
        f"{WORKFLOWS}/utils/update-status.sh",
    )
    assert outline(acme.init()) == {
        "acme/control-plane@main": [
            f"delete {WORKFLOWS}/check-promote.yml",
            f"delete {WORKFLOWS}/utils/update-status.sh",
        ]
    }


ENVIRONMENT = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: {name}
spec:
  controlPlane:
    repo: {url}/acme/control-plane
    branch: fleets
    path: {name}
"""


def test_environments_in_folders_of_one_branch_that_holds_nothing_yet(acme: Acme) -> None:
    """Each environment proposes to its own branch of the GitOps repository."""
    names = ("dev", "stage")
    objects = {
        f".environments/{name}.yaml": ENVIRONMENT.format(name=name, url=acme.url) for name in names
    }
    acme.create(objects)
    acme.init()
    files, main = acme.files("fleets"), acme.branches()["main"]
    assert acme.branches(GITOPS).keys() == {"main", *names}
    for name in names:
        assert f"branch: {name}\n" in files[f"{name}/gitops-repo.yaml"]
        assert f"commit: {main}\n" in files[f"{name}/base-repo.yaml"]
    assert outline(acme.init()) == {}


def test_main_is_not_the_default_branch(acme: Acme) -> None:
    acme.create({"README.md": "x"}, default_branch="trunk")
    acme.sandbox.commit(CONTROL_PLANE, {"README.md": "y"}, branch="main")
    (warning,) = acme.init().warnings
    assert warning.message == "the default branch is trunk, but the chain uses main"
    assert warning.advice == "make main the default branch, or delete it"


def test_upstreams_other_files_are_deleted_on_request(acme: Acme) -> None:
    upstream.found(acme)
    seen = acme.init(delete_upstream_workflows=True, decide=lambda _: None)
    assert "Delete upstream's workflow files" not in {task.title for task in seen.remaining}
    document = acme.init(delete_upstream_workflows=True)
    assert "Delete upstream's workflow files" not in {task.title for task in document.remaining}
    left = sorted(path for path in acme.files("main") if path.startswith(WORKFLOWS))
    names = ("cd", "check-promote", "ci", "lint", "poll", "preview-comment", "preview", "report")
    assert left == [f"{WORKFLOWS}/{name}.yaml" for name in (*names, "rollback", "schedule")]
    assert outline(acme.init()) == {}


@pytest.mark.skipif(not DATA.is_dir(), reason="the real control planes are not on this machine")
@pytest.mark.parametrize("form", ["kalypso-2023-02-old-form", "kalypso-2024-04-current-form"])
def test_real_control_planes(acme: Acme, form: str, tmp_path: Path) -> None:
    """The real files, with another server in their URLs."""

    def files(branch: str) -> dict[str, str | bytes | None]:
        folder = tmp_path / branch
        if not (DATA / form / branch).is_dir():
            return {}
        shutil.copytree(DATA / form / branch, folder)
        return {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            .replace(
                "https://github.com/microsoft/kalypso-control-plane", f"{acme.url}/{CONTROL_PLANE}"
            )
            .replace("https://github.com/microsoft/kalypso-gitops", f"{acme.url}/{GITOPS}")
            for path in folder.rglob("*")
            if path.is_file()
        }

    acme.create(files("control-plane-main"), {"README.md": "x"})
    for branch in ("dev", "stage"):
        content = files(f"control-plane-{branch}")
        if content:
            acme.sandbox.commit(CONTROL_PLANE, content, branch=branch)
    acme.sandbox.commit(GITOPS, files("gitops-dev"), branch="dev")
    before = {branch: acme.files(branch) for branch in ("main", "dev")}
    document = acme.init()
    assert document.environments == ("dev", "stage")
    assert document.warnings == ()
    for branch, texts in before.items():
        after = acme.files(branch)
        assert texts.items() <= after.items()
        assert all(path.startswith(WORKFLOWS) for path in after.keys() - texts.keys())
    assert outline(acme.init()) == {}


def edited(acme: Acme) -> str:
    """Change the mode of cd, and return the file's text."""
    path = f"{WORKFLOWS}/cd.yaml"
    text = acme.files("main")[path].replace("# mode: pull-request", "mode: pull-request")
    acme.sandbox.commit(CONTROL_PLANE, {path: text})
    return text


def test_a_workflow_that_people_have_changed_stays(acme: Acme) -> None:
    acme.create()
    acme.init(environments="dev")
    text = edited(acme)
    document = acme.init()
    assert outline(document) == {"acme/control-plane@main": [f"update {WORKFLOWS}/cd.yaml"]}
    assert not document.written
    assert acme.files("main")[f"{WORKFLOWS}/cd.yaml"] == text
    (warning,) = document.warnings
    assert warning.message == "on main: the workflow differs from the template; it stays unchanged"
    allow = "Allow GitHub Actions to create and approve pull requests"
    assert allow in {task.title for task in document.remaining}
    (file,) = document.branches[-1].files
    assert "-          mode: pull-request\n+          # mode: pull-request\n" in file.diff
    assert not file.written


def test_it_is_overwritten_on_request(acme: Acme) -> None:
    acme.create()
    acme.init(environments="dev")
    template = acme.files("main")[f"{WORKFLOWS}/cd.yaml"]
    edited(acme)
    document = acme.init(lambda _: Consent(update_workflows=True), yes=False)
    assert document.written
    assert document.warnings == ()
    assert acme.files("main")[f"{WORKFLOWS}/cd.yaml"] == template


def test_a_workflow_of_somebody_else_stays(acme: Acme) -> None:
    own = "name: Lint\non: push\njobs: {}\n"
    acme.create({f"{WORKFLOWS}/ci.yaml": own})
    document = acme.init(environments="dev")
    assert acme.files("main")[f"{WORKFLOWS}/ci.yaml"] == own
    (warning,) = document.warnings
    assert warning.message == (
        "on main: the workflow is somebody else's workflow; it stays unchanged"
    )
    assert warning.advice == "--update-workflows writes the template"


def test_windows_line_ends_are_no_difference(acme: Acme) -> None:
    acme.create()
    acme.init(environments="dev")
    path = f"{WORKFLOWS}/ci.yaml"
    acme.sandbox.commit(CONTROL_PLANE, {path: acme.files("main")[path].replace("\n", "\r\n")})
    assert outline(acme.init()) == {}


def test_files_that_people_have_changed_or_removed_are_theirs(acme: Acme) -> None:
    acme.create()
    acme.init(environments="dev")
    acme.sandbox.commit(
        CONTROL_PLANE, {"templates/argocd.yaml": None, "config/common.yaml": "# none\n"}
    )
    acme.sandbox.commit(CONTROL_PLANE, {"policies/hello-world.yaml": None}, branch="dev")
    assert outline(acme.init()) == {}


@breaks(
    "the environment before a new one does not name it",
    turned(next_environment_changes, "reasons.items()", "()"),
)
def test_another_environment_is_added_to_a_control_plane(acme: Acme) -> None:
    acme.create()
    acme.init()
    before = acme.files("main")[".environments/stage.yaml"]
    document = acme.init(environments="dev,stage,prod")
    assert document.environments == ("dev", "stage", "prod")
    added = outline(document)
    assert added["acme/control-plane@main"] == [
        "add .environments/prod.yaml",
        "annotate .environments/stage.yaml",
    ]
    annotation = "  annotations:\n    kalypso.io/next-environment: prod\n"
    assert acme.files("main")[".environments/stage.yaml"] == before.replace(
        "  name: stage\n", f"  name: stage\n{annotation}"
    )
    assert "add cluster-types/standard.yaml" in added["acme/control-plane@prod"]
    assert "acme/gitops@prod" in added
    assert "acme/gitops@main" not in added
    assert not [task.title for task in document.remaining if "comes before" in task.title]
    assert outline(acme.init(environments="dev,stage,prod")) == {}


def test_without_its_place_in_the_order_people_say_what_comes_before(acme: Acme) -> None:
    acme.create()
    acme.init()
    document = acme.init(environments="prod")
    (task,) = [task for task in document.remaining if "comes before" in task.title]
    assert task.title == "Say what comes before prod"
    assert task.lines[-1] == "    kalypso.io/next-environment: prod"


def test_an_environment_that_proposes_elsewhere_is_reported(acme: Acme) -> None:
    upstream.found(acme)
    text = upstream.gitops_repo(acme.url, "dev", "acme/other")
    acme.sandbox.commit(CONTROL_PLANE, {"gitops-repo.yaml": text}, branch="dev")
    document = acme.init()
    assert "acme/gitops@dev" not in outline(document)
    assert [warning.message for warning in document.warnings] == [
        f"environment dev proposes to {acme.url}/acme/other, not to acme/gitops: nothing is "
        "written for it there"
    ]


def test_a_control_plane_without_environments_needs_their_names(acme: Acme) -> None:
    acme.create({"template.yaml": upstream.TEMPLATE})
    with pytest.raises(UsageError, match="has no Environment objects"):
        acme.init()
    acme.init(environments="dev")
    assert "templates/flux.yaml" not in acme.files("main")
    assert "cluster-types/standard.yaml" not in acme.files("dev")


def test_an_environment_on_main_itself_is_refused(acme: Acme) -> None:
    object_on_main = upstream.environment(acme.url, "dev").replace("branch: dev", "branch: main")
    acme.create({"dev.yaml": object_on_main})
    with pytest.raises(KalypsoError, match="is on the branch main, where promotion starts"):
        acme.init()


@pytest.mark.parametrize("branch", ["main", "dev"])
def test_an_unreadable_branch_is_not_absent(acme: Acme, branch: str) -> None:
    upstream.found(acme)
    broken = upstream.TEMPLATE.replace("]}", "}")
    acme.sandbox.commit(CONTROL_PLANE, {"broken.yaml": broken, "chart.yaml": "{{ x"}, branch=branch)
    before = acme.state()
    with pytest.raises(KalypsoError, match="not valid YAML") as caught:
        acme.init()
    assert [problem.where and problem.where.path for problem in caught.value.problems] == [
        "broken.yaml"
    ]
    assert acme.state() == before


def test_files_of_others_are_ignored(acme: Acme) -> None:
    acme.create({"chart.yaml": "{{ x", "values.yaml": "a: b\n", ".github/dependabot.yml": "v: 2\n"})
    assert acme.init(environments="dev").written
    assert "templates/flux.yaml" in acme.files("main")
