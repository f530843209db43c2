"""An application's Kustomizations among the objects of a platform's configurations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.compliance import DesiredState, EnvironmentTree, Requirements
from kalypso_actions.compliance.child_reports import (
    ChildKustomization,
    child_kustomizations,
    child_reports,
)
from kalypso_actions.compliance.cluster_states import clusters_of_branch
from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    Condition,
    ObjectReference,
    ReportedObject,
)
from tests.breaks import breaks, turned
from tests.compliance.cluster_reports import (
    FIXED,
    MERGED,
    NOW,
    OLD,
    cluster_id,
    healthy_report,
    minutes,
)

URL = "https://github.com/acme/hello-gitops"
REPOSITORY = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: hello, namespace: flux-system}
spec: {url: URL, ref: {branch: dev}}
""".replace("URL", URL)
KUSTOMIZATION = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: hello, namespace: flux-system}
spec: {path: ./web, sourceRef: {kind: GitRepository, name: hello}}
"""
APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: hello, namespace: argocd}
spec: {source: {repoURL: "URL.git", targetRevision: dev, path: web}}
""".replace("URL", URL)
FILE = "drone/hello/reconciler.yaml"


def reconcilers(**texts: str) -> dict[str, Sequence[object]]:
    """Return the documents of files, by `<cluster type>__<target>`."""
    return {
        f"{place.replace('__', '/')}/reconciler.yaml": list(yaml.safe_load_all(text))
        for place, text in texts.items()
    }


def followed(*texts: str) -> list[tuple[str, str]]:
    """Return name and path of each Kustomization that follows the branch."""
    found = child_kustomizations(reconcilers(drone__hello="---".join(texts)), URL, "dev")
    return [(child.reference.name, child.path) for child in found.followed]


@breaks(
    "a reconciler of another branch counts",
    turned(
        "kalypso_actions.compliance.child_reports._sources_of",
        "place == [key, branch]",
        "place[0] == key",
    ),
)
@breaks(
    "a reconciler of another repository counts",
    turned(
        "kalypso_actions.compliance.child_reports._sources_of",
        "place == [key, branch]",
        "place[1] == branch",
    ),
)
@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        pytest.param("", "", True, id="as rendered"),
        pytest.param(URL, "git@github.com:Acme/hello-gitops.git", True, id="another form"),
        pytest.param(URL, "https://github.com/acme/hello", False, id="another repository"),
        pytest.param("branch: dev", "branch: dev-red", False, id="a ring's branch"),
        pytest.param("branch: dev", "name: refs/heads/dev", True, id="a full name"),
        pytest.param("branch: dev", "branch: dev, commit: abc", False, id="a fixed commit"),
        pytest.param("branch: dev", "branch: dev, tag: v1", False, id="a tag"),
        pytest.param("branch: dev", "tag: '', branch: dev", True, id="an empty tag"),
        pytest.param("ref: {branch: dev}", "interval: 1m", False, id="the default branch"),
        pytest.param("fluxcd.io/v1\nkind: G", "fluxcd.io/v1beta2\nkind: G", True, id="version"),
        pytest.param("source.toolkit", "other.toolkit", False, id="another group"),
        pytest.param(
            "kind: GitRepository, name: hello", "kind: Bucket, name: hello", False, id="b"
        ),
        pytest.param("sourceRef", "chartRef", False, id="no source"),
        pytest.param(
            "name: hello}}", "name: hello, namespace: other}}", False, id="another namespace"
        ),
    ],
)
def test_the_source_decides_which_kustomizations_count(old: str, new: str, counts: bool) -> None:
    text = f"{REPOSITORY}---{KUSTOMIZATION}"
    assert old in text
    assert followed(text.replace(old, new)) == ([("hello", "web")] if counts else [])


@pytest.mark.parametrize(
    ("given_path", "path"),
    [
        ("path: ./functional-test/east-us, ", "functional-test/east-us"),
        ("path: /web/, ", "web"),
        ("path: ./, ", ""),
        ("", ""),
        ("path: [web], ", ""),
    ],
)
def test_the_path_of_a_kustomization(given_path: str, path: str) -> None:
    assert followed(REPOSITORY, KUSTOMIZATION.replace("path: ./web, ", given_path)) == [
        ("hello", path)
    ]


def test_a_source_in_another_file_of_the_same_cluster_type() -> None:
    files = reconcilers(drone__a=REPOSITORY, drone__b=KUSTOMIZATION, large__b=KUSTOMIZATION)
    found = child_kustomizations(files, URL, "dev")
    assert [child.file for child in found.followed] == ["drone/b/reconciler.yaml"]
    assert found.unobserved == ()
    assert found.paths == {"web"}


@breaks(
    "an assignment that nobody can observe is passed over",
    turned(child_kustomizations, "file not in used", "False"),
)
@pytest.mark.parametrize(
    ("texts", "is_unobserved"),
    [
        pytest.param([APPLICATION], True, id="Argo CD"),
        pytest.param([REPOSITORY], True, id="a source that no Kustomization uses"),
        pytest.param([APPLICATION.replace(": dev,", ": stage,")], False, id="another branch"),
        pytest.param([APPLICATION.replace("hello-gitops", "other")], False, id="other"),
        pytest.param([REPOSITORY, KUSTOMIZATION, APPLICATION], False, id="observed too"),
        pytest.param(["just text", "[1, {a: null}]", ""], False, id="no objects"),
    ],
)
def test_an_assignment_without_flux_is_named(texts: list[str], is_unobserved: bool) -> None:
    found = child_kustomizations(reconcilers(drone__hello="\n---\n".join(texts)), URL, "dev")
    assert found.unobserved == ((FILE,) if is_unobserved else ())


def condition(status: str, message: str, since: float = 0, reason: str = "") -> Condition:
    """Return the condition Ready, which changed so many minutes after the sync."""
    return Condition("Ready", status, reason, message, NOW - minutes(20) + minutes(since))


BY = ObjectReference("fleet-drone", "flux-system")


def flux(kind: str, ready: Condition, name: str = "hello", **more: Any) -> ReportedObject:
    state = {"True": "Compliant", "False": "Non-Compliant"}.get(ready.status, "Pending")
    made = ReportedObject(kind, name, state, (ready,), "flux-system", BY)
    return dataclasses.replace(made, **more)


def stored(commit: str, since: float = 0, **more: Any) -> ReportedObject:
    message = f"stored artifact for revision 'dev@sha1:{commit}'"
    return flux("GitRepository", condition("True", message, since), **more)


def applied(commit: str, since: float = 0, **more: Any) -> ReportedObject:
    message = f"Applied revision: dev@sha1:{commit}"
    return flux("Kustomization", condition("True", message, since), **more)


def failing(since: float, **more: Any) -> ReportedObject:
    return flux(
        "Kustomization", condition("False", "it crashes", since, "HealthCheckFailed"), **more
    )


CHILD = ChildKustomization(
    FILE, ObjectReference("hello", "flux-system"), ObjectReference("hello", "flux-system"), "web"
)
TREE = EnvironmentTree("", frozenset({"web", "web/east"}), frozenset({"web"}))
DESIRED = DesiredState(frozenset({MERGED}), TREE, frozenset({FIXED}))


def platform(*objects: ReportedObject, **more: Any) -> ClusterReport:
    """Return the report of a platform's configuration, which runs a commit of its own."""
    own = dataclasses.replace(applied("c" * 40), name="fleet-drone", applied_by=None)
    return healthy_report(revision=f"dev@sha1:{'c' * 40}", objects=(own, *objects), **more)


def states(
    *reports: ClusterReport, children: Sequence[ChildKustomization] = (CHILD,)
) -> list[tuple[str, str, str]]:
    clusters, _ = clusters_of_branch(
        child_reports(reports, children),
        DESIRED,
        Requirements(),
        started=NOW - minutes(30),
        now=NOW,
    )
    return [(cluster.cluster_type, cluster.state, cluster.reason) for cluster in clusters]


BEHIND = ("progressing", "it is on 0000000")
NOTHING = ("progressing", "it has synced nothing yet")
COMPLIANT = ("compliant", "")
CRASHES = "HealthCheckFailed: it crashes"
WORKING = flux("Kustomization", condition("Unknown", "Reconciliation in progress"))
RELEASE = flux("HelmRelease", condition("True", "Helm upgrade succeeded"), "web")
BROKEN_RELEASE = flux(
    "HelmRelease",
    condition("False", "it crashes", 1, "HealthCheckFailed"),
    "web",
    applied_by=ObjectReference("hello", "flux-system"),
)


@breaks(
    "the source of a child speaks for its Kustomization",
    turned(
        "kalypso_actions.compliance.child_reports._child_report",
        "applied or (synced if kustomization else '')",
        "synced",
    ),
    turned(
        "kalypso_actions.compliance.child_reports._child_report",
        "own_name.name",
        "kustomization.name",
    ),
)
@breaks(
    "the objects of other applications decide",
    turned(
        "kalypso_actions.compliance.child_reports._child_report",
        "(own, *_descendants(kustomization, own_name, applied_by))",
        "(own, *_descendants(kustomization, own_name, applied_by), *report.objects)",
    ),
)
@pytest.mark.parametrize(
    ("objects", "outcome"),
    [
        pytest.param([stored(MERGED), applied(MERGED)], COMPLIANT, id="applied"),
        pytest.param([stored(FIXED), applied(MERGED)], COMPLIANT, id="a later one is fetched"),
        pytest.param(
            [stored(FIXED), applied(FIXED)], ("ahead", "it runs a later commit"), id="a later one"
        ),
        pytest.param([stored(MERGED), applied(OLD)], BEHIND, id="fetched, and never applied"),
        pytest.param([stored(OLD), applied(OLD)], BEHIND, id="not fetched yet"),
        pytest.param([], NOTHING, id="no object"),
        pytest.param([stored(MERGED)], NOTHING, id="a source alone"),
        pytest.param([applied(MERGED)], COMPLIANT, id="a Kustomization alone"),
        pytest.param(
            [stored(MERGED), applied(MERGED, name="other")], NOTHING, id="another Kustomization"
        ),
        pytest.param(
            [stored(MERGED), applied(MERGED, namespace="team")], NOTHING, id="another namespace"
        ),
        pytest.param(
            [stored(MERGED), WORKING], ("progressing", "its state is Pending"), id="applies it"
        ),
        pytest.param([stored(MERGED), failing(1)], ("failed", CRASHES), id="fails"),
        pytest.param(
            [stored(MERGED), failing(19)],
            ("progressing", f"{CRASHES} (fails after 120 s)"),
            id="in grace",
        ),
        pytest.param(
            [stored(MERGED), failing(-1)],
            ("progressing", "it has not begun to apply the commit; the one before fails"),
            id="the commit before fails",
        ),
        pytest.param([stored(OLD), failing(-1)], BEHIND, id="fails before it is fetched"),
        pytest.param(
            [
                flux("GitRepository", condition("False", "authentication required")),
                applied(OLD),
            ],
            ("progressing", "it is on 0000000: authentication required"),
            id="cannot be fetched",
        ),
        pytest.param(
            [stored(MERGED), applied(MERGED), BROKEN_RELEASE], ("failed", CRASHES), id="r"
        ),
        pytest.param(
            [
                stored(MERGED),
                applied(MERGED),
                RELEASE,
                failing(1, name="other"),
                dataclasses.replace(BROKEN_RELEASE, applied_by=ObjectReference("other")),
            ],
            COMPLIANT,
            id="another application fails",
        ),
        pytest.param(
            [stored(MERGED), applied(MERGED, conditions=(), state="Compliant")],
            COMPLIANT,
            id="without conditions, long enough after the sync",
        ),
        pytest.param(
            [stored(MERGED, 19.9), applied(MERGED, conditions=(), state="Compliant")],
            ("progressing", "it has not reported since it synced the commit"),
            id="without conditions, right after the sync",
        ),
        pytest.param(
            [stored(MERGED), applied(MERGED, conditions=(), state="")],
            ("progressing", "its state is not known"),
            id="no state",
        ),
    ],
)
def test_the_state_of_an_application_on_a_cluster(
    objects: list[ReportedObject], outcome: tuple[str, str]
) -> None:
    assert states(platform(*objects)) == [("web", *outcome)]
    assert states(platform(*objects[::-1])) == [("web", *outcome)]


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"unreachable": "Offline"}, "unreachable"),
        ({"suspended": True}, "suspended"),
        ({"state": "Non-Compliant", "provisioning_state": "Failed"}, "compliant"),
        ({"state": "Pending"}, "compliant"),
    ],
)
def test_what_the_platforms_configuration_says_of_the_cluster(
    more: dict[str, Any], state: str
) -> None:
    """A fault of the platform's other objects is no fault of the application."""
    ((_, found, _),) = states(platform(stored(MERGED), applied(MERGED), **more))
    assert found == state


def test_a_suspended_kustomization() -> None:
    child = dataclasses.replace(CHILD, suspended=True)
    assert states(platform(stored(MERGED), applied(MERGED)), children=[child]) == [
        ("web", "suspended", "its reconciliation is suspended")
    ]


@pytest.mark.parametrize(
    ("path", "is_assigned"),
    [
        ("./drone", True),
        ("drone/hello", True),
        (".", True),
        ("./drone-2", False),
        ("./drone/other", False),
        ("./large", False),
    ],
)
def test_a_cluster_has_the_assignments_below_its_paths(path: str, is_assigned: bool) -> None:
    assert bool(states(platform(path=path))) is is_assigned
    assert states(platform(paths=())) == [("web", *NOTHING)]


def test_two_targets_of_a_cluster_and_nested_folders() -> None:
    east = ChildKustomization(
        "drone/east/reconciler.yaml",
        ObjectReference("east", "flux-system"),
        ObjectReference("hello", "flux-system"),
        "web/east/base",
    )
    report = platform(stored(MERGED), applied(MERGED), applied(OLD, name="east"))
    assert states(report, children=[CHILD, east]) == [
        ("web", *COMPLIANT),
        ("web/east", *BEHIND),
    ]


# What a cluster does with one assignment, and the state of the application there.
SITUATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "complies": (("stored new", "applied new"), "compliant"),
    "waits": (("stored new", "applied old"), "progressing"),
    "is behind": (("stored old", "applied old"), "progressing"),
    "fails": (("stored new", "fails"), "failed"),
    "has left-overs": (("stored new", "failed before"), "progressing"),
    "has nothing": ((), "progressing"),
}
MADE = {
    "stored new": lambda name: stored(MERGED, name=name),
    "stored old": lambda name: stored(OLD, -10, name=name),
    "applied new": lambda name: applied(MERGED, 1, name=name),
    "applied old": lambda name: applied(OLD, -10, name=name),
    "fails": lambda name: failing(1, name=name),
    "failed before": lambda name: failing(-10, name=name),
}
ORDER = ("compliant", "progressing", "failed")
TYPES = ("drone", "large")
TARGETS = ("web", "web/east", "test")

fleets = st.lists(
    st.tuples(
        st.sampled_from(TYPES),
        st.dictionaries(st.sampled_from(TARGETS), st.sampled_from(sorted(SITUATIONS))),
    ),
    max_size=6,
)
assignments = st.sets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TARGETS)))


@given(fleets, assignments, st.randoms(use_true_random=False))
def test_random_fleets_have_the_states_of_a_naive_recomputation(
    fleet: list[tuple[str, dict[str, str]]], assigned: set[tuple[str, str]], random: Any
) -> None:
    """`fleet` has the cluster type of each cluster, and what it does with targets."""
    texts = {
        f"{cluster_type}__{name(target)}": f"{REPOSITORY}---{KUSTOMIZATION}".replace(
            "./web", f"./{target}"
        ).replace("name: hello", f"name: {name(target)}")
        for cluster_type, target in assigned
    }
    children = child_kustomizations(reconcilers(**texts), URL, "dev").followed
    reports = []
    for number, (cluster_type, situations) in enumerate(fleet):
        objects = [
            MADE[part](name(target))
            for target, situation in situations.items()
            for part in SITUATIONS[situation][0]
        ]
        random.shuffle(objects)
        reports.append(platform(*objects, name=f"c-{number}", path=f"./{cluster_type}"))
    tree = EnvironmentTree("", frozenset(TARGETS), frozenset(TARGETS))
    clusters, foreign = clusters_of_branch(
        child_reports(reports, children),
        DesiredState(frozenset({MERGED}), tree),
        Requirements(),
        started=NOW - minutes(30),
        now=NOW,
    )
    assert foreign == ()
    naive = {
        (target, cluster_id(f"c-{number}")): SITUATIONS[situations.get(target, "has nothing")][1]
        for number, (cluster_type, situations) in enumerate(fleet)
        for target in TARGETS
        if (cluster_type, target) in assigned
    }
    assert {(each.cluster_type, each.id): each.state for each in clusters} == naive


def name(target: str) -> str:
    return f"hello-{target.replace('/', '-')}"
