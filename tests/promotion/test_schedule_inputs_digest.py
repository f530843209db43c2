"""The digest of schedule's inputs, and the changes that change it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.lost_starts import inputs_digest

SHOP = RepositoryPath("https://git.test/acme/shop", "main", "workload")
TEA = RepositoryPath("https://git.test/acme/tea", "main", ".")
T, OTHER = "a" * 40, "b" * 40
HEAD, OWN = "c" * 40, "d" * 40

FOLDERS: Mapping[RepositoryPath, str | None] = {SHOP: T}


def branch(
    repository: str = "acme/gitops", name: str = "dev", head: str = HEAD, **pulls: str
) -> GitOpsBranch:
    """Return a GitOps branch; pull requests are written `pr<number>=<head>`."""
    numbers = {int(key.removeprefix("pr")): commit for key, commit in pulls.items()}
    return GitOpsBranch(repository, "", name, "", Location(""), head=head, own_pulls=numbers)


@pytest.mark.parametrize(
    ("folders", "branches"),
    [
        pytest.param({SHOP: OTHER}, [branch()], id="another tree"),
        pytest.param({SHOP: None}, [branch()], id="a folder that is gone"),
        pytest.param({}, [branch()], id="no registration"),
        pytest.param({SHOP: T, TEA: None}, [branch()], id="one more that cannot be seen"),
        pytest.param(
            {RepositoryPath(SHOP.repo, "dev", SHOP.path): T}, [branch()], id="another branch"
        ),
        pytest.param(
            {RepositoryPath(SHOP.repo, SHOP.branch, "apps"): T}, [branch()], id="another path"
        ),
        pytest.param({TEA: T}, [branch()], id="another repository"),
        pytest.param({SHOP: T}, [], id="no GitOps branch"),
        pytest.param({SHOP: T}, [branch(head=OTHER)], id="another head of the GitOps branch"),
        pytest.param({SHOP: T}, [branch(name="stage")], id="another GitOps branch"),
        pytest.param({SHOP: T}, [branch("acme/other")], id="another GitOps repository"),
        pytest.param({SHOP: T}, [branch(), branch("acme/other")], id="one GitOps branch more"),
        pytest.param({SHOP: T}, [branch(pr1=OWN)], id="our pull request"),
    ],
)
def test_what_changes_the_digest(
    folders: Mapping[RepositoryPath, str | None], branches: Sequence[GitOpsBranch]
) -> None:
    assert inputs_digest(folders, branches) != inputs_digest(FOLDERS, [branch()])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(branch(), id="closed or merged"),
        pytest.param(branch(pr1=OTHER), id="somebody has pushed to it"),
        pytest.param(branch(pr2=OWN), id="another one"),
        pytest.param(branch(pr1=OWN, pr2=OWN), id="one more"),
    ],
)
def test_the_state_of_our_pull_request_changes_the_digest(other: GitOpsBranch) -> None:
    assert inputs_digest(FOLDERS, [other]) != inputs_digest(FOLDERS, [branch(pr1=OWN)])


def test_the_case_of_the_gitops_repository_does_not() -> None:
    upper, lower = branch("Acme/GitOps"), branch("acme/gitops")
    assert inputs_digest(FOLDERS, [upper]) == inputs_digest(FOLDERS, [lower])


def test_the_digest_fits_into_a_description() -> None:
    assert re.fullmatch("[0-9a-f]{16}", inputs_digest({}, []))


NAMES = st.text(max_size=4)
IDS = st.sampled_from([T, OTHER])
PLACES = st.builds(RepositoryPath, NAMES, NAMES, NAMES)
BRANCHES = st.builds(
    lambda repository, name, head, pulls: GitOpsBranch(
        repository, "", name, "", Location(""), head=head, own_pulls=pulls
    ),
    NAMES,
    NAMES,
    IDS,
    st.dictionaries(st.integers(1, 9), IDS, max_size=3),
)


@given(
    folders=st.lists(
        st.tuples(PLACES, st.none() | IDS), max_size=4, unique_by=lambda folder: folder[0]
    ),
    branches=st.lists(BRANCHES, max_size=4),
    data=st.data(),
)
def test_the_order_does_not_matter(
    folders: list[tuple[RepositoryPath, str | None]],
    branches: list[GitOpsBranch],
    data: st.DataObject,
) -> None:
    shuffled = dict(data.draw(st.permutations(folders)))
    turned = [
        replace(branch, own_pulls=dict(reversed(list(branch.own_pulls.items()))))
        for branch in data.draw(st.permutations(branches))
    ]
    assert inputs_digest(shuffled, turned) == inputs_digest(dict(folders), branches)


@given(first=PLACES, second=PLACES)
def test_two_folders_are_told_apart(first: RepositoryPath, second: RepositoryPath) -> None:
    same = inputs_digest({first: T}, []) == inputs_digest({second: T}, [])
    assert same == (first == second)
