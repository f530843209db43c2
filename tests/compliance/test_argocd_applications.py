"""Applications of Argo CD: which follow the branch, on which cluster, and in which state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kalypso_actions.compliance import argocd_applications
from kalypso_actions.compliance.argocd_applications import (
    ArgoServer,
    followers_of_applications,
    reports_of_applications,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree
from tests.breaks import breaks, turned

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL, COMMIT, BEFORE = "https://github.com/acme/gitops", "a" * 40, "b" * 40
FOLLOWED = FollowedTree(URL, "dev", (COMMIT,), cluster_types=("edge",))
SERVER = "https://argocd.acme.example"
NORTH = "https://north.k8s.example:6443"


def moment(ago: int) -> str:
    return f"{NOW - timedelta(seconds=ago):%Y-%m-%dT%H:%M:%SZ}"


def application(name: str = "north", **changed: Any) -> dict[str, Any]:
    """Return an Application that is synced to the commit and healthy for 1,400 seconds."""
    source = {"repoURL": f"{URL}.git", "path": "edge", "targetRevision": "dev"}
    status = {
        "sync": {"status": "Synced", "revision": COMMIT},
        "health": {"status": "Healthy", "lastTransitionTime": moment(1400)},
        "reconciledAt": moment(90),
        "operationState": {
            "phase": "Succeeded",
            "finishedAt": moment(1500),
            "syncResult": {"revision": COMMIT},
        },
    }
    status |= changed.pop("status", {})
    spec = {"source": source, "destination": {"name": name}} | changed.pop("spec", {})
    metadata = {"name": name, "namespace": "argocd"} | changed.pop("metadata", {})
    return {"metadata": metadata, "spec": spec, "status": status, **changed}


def reports_of(*applications: dict[str, Any]) -> tuple[ClusterReport, ...]:
    return reports_of_applications([ArgoServer(SERVER, applications, {NORTH: "north"})], FOLLOWED)[
        0
    ]


def operation(phase: str, ago: int, revision: str = COMMIT) -> dict[str, Any]:
    result = {"syncResult": {"revision": revision}, "finishedAt": moment(ago), "message": "no"}
    return {"operationState": {"phase": phase, **result}}


@breaks(
    "a commit that is only compared is applied",
    turned(argocd_applications._report, "is_synced or _failure(status)", "True"),
)
@breaks(
    "a healthy Application complies whatever its sync says",
    turned(argocd_applications._state_of, "sync == 'Synced'", "True"),
)
@breaks(
    "a failure of another revision is one of this revision",
    turned(argocd_applications._failure, "tried == sync.get(key)", "True"),
)
@breaks(
    "a degraded Application may become healthy for ever",
    turned(
        argocd_applications._state_of,
        "{'Degraded': 'Non-Compliant', 'Suspended': 'Suspended'}",
        "{'Suspended': 'Suspended'}",
    ),
)
@breaks(
    "a sync that runs does not count",
    turned(argocd_applications._in_progress, "phase not in {None, '', *ENDED}", "False"),
)
@breaks(
    "an Application complies before it is compared after its last sync",
    turned(
        argocd_applications._in_progress, "reconciled is None or finished > reconciled", "False"
    ),
)
@pytest.mark.parametrize(
    ("changed", "state", "revision", "since"),
    [
        ({}, "Compliant", COMMIT, 1400),
        ({"status": {"sync": {"status": "Synced", "revision": BEFORE}}}, "Compliant", BEFORE, 1400),
        (
            {"status": {"sync": {"status": "OutOfSync", "revision": COMMIT}}},
            "Progressing",
            "",
            1400,
        ),
        ({"status": {"sync": {"status": "Unknown", "revision": "dev"}}}, "Progressing", "", 1400),
        ({"status": {}, "operation": {"sync": {}}}, "Progressing", COMMIT, 1400),
        ({"status": operation("Running", 9)}, "Progressing", COMMIT, 9),
        ({"status": operation("Terminating", 100)}, "Progressing", COMMIT, 100),
        ({"metadata": {"deletionTimestamp": moment(5)}}, "Progressing", COMMIT, 1400),
        ({"status": operation("Succeeded", 30)}, "Progressing", COMMIT, 30),
        ({"status": operation("Failed", 200)}, "Non-Compliant", COMMIT, 200),
        ({"status": operation("Error", 200)}, "Non-Compliant", COMMIT, 200),
        ({"status": operation("Failed", 200, BEFORE)}, "Compliant", COMMIT, 200),
        (
            {
                "status": {
                    **operation("Failed", 200),
                    "sync": {"status": "OutOfSync", "revision": COMMIT},
                }
            },
            "Non-Compliant",
            COMMIT,
            200,
        ),
        (
            {
                "status": {
                    "operationState": {
                        "phase": "Error",
                        "finishedAt": moment(200),
                        "operation": {"sync": {"revision": COMMIT}},
                    }
                }
            },
            "Non-Compliant",
            COMMIT,
            200,
        ),
        ({"status": {"health": {"status": "Degraded"}}}, "Non-Compliant", COMMIT, 1500),
        ({"status": {"health": {"status": "Suspended"}}}, "Suspended", COMMIT, 1500),
        (
            {
                "status": {
                    "health": {"status": "Suspended"},
                    "sync": {"status": "Synced", "revision": BEFORE},
                }
            },
            "Progressing",
            BEFORE,
            1500,
        ),
        (
            {
                "status": {
                    "operationState": {
                        "phase": "Failed",
                        "finishedAt": moment(200),
                        "syncResult": {"revision": "", "resources": []},
                        "operation": {"sync": {"revision": COMMIT}},
                    }
                }
            },
            "Non-Compliant",
            COMMIT,
            200,
        ),
        ({"status": operation("Pending", 100)}, "Progressing", COMMIT, 100),
        ({"operation": {}}, "Progressing", COMMIT, 1400),
        ({"status": {"health": {"status": "Missing"}}}, "Progressing", COMMIT, 1500),
        ({"status": {"health": None}}, "Progressing", COMMIT, 1500),
    ],
)
def test_states(changed: dict[str, Any], state: str, revision: str, since: int) -> None:
    [report] = reports_of(application(**changed))
    assert (report.state, report.revision) == (state, revision)
    assert report.source_updated_at == NOW - timedelta(seconds=since)
    assert report.configuration == "argocd/north"


def test_an_application_that_was_never_compared() -> None:
    [report] = reports_of(application() | {"status": {}})
    assert (report.state, report.revision, report.reported_at) == ("Progressing", "", None)


OURS = {"repoURL": "git@github.com:acme/gitops", "path": "edge", "targetRevision": "refs/heads/dev"}
CHART = {"repoURL": "https://charts.example", "chart": "base", "targetRevision": "3.2.1"}


@breaks(
    "an Application of another branch counts",
    turned(argocd_applications._sources, "branch == followed.branch", "True"),
)
@breaks(
    "the revision of one source is that of all",
    turned(
        argocd_applications._all_sources,
        'chain(revisions, repeat(""))',
        "repeat(revisions[0])",
    ),
)
@pytest.mark.parametrize(
    ("spec", "sync", "revisions"),
    [
        ({"source": OURS}, {"revision": COMMIT}, [COMMIT]),
        (
            {"source": {**OURS, "repoURL": "https://github.com/acme/other"}},
            {"revision": COMMIT},
            [],
        ),
        ({"source": {**OURS, "targetRevision": "stage"}}, {"revision": COMMIT}, []),
        ({"source": {**OURS, "targetRevision": None}}, {"revision": COMMIT}, []),
        ({"sources": [CHART, OURS]}, {"revisions": ["3.2.1", COMMIT]}, [COMMIT]),
        ({"sources": [OURS, OURS]}, {"revisions": [COMMIT, BEFORE]}, [COMMIT, BEFORE]),
        ({"sources": [CHART, OURS]}, {}, [""]),
        (
            {"sources": [CHART, {**OURS, "path": None, "ref": "values"}]},
            {"revisions": ["3.2.1", COMMIT]},
            [],
        ),
        ({"sources": [], "source": OURS}, {"revision": COMMIT}, [COMMIT]),
        ({"source": OURS}, {"revision": COMMIT, "revisions": [BEFORE]}, [COMMIT]),
    ],
)
def test_sources(spec: dict[str, Any], sync: dict[str, Any], revisions: list[str]) -> None:
    status = {"sync": {"status": "Synced", **sync}}
    reports = reports_of(application(spec=spec, status=status))
    assert [report.revision for report in reports] == revisions


@breaks(
    "the list of clusters names no cluster",
    turned(argocd_applications._cluster, "server.cluster_names or {}", "{}"),
)
@pytest.mark.parametrize(
    ("changed", "cluster"),
    [
        ({"metadata": {"labels": {"kalypso.io/cluster": "hamburg"}}}, "hamburg"),
        ({"spec": {"destination": {"server": f"{NORTH}/"}}}, "north"),
        ({"spec": {"destination": {"server": "https://south:6443"}}}, "https://south:6443"),
        ({"spec": {"destination": {"name": "in-cluster"}}}, "in-cluster"),
    ],
)
def test_clusters(changed: dict[str, Any], cluster: str) -> None:
    server = ArgoServer(SERVER, [application(**changed)], {NORTH: "north"})
    reports, problems = reports_of_applications([server], FOLLOWED)
    assert [report.cluster for report in reports] == [cluster]
    assert bool(problems) == cluster.startswith("https:")


def test_a_list_of_clusters_that_cannot_be_read() -> None:
    spec = {"destination": {"server": NORTH}}
    server = ArgoServer(SERVER, [application(spec=spec)], None)
    [report], [problem] = reports_of_applications([server], FOLLOWED)
    assert report.cluster == NORTH
    assert "clusters, get, *" in problem.advice


@breaks(
    "the own clusters of all servers are one cluster",
    turned(argocd_applications._cluster, "not is_alone", "False"),
)
@pytest.mark.parametrize(
    "destination", [{"name": "in-cluster"}, {"server": "https://kubernetes.default.svc"}]
)
def test_the_own_clusters_of_several_servers_need_a_label(destination: dict[str, str]) -> None:
    own = application("platform", spec={"destination": destination})
    servers = [ArgoServer(SERVER, [own], {}), ArgoServer("https://other", [], {})]
    with pytest.raises(KalypsoError, match="'platform'") as raised:
        reports_of_applications(servers, FOLLOWED)
    assert "kalypso.io/cluster" in raised.value.problem.advice
    labelled = application("platform", metadata={"labels": {"kalypso.io/cluster": "a"}})
    servers = [ArgoServer(SERVER, [labelled], {}), ArgoServer("https://other", [], {})]
    assert reports_of_applications(servers, FOLLOWED)[0][0].cluster == "a"


@breaks(
    "an Application outside of the tree ends the run",
    turned(reports_of_applications, "followed.counts(path)", "True"),
)
@pytest.mark.parametrize("path", ["lamp", "../other/edge", "edge-2"])
def test_the_cluster_of_an_application_outside_of_the_tree_need_not_be_known(path: str) -> None:
    own = {"source": {**OURS, "path": path}, "destination": {"name": "in-cluster"}}
    of_tree = application("a", spec={"destination": {"name": "north"}})
    lists = [application("platform", spec=own), of_tree]
    servers = [ArgoServer(SERVER, lists, None), ArgoServer("https://other", [], None)]
    reports, problems = reports_of_applications(servers, FOLLOWED)
    assert ([report.cluster for report in reports], problems) == (["north"], ())
    elsewhere = {"source": {**OURS, "path": path}, "destination": {"server": NORTH}}
    server = ArgoServer(SERVER, [application(spec=elsewhere)], None)
    assert reports_of_applications([server], FOLLOWED)[1] == ()


@breaks(
    "the whole of each team's repository may be a former name of this one",
    turned(followers_of_applications, "not is_whole or revision in commits", "True"),
    case="team",
)
@pytest.mark.parametrize(
    ("source", "is_follower"),
    [
        pytest.param({"repoURL": "https://github.com/acme/fleet"}, True, id="folder"),
        pytest.param({"repoURL": "https://github.com/acme/fleet", "path": "."}, True, id="whole"),
        pytest.param({"targetRevision": "refs/heads/dev"}, True, id="full name"),
        pytest.param({"targetRevision": "HEAD"}, True, id="default branch"),
        pytest.param({"targetRevision": "main"}, False, id="another branch"),
        pytest.param({"path": None}, False, id="values"),
    ],
)
@pytest.mark.parametrize("revision", [COMMIT, BEFORE], ids=["own", "team"])
def test_followers_by_any_url(source: dict[str, Any], is_follower: bool, revision: str) -> None:
    status = {"sync": {"status": "Synced", "revision": revision}}
    made = application(spec={"source": {**OURS, **source}}, status=status)
    found = list(followers_of_applications([ArgoServer(SERVER, [made], {})], "dev", {COMMIT}))
    if source.get("path") == "." and revision != COMMIT:
        is_follower = False
    assert [each.cluster for each in found] == ["north"] * is_follower
    assert {each.repository_url for each in found} <= {source.get("repoURL", OURS["repoURL"])}


@pytest.mark.parametrize("revision", ["HEAD", "", None])
@pytest.mark.parametrize("is_default", [True, False])
def test_the_default_branch(revision: str | None, is_default: bool) -> None:
    spec = {"source": {**OURS, "targetRevision": revision}}
    server = ArgoServer(SERVER, [application(spec=spec)], {})
    reports, _ = reports_of_applications([server], FOLLOWED, lambda: is_default)
    assert len(reports) == is_default


CHILD = {"group": "argoproj.io", "kind": "Application", "namespace": "argocd", "name": "web"}
ELSEWHERE = {"source": {"repoURL": "https://elsewhere", "path": "web", "targetRevision": "main"}}


@breaks(
    "an Application that the token does not see complies",
    turned(
        argocd_applications._with_children,
        "_State('Progressing', None, f'the token does not see {name}')",
        "states[0]",
    ),
    case="unseen",
)
@pytest.mark.parametrize(
    ("child", "state", "since"),
    [
        pytest.param({}, "Compliant", 1400, id="good"),
        pytest.param(
            {"status": {"health": {"status": "Healthy", "lastTransitionTime": moment(20)}}},
            "Compliant",
            20,
            id="good for a short time",
        ),
        pytest.param(
            {"status": {"health": {"status": "Degraded"}}}, "Non-Compliant", 1500, id="degraded"
        ),
        pytest.param(
            {"status": {"health": {"status": "Degraded"}, "sync": {"status": "OutOfSync"}}},
            "Non-Compliant",
            1500,
            id="degraded and out of sync",
        ),
        pytest.param(
            {"status": {"sync": {"status": "OutOfSync"}}}, "Progressing", 1400, id="out of sync"
        ),
        pytest.param({"status": {"health": {"status": "Missing"}}}, "Progressing", 1500, id="new"),
        pytest.param(None, "Progressing", None, id="unseen"),
    ],
)
def test_applications_that_an_application_makes(
    child: dict[str, Any] | None, state: str, since: int | None
) -> None:
    parent = application(status={"resources": [{"kind": "Namespace", "name": "x"}, CHILD]})
    children = [] if child is None else [application("web", spec=ELSEWHERE, **child)]
    [report] = reports_of(parent, *children)
    assert report.state == state
    assert report.source_updated_at == (since and NOW - timedelta(seconds=since))


@breaks(
    "an Application is suspended on whatever commit",
    turned(reports_of_applications, "report.state == 'Suspended'", "False"),
)
def test_what_is_suspended_is_not_another_commit() -> None:
    sync = {"status": "Synced", "revision": BEFORE}
    parent = application(status={"resources": [CHILD], "sync": sync})
    child = application("web", spec=ELSEWHERE, status={"health": {"status": "Suspended"}})
    assert [report.state for report in reports_of(parent, child)] == ["Progressing"]


def test_an_application_without_a_destination() -> None:
    with pytest.raises(KalypsoError, match=r"'north' of .* which cluster it runs: no destination"):
        reports_of(application(spec={"destination": {}}))


def test_applications_that_make_each_other_end() -> None:
    own = {**CHILD, "name": "north"}
    parent = application(status={"resources": [CHILD, own]})
    child = application("web", spec=ELSEWHERE, status={"resources": [own]})
    assert [report.state for report in reports_of(parent, child)] == ["Compliant"]
