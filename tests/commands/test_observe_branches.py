"""What a branch wants of a target at each commit: by its descriptor, else by the tracking files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.shared.looks.branches import BranchTargets, read_branch
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.inputs.paths import Source
from kalypso_actions.observations.desired import desired_after
from kalypso_actions.observations.record import BranchHead, DesiredLine, ObservationRecord
from tests.git_repositories import commit, programs, repository
from tests.observations.test_record import AT, desired

URL = "https://github.com/acme/shop-gitops"


def descriptor(version: str, environment: str = "dev", path: str = "./web") -> str:
    return (
        "apiVersion: hub.kalypso.io/v1alpha1\nkind: DeploymentDescriptor\nspec:\n"
        "  workload: {name: shop, application: {name: store, workspace: {name: sales}}}\n"
        f"  deploymentTarget: {{name: web, environment: {environment}, manifests: "
        f"{{repo: '{URL}.git', branch: dev, path: {path}}}}}\n"
        f"  workloadVersion: {{version: '{version}', commit: abc}}\n"
    )


FILE = "web/descriptor/deployment_descriptor.yaml"
TARGET = desired(workload="shop", name="shop-web", repository=URL, branch="dev", path="web")


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    return repository(tmp_path / "gitops", branch="dev")


def lines(branch: Path, record: ObservationRecord | None = None) -> list[DesiredLine]:
    place = BranchTargets("dev", URL, "dev", (TARGET,))
    given = (Source(url=URL, path=branch),)
    repositories = Repositories(given, RemoteRepositories(programs()), programs())
    read = read_branch(repositories, record or ObservationRecord(), place, [])
    return list(read.look.lines[TARGET.target])


def test_a_target_without_descriptors_has_the_tracked_version(branch: Path) -> None:
    commit(branch, {"web/a.yaml": "1", ".github/tracking/Version": "1.0\n"})
    commit(branch, {"other/a.yaml": "1", ".github/tracking/Version": "1.1\n"})
    last = commit(branch, {"web/a.yaml": "2", ".github/tracking/Promoted_Commit_Id": "f" * 40})
    assert [(line.version, line.commit == last) for line in lines(branch)] == [
        ("1.0", False),
        ("1.1", True),
        ("1.1", True),  # the head is always told
    ]
    assert lines(branch)[-1].source_commit == "f" * 40


def test_only_commits_with_a_descriptor_count(branch: Path) -> None:
    commit(branch, {"web/a.yaml": "0"})
    first = commit(branch, {"web/a.yaml": "1", FILE: descriptor("1.0")})
    commit(branch, {FILE: descriptor("9.9", environment="stage")})
    commit(branch, {FILE: descriptor("9.9", path="./worker")})
    last = commit(branch, {FILE: descriptor("2.0")})
    read = lines(branch)
    assert [(line.version, line.commit) for line in read] == [
        ("1.0", first),
        ("2.0", last),
        ("2.0", last),
    ]
    names = [(line.name, line.workload, line.application, line.workspace) for line in read]
    assert set(names) == {("web", "shop", "store", "sales")}
    assert {line.environment for line in read} == {"dev"}


def test_a_target_that_once_had_a_descriptor_keeps_its_last_period(branch: Path) -> None:
    known = commit(branch, {"web/a.yaml": "1", FILE: descriptor("1.0")})
    record = ObservationRecord(
        desired={"dev": tuple(lines(branch)[-1:])}, branches=(BranchHead(URL, "dev", known),)
    )
    commit(branch, {"web/a.yaml": "2", FILE: "nothing: 1\n"})
    assert lines(branch, record) == []


def test_the_first_look_finds_every_period(branch: Path) -> None:
    for number in (1, 1, 2, 1):
        commit(branch, {"web/a.yaml": f"{number}", FILE: descriptor(f"{number}.0")})
    place = BranchTargets("dev", URL, "dev", (TARGET,))
    repositories = Repositories(
        (Source(url=URL, path=branch),), RemoteRepositories(programs()), programs()
    )
    look = read_branch(repositories, ObservationRecord(), place, []).look
    after = desired_after(ObservationRecord(), "dev", [look], AT)
    told = [*after.desired_before["dev"], *after.desired["dev"]]
    assert [line.version for line in sorted(told, key=lambda line: line.number)] == [
        "1.0",
        "2.0",
        "1.0",
    ]
