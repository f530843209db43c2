"""Empty repositories, and repositories with only a README."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kalypso_actions import __version__
from kalypso_actions.commands.render import render
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.validate import validate
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.local import DEFAULT_ACTION, RenderInputs, ValidateInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.init_document import InitDocument
from tests.commands.chain.killing import is_killed
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, WORKFLOWS, Acme, outline
from tests.git_repositories import git, programs

OF_MAIN = [
    ".environments/dev.yaml",
    ".environments/stage.yaml",
    *(f"{WORKFLOWS}/{name}.yaml" for name in ("cd", "check-promote", "ci", "poll")),
    *(f"{WORKFLOWS}/{name}.yaml" for name in ("preview-comment", "preview", "report", "rollback")),
    f"{WORKFLOWS}/schedule.yaml",
    ".sourceignore",
    ".vscode/settings.json",
    "README.md",
    "config/common.yaml",
    "registrations/hello-world.yaml",
    *(f"templates/{name}.yaml" for name in ("argocd", "config-map", "flux", "namespace")),
]
OF_ENVIRONMENT = [
    f"{WORKFLOWS}/preview.yaml",
    f"{WORKFLOWS}/start-schedule.yaml",
    ".vscode/settings.json",
    "base-repo.yaml",
    "cluster-types/standard.yaml",
    "config/environment.yaml",
    "gitops-repo.yaml",
    "policies/hello-world.yaml",
]
OF_GITOPS = [f"{WORKFLOWS}/check-promote.yaml", "README.md"]
OF_GITOPS_MAIN = [
    f"{WORKFLOWS}/check-promote.yaml",
    "README.md",
    "hello-world/manifests/deployment.yaml",
    "hello-world/workload/workload.yaml",
]


def problems_of(acme: Acme) -> list[str]:
    """Check the repositories with validate and render."""
    context = LocalContext(programs(), no_progress)
    own = acme.folder / "control-plane.git"
    gitops = acme.folder / "gitops.git"
    for name, path in ((CONTROL_PLANE, own), (GITOPS, gitops)):
        git(
            acme.folder,
            "clone",
            "--quiet",
            "--bare",
            str(acme.sandbox.git(name).git_dir),
            path.name,
        )
    result = validate(ValidateInputs(places=(str(own),)), context)
    problems = [*result.warnings, *result.problems]
    for environment in ("dev", "stage"):
        inputs = RenderInputs.model_validate(
            {
                "environment": environment,
                "control_plane": str(own),
                "gitops": f"{gitops}@{environment}",
                "source": [
                    f"{acme.url}/{CONTROL_PLANE}={own}",
                    f"{acme.url}/{GITOPS}={gitops}",
                ],
            }
        )
        rendered = render(inputs, context)
        problems += [*rendered.warnings, *rendered.problems]
        assert [assignment.deployment_target for assignment in rendered.assignments] == [
            f"hello-world-{environment}"
        ]
    return [str(problem.finding()) for problem in problems]


def test_two_empty_repositories(acme: Acme) -> None:
    acme.create()
    document = acme.init()
    assert document.written
    assert sorted(acme.branches()) == ["dev", "main", "stage"]
    assert sorted(acme.branches(GITOPS)) == ["dev", "main", "stage"]
    assert sorted(acme.files("main")) == sorted(OF_MAIN)
    assert sorted(acme.files("main", GITOPS)) == OF_GITOPS_MAIN
    for environment in ("dev", "stage"):
        assert sorted(acme.files(environment)) == OF_ENVIRONMENT
        assert sorted(acme.files(environment, GITOPS)) == OF_GITOPS
        base = acme.files(environment)["base-repo.yaml"]
        assert f"commit: {acme.branches()['main']}\n" in base
    assert problems_of(acme) == []


def test_the_second_run_has_nothing_to_do(acme: Acme) -> None:
    acme.create()
    acme.init()
    before = acme.state()
    document = acme.init()
    assert outline(document) == {}
    assert not document.written
    assert acme.state() == before


def test_existing_files_stay(acme: Acme) -> None:
    acme.create({"README.md": "ours\n", "LICENSE": "MIT"}, {"README.md": "theirs\n"})
    acme.init()
    assert acme.files("main")["README.md"] == "ours\n"
    assert acme.files("main", GITOPS)["README.md"] == "theirs\n"
    assert set(OF_MAIN) | {"LICENSE"} == acme.files("main").keys()
    assert problems_of(acme) == []


def test_environments_come_in_the_order_in_which_they_are_named(acme: Acme) -> None:
    acme.create()
    document = acme.init(environments="test, on,1")
    assert document.environments == ("test", "on", "1")
    objects = {
        path: text for path, text in acme.files("main").items() if path.startswith(".environments")
    }
    assert 'next-environment: "on"\n' in objects[".environments/test.yaml"]
    assert 'next-environment: "1"\n' in objects[".environments/on.yaml"]
    assert "next-environment:" not in objects[".environments/1.yaml"]
    assert {"test", "on", "1"} < acme.branches().keys()
    context = LocalContext(programs(), no_progress)
    for branch in ("main", "on", "1"):
        folder = acme.folder / f"branch-{branch}"
        for path, text in acme.files(branch).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        assert validate(ValidateInputs(places=(str(folder),)), context).problems == ()


def test_one_environment_is_enough(acme: Acme) -> None:
    acme.create()
    acme.init(environments="prod")
    assert sorted(acme.branches()) == ["main", "prod"]
    assert "next-environment:" not in acme.files("main")[".environments/prod.yaml"]


def test_another_default_branch(acme: Acme) -> None:
    acme.create(default_branch="trunk")
    acme.init()
    assert sorted(acme.branches()) == ["dev", "stage", "trunk"]
    assert "branches: [trunk]\n" in acme.files("trunk")[f"{WORKFLOWS}/ci.yaml"]
    assert "branch: trunk\n" in acme.files("dev")["base-repo.yaml"]
    assert "branch: trunk\n" in acme.files("trunk")["registrations/hello-world.yaml"]


def test_the_actions_can_come_from_a_mirror(acme: Acme) -> None:
    acme.create()
    acme.init(action="acme/kalypso@v1.2.3")
    for branch, repository in (("main", CONTROL_PLANE), ("dev", CONTROL_PLANE), ("dev", GITOPS)):
        texts = [
            text
            for path, text in acme.files(branch, repository).items()
            if path.startswith(WORKFLOWS)
        ]
        assert texts
        for text in texts:
            uses = [line.split("uses: ")[1] for line in text.splitlines() if " uses: " in line]
            assert uses
            own = [action for action in uses if not action.startswith("actions/")]
            assert own
            assert all(
                action.startswith("acme/kalypso") and action.endswith("@v1.2.3") for action in own
            )
    notify = acme.files("dev", GITOPS)[f"{WORKFLOWS}/check-promote.yaml"]
    assert f"control-plane: {CONTROL_PLANE}\n" in notify


def test_killed_at_any_moment_the_next_run_completes_it(acme: Acme) -> None:
    acme.create()
    writes = 0
    while is_killed(writes, acme.init):
        writes += 1
        assert "main" in acme.branches(GITOPS) or not acme.branches(GITOPS)
        assert "main" in acme.branches() or not acme.branches()
    assert writes >= 1
    assert sorted(acme.files("main")) == sorted(OF_MAIN)
    for environment in ("dev", "stage"):
        assert sorted(acme.files(environment)) == OF_ENVIRONMENT
        assert sorted(acme.files(environment, GITOPS)) == OF_GITOPS
    assert outline(acme.init()) == {}


def test_without_consent_nothing_is_written(acme: Acme) -> None:
    acme.create()
    document = acme.init(lambda _: None)
    assert not document.written
    assert acme.state() == {CONTROL_PLANE: {}, GITOPS: {}}
    assert not any(file.written for branch in document.branches for file in branch.files)


def test_a_branch_that_somebody_else_makes_meanwhile_is_not_overwritten(acme: Acme) -> None:
    acme.create({"README.md": "x"}, {"README.md": "x"})

    def decide(_: InitDocument) -> Consent:
        acme.sandbox.commit(CONTROL_PLANE, {"mine.txt": "x"}, branch="dev")
        return Consent()

    with pytest.raises(KalypsoError, match="another push has changed the branch 'dev'"):
        acme.init(decide)
    assert acme.files("dev") == {"mine.txt": "x"}
    assert "main" in acme.branches()
    assert list(acme.files("main")) == ["README.md"]


@pytest.mark.parametrize(
    ("options", "annotation"),
    [
        ({}, "kalypso.io/compliance: none"),
        ({"cluster_reports": "argocd"}, "kalypso.io/compliance: none"),
        ({"cluster_reports": "azure-resource-graph"}, ""),
        (
            {"cluster_reports": "commit-statuses", "clusters": "dev=b,dev=a"},
            'kalypso.io/clusters: "b, a"',
        ),
    ],
)
def test_the_sample_cluster_type_says_which_clusters_report(
    acme: Acme, options: dict[str, Any], annotation: str
) -> None:
    acme.create()
    acme.init(**options)
    text = acme.files("dev")["cluster-types/standard.yaml"]
    assert re.findall(r"kalypso\.io/c.*", text) == ([annotation] if annotation else [])
    problems_of(acme)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ({}, "has kalypso.io/compliance: none"),
        ({"cluster_reports": "azure-resource-graph"}, "lists no cluster"),
        ({"cluster_reports": "argocd", "clusters": "dev=one"}, "lists one"),
        ({"cluster_reports": "commit-statuses", "clusters": "dev=one,dev=two"}, ""),
    ],
)
def test_a_second_run_compares_the_clusters(acme: Acme, first: dict[str, Any], told: str) -> None:
    acme.create()
    acme.init(**first)
    before = acme.files("dev")
    document = acme.init(cluster_reports="commit-statuses", clusters="dev=two")
    assert acme.files("dev") == before
    warned = [
        each.message for each in document.warnings if "the cluster type standard" in each.message
    ]
    assert [
        text.removeprefix("dev: the cluster type standard ").split(",")[0] for text in warned
    ] == ([told] if told else [])
    lines = [line for task in document.remaining for line in task.lines]
    line = "# dev: annotate its cluster types kalypso.io/clusters: two;"
    assert any(each.startswith(line) for each in lines) == bool(told)


@pytest.mark.parametrize("is_second", [False, True])
def test_one_argocd_gets_a_template_for_clusters_without_their_own(
    acme: Acme, is_second: bool
) -> None:
    acme.create()
    if is_second:
        acme.init()
    document = acme.init(cluster_reports="argocd", clusters="dev=berlin-1")
    assert "name: argocd-hub\n" in acme.files("main")["templates/argocd-hub.yaml"]
    sample = acme.files("dev")["cluster-types/standard.yaml"]
    assert ("reconciler: argocd-hub" in sample) != is_second
    lines = [line for task in document.remaining for line in task.lines]
    assert any(line.endswith("write reconciler: argocd-hub") for line in lines) == is_second
    assert problems_of(acme) == []


def test_clusters_of_an_existing_environment_are_left_to_its_people(acme: Acme) -> None:
    fleet = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: edge}\n"
    acme.create()
    acme.init(environments="dev")
    removed = {"cluster-types/standard.yaml": None, "edge.yaml": fleet}
    acme.sandbox.commit(CONTROL_PLANE, removed, branch="dev")
    document = acme.init(cluster_reports="commit-statuses", clusters="dev=berlin-1,moon=rome")
    told = [warning.message for warning in document.warnings]
    assert [text.partition(" has no ")[0] for text in told] == [
        "--clusters: dev",
        "--clusters: moon",
    ]
    assert "clusters/dev/berlin-1.yaml" not in acme.files("main", GITOPS)


@pytest.mark.parametrize("pair", ["berlin-1", "=berlin-1", "dev=", "dev=Berlin", "dev=a/b"])
def test_a_cluster_needs_an_environment_and_a_name(acme: Acme, pair: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{pair!r}")):
        acme.init(clusters=pair)


def test_the_actions_are_pinned_to_the_commit_of_the_version(acme: Acme) -> None:
    acme.create()
    warnings = acme.init(lambda _: None, action="").warnings
    assert any("by the tag v0: whoever can move it" in warning.message for warning in warnings)
    actions = DEFAULT_ACTION.partition("@")[0]
    acme.sandbox.create_repository(actions, {"action.yml": ""})
    git = acme.sandbox.git(actions)
    commit = git.head("main")
    with acme.sandbox.lock:
        git.update_ref(f"refs/tags/v{__version__}", commit, None)
    document = acme.init(action="")
    assert not any("by the tag" in warning.message for warning in document.warnings)
    texts = [
        content.decode()
        for repository in (CONTROL_PLANE, GITOPS)
        for path, content in acme.sandbox.git(repository).files("main").items()
        if path.startswith(".github/workflows/")
    ]
    used = [line for text in texts for line in text.splitlines() if f"uses: {actions}" in line]
    assert used and all(line.endswith(f"@{commit} # v{__version__}") for line in used)
    assert not acme.init(action="").written
