"""`kalypso observe` after repositories were renamed: GitHub's id decides, and the record goes on."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.observe import observe
from kalypso_actions.commands.shared.looks.read import former_urls
from kalypso_actions.commands.shared.record import FolderRecord, record_log
from kalypso_actions.inputs.chain import ObserveInputs
from kalypso_actions.observations.projection import SqliteDatabase, load
from kalypso_sandbox.azure import Cluster, Configuration
from tests.breaks import breaks, turned
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP, Organisation
from tests.commands.chain.promotions import main_commit, merge
from tests.git_repositories import programs

pytestmark = pytest.mark.usefixtures("azure")

MANIFESTS = "acme/shop-manifests"

PERIODS = """
select c.name, r.follows, p.status, p.from_, p.until is null from period p
join reconciler r on r.id = p.reconciler join cluster c on c.id = r.cluster
where c.name like 'dev-%' order by c.name, r.follows, p.number
"""
DESIRED = """
select t.name, t.repository, d.number, d.content <> '', d.from_, d.until is null from desired d
join target t on t.id = d.target join environment e on e.id = t.environment and e.name = 'dev'
order by t.name, t.repository, d.number
"""


@pytest.fixture
def folder(acme: Organisation, tmp_path: Path) -> Path:
    """Observe Acme with an application that a cluster follows; return the record's folder."""
    acme.sandbox.create_repository(MANIFESTS, {"web/app.yaml": "1"}, default_branch="dev")
    merge(acme, main_commit(acme))
    follow(acme, MANIFESTS)
    acme.clock.sleep(600)
    look(acme, tmp_path / "record")
    return tmp_path / "record"


def follow(acme: Organisation, repository: str) -> None:
    """Let a cluster of dev follow the application's manifests by a name of their repository."""
    follows = {"repository": acme.url(repository), "branch": "dev", "paths": ["./web"]}
    made = Configuration.model_validate({"name": "shop", **follows})
    acme.sandbox.azure.put(Cluster(name="dev-shop", configurations=[made]))


def take(acme: Organisation, former: str) -> None:
    """Let somebody take the former name of a repository: GitHub redirects no longer."""
    acme.sandbox.repository(former).former_names.remove(former)
    acme.sandbox.create_repository(former, {"web/app.yaml": "foreign"}, default_branch="dev")


def look(acme: Organisation, folder: Path) -> None:
    acme.clock.sleep(3600)
    acme.run(observe, ObserveInputs, record=str(folder))


def rows(folder: Path, statement: str) -> list[Any]:
    """Ask the tables of the record, without the URLs' names."""
    branch = FolderRecord.open(folder, programs(), create=False)
    database = SqliteDatabase(sqlite3.connect(":memory:"))
    load(database, partial(record_log, branch), branch.head(), "record")
    return database.rows(statement)


def rename(acme: Organisation, name: str, new: str) -> None:
    """Rename a repository, and correct its URL in the control plane and in registrations."""
    acme.sandbox.rename_repository(name, new)
    for repository, branch in ((CONTROL_PLANE, "dev"), (SHOP, "main")):
        for path, text in acme.files(branch, repository).items():
            if acme.url(name) in text:
                corrected = text.replace(acme.url(name), acme.url(f"acme/{new}"))
                acme.commit({path: corrected}, branch, repository)


def shown(folder: Path) -> tuple[list[Any], list[Any]]:
    """Return the periods of clusters and of targets, without names of repositories."""
    ran = [(name, *rest) for name, _, *rest in rows(folder, PERIODS)]
    return ran, [(name, *rest) for name, _, *rest in rows(folder, DESIRED)]


@pytest.mark.parametrize(("name", "new"), [(GITOPS, "fleet"), (MANIFESTS, "shop-clusters")])
def test_a_renamed_repository_begins_no_period(
    acme: Organisation, folder: Path, name: str, new: str
) -> None:
    """Clusters follow the former name for a while, and then the new one."""
    before = shown(folder)
    assert {row[0] for row in before[0]} == {"dev-drone", "dev-large", "dev-shop"}
    rename(acme, name, new)
    look(acme, folder)
    assert shown(folder) == before
    assert acme.url(f"acme/{new}") in {row[1] for row in rows(folder, DESIRED)}
    if name == MANIFESTS:
        follow(acme, f"acme/{new}")
    else:
        for cluster_type in ("drone", "large"):
            acme.cluster("dev", cluster_type, repository=f"acme/{new}")
    acme.clock.sleep(3600)
    look(acme, folder)
    assert shown(folder) == before
    acme.run(observe, ObserveInputs, record=str(folder), prune_before="30m")
    assert shown(folder) == before
    assert {acme.url(name)}.isdisjoint(
        row[1] for row in rows(folder, DESIRED) if row[0] in {"drone", "shop-web"}
    )


@breaks("a present name alone is known", turned(former_urls, "new in named", "True"))
@pytest.mark.parametrize("is_seen", [False, True], ids=["at once", "a look between"])
@pytest.mark.parametrize("name", [GITOPS, MANIFESTS])
def test_the_control_plane_may_have_the_middle_one_of_three_names(
    acme: Organisation, folder: Path, name: str, *, is_seen: bool
) -> None:
    """Clusters follow the first name, and GitHub redirects both former ones to the third."""
    before = shown(folder)
    rename(acme, name, "middle")
    if is_seen:
        look(acme, folder)
    acme.sandbox.rename_repository("acme/middle", "newest")
    look(acme, folder)
    assert shown(folder) == before
    assert acme.url("acme/middle") in {row[1] for row in rows(folder, DESIRED)}


def test_somebody_else_who_takes_the_former_name_is_another_repository(
    acme: Organisation, folder: Path
) -> None:
    before = shown(folder)
    rename(acme, MANIFESTS, "shop-clusters")
    look(acme, folder)
    take(acme, MANIFESTS)
    look(acme, folder)
    assert shown(folder)[1] == before[1]
    ended = [row for row in shown(folder)[0] if row[0] == "dev-shop"]
    assert [row[-1] for row in ended] == [False]  # it follows somebody else now


def test_a_name_that_is_taken_at_once_begins_a_target(acme: Organisation, folder: Path) -> None:
    """Nothing says then that the repositories are the same."""
    rename(acme, MANIFESTS, "shop-clusters")
    take(acme, MANIFESTS)
    look(acme, folder)
    of_shop = [row[1] for row in rows(folder, DESIRED) if row[0] == "shop-web"]
    assert set(of_shop) == {acme.url(MANIFESTS), acme.url("acme/shop-clusters")}
