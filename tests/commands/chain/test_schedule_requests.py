"""The number of API requests of a run of schedule: few, independent of the size of the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, overviews
from kalypso_actions.errors import Location
from kalypso_actions.model.github import ProposalOverview
from tests.commands.chain import documents
from tests.commands.chain.organisation import EDGE, GITOPS, Organisation
from tests.commands.chain.proposals import actions, change_main, configure, labels, promote, run

BUDGET = 20
FIRST = 15
"""Our branch, the labels and the pull request do not exist yet."""
UPDATED = 12
UNCHANGED = 7
AFTER_MERGE = (16, 16, 10)
"""The same after the first pull request was merged: the text says whether a deployment goes on."""
PROMOTIONS = (17, 17)
"""Another commit of main in a new pull request, and in the same one."""
FIRST_COMMIT = 14
"""The first commit of main in an open pull request."""
FIRST_PROMOTION = 18
"""Another commit of main in an open pull request that was no promotion."""
FURTHER = 5
"""More for each further GitOpsRepo, in a repository of its own."""


def requests(acme: Organisation) -> int:
    """Run schedule, and return the number of its requests to the API."""
    acme.forget()
    run(acme)
    exchanges = [item for item in acme.sandbox.traffic if item.template not in {"git", "azure", ""}]
    return len(exchanges)


def runs(acme: Organisation, repositories: Sequence[str]) -> Sequence[int]:
    """Return the requests for new, updated and unchanged pull requests, and after a merge."""
    counts = [requests(acme)]
    configure(acme, NEW="1")
    counts += [requests(acme), requests(acme)]
    for repository in repositories:
        acme.merge(1, repository)
    for value in ("2", "3"):
        configure(acme, NEW=value)
        counts.append(requests(acme))
    return [*counts, requests(acme)]


def add_repositories(acme: Organisation, further: int) -> Sequence[str]:
    """Add GitOpsRepos, each in a repository of its own; return all GitOps repositories."""
    repositories = [f"{EDGE}-{number}" for number in range(further)]
    for number, repository in enumerate(repositories):
        acme.sandbox.create_repository(repository, {"README.md": "x"})
        repo = documents.gitops_repo(acme.url(repository), "main", f"edge-{number}")
        acme.commit({f"gitops-repo-{number}.yaml": repo}, "dev")
    return [GITOPS, *repositories]


@pytest.mark.parametrize("further", [0, 1, 2])
def test_few_requests(acme: Organisation, further: int) -> None:
    """Each further GitOpsRepo costs at most five requests."""
    repositories = add_repositories(acme, further)
    of_one = (FIRST, UPDATED, UNCHANGED, *AFTER_MERGE)
    assert max(*of_one, *PROMOTIONS, FIRST_COMMIT, FIRST_PROMOTION) <= BUDGET
    for count, most in zip(runs(acme, repositories), of_one, strict=True):
        assert count <= most + FURTHER * further


@pytest.mark.parametrize("further", [0, 1, 2])
def test_promotions(acme: Organisation, further: int) -> None:
    repositories = add_repositories(acme, further)
    run(acme)
    for repository in repositories:
        acme.merge(1, repository)
    for most in PROMOTIONS:
        promote(acme, change_main(acme))
        assert requests(acme) <= most + FURTHER * further


@pytest.mark.parametrize("further", [0, 1, 2])
def test_first_commit_of_main(acme: Organisation, further: int) -> None:
    """The open pull request gets a label, which the repository got with the first one."""
    add_repositories(acme, further)
    acme.commit({"base-repo.yaml": None}, "dev")
    assert requests(acme) <= FIRST + FURTHER * further
    promote(acme, acme.head("main") or "")
    assert requests(acme) <= FIRST_COMMIT + FURTHER * further
    assert labels(acme.pulls()[0]) == {"kalypso", "promoted"}


@pytest.mark.parametrize("further", [0, 1, 2])
def test_first_promotion_of_an_open_pull_request(acme: Organisation, further: int) -> None:
    repositories = add_repositories(acme, further)
    run(acme)
    for repository in repositories:
        acme.merge(1, repository)
    configure(acme, NEW="1")
    run(acme)
    promote(acme, change_main(acme))
    assert requests(acme) <= FIRST_PROMOTION + FURTHER * further
    assert labels(acme.pulls()[0]) == {"kalypso", "promoted"}


def test_several_gitops_repos_of_one_repository(acme: Organisation) -> None:
    """The labels are created once; each GitOpsRepo lists the pull requests: others are open."""
    repo = documents.gitops_repo(acme.url(GITOPS), "dev", "other", "fleet")
    acme.commit({"gitops-repo-other.yaml": repo}, "dev")
    assert requests(acme) <= FIRST + FURTHER
    answers = [item.status for item in acme.sandbox.traffic if item.path.endswith("/labels")]
    assert answers == [201, 201, 200, 200]
    configure(acme, NEW="1")
    assert requests(acme) <= UPDATED + FURTHER


def test_everything_is_listed_if_github_refuses_the_query(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise GitHubError("it cannot be read", Location(GITOPS), "")

    monkeypatch.setattr(overviews, "read_proposal", refuse)
    assert runs(acme, [GITOPS])[0] > FIRST
    assert [(pull["number"], labels(pull)) for pull in acme.pulls()] == [(2, {"kalypso"})]
    assert {label["color"] for label in acme.ask("GET", f"{GITOPS}/labels")} == {"5319e7", "0e8a16"}


def test_a_pull_request_that_is_closed_meanwhile(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The query shows it as open, but the run looks again before it writes."""
    run(acme)
    configure(acme, NEW="1")
    read = overviews.read_proposal

    def read_before_closing(*given: Any, **named: Any) -> ProposalOverview:
        overview = read(*given, **named)
        acme.close(1)
        return overview

    monkeypatch.setattr(overviews, "read_proposal", read_before_closing)
    assert actions(run(acme)) == [(2, "created")]


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
