"""Real control planes have the findings of a list made by hand, each with its reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call_kalypso
from tests.conformance.real_control_planes import DATA, MICROSOFT, NEW, OLD

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the real control planes are not here: {DATA} does not exist"
)

NOTES: Mapping[str, Mapping[tuple[str, str], str]] = {
    OLD.name: {
        ("environment-unjudged", ".environments/stage.yaml"): "its branch is not given",
        ("environment-unreached", ".environments/stage.yaml"): (
            "upstream names the next environment in a variable, not in an annotation"
        ),
        ("cluster-type-unselected", "cluster-types/west-us/small/small-cluster-type.yaml"): (
            "the policies select size: large or restricted: true"
        ),
    },
    NEW.name: {
        ("environment-unreached", ".environments/stage.yaml"): "as above",
        (
            "cluster-type-unselected",
            "cluster-types/east-us/restricted/centers/center-cluster-type.yaml",
        ): "the policies that selected restricted: true are gone from dev",
        (
            "cluster-type-unselected",
            "cluster-types/east-us/restricted/drones/drone-cluster-type.yaml",
        ): "the same in dev; stage has no policy at all",
        ("cluster-type-unselected", "cluster-types/west-us/small/small-cluster-type.yaml"): (
            "the only policy of dev selects size: large"
        ),
        ("cluster-type-unselected", "cluster-types/west-us/large/large-cluster-type.yaml"): (
            "stage has no policy at all"
        ),
        ("template-unquoted", "templates/scheduler_v1alpha1_template_argocd.yaml"): (
            "it prints texts of applications as they are"
        ),
        ("template-unquoted", "templates/scheduler_v1alpha1_template_arc-flux.yaml"): "the same",
    },
}
"""The notes by code and file, each with the reason why it is right.

There is no warning: the registered Workloads have no target for stage, stage has no policy, and all
labels of configuration are those of cluster types.
"""


@pytest.mark.parametrize("manifests", ["warn", "strict"])
@pytest.mark.parametrize("data", [OLD, NEW], ids=lambda data: str(data.name))
def test_only_true_findings_are_reported(data: Path, manifests: str) -> None:
    """All rendered files are objects that kustomize and the schemas take."""
    registered = ("app-src", "svc-src") if data == OLD else ("svc-src",)
    sources = [f"--source={MICROSOFT}/kalypso-{name}={data / name}" for name in registered]
    places = sorted(data.glob("control-plane-*"))
    options = ("--manifests", manifests, "--output", "json")
    done = call_kalypso("validate", *places, *sources, *options)
    document = json.loads(done.stdout)
    assert (document["problems"], document["warnings"]) == ([], [])
    assert {*map(code_and_file, document["notes"])} == NOTES[data.name].keys()


def code_and_file(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["code"], entry["where"]["path"]
