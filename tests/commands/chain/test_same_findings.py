"""All commands that plan tell the same faults of an environment, at the same place, in one text.

The chain's commands look at acme before and after a change with random faults of one environment;
the local commands read the same repositories by git.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Final

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.promotion_policy import POLICY_API, POLICY_FILE, POLICY_KIND
from tests.commands.chain import ci_runs, documents, previews, proposals
from tests.commands.chain.findings import Finding, found, local, of_chain
from tests.commands.chain.organisation import CONTROL_PLANE, ENVIRONMENTS, GITOPS, Organisation
from tests.commands.chain.random_planes import RandomPlane

API: Final = "apiVersion: scheduler.kalypso.io/v1alpha1\n"

FAULTS: Final[dict[str, tuple[str, str]]] = {
    "an unknown field": (
        "field-unknown",
        documents.cluster_type("tiny", colour="red"),
    ),
    "a policy for a cluster type that nobody has": (
        "policy-without-cluster-types",
        documents.policy("huge", size="huge"),
    ),
    "two equal policies": ("policies-equal", documents.policy("again")),
    "configuration that applies nowhere": (
        "config-unmatched",
        documents.config_map("north").replace("labels: {", "labels: {region: north, ") + "  A: b\n",
    ),
    "a misspelled label": (
        "config-label-wrong",
        documents.config_map("odd", A="b").replace("platform-config", "platform_config"),
    ),
    "a Template of another type": (
        "template-type-wrong",
        documents.cluster_type("odd", configType="namespace"),
    ),
    "a schema that checks nothing": (
        "schema-unmatched",
        documents.config_schema("odd").replace("{name: odd}", "{name: odd, labels: {size: odd}}"),
    ),
    "a keyword that JSON Schema does not know": (
        "schema-keyword-unknown",
        documents.config_schema("keyword").replace("required", "requierd"),
    ),
    "a target of another environment": (
        "target-environment-other",
        f"{API}kind: DeploymentTarget\nmetadata: {{name: elsewhere, labels: {{a: b}}}}\n"
        "spec: {environment: stage, manifests: {repo: r, branch: b, path: p}}\n",
    ),
    "a target of an unknown environment": (
        "target-environment-unknown",
        f"{API}kind: DeploymentTarget\nmetadata: {{name: nowhere, labels: {{a: b}}}}\n"
        "spec: {environment: devv, manifests: {repo: r, branch: b, path: p}}\n",
    ),
    "a path with a backslash": (
        "registration-text",
        f"{API}kind: DeploymentTarget\nmetadata: {{name: windows, labels: {{a: b}}}}\n"
        "spec: {environment: dev, manifests: {repo: r, branch: b, path: '.\\deploy'}}\n",
    ),
    "a number that is octal": (
        "config-value-not-text",
        documents.config_map("numbers", STORES="[0012, 0013]"),
    ),
    "a login in Base64": (
        "config-secret",
        documents.config_map("login", REGISTRY="{auth: YWNtZTpTM2NyM3QtcGFzczEy}"),
    ),
    "a policy that is a copy": (
        "policy-of-another",
        f"apiVersion: {POLICY_API}\nkind: {POLICY_KIND}\nmetadata: {{name: stage}}\nspec: {{}}\n",
    ),
    "a policy that requires what comes later": (
        "policy-environment-later",
        f"apiVersion: {POLICY_API}\nkind: {POLICY_KIND}\nmetadata: {{name: promotion}}\n"
        "spec: {requires: {deployed: [stage]}}\n",
    ),
}
"""The code of a fault, and the document of dev that has it."""

FAULTS_OF_MAIN: Final[dict[str, tuple[str, str]]] = {
    "an unknown type of content": (
        "content-type-unknown",
        documents.template("shell", "a: 1\n", "config").replace(
            "spec:\n", "spec:\n  contentType: bash\n"
        ),
    ),
    "configuration that applies nowhere": (
        "config-unmatched",
        documents.config_map("north").replace("labels: {", "labels: {region: north, ") + "  A: b\n",
    ),
    "a field of a Template": (
        "template-field-unknown",
        documents.template("field", "a: {{ .Workspce }}\n"),
    ),
    "a schema that checks nothing": (
        "schema-unmatched",
        documents.config_schema("odd").replace("{name: odd}", "{name: odd, labels: {size: odd}}"),
    ),
}
"""The same for main."""


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(9))])
def test_the_seven_commands_tell_the_same(acme: Organisation, seed: int) -> None:
    chance = random.Random(seed)
    chosen = chance.sample(sorted(name for name in FAULTS if "policy that" not in name), 3)
    chosen[0] = chance.choice([chosen[0], *(name for name in FAULTS if "policy that" in name)])
    files: dict[str, str | bytes | None] = {
        POLICY_FILE if POLICY_KIND in FAULTS[name][1] else f"faults/{number}.yaml": FAULTS[name][1]
        for number, name in enumerate(chosen)
    }
    assert told_locally(acme) == {name: set() for name in ("validate", "render", "report")}
    number = previews.propose(acme, files, base="dev")
    told: dict[str, set[Finding]] = {"preview": of_chain(previews.run(acme).document)}
    acme.merge(number, CONTROL_PLANE)
    told["ci"] = of_chain(ci_runs.run(acme, dry_run="true").document)
    told["schedule"] = of_chain(proposals.run_schedule(acme, dry_run="true").document)
    told |= told_locally(acme)
    expected = told["validate"]
    assert {FAULTS[name][0] for name in chosen} <= {code for code, _, _ in expected}
    assert {name: each ^ expected for name, each in told.items() if each != expected} == {}
    assert known_to_diff(acme) == len(expected)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 5, 6, 7, 9, 10))]
)
def test_random_control_planes(acme: Organisation, seed: int) -> None:
    """Faults stand on any branches; a change of one branch adds more. schedule looks at less."""
    plane = RandomPlane.drawn(random.Random(seed))
    plane.found(acme)
    before = found(local(acme, "validate"))
    number = previews.propose(acme, plane.change, base=plane.changed)
    preview = of_chain(previews.run(acme).document)
    acme.merge(number, CONTROL_PLANE)
    told = {"ci": of_chain(ci_runs.run(acme, dry_run="true").document)}
    for name in plane.environments:
        proposals.promote(acme, acme.head("main") or "", name)
    told |= told_locally(acme, plane.environments)
    expected = told["validate"]
    assert {name: each ^ expected for name, each in told.items() if each != expected} == {}
    for name in plane.environments:
        schedule = proposals.run_schedule(acme, environment=name, dry_run="true")
        assert of_chain(schedule.document) <= expected
    assert expected - before <= preview
    # A fault that stands may be new for an assignment that the change adds.
    assert {where for _, where, _ in preview} <= {where for _, where, _ in expected}


def test_faults_of_main(acme: Organisation) -> None:
    """The objects of main are judged over all environments; schedule looks at one alone."""
    files: dict[str, str | bytes | None] = {
        f"faults/{number}.yaml": text for number, (_, text) in enumerate(FAULTS_OF_MAIN.values())
    }
    number = previews.propose(acme, files)
    told: dict[str, set[Finding]] = {"preview": of_chain(previews.run(acme).document)}
    acme.merge(number, CONTROL_PLANE)
    told["ci"] = of_chain(ci_runs.run(acme, dry_run="true").document)
    for environment in ENVIRONMENTS:
        proposals.promote(acme, acme.head("main") or "", environment)
    told["schedule"] = of_chain(proposals.run_schedule(acme, dry_run="true").document)
    told |= told_locally(acme)
    expected = told["validate"]
    assert {code for code, _ in FAULTS_OF_MAIN.values()} <= {code for code, _, _ in expected}
    assert told.pop("schedule") < expected
    assert {name: each ^ expected for name, each in told.items() if each != expected} == {}


def test_two_gitops_repos_of_one_tree(acme: Organisation) -> None:
    """schedule reads no branch of these; the other commands go on, and a preview fails."""
    second = documents.gitops_repo(acme.url(GITOPS), "dev", "second")
    number = previews.propose(acme, {"second.yaml": second}, base="dev")
    preview = previews.run(acme)
    assert preview.failed
    told = {"preview": of_chain(preview.document)}
    acme.merge(number, CONTROL_PLANE)
    ci = ci_runs.run(acme, dry_run="true")
    assert not ci.failed  # the commit of main has no part in it
    told["ci"] = of_chain(ci.document)
    told |= told_locally(acme)
    text = "GitOpsRepo 'second' names the same tree as 'main'"
    expected = {("gitops-repo-duplicate", "second.yaml:4", text)}
    assert all(each == expected for each in told.values()), told
    with pytest.raises(KalypsoError, match=text):
        proposals.run_schedule(acme)


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "level"),
    [
        ("gitops-repo.yaml", "branch: dev", "branch: stage", "gitops-repo-shared", "problems"),
        ("base-repo.yaml", "name: main", "name: base", "base-repo-missing", "problems"),
        ("base-repo.yaml", "", "", "base-repo-missing", "problems"),
        ("base-repo.yaml", "branch: main", "branch: develop", "base-repo-foreign", "warnings"),
    ],
    ids=[
        "the tree of another environment",
        "another name",
        "no BaseRepo",
        "another branch of main",
    ],
)
def test_a_preview_of_an_environments_branch_tells_what_validate_tells(
    acme: Organisation, file: str, old: str, new: str, code: str, level: str
) -> None:
    text = acme.files("dev", CONTROL_PLANE)[file]
    assert old in text
    number = previews.propose(acme, {file: text.replace(old, new) if old else None}, base="dev")
    preview = previews.run(acme)
    assert preview.failed == (level == "problems")
    told = json.loads(preview.document.to_json())
    acme.merge(number, CONTROL_PLANE)
    document = local(acme, "validate")
    assert found(told) == found(document)
    assert [item["code"] for item in document[level]] == [code]
    if old:  # ci has a note of a branch without base-repo.yaml: cd writes the file
        assert found(told) <= of_chain(ci_runs.run(acme, dry_run="true").document)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("branch: dev", "branch: develop", "branch"),
        ("acme/gitops,", "acme/gitop,", "repo"),
    ],
)
def test_a_gitops_branch_that_does_not_exist(
    acme: Organisation, old: str, new: str, place: str
) -> None:
    """The token of the job sees it, and a token at a terminal; a clone cannot know."""
    text = acme.files("dev", CONTROL_PLANE)["gitops-repo.yaml"]
    assert old in text
    number = previews.propose(acme, {"gitops-repo.yaml": text.replace(old, new)}, base="dev")
    preview = json.loads(previews.run(acme).document.to_json())
    (warning,) = preview["warnings"]
    where = warning["where"]
    assert (warning["code"], where["path"]) == ("gitops-branch-unreadable", "gitops-repo.yaml")
    line = text.splitlines()[where["line"] - 1]
    assert line[: where["column"] - 1].endswith(f"{place}: ")
    acme.merge(number, CONTROL_PLANE)
    document = local(acme, "validate", "--control-plane", CONTROL_PLANE)
    assert [item["code"] for item in document["warnings"]] == ["gitops-branch-unreadable"]
    assert local(acme, "validate")["warnings"] == []


def told_locally(
    acme: Organisation, environments: Sequence[str] = ENVIRONMENTS
) -> dict[str, set[Finding]]:
    report = local(acme, "report", "--out", acme.folder / "report")
    return {
        "validate": found(local(acme, "validate")),
        "render": found(*(local(acme, "render", name) for name in environments)),
        "report": found(report, *report["environments"]),
    }


def known_to_diff(acme: Organisation) -> int:
    """Return the number of findings that both sides of a difference of main have."""
    comparison = local(acme, "diff", "dev")["comparison"]
    assert comparison["problems"] == comparison["warnings"] == []
    return int(comparison["problemsKnown"] + comparison["warningsKnown"])
