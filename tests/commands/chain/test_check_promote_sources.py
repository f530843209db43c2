"""check-promote by commit statuses, Argo CD, a program, and several sources together."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import pairwise
from time import perf_counter
from typing import Any, Literal

import pytest

from kalypso_actions.commands.shared.cluster_reports import command as command_source
from kalypso_actions.commands.shared.cluster_reports.argocd import ArgoCDApplications, tokens_of
from kalypso_actions.commands.shared.cluster_reports.command import CommandReports
from kalypso_actions.commands.shared.cluster_reports.commit_statuses import CommitStatuses
from kalypso_actions.commands.shared.watch import Watch
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.own_account import JOBS
from kalypso_sandbox.faults import Fault
from kalypso_sandbox.store import Status
from tests.breaks import breaks, replaced, returning, turned
from tests.commands.chain import documents
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, tree, verdict
from tests.commands.chain.report_sources import FLUX, add_cluster, list_clusters, program, reported


def by_statuses(acme: Organisation, *commits: str, **inputs: Any) -> Any:
    given = {"cluster_reports": "commit-statuses", "status_authors": FLUX, **inputs}
    return check(acme, *commits, **given)


def suppressed(real: Callable[..., Any], *given: Any) -> Any:
    try:
        return real(*given)
    except KalypsoError:
        return ()


def states(result: Any) -> dict[str, str]:
    return {row.id: row.state for row in document(result).rows}


def post_status(
    acme: Organisation,
    commit: str,
    cluster: str,
    state: Literal["success", "failure"] = "success",
    *,
    author: str = FLUX,
    cluster_type: str = "drone",
) -> None:
    """Let an account post a status as Flux does."""
    text = "reconciliation succeeded" if state == "success" else "health check failed"
    status = Status(
        id=acme.sandbox.store.new_id(),
        commit=commit,
        context=f"cluster/{cluster}/{cluster_type}/5d1f0b7a",
        state=state,
        description=text,
        target_url=None,
        author=author,
        created_at=acme.clock(),
    )
    acme.sandbox.repository(GITOPS).statuses.append(status)


def test_every_listed_cluster_posts_a_success(flux: Organisation) -> None:
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == "compliant"
    assert states(result) == {
        "drone-1": "compliant",
        "large-1": "compliant",
        "Large-2": "compliant",
    }
    assert flux.statuses(commit)["dev environment"][1] == "Deployed"


def test_a_listed_cluster_that_is_silent_is_waited_for(flux: Organisation) -> None:
    list_clusters(flux, drone="drone-1, drone-2")
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == "timed-out"
    assert states(result)["drone-2"] == "progressing"


@pytest.mark.parametrize(
    ("notifications", "fields", "expected"),
    [
        ({"lag": 240}, {}, "compliant"),
        ({"doubled": 1}, {}, "compliant"),
        ({"lost": 1}, {}, "timed-out"),
        ({"expression": False}, {}, "timed-out"),
        ({"controller": "1.7"}, {"paths": ["./large", "./large/app"]}, "compliant"),
        ({"controller": "1.7"}, {"paths": ["./large", "./large/app"], "settle": 7200}, "timed-out"),
        ({"controller": "1.8.0"}, {}, "timed-out"),
        ({"controller": "1.8.1"}, {}, "compliant"),
        ({"controller": "1.8.1"}, {"behaviour": "fail"}, "timed-out"),
        ({"controller": "1.9"}, {"behaviour": "fail"}, "failed"),
    ],
)
def test_statuses_that_are_late_lost_doubled_or_of_an_old_flux(
    flux: Organisation, notifications: dict[str, Any], fields: dict[str, Any], expected: str
) -> None:
    (app,) = (each for each in flux.sandbox.store.apps.values() if each.slug == "acme-flux")
    settings = {"app": app.id, "cluster_type": "large", **notifications}
    add_cluster(flux, "large-1", "large", notifications=settings, **fields)
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == expected


@pytest.mark.parametrize("author", [JOBS, "marie"])
def test_a_success_of_others_promotes_nothing(flux: Organisation, author: str) -> None:
    list_clusters(flux, drone="drone-9")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    token = flux.sandbox.create_token("user", None, login=author, owner="acme")
    context = "cluster/drone-9/drone/5d1f0b7a"
    body = {"context": context, "description": "reconciliation succeeded", "state": "success"}
    flux.ask("POST", f"{GITOPS}/statuses/{merged}", body, token=token)
    result = by_statuses(flux, merged, commit)
    assert (verdict(result), states(result)["drone-9"]) == ("timed-out", "progressing")


def test_a_cluster_that_is_not_listed_is_named(flux: Organisation) -> None:
    list_clusters(flux, large="large-1")
    commit = main_commit(flux)
    result = by_statuses(flux, merge(flux, commit), commit)
    assert verdict(result) == "compliant"
    assert "large-2/large" in str(document(result).warnings)


@breaks(
    "the warnings of the last branch stand for all branches",
    turned(Watch._read_reports, "tuple(warnings)", "()"),
)
def test_each_branch_has_its_own_warnings(flux: Organisation) -> None:
    flux.commit({"second.yaml": documents.gitops_repo(flux.url(GITOPS), "two", "two")}, "dev")
    list_clusters(flux, large="large-1")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    flux.reset("two", merged, GITOPS)
    merge(flux, commit, "two")
    result = by_statuses(flux, merged, commit, timeout="2m")
    assert "large-2/large" in str(document(result).warnings)


@breaks(
    "the lists of a later commit are not checked",
    turned(Watch._check_inputs, "tree not in self._checked", "not self._checked"),
)
def test_a_later_commit_needs_lists_as_well(flux: Organisation) -> None:
    hub = documents.cluster_type("hub")
    flux.commit({"cluster-types/hub.yaml": hub}, "dev")
    list_clusters(flux, drone="drone-1, drone-2")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    sleep = flux.clock.sleep

    def merge_and_sleep(seconds: float) -> None:
        flux.commit(tree(commit, ["hub"]), "dev", GITOPS)
        sleep(seconds)

    flux.clock.sleep = merge_and_sleep  # type: ignore[method-assign]  # its methods are fixed
    with pytest.raises(UsageError, match="hub does not list"):
        by_statuses(flux, merged, commit)
    assert flux.statuses(commit)["dev environment"][0] == "failure"


@breaks(
    "the statuses of jobs may count",
    turned(CommitStatuses._check_authors, "JOB in self._authors", "False"),
    case="every job",
)
@breaks(
    "a status is stale if it is not renewed",
    turned(CommitStatuses.check_inputs, "self._stale_after is not None", "False"),
    case="stale-after",
)
@breaks(
    "a token may go over http",
    turned(tokens_of, "not is_safe", "False"),
    case="https",
)
@pytest.mark.parametrize(
    ("inputs", "about"),
    [
        ({"status_authors": ""}, "status-authors"),
        ({"status_authors": f"{FLUX},{JOBS}"}, "every job"),
        ({"stale_after": "1h"}, "stale-after"),
        ({"cluster_reports": "argocd"}, "argocd-servers"),
        ({"cluster_reports": "command"}, "reports-command"),
        ({"cluster_reports": "commit-statuses,moon"}, "moon"),
        (
            {"cluster_reports": "argocd", "argocd_servers": "http://argocd.example"},
            "https",
        ),
        (
            {
                "cluster_reports": "argocd",
                "argocd_servers": "https://a.example,https://b.example",
                "argocd_tokens": "https://a.example=t",
            },
            "https://b.example",
        ),
    ],
)
def test_wrong_inputs_end_the_run_before_it_writes(
    flux: Organisation, inputs: dict[str, str], about: str
) -> None:
    commit = main_commit(flux)
    merged = merge(flux, commit)
    with pytest.raises(UsageError, match=about):
        by_statuses(flux, merged, commit, **inputs)
    assert flux.statuses(commit) == {}


@breaks(
    "a cluster type without a list overlooks its clusters",
    returning(CommitStatuses.check_inputs, None),
)
def test_a_cluster_type_without_a_list_ends_the_run_before_it_writes(flux: Organisation) -> None:
    flux.commit({"cluster-types/drone.yaml": documents.cluster_type("drone")}, "dev")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    with pytest.raises(UsageError, match="drone does not list") as raised:
        by_statuses(flux, merged, commit)
    assert "kalypso.io/clusters" in raised.value.problem.advice
    assert flux.statuses(commit) == {}


def by_argocd(acme: Organisation, *commits: str, token: str = "", **inputs: Any) -> Any:
    given = {
        "cluster_reports": "argocd",
        "argocd_servers": acme.sandbox.argocd_url("hub"),
        "argocd_tokens": token or acme.sandbox.argocd.create_token("hub"),
        **inputs,
    }
    return check(acme, *commits, **given)


def test_every_application_is_synced_and_healthy(hub: Organisation) -> None:
    commit = main_commit(hub)
    result = by_argocd(hub, merge(hub, commit), commit)
    assert verdict(result) == "compliant"
    assert states(result) == {"drone-1": "compliant", "large-1": "compliant"}


@breaks(
    "an Application that names the repository by a former name is overlooked",
    returning(ArgoCDApplications.followers, ()),
)
def test_applications_at_a_former_name_of_the_repository_count(hub: Organisation) -> None:
    hub.sandbox.repository(GITOPS).former_names.append("acme/fleet")
    former = f"{hub.sandbox.url}/acme/fleet.git"
    late = {"application": {"server": "hub"}, "behaviour": "fail"}
    add_cluster(hub, "late", "drone", repository=former, **late)
    add_cluster(hub, "other", "drone", repository=f"{hub.sandbox.url}/acme/another.git", **late)
    commit = main_commit(hub)
    result = by_argocd(hub, merge(hub, commit), commit)
    assert (verdict(result), states(result)["late"]) == ("failed", "failed")
    assert "other" not in states(result)


@breaks(
    "what an Argo CD hides is overlooked",
    turned(ArgoCDApplications.check_inputs, "self._blind and followed.unlisted", "False"),
)
def test_a_token_that_may_not_see_everything_needs_lists(hub: Organisation) -> None:
    policies = [("applications", "get", "platform/platform-drone-1")]
    token = hub.sandbox.argocd.create_token("hub", policies)
    commit = main_commit(hub)
    merged = merge(hub, commit)
    with pytest.raises(UsageError, match="applications, get"):
        by_argocd(hub, merged, commit, token=token)
    assert hub.statuses(commit) == {}
    list_clusters(hub, drone="drone-1", large="large-1")
    result = by_argocd(hub, merged, commit, token=token)
    assert (verdict(result), states(result)["large-1"]) == ("timed-out", "progressing")


@breaks(
    "each branch reads all Argo CD servers",
    turned(ArgoCDApplications.reports, "tree in self._served", "True"),
)
def test_a_look_reads_the_servers_once_for_all_branches(hub: Organisation) -> None:
    hub.commit({"second.yaml": documents.gitops_repo(hub.url(GITOPS), "two", "two")}, "dev")
    commit = main_commit(hub)
    merged = merge(hub, commit)
    hub.reset("two", merged, GITOPS)
    hub.forget()
    by_argocd(hub, merged, commit, timeout="1m")
    lists = [each for each in hub.sandbox.traffic if each.path.endswith("/api/v1/applications")]
    assert len(lists) == 2


def test_an_argocd_that_does_not_answer_ends_the_run(hub: Organisation) -> None:
    commit = main_commit(hub)
    merged = merge(hub, commit)
    with pytest.raises(KalypsoError, match="401"):
        by_argocd(hub, merged, commit, token="wrong")


def test_a_short_pause_is_raised_for_argocd(hub: Organisation) -> None:
    list_clusters(hub, drone="drone-1, drone-2")
    commit = main_commit(hub)
    merged, began = merge(hub, commit), hub.clock()
    result = by_argocd(hub, merged, commit, poll_interval="1s", timeout="2m")
    assert verdict(result) == "timed-out"
    assert (hub.clock() - began).total_seconds() <= 130


def test_a_program_reports(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    command = program(reported("d-1", "drone", merged), reported("l-1", "large", merged))
    result = check(acme, merged, commit, cluster_reports="command", reports_command=command)
    assert verdict(result) == "compliant"
    assert states(result) == {"d-1": "compliant", "l-1": "compliant"}


@pytest.mark.parametrize(
    ("command", "about"),
    [
        ("echo refused >&2; exit 3", r"exit code 3:\nrefused"),
        ("echo '[]'", "kalypso.cluster-reports/v1"),
        ("echo '{}' ; false", "exit code 1"),
        ("printf '\\377'", "UTF-8"),
        ("kill -9 $$", "exit code"),
    ],
)
def test_a_program_that_fails_ends_the_run(acme: Organisation, command: str, about: str) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(KalypsoError, match=about):
        check(acme, merged, commit, cluster_reports="command", reports_command=command)


def test_a_program_gets_only_the_variables_that_are_named(acme: Organisation) -> None:
    commit = main_commit(acme)
    merged = merge(acme, commit)
    command = 'echo "$KALYPSO_BRANCH ${TOKEN_OF_FLEET-none} ${OTHER-none}" >&2; exit 1'
    variables = {"TOKEN_OF_FLEET": "t", "OTHER": "o"}
    inputs: dict[str, Any] = {"cluster_reports": "command", "reports_command": command}
    inputs["variables"] = variables
    with pytest.raises(KalypsoError, match="dev none none"):
        check(acme, merged, commit, **inputs)
    with pytest.raises(KalypsoError, match="dev t none"):
        check(acme, merged, commit, reports_environment="TOKEN_OF_FLEET", **inputs)


@breaks(
    "a source that cannot be read has no clusters",
    replaced(CommandReports.reports, suppressed),
)
def test_several_sources_are_added_up(flux: Organisation) -> None:
    commit = main_commit(flux)
    merged = merge(flux, commit)
    failing = program(reported("drone-1", "drone", merged, "suspended"))
    inputs: dict[str, Any] = {"cluster_reports": "commit-statuses,command"}
    inputs["reports_command"] = failing
    result = by_statuses(flux, merged, commit, **inputs)
    assert (verdict(result), states(result)["drone-1"]) == ("timed-out", "suspended")
    with pytest.raises(KalypsoError, match="exit code 1"):
        by_statuses(flux, merged, commit, **(inputs | {"reports_command": "false"}))


def test_the_requests_of_hundreds_of_clusters(flux: Organisation) -> None:
    """A look is one request once each cluster has reported; the first one also lists a commit."""
    names = [f"edge-{number:03}" for number in range(300)]
    list_clusters(flux, drone=", ".join(names), large="silent")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    for name in names:
        post_status(flux, merged, name)
    looks: list[tuple[float, list[str]]] = []
    sleep = flux.clock.sleep

    def count_and_sleep(seconds: float) -> None:
        asked = [f"{each.method} {each.path}" for each in flux.sandbox.traffic]
        looks.append((perf_counter(), asked))
        flux.forget()
        sleep(seconds)

    flux.clock.sleep = count_and_sleep  # type: ignore[method-assign]  # its methods are fixed
    result = by_statuses(flux, merged, commit, timeout="5m")
    assert (verdict(result), len(states(result))) == ("timed-out", 301)
    (_, first), *later = [(at, asked) for at, asked in looks if len(asked) > 0][1:]
    lists = [each for each in first if each.endswith("/statuses")]
    assert len(lists) <= 4
    quiet = [asked for _, asked in later if not any("/statuses/" in each for each in asked)]
    assert quiet == [["POST /graphql"]] * len(quiet)
    assert len(quiet) >= 2
    times = [at for at, _ in looks]
    assert min(after - before for before, after in pairwise(times[2:])) < 2


FORGERS: Mapping[str, Literal["User", "Bot"]] = {
    "marie": "User",
    JOBS: "Bot",
    "acme-other[bot]": "Bot",
    "acme-flux": "User",
}
"""A person, a job, another App, and a person with the name of the clusters' App."""


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=pytest.mark.slow if n > 2 else ()) for n in range(30)]
)
def test_forged_statuses_decide_nothing(flux: Organisation, number: int) -> None:
    """A cluster is silent, fails or complies; strangers post the opposite at any time."""
    chance = random.Random(number)
    truth = ("silent", "failing", "compliant")[number % 3]
    list_clusters(flux, drone="drone-1, victim", large="large-1")
    commit = main_commit(flux)
    merged = merge(flux, commit)
    on = [merged]
    told: Literal["success", "failure"] = "success" if truth == "compliant" else "failure"
    sleep = flux.clock.sleep

    def live_and_sleep(seconds: float) -> None:
        if len(on) == 1 and chance.random() < 0.2:
            on.append(merge(flux, commit, config="2"))
        post_status(flux, on[-1], "drone-1")
        post_status(flux, on[-1], "large-1", cluster_type="large")
        for _ in range(chance.randrange(4)):
            forger = chance.choice(list(FORGERS))
            lie: Literal["success", "failure"] = "success"
            if truth == "compliant" and chance.random() < 0.5:
                lie = "failure"
            name = chance.choice(["victim", "Victim", "VICTIM"])
            flux.sandbox.store.account(forger, FORGERS[forger])
            post_status(flux, chance.choice(on), name, lie, author=forger)
            if chance.random() < 0.5 and truth != "silent":
                post_status(flux, on[-1], chance.choice(["victim", "Victim"]), told)
        if truth != "silent" and chance.random() < 0.7:
            post_status(flux, on[-1], "victim", told)
        sleep(seconds)

    flux.clock.sleep = live_and_sleep  # type: ignore[method-assign]  # its methods are fixed
    result = by_statuses(flux, merged, commit, timeout="12m", poll_interval="30s")
    if truth == "compliant":
        assert verdict(result) == "compliant"
        return
    assert verdict(result) in {"timed-out", "failed"} - ({"failed"} if truth == "silent" else set())
    assert states(result)["victim"] != "compliant"
    assert flux.statuses(commit)["dev environment"][1] != "Deployed"
    assert not [each for each in flux.dispatches() if each.workflow == "cd.yaml"]


LIST = "*/commits/*/statuses"
APPLICATIONS = "argocd"
KINDS: Mapping[str, Mapping[str, Any]] = {
    "lost": {"kind": "dropped"},
    "slow": {"kind": "slow", "seconds": 0.3},
    "truncated": {"kind": "truncated"},
    "401": {"kind": "status", "status": 401},
    "403": {"kind": "status", "status": 403},
    "429": {"kind": "too-many", "retry_after": 5},
    "502": {"kind": "status", "status": 502},
}
ONCE = {"lost", "slow", "truncated", "429", "502"}
"""Faults that pass if they occur once: the next request is answered."""


@pytest.mark.parametrize("path", [LIST, APPLICATIONS])
@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=() if k in {"403", "lost"} else pytest.mark.slow) for k in KINDS],
)
@pytest.mark.parametrize("count", [1, 0], ids=["once", "always"])
def test_a_faulty_source_promotes_nothing(
    flux: Organisation, path: str, kind: str, count: int
) -> None:
    """Both sources are read; one of them answers with a fault, once or always."""
    add_cluster(flux, "hub-1", "drone", application={"server": "hub"})
    commit = main_commit(flux)
    merged = merge(flux, commit)
    inputs: dict[str, Any] = {"cluster_reports": "commit-statuses,argocd"}
    inputs["argocd_servers"] = flux.sandbox.argocd_url("hub")
    inputs["argocd_tokens"] = token = flux.sandbox.argocd.create_token("hub")
    flux.logged.clear()
    fault = Fault("GET", path, count=count, **KINDS[kind])
    with flux.sandbox.faults.on(fault):
        try:
            result = by_statuses(flux, merged, commit, timeout="5m", **inputs)
        except KalypsoError as error:
            ended, told = f"exit {error.exit_code}", str(error)
        else:
            ended, told = verdict(result), result.document.to_json()
    passes = kind == "slow" or (count == 1 and kind in ONCE)
    assert ended == ("compliant" if passes else "exit 1")
    started = [each for each in flux.dispatches() if each.workflow == "cd.yaml"]
    assert bool(started) == passes
    if not passes and kind.isdigit():
        assert kind in told
    assert token not in told + "\n".join(flux.logged)


@pytest.mark.parametrize(
    ("command", "about"),
    [
        pytest.param("sleep 30", "0.5 s", id="slow"),
        pytest.param("echo '<html>'", "kalypso.cluster-reports/v1", id="no JSON"),
        pytest.param("""printf '{"schema": "kalypso.cluster-re'""", "v1 document", id="truncated"),
        pytest.param("head -c 17000000 /dev/zero", "16", id="too much"),
        pytest.param("kubectl-is-not-here", "exit code 127", id="lost"),
        pytest.param("echo 'HTTP 403: forbidden' >&2; exit 22", "403", id="403"),
    ],
)
def test_a_faulty_program_promotes_nothing(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch, command: str, about: str
) -> None:
    monkeypatch.setattr(command_source, "LONGEST", 0.5 if command.startswith("sleep") else 60.0)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    with pytest.raises(KalypsoError) as raised:
        check(acme, merged, commit, cluster_reports="command", reports_command=command)
    assert about in str(raised.value)
    assert acme.statuses(commit)["dev environment"][0] == "failure"
    assert not acme.dispatches()
