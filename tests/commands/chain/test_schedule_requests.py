"""How many API requests a run of schedule makes: few, whatever the size of the fleet."""

from __future__ import annotations

from tests.commands.chain import documents
from tests.commands.chain.organisation import EDGE, Organisation
from tests.commands.chain.proposals import configure, run

FIRST = 19
"""Our branch, the labels and the pull request do not exist yet."""
LATER = 18
FURTHER = 10
"""More for a further GitOpsRepo, in a repository of its own."""


def requests(acme: Organisation) -> int:
    """Run schedule, and return the number of its requests to the API."""
    acme.forget()
    run(acme)
    exchanges = [item for item in acme.sandbox.traffic if item.template not in {"git", "azure", ""}]
    return len(exchanges)


def test_few_requests(acme: Organisation) -> None:
    assert requests(acme) <= FIRST
    configure(acme, NEW="1")
    assert requests(acme) <= LATER
    assert requests(acme) <= 11


def test_a_further_gitops_repository(acme: Organisation) -> None:
    acme.sandbox.create_repository(EDGE, {"README.md": "x"})
    repo = documents.gitops_repo(acme.url(EDGE), "main", "edge")
    acme.commit({"gitops-repo-edge.yaml": repo}, "dev")
    assert requests(acme) <= FIRST + FURTHER
    configure(acme, NEW="1")
    assert requests(acme) <= LATER + FURTHER - 1
    assert requests(acme) <= 16


def test_a_larger_fleet_needs_no_more(acme: Organisation) -> None:
    run(acme)
    configure(acme, NEW="1")
    small = requests(acme)
    types = {
        f"types/{number}.yaml": documents.cluster_type(f"type-{number}") for number in range(40)
    }
    acme.commit(types, "dev")
    assert requests(acme) <= small
    document = run(acme)
    assert document.assignments > 40
