"""The plans of the branches, and their order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.onboarding.branches import (
    BranchState,
    Consent,
    OnboardingChange,
    additions,
    plan_branches,
    unified_diff,
    workflow_changes,
)
from kalypso_actions.onboarding.files import (
    StarterFiles,
    WorkflowFiles,
    scalar,
    with_next_environment,
)
from kalypso_actions.onboarding.setup import (
    EnvironmentSetup,
    RepositorySetup,
    Setup,
    environment_setups,
)
from tests.breaks import breaks, turned
from tests.builders import HERE

STARTER = StarterFiles(
    {
        "control-plane/main/README.md": "see GITOPS_URL\n",
        "control-plane/main/registration.yaml": "repo: GITOPS_URL\nbranch: GITOPS_MAIN\n",
        "control-plane/environments/first-environment.yaml": "first: ENVIRONMENT\nnext: NEXT\n",
        "control-plane/environments/environment.yaml": "name: ENVIRONMENT\nnext: NEXT\n",
        "control-plane/environments/last-environment.yaml": "name: ENVIRONMENT\n",
        "control-plane/environments/only-environment.yaml": "first: ENVIRONMENT\n",
        "control-plane/environment/gitops-repo.yaml": "repo: GITOPS_URL\nbranch: ENVIRONMENT\n",
        "control-plane/environment/policy.yaml": "# of ENVIRONMENT, not MY_ENVIRONMENT\n",
        "gitops/main/README.md": "see CONTROL_PLANE_URL\n",
        "gitops/main/workload.yaml": "targets:\n    - name: ENVIRONMENT\n      repo: GITOPS_URL\n",
        "gitops/environment/README.md": "clusters\n",
    }
)
FORMER = ".github/workflows/schedule.yaml"
START = ".github/workflows/start-schedule.yaml"
WORKFLOWS = WorkflowFiles(
    main={".github/workflows/ci.yaml": "ci"},
    environment={".github/workflows/start-schedule.yaml": "schedule"},
    gitops={".github/workflows/check-promote.yaml": "check"},
)
TEMPLATES = frozenset(("Template", name) for name in ("flux", "namespace", "config-map"))


def environment(
    name: str, *, is_new: bool = True, after: str = "", path: str = "."
) -> EnvironmentSetup:
    return EnvironmentSetup(name, name, path, is_new, after, (name,))


def setup(*environments: EnvironmentSetup, is_new: bool = True) -> Setup:
    return Setup(
        RepositorySetup("control plane", "a/cp", "https://x/a/cp", "main"),
        RepositorySetup("GitOps repository", "a/go", "https://x/a/go", "trunk"),
        environments,
        is_new,
    )


def planned(
    made: Setup, states: dict[tuple[str, str], BranchState] | None = None
) -> dict[str, dict[str, str | None]]:
    """Return the new texts, by repository and branch, in the order of writing."""
    return {
        f"{plan.repository.name}@{plan.branch}": {
            change.path: change.after for change in plan.changes
        }
        for plan in plan_branches(made, states or {}, STARTER, WORKFLOWS, "base")
    }


def test_everything_new() -> None:
    made = setup(environment("dev", after="stage"), environment("stage"))
    plans = planned(made)
    assert list(plans) == [
        "a/go@dev",
        "a/go@stage",
        "a/go@trunk",
        "a/cp@dev",
        "a/cp@stage",
        "a/cp@main",
    ]
    assert plans["a/go@trunk"] == {
        ".github/workflows/check-promote.yaml": "check",
        "README.md": "see https://x/a/cp\n",
        "workload.yaml": "targets:\n"
        "    - name: dev\n      repo: https://x/a/go\n"
        "    - name: stage\n      repo: https://x/a/go\n",
    }
    assert plans["a/go@dev"] == {
        ".github/workflows/check-promote.yaml": "check",
        "README.md": "clusters\n",
    }
    assert plans["a/cp@dev"] == {
        ".github/workflows/start-schedule.yaml": "schedule",
        "base-repo.yaml": "base",
        "gitops-repo.yaml": "repo: https://x/a/go\nbranch: dev\n",
        "policy.yaml": "# of dev, not MY_ENVIRONMENT\n",
    }
    assert plans["a/cp@main"] == {
        ".github/workflows/ci.yaml": "ci",
        ".environments/dev.yaml": "name: dev\nnext: stage\n",
        ".environments/stage.yaml": "name: stage\n",
        "README.md": "see https://x/a/go\n",
        "registration.yaml": "repo: https://x/a/go\nbranch: trunk\n",
    }


def test_the_first_environment_is_annotated() -> None:
    first = replace(environment("dev", after="stage"), is_first=True)
    made = setup(first, environment("stage", after="prod"), environment("prod"))
    plans = planned(made)["a/cp@main"]
    assert [plans[f".environments/{name}.yaml"] for name in ("dev", "stage", "prod")] == [
        "first: dev\nnext: stage\n",
        "name: stage\nnext: prod\n",
        "name: prod\n",
    ]
    only = planned(setup(replace(environment("dev"), is_first=True)))["a/cp@main"]
    assert only[".environments/dev.yaml"] == "first: dev\n"


def test_an_environment_in_a_folder_of_its_branch_and_others_on_one_gitops_branch() -> None:
    dev = EnvironmentSetup("dev", "dev", "fleet/dev", is_new=False, gitops_branches=("trunk",))
    plans = planned(setup(dev, is_new=False))
    assert list(plans) == ["a/go@trunk", "a/cp@dev", "a/cp@main"]
    assert list(plans["a/cp@dev"]) == [
        ".github/workflows/start-schedule.yaml",
        "fleet/dev/base-repo.yaml",
        "fleet/dev/gitops-repo.yaml",
    ]
    assert plans["a/cp@main"] == {".github/workflows/ci.yaml": "ci"}


def test_environments_in_folders_of_one_branch() -> None:
    """The branch has one plan, for all of its environments."""
    first, other = (
        EnvironmentSetup(name, "fleets", f"fleet/{name}", is_new=False, gitops_branches=(name,))
        for name in ("dev", "stage")
    )
    plans = planned(setup(first, other, is_new=False))
    assert list(plans) == ["a/go@dev", "a/go@stage", "a/go@trunk", "a/cp@fleets", "a/cp@main"]
    assert plans["a/cp@fleets"] == {
        ".github/workflows/start-schedule.yaml": "schedule",
        "fleet/dev/base-repo.yaml": "base",
        "fleet/dev/gitops-repo.yaml": "repo: https://x/a/go\nbranch: dev\n",
        "fleet/stage/base-repo.yaml": "base",
        "fleet/stage/gitops-repo.yaml": "repo: https://x/a/go\nbranch: stage\n",
    }


@pytest.mark.parametrize(
    ("documents", "has_samples"), [(TEMPLATES, True), (frozenset(sorted(TEMPLATES)[:2]), False)]
)
def test_samples_come_where_main_has_their_templates(
    documents: frozenset[tuple[str, str]], *, has_samples: bool
) -> None:
    states = {("control plane", "main"): BranchState("1", documents=documents)}
    plans = planned(setup(environment("dev"), is_new=False), states)
    assert ("policy.yaml" in plans["a/cp@dev"]) is has_samples


def test_a_branch_that_holds_something_of_kalypso_gets_its_workflow_alone() -> None:
    held = BranchState("1", frozenset({"x.yaml"}), {}, frozenset({("ClusterType", "x")}))
    states = {("control plane", "dev"): held, ("GitOps repository", "dev"): BranchState("2")}
    plans = planned(setup(environment("dev", is_new=False), is_new=False), states)
    assert list(plans["a/cp@dev"]) == [".github/workflows/start-schedule.yaml"]
    assert list(plans["a/go@dev"]) == [".github/workflows/check-promote.yaml"]


def test_a_gitops_repository_without_any_commit_begins_with_its_default_branch() -> None:
    made = setup(environment("dev", is_new=False), is_new=False)
    workflow = {".github/workflows/check-promote.yaml": "check"}
    assert planned(made)["a/go@trunk"] == {**workflow, "README.md": "see https://x/a/cp\n"}
    states = {("GitOps repository", "trunk"): BranchState("1")}
    assert planned(made, states)["a/go@trunk"] == workflow


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (
            "        with:\n          run: start-schedule\n",
            {FORMER: ("update", None), START: ("update", "schedule")},
        ),
        ("uses: x/kalypso-actions/actions/schedule@v0\n", {START: ("add", "schedule")}),
    ],
    ids=["the former name", "a copy of main's workflow"],
)
def test_the_workflow_of_an_environment_s_branch_moves_to_its_present_name(
    text: str, changes: dict[str, tuple[str, str | None]]
) -> None:
    held = BranchState("1", frozenset({FORMER}), {FORMER: text}, frozenset({("ClusterType", "x")}))
    made = setup(environment("dev", is_new=False), is_new=False)
    plans = plan_branches(made, {("control plane", "dev"): held}, STARTER, WORKFLOWS, "base")
    (plan,) = [plan for plan in plans if (plan.branch, plan.repository.name) == ("dev", "a/cp")]
    assert {change.path: (change.action, change.after) for change in plan.changes} == changes


@pytest.mark.parametrize("taken", [".github/workflows/ci.yaml", ".github/workflows", ".github"])
def test_a_link_where_a_workflow_belongs_is_not_replaced_without_consent(taken: str) -> None:
    (change,) = workflow_changes(WORKFLOWS.main, {}, {taken})
    assert change.action == "update"
    assert not Consent().covers(change.action)


@pytest.mark.parametrize("taken", ["a/b.yaml", "a", "a/b.yaml/c"])
def test_obstacles_stay(taken: str) -> None:
    kept = additions({"a/b.yaml": "x"}, [taken])
    assert (kept == []) is (taken != "a/b.yaml/c")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("dev", "dev"),
        ("https://github.com/a/b", "https://github.com/a/b"),
        ("release/v1", "release/v1"),
        ("on", '"on"'),
        ("No", '"No"'),
        ("1e3", '"1e3"'),
        ("123", '"123"'),
        ("a #b", '"a #b"'),
        ("a:", '"a:"'),
        ("", '""'),
    ],
)
def test_names_stay_texts(name: str, written: str) -> None:
    assert scalar(name) == written


@pytest.mark.parametrize(
    ("consent", "covered"),
    [
        (Consent(), ["add", "replace"]),
        (Consent(update_workflows=True), ["add", "replace", "update"]),
        (Consent(delete_upstream_workflows=True), ["add", "replace", "delete"]),
    ],
)
def test_the_writes_that_consent_covers(consent: Consent, covered: list[str]) -> None:
    actions = ("add", "replace", "update", "delete")
    assert [action for action in actions if consent.covers(action)] == covered


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        (None, "a\n", "--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+a\n"),
        ("a\n", None, "--- a/p\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        ("a", "b\n", "--- a/p\n+++ b/p\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"),
    ],
)
def test_diffs(before: str | None, after: str | None, diff: str) -> None:
    assert unified_diff(OnboardingChange("p", "add", before, after)) == diff


OBJECT = "kind: Environment\nmetadata:\n  name: dev # ours\n"
NEXT = "kalypso.io/next-environment"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        pytest.param(
            f"{OBJECT}spec: {{}}\n",
            f"{OBJECT}  annotations:\n    {NEXT}: prod\nspec: {{}}\n",
            id="no annotation",
        ),
        pytest.param(
            f"{OBJECT}  annotations:\n    {NEXT}: stage # later\n",
            f"{OBJECT}  annotations:\n    {NEXT}: prod # later\n",
            id="another",
        ),
        pytest.param(
            f"{OBJECT}  annotations:\n    {NEXT}:\n",
            f"{OBJECT}  annotations:\n    {NEXT}: prod\n",
            id="an empty one",
        ),
        pytest.param(
            f"{OBJECT}  annotations:\n    a: b\n  labels: {{}}\n",
            f"{OBJECT}  annotations:\n    a: b\n    {NEXT}: prod\n  labels: {{}}\n",
            id="beside others",
        ),
        pytest.param(
            "{kind: Environment, metadata: {name: dev}}",
            f"{{kind: Environment, metadata: {{name: dev, annotations: {{{NEXT}: prod}}}}}}",
            id="flow style",
        ),
        pytest.param(
            f"{OBJECT.replace('dev', 'qa')}---\r\n{OBJECT}".replace("\n", "\r\n"),
            f"{OBJECT.replace('dev', 'qa')}---\r\n{OBJECT}  annotations:\n    {NEXT}: prod\n".replace(
                "\n", "\r\n"
            ),
            id="the second document, and line ends of Windows",
        ),
        pytest.param(f"{OBJECT}---\n{OBJECT}", None, id="two of one name"),
        pytest.param("kind: [", None, id="no YAML"),
        pytest.param(f"{OBJECT}  annotations: []\n", None, id="no mapping"),
        pytest.param(OBJECT.replace("dev", "qa"), None, id="another environment"),
    ],
)
def test_the_next_environment_of_an_object(text: str, edited: str | None) -> None:
    text, wanted = text.replace("\r\r", "\r"), edited and edited.replace("\r\r", "\r")
    assert with_next_environment(text, "dev", "prod") == wanted


@breaks(
    "a new environment stands beside those that come after it",
    turned("kalypso_actions.onboarding.setup._names_after", "name not in later", "True"),
    case="between",
)
@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        pytest.param("", "dev,qa", "qa", id="at the end"),
        pytest.param("stage", "dev,qa,stage", "qa", id="between"),
        pytest.param("perf", "dev,qa", "perf,qa", id="beside another"),
        pytest.param("", "qa,dev", "", id="before it"),
        pytest.param("", "dev,stage", "", id="no new one"),
    ],
)
def test_what_comes_after_an_existing_environment(before: str, names: str, after: str) -> None:
    existing = {
        name: Environment(
            name, RepositoryPath("", name, "."), {NEXT: before} if name == "dev" else {}, HERE, HERE
        )
        for name in ("dev", "stage", "perf")
    }
    control_plane = setup().control_plane
    made = environment_setups(control_plane, existing, names.split(","), (), (), is_new=False)
    assert made[0].next_environment == after
