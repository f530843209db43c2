"""Pull requests without secrets: those from forks, and those of Dependabot."""

from __future__ import annotations

import pytest

from kalypso_sandbox.workflow_runner.runs import Run
from tests.chain.conftest import OpenChain
from tests.chain.driver import Chain
from tests.chain.organisation import Layout
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS


@pytest.fixture
def chain(open_chain: OpenChain) -> Chain:
    return open_chain(Layout(), over_http=True)


def proposed(chain: Chain, files: dict[str, str]) -> tuple[str, Run]:
    """Propose a change of main; return its commit and the run that it starts."""
    chain.acme.reset("change", chain.acme.head("main"))
    commit = chain.acme.commit(files, "change")
    chain.acme.pull("change")
    return commit, chain.take(0)


def test_ci_checks_public_data(chain: Chain) -> None:
    """The job's own token can only read the control plane."""
    files = {"release.yaml": documents.config_map("base", RELEASE="one")}
    commit, run = proposed(chain, files)
    assert chain.run_without_secrets(run) == ["ci: checked"]
    warnings = [warning.message for warning in chain.done[-1].outcome.document.warnings]
    unknown = f"what would change in {chain.acme.url(GITOPS)} is not known"
    assert any(unknown in warning for warning in warnings)
    assert chain.acme.statuses(commit) == {}
    assert chain.waiting == ["preview"]


def test_a_problem_fails(chain: Chain) -> None:
    _, run = proposed(chain, {"broken.yaml": "kind: [ClusterType\n"})
    assert chain.run_without_secrets(run) == ["ci: failed"]
