"""The Template and the values of a file."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import Problem, UsageError
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.planning.explanation import explain_file
from kalypso_actions.report.explain_document import ExplainedFileEntry
from tests.builders import cluster_type, config_map, fleet, policy, target, template
from tests.planning.explanation.environments import environment

TEMPLATES = (
    template("reconciler", "a: {{.ConfigData.URL}}\nb: {{.Manifests.repo}}", "c: {{.Labels.no}}"),
    template("namespace", "kind: Namespace"),
    template("config", "{{range $k, $v := .ConfigData}}{{$k}}: {{$v}}\n{{end}}"),
)
FLEET = fleet(
    cluster_types=[cluster_type("large"), cluster_type("plain", config_type="")],
    targets=[target("web", manifests={"repo": "https://git.test/x"})],
    policies=[policy("all")],
    config_maps=[config_map("all", {"URL": "u", "PASSWORD": "pass-word-1"})],
    templates=TEMPLATES,
)


def explained(path: str, of: Fleet = FLEET) -> tuple[ExplainedFileEntry, tuple[Problem, ...]]:
    (entry,), problems = explain_file(environment(of), path, "", "")
    return entry, problems


def test_the_template_of_a_file_and_the_values_that_it_reads() -> None:
    entry, problems = explained("gitops/large/app-web/reconciler.yaml")
    assert problems == ()
    assert (entry.path, entry.template, entry.named_by, entry.written) == (
        "large/app-web/reconciler.yaml",
        "reconciler",
        "reconciler",
        True,
    )
    assert entry.where is not None
    assert entry.where.path == "reconciler.yaml"
    assert [(each.field, each.value) for each in entry.values] == [
        (".ConfigData.URL", "u"),
        (".Manifests.repo", "https://git.test/x"),
        (".Labels.no", None),
    ]
    set_at = entry.values[0].set_at
    assert set_at is not None
    assert (set_at.path, set_at.line) == ("all.yaml", 2)


@pytest.mark.parametrize("folder", ["large", "plain"], ids=["by a Template", "without a Template"])
def test_a_file_with_the_whole_configuration_masks_secrets(folder: str) -> None:
    entry, _ = explained(f"{folder}/app-web/platform-config.yaml")
    assert entry.template == ("config" if folder == "large" else "")
    assert [(each.field, each.value) for each in entry.values] == [
        (".ConfigData.URL", "u"),
        (".ConfigData.PASSWORD", "***"),
    ]


def test_a_template_that_fails_is_a_problem() -> None:
    broken = (template("reconciler", '{{fail "no"}}'), *TEMPLATES[1:])
    entry, problems = explained(
        "large/app-web/reconciler.yaml",
        fleet(
            cluster_types=FLEET.cluster_types,
            targets=FLEET.targets,
            policies=FLEET.policies,
            templates=broken,
        ),
    )
    assert not entry.written
    assert ["no" in problem.message for problem in problems] == [True]


@pytest.mark.parametrize(
    ("path", "message", "advice"),
    [
        (
            "large/app-web/reconciler.yml",
            "no Template writes a file named",
            "did you mean reconciler.yaml?",
        ),
        (
            "large/app-web/platform-config.sh",
            "large/app-web has no platform-config.sh",
            "its files: rec",
        ),
        ("reconciler.yaml", "names no assignment", "--target and --cluster-type"),
        ("large/README.md", "kalypso schedule writes it itself", ""),
        ("larg/app-web/reconciler.yaml", "no cluster type 'larg'", "did you mean large?"),
    ],
    ids=["misspelled", "absent", "no assignment", "our own", "unknown cluster type"],
)
def test_other_paths(path: str, message: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        explained(path)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert advice in problem.advice


def test_a_pair_that_is_not_assigned_has_no_file() -> None:
    lonely = fleet(cluster_types=FLEET.cluster_types, targets=FLEET.targets)
    with pytest.raises(UsageError, match="app-web is not assigned to large") as caught:
        explained("large/app-web/reconciler.yaml", lonely)
    assert "--target app-web --cluster-type large" in caught.value.problems[0].advice
