"""Clusters that follow paths of a GitOps branch outside of the environment's tree."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.report.check_promote_document import CheckPromoteDocument
from kalypso_sandbox.azure import Cluster, Configuration
from tests.chain.driver import Chain
from tests.chain.run_lines import FROM_DEV
from tests.commands.chain.organisation import GITOPS

BROKEN: dict[str, Any] = {"behaviour": "fail"}


def follow(chain: Chain, name: str, *paths: str, **configuration: Any) -> None:
    """Let a cluster follow these paths of dev's GitOps branch."""
    given = {"repository": GITOPS, "branch": "dev", "paths": list(paths), **configuration}
    made = Cluster(name=name, configurations=[Configuration.model_validate(given)])
    chain.acme.sandbox.azure.put(made)


def promote(chain: Chain) -> list[str]:
    """Promote a commit of main to dev and merge it; return the lines of the runs."""
    chain.merge_to_main(RELEASE="one")
    chain.run_everything()
    chain.merge_pull_request("dev")
    return chain.run_everything()


def checked(chain: Chain) -> CheckPromoteDocument:
    """Return the latest document of check-promote for dev."""
    exit_codes = [
        run.outcome.document
        for run in chain.done
        if isinstance(run.outcome.document, CheckPromoteDocument)
        and run.outcome.document.environment == "dev"
    ]
    return exit_codes[-1]


@pytest.mark.parametrize(
    ("path", "configuration"),
    [
        pytest.param("./monitoring", BROKEN, id="failing"),
        pytest.param("./large-old", BROKEN, id="like-a-cluster-type"),
    ],
)
def test_a_cluster_of_another_path_is_not_ours(
    chain: Chain, path: str, configuration: dict[str, Any]
) -> None:
    follow(chain, "dev-monitor", path, **configuration)
    assert promote(chain) == FROM_DEV
    document = checked(chain)
    assert [(cluster.id.rpartition("/")[2], cluster.paths) for cluster in document.not_ours] == [
        ("dev-monitor", (path,))
    ]
    assert document.clusters == {"compliant": 2}
    page = next(run for run in chain.done if run.outcome.document is document).outcome.summary
    assert page.count("dev-monitor") == 1


TWO: dict[str, Any] = {"ordered": False, "releases": True, **BROKEN}


@pytest.mark.parametrize(
    ("broken", "more", "line"),
    [
        pytest.param("monitoring", {}, "compliant, starts stage", id="the-other-path-fails"),
        pytest.param("monitoring", {"tells_statuses": False}, "failed", id="without-statuses"),
    ],
)
def test_one_configuration_of_our_path_and_another(
    chain: Chain, broken: str, more: dict[str, Any], line: str
) -> None:
    failure = {"kustomization": broken, "message": f"{broken} is broken"}
    follow(chain, "dev-large", "./large", "./monitoring", failure=failure, **TWO, **more)
    assert promote(chain)[1] == f"check-promote dev: {line}"
    document = checked(chain)
    [large] = [row for row in document.rows if row.cluster_type == "large"]
    assert "./monitoring" in large.reason
    assert ("the whole configuration" in large.reason) == bool(more)
    assert f"{broken} is broken" not in large.reason or line == "failed"
    assert [cluster.paths for cluster in document.not_ours] == [("./monitoring",)]
