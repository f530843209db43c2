"""The rules of commit statuses and of Argo CD, against a naive reading, in random combinations."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kalypso_actions.clients.github import statuses as github_statuses
from kalypso_actions.commands.shared.cluster_reports.commit_statuses import CommitStatuses
from kalypso_actions.compliance import DesiredState, EnvironmentTree, Requirements
from kalypso_actions.compliance.argocd_applications import ArgoServer, reports_of_applications
from kalypso_actions.compliance.cluster_states import STATES, clusters_of_branch
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.cluster_reports import ClusterReport
from kalypso_actions.model.github import CommitStatus

START: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL: Final = "https://github.com/acme/gitops"
PARENT, MERGED, HEAD, LATER = (letter * 40 for letter in "abcd")
SYNCED, TYPES = (MERGED, HEAD), ("edge", "hub")
SETTLE, GRACE = timedelta(minutes=1), timedelta(minutes=2)
STORIES: Final = 150

ORDER: Final[list[str]] = [*STATES]

States = Mapping[tuple[str, str], str]
"""The state of each cluster, by its name in lower case and its cluster type."""


def judged(reports: Sequence[ClusterReport], tree: EnvironmentTree, now: datetime) -> States:
    desired = DesiredState(frozenset(SYNCED), tree, frozenset({LATER}))
    clusters, _ = clusters_of_branch(
        reports, desired, Requirements(), started=START - timedelta(hours=1), now=now
    )
    return {(cluster.id.lower(), cluster.cluster_type): cluster.state for cluster in clusters}


def worst(states: Iterator[tuple[tuple[str, str], str]]) -> dict[tuple[str, str], str]:
    result: dict[tuple[str, str], str] = {}
    for place, state in states:
        result[place] = max(result.get(place, "compliant"), state, key=ORDER.index)
    return result


def lasting(state: str, since: datetime, now: datetime) -> str:
    """A success counts after `settle`, a failure after `grace-period`."""
    if state == "compliant" and now - since < SETTLE:
        return "progressing"
    if state == "failed" and now - since <= GRACE:
        return "progressing"
    return state


LISTS = {"edge": ("North-1", "south-1"), "hub": ("north-1",)}
TRUSTED = ("fleet-flux[bot]", "Fleet-Flux[bot]")
FOREIGN = ("fleet-flux", "github-actions[bot]", "marie", "")
CONTEXTS = (
    *("cluster/north-1/edge", "Cluster/NORTH-1/Edge", "cluster/north-1/edge/5d1f"),
    *("cluster/south-1/edge/5d1f/x", "cluster/south-1/edge/", "cluster/north-1/hub"),
    *("cluster/north-1/Hub/2", "cluster/south-1/hub", "cluster/spare/edge", "cluster/north-1"),
    *("cluster/north-1/lamp", "cluster//edge", "kustomization/apps/5d1f0b7a", "ci / test"),
)
POSTED = (
    *(("success", "reconciliation succeeded"), ("success", "Synced and healthy")),
    *(("success", "dependency not ready"), ("success", ""), ("failure", "health check failed")),
    *(("failure", "dependency not ready"), ("error", "build failed"), ("pending", "progressing")),
)


def meaning(status: CommitStatus) -> str:
    if status.state == "success":
        known = {"reconciliation succeeded", "Synced and healthy"}
        return "compliant" if status.description in known else "progressing"
    if status.state == "pending" or status.description == "dependency not ready":
        return "progressing"
    return "failed"


def states_by_statuses(
    posted: Mapping[str, Sequence[CommitStatus]], now: datetime
) -> tuple[States, set[str]]:
    """Read the rules of statuses naively; return the states, and the pairs that are not listed."""
    listed = {
        (name.lower(), each): "progressing" for each, names in LISTS.items() for name in names
    }
    contexts = {status.context.lower() for listed in posted.values() for status in listed}
    of_contexts: dict[tuple[str, str], list[str]] = {}
    unlisted: set[str] = set()
    for context in contexts:
        first, *parts = context.split("/")
        if first != "cluster" or len(parts) < 2 or not all(parts[:2]):
            continue
        place = parts[0], parts[1]
        for commit in (LATER, HEAD, MERGED):
            row = [
                status
                for status in posted.get(commit, ())
                if status.context.lower() == context and status.author in TRUSTED
            ]
            if not row:
                continue
            if place not in listed:
                unlisted.add("/".join(place))
                break
            since = row[0].created_at
            for status in row:
                if meaning(status) != meaning(row[0]):
                    break
                since = status.created_at
            assert since is not None
            state = lasting(meaning(row[0]), since, now) if commit in SYNCED else "ahead"
            of_contexts.setdefault(place, []).append(state)
            break
    told = {place: max(of, key=ORDER.index) for place, of in of_contexts.items()}
    return {**listed, **told}, unlisted


class Statuses:
    """The statuses of a repository as GraphQL (the newest of a context) and REST (all) show them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        self.posted: dict[str, list[CommitStatus]] = {}
        self.lists = 0
        monkeypatch.setattr(github_statuses, "of_commits", self.of_commits)
        monkeypatch.setattr(github_statuses, "history", self.history)

    def post(self, chance: random.Random) -> None:
        state, text = chance.choice(POSTED)
        status = CommitStatus(
            chance.choice(CONTEXTS),
            state,  # type: ignore[arg-type]  # one of them
            text,
            author=chance.choice(chance.choice((TRUSTED, FOREIGN))),
            created_at=self.now,
        )
        commit = chance.choice((PARENT, MERGED, MERGED, HEAD, LATER))
        self.posted.setdefault(commit, []).insert(0, status)

    def of_commits(self, _: Any, __: str, commits: Sequence[str]) -> Any:
        return {
            commit: {each.context.lower(): each for each in reversed(self.posted.get(commit, []))}
            for commit in commits
        }

    def history(self, _: Any, __: str, commit: str) -> Sequence[CommitStatus]:
        self.lists += 1
        return tuple(self.posted.get(commit, ()))

    def source(self) -> CommitStatuses:
        inputs: Any = SimpleNamespace(status_authors=["Fleet-flux[bot]"], settle=SETTLE)
        runtime = SimpleNamespace(now=lambda: self.now)
        context: Any = SimpleNamespace(
            runtime=runtime, github=None, repository=lambda _: "acme/gitops"
        )
        return CommitStatuses(inputs, context)


def test_statuses_mean_what_the_rules_say(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = EnvironmentTree("", frozenset(TYPES), frozenset(TYPES), listed=LISTS)
    followed = tree.followed(URL, "dev", (LATER, HEAD, MERGED))
    seen: set[str] = set()
    for story in range(STORIES):
        chance = random.Random(story)
        hub = Statuses(monkeypatch)
        source = hub.source()
        for look in range(8):
            for _ in range(chance.randrange(7)):
                hub.post(chance)
                hub.now += timedelta(seconds=chance.choice((0, 1, 20, 45, 90)))
            hub.now += timedelta(seconds=chance.choice((1, 30, 61, 121)))
            expected, unlisted = states_by_statuses(hub.posted, hub.now)
            found = judged(source.reports(followed), tree, hub.now)
            assert found == expected, (story, look)
            told = {problem.message.partition(" ")[0] for problem in source.warnings()}
            assert told == unlisted, (story, look)
            seen |= set(found.values())
    assert seen == {"compliant", "ahead", "progressing", "failed"}


IN_CLUSTER = "https://kubernetes.default.svc"
DESTINATIONS = (
    *({"name": "north-1"}, {"name": "South-1"}, {"server": "https://north:6443"}),
    *({"server": "https://north:6443/"}, {"server": "https://west:6443"}),
    *({"name": "in-cluster"}, {"server": IN_CLUSTER}, {"name": "", "server": IN_CLUSTER + "/"}),
)
NAMES = {"https://north:6443": "North-1"}
REPOSITORIES = (
    *(URL, f"{URL}.git", "git@github.com:acme/gitops.git", "ssh://git@github.com/Acme/GitOps"),
    *("https://someone@github.com:443/acme/gitops/", "ssh://git@ssh.github.com:443/acme/gitops"),
)
OTHER_REPOSITORIES = (
    *("https://github.com/acme/gitops-2", "https://gitlab.com/acme/gitops", ""),
    "https://charts.acme.example",
)
BRANCHES = ("dev", "dev", "dev", "refs/heads/dev", "main", MERGED, "HEAD", "")
PATHS = ("edge", "./edge/", "/hub", "edge/app", ".", "lamp", "../other/edge", "clusters/edge", "")


def moment(chance: random.Random) -> str | None:
    ago = chance.choice((5, 30, 59, 61, 90, 119, 121, 600, 3600, None))
    return None if ago is None else f"{START - timedelta(seconds=ago):%Y-%m-%dT%H:%M:%SZ}"


def random_application(chance: random.Random, number: int, children: int) -> dict[str, Any]:
    def source() -> dict[str, Any]:
        own = chance.random() < 0.8
        return {
            "repoURL": chance.choice(REPOSITORIES if own else OTHER_REPOSITORIES),
            "targetRevision": chance.choice((*BRANCHES, None)),
            "path": chance.choice(PATHS),
        }

    def revision() -> str:
        return chance.choice((MERGED, MERGED, HEAD, PARENT, LATER, ""))

    spec: dict[str, Any] = {"destination": chance.choice(DESTINATIONS)}
    sync: dict[str, Any] = {"status": chance.choice(("Synced", "Synced", "OutOfSync", "Unknown"))}
    key, value = "revision", revision
    if chance.random() < 0.3:
        spec["sources"] = [source() for _ in range(chance.randrange(1, 4))]
        key, value = "revisions", lambda: [revision() for _ in spec["sources"]]  # type: ignore[assignment,return-value]
    else:
        spec["source"] = source()
    sync[key] = value()
    operation: dict[str, Any] = {
        "phase": chance.choice(("Succeeded", "Succeeded", "Failed", "Error", "Running"))
    }
    operation["finishedAt"] = None if operation["phase"] == "Running" else moment(chance)
    place = operation
    for part in chance.choice((("syncResult",), ("operation", "sync"))):
        place = place.setdefault(part, {})
    place[key] = sync[key] if chance.random() < 0.6 else value()
    status: dict[str, Any] = {
        "sync": sync,
        "health": {
            "status": chance.choice(
                ("Healthy", "Healthy", "Degraded", "Suspended", "Missing", "Progressing", "Unknown")
            ),
            "lastTransitionTime": moment(chance),
        },
        "reconciledAt": chance.choice((f"{START:%Y-%m-%dT%H:%M:%SZ}", moment(chance))),
        "operationState": chance.choice((None, operation, operation)),
        "resources": chance.choice((None, [{"group": "", "kind": "Namespace", "name": "x"}])),
    }
    if children:
        status["resources"] = [
            {"group": "argoproj.io", "kind": kind, "namespace": "argocd", "name": f"child-{each}"}
            for each in range(children)
            for kind in ("Application", "ApplicationSet")
        ]
    labels = chance.choice(
        (None, None, {}, {"kalypso.io/cluster": chance.choice(("east", "EAST"))})
    )
    metadata = {"name": f"app-{number}", "namespace": "argocd", "labels": labels}
    if chance.random() < 0.05:
        metadata["deletionTimestamp"] = moment(chance)
    made: dict[str, Any] = {"metadata": metadata, "spec": spec, "status": status}
    if chance.random() < 0.05:
        made["operation"] = {"sync": {}}
    return made


def time_of(text: str | None) -> datetime:
    return datetime.fromisoformat(text) if text else datetime.min.replace(tzinfo=UTC)


def own_state(application: Mapping[str, Any]) -> tuple[str, datetime]:
    """Rules 3 and 4: the state of an Application on what it compares, and since when."""
    status = application["status"]
    operation, sync = status["operationState"] or {}, status["sync"]
    finished = time_of(operation.get("finishedAt"))
    since = max(finished, time_of(status["health"]["lastTransitionTime"]))
    if "operation" in application or operation.get("phase") == "Running":
        return "progressing", since
    if "deletionTimestamp" in application["metadata"] or finished > time_of(status["reconciledAt"]):
        return "progressing", since
    if has_failed(status):
        return "failed", finished
    health = status["health"]["status"]
    if health == "Healthy" and sync["status"] == "Synced":
        return "compliant", since
    return {"Degraded": "failed", "Suspended": "suspended"}.get(health, "progressing"), since


def has_failed(status: Mapping[str, Any]) -> bool:
    operation = status["operationState"] or {}
    key = "revisions" if "revisions" in status["sync"] else "revision"
    tried = operation.get("syncResult") or operation.get("operation", {}).get("sync", {})
    is_tried = bool(tried.get(key)) and tried[key] == status["sync"][key]
    return operation.get("phase") in {"Failed", "Error"} and is_tried


def states_by_applications(
    servers: Sequence[Sequence[Mapping[str, Any]]], *, is_default: bool
) -> dict[tuple[str, str], str] | None:
    """Read the rules of Argo CD naively; None if the cluster of an Application is not known."""
    found: list[tuple[tuple[str, str], str]] = []
    heads = ("HEAD", "", None)
    for applications in servers:
        known = {each["metadata"]["name"]: each for each in applications}
        for application in applications:
            spec, status = application["spec"], application["status"]
            sources = spec.get("sources") or [spec["source"]]
            revisions = status["sync"].get("revisions") or [status["sync"]["revision"]]
            for source, revision in zip(sources, revisions, strict=False):
                is_ours = source["repoURL"] in REPOSITORIES
                is_branch = source["targetRevision"] in {
                    "dev",
                    "refs/heads/dev",
                    *(heads if is_default else ()),
                }
                parts = [part for part in source["path"].split("/") if part not in {"", ".", ".."}]
                if not (is_ours and is_branch and source["path"]):
                    continue
                if parts and source["path"][:3] == "../":
                    continue
                if parts and parts[0] not in TYPES:
                    continue
                cluster = (application["metadata"]["labels"] or {}).get("kalypso.io/cluster", "")
                url = spec["destination"].get("server", "").rstrip("/")
                name = spec["destination"].get("name", "")
                if not cluster and len(servers) > 1 and (name == "in-cluster" or url == IN_CLUSTER):
                    return None
                cluster = cluster or name or NAMES.get(url, url)
                state = on_commit(application, revision, known)
                found.append(((cluster.lower(), parts[0] if parts else ""), state))
    return worst(iter(found))


def on_commit(
    application: Mapping[str, Any], revision: str, known: Mapping[str, Mapping[str, Any]]
) -> str:
    status = application["status"]
    if status["sync"]["status"] != "Synced" and not has_failed(status):
        return "progressing"
    if revision not in {*SYNCED, LATER}:
        return "progressing"
    states = [own_state(application)]
    for resource in status["resources"] or ():
        if resource["kind"] == "Application":
            child = known.get(resource["name"])
            unseen = "progressing", START
            states.append(own_state(child) if child else unseen)
    state = max((state for state, _ in states), key=ORDER.index)
    if revision == LATER and state != "suspended":
        return "ahead"
    since = [since for each, since in states if each == state]
    unknown = datetime.min.replace(tzinfo=UTC)
    begun = (
        max(since) if state == "compliant" else min(filter(unknown.__ne__, since), default=unknown)
    )
    return lasting(state, begun, START)


@pytest.mark.parametrize("servers", [1, 2])
def test_applications_mean_what_the_rules_say(servers: int) -> None:
    tree = EnvironmentTree("", frozenset(TYPES), frozenset(TYPES))
    followed = tree.followed(URL, "dev", (LATER, HEAD, MERGED))
    seen: set[str] = set()
    for story in range(STORIES * 4):
        chance = random.Random(story)
        lists: list[list[dict[str, Any]]] = []
        for _ in range(servers):
            children = chance.choice((0, 0, 0, 1, 2))
            parent = random_application(chance, 0, children)
            others = [random_application(chance, n, 0) for n in range(1, chance.randrange(1, 3))]
            made = [random_application(chance, 9, 0) for _ in range(children)]
            for number, child in enumerate(made):
                child["metadata"]["name"] = f"child-{number}"
                elsewhere = {"repoURL": "https://other", "path": "x", "targetRevision": "dev"}
                child["spec"] = {"source": elsewhere, "destination": {"name": "in-cluster"}}
            seen_children = made if chance.random() < 0.8 else made[1:]
            lists.append([parent, *others, *seen_children])
        is_default = chance.random() < 0.5
        given = [ArgoServer(f"https://{n}", each, NAMES) for n, each in enumerate(lists)]
        asked = partial(bool, is_default)
        expected = states_by_applications(lists, is_default=is_default)
        if expected is None:
            with pytest.raises(KalypsoError, match="which cluster"):
                reports_of_applications(given, followed, asked)
            seen.add("not known")
            continue
        reports, _ = reports_of_applications(given, followed, asked)
        found = judged(reports, tree, START)
        assert found == expected, story
        seen |= set(found.values())
    assert seen >= {"compliant", "ahead", "progressing", "failed"}
    assert ("not known" in seen) == (servers > 1)
