"""The tasks for people, with the exact page or command."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from kalypso_actions.onboarding import (
    EnvironmentSetup,
    Identity,
    RepositorySetup,
    Setup,
    Task,
    remaining_tasks,
)
from kalypso_actions.onboarding.azure import IDS_SINCE, continued_subjects, issuer, subjects
from kalypso_actions.onboarding.changes import BranchPlan, Consent, FileChange, WrittenBranch
from kalypso_actions.onboarding.open_tasks import app_url, closing_tasks, obsolete_tasks

PERMISSIONS = {"actions": "write", "pull_requests": "write"}


def setup(server: str = "https://github.com", *environments: EnvironmentSetup) -> Setup:
    return Setup(
        RepositorySetup("control plane", "acme/cp", f"{server}/acme/cp", "main"),
        RepositorySetup("GitOps repository", "acme/gitops", f"{server}/acme/gitops", "main"),
        environments or (EnvironmentSetup("dev", "dev", is_first=True),),
        is_new=True,
    )


KNOWN = Identity(7, 42, is_organization=True)


def tasks(made: Setup, identity: Identity = KNOWN) -> dict[str, Task]:
    return {task.title: task for task in remaining_tasks(made, identity, PERMISSIONS)}


def test_the_tasks_in_their_order() -> None:
    assert list(tasks(setup())) == [
        "Create a GitHub App",
        "Give both repositories the App's credentials",
        "Protect the environments",
        "Let the chain see the clusters",
    ]


@pytest.mark.parametrize(
    ("is_organization", "pages"),
    [
        (True, ["/organizations/acme/settings/apps/new"]),
        (False, ["/settings/apps/new"]),
        (None, ["/organizations/acme/settings/apps/new", "/settings/apps/new"]),
    ],
)
@pytest.mark.parametrize("server", ["https://github.com", "https://github.acme.example"])
def test_the_page_of_a_new_app_is_filled_in(
    server: str, pages: list[str], *, is_organization: bool | None
) -> None:
    identity = Identity(7, 42, is_organization=is_organization)
    links = list(tasks(setup(server), identity)["Create a GitHub App"].links.values())
    assert [f"{urlsplit(one).scheme}://{urlsplit(one).netloc}" for one in links] == [server] * len(
        pages
    )
    assert [urlsplit(one).path for one in links] == pages
    assert parse_qs(urlsplit(links[0]).query, strict_parsing=True) == {
        "name": ["kalypso-acme"],
        "url": [f"{server}/acme/cp"],
        "public": ["false"],
        "webhook_active": ["false"],
        "actions": ["write"],
        "pull_requests": ["write"],
    }


def test_a_long_owner_leaves_a_name_that_an_app_may_have() -> None:
    made = setup()
    owner = "o" * 39
    long = replace(made, control_plane=replace(made.control_plane, name=f"{owner}/cp"))
    (link,) = tasks(long)["Create a GitHub App"].links.values()
    assert len(parse_qs(urlsplit(link).query)["name"][0]) == 34


def test_variables_and_secrets_have_their_pages_in_both_repositories() -> None:
    task = tasks(setup("https://ghes.example"))["Give both repositories the App's credentials"]
    assert dict(task.links) == {
        f"{kind} of {name}": f"https://ghes.example/{name}/settings/{page}/actions/new"
        for name in ("acme/cp", "acme/gitops")
        for kind, page in (("variable", "variables"), ("secret", "secrets"))
    } | {"tokens, without an App": "https://ghes.example/settings/personal-access-tokens/new"}


@pytest.mark.parametrize("is_organization", [True, False])
def test_jobs_that_propose_must_be_allowed_to(*, is_organization: bool) -> None:
    identity = Identity(7, 42, is_organization=is_organization)
    (task,) = (
        one
        for one in remaining_tasks(setup(), identity, PERMISSIONS, jobs_propose=True)
        if one.title == "Allow GitHub Actions to create and approve pull requests"
    )
    own = {"settings of acme/cp": "https://github.com/acme/cp/settings/actions"}
    whole = {"settings of acme": "https://github.com/organizations/acme/settings/actions"}
    assert task.links == (own | whole if is_organization else own)


@pytest.mark.parametrize(
    ("server", "identity", "expected"),
    [
        (
            "https://github.com",
            Identity(7, 42),
            ["repo:acme/cp:environment:dev", "repo:acme@7/cp@42:environment:dev"],
        ),
        (
            "https://github.com",
            Identity(),
            [
                "repo:acme/cp:environment:dev",
                "repo:acme@OWNER-ID/cp@REPOSITORY-ID:environment:dev",
            ],
        ),
        ("https://ghes.example", Identity(7, 42), ["repo:acme/cp:environment:dev"]),
    ],
)
def test_subjects(server: str, identity: Identity, expected: list[str]) -> None:
    found = subjects(setup(server).control_plane, "dev", identity)
    assert [subject for _, subject in found] == expected
    assert len({name for name, _ in found}) == len(found)


def test_a_new_repository_signs_in_by_its_ids() -> None:
    made = setup("https://github.com").control_plane
    for created, count in ((IDS_SINCE, 1), (IDS_SINCE - timedelta(seconds=1), 2)):
        identity = Identity(7, 42, created_at=created)
        found = [subject for _, subject in subjects(made, "dev", identity)]
        assert found[-1] == "repo:acme@7/cp@42:environment:dev"
        assert len(found) == count
        (*_, (_, continued)) = continued_subjects(made, identity)
        assert continued == "repo:acme@7/cp@42:ref:refs/heads/main"


def test_a_second_identity_for_more_than_ten_environments() -> None:
    names = [f"e{number}" for number in range(12)]
    made = setup("https://github.com", *(EnvironmentSetup(name, name) for name in names))
    lines = tasks(made)["Let the chain see the clusters"].lines
    (place,) = [n for n, line in enumerate(lines) if line.startswith("# Azure accepts 20")]
    assert "For e10, e11, create another one" in lines[place]
    assert sum(line.startswith("az ad ") for line in lines[:place]) == 20
    assert sum(line.startswith("az ad ") for line in lines[place:]) == 4


def test_an_app_for_two_owners_is_public() -> None:
    made = setup("https://github.com")
    other = replace(made, gitops=replace(made.gitops, name="other/go"))
    urls = [app_url(one, {}, personal=False) for one in (made, other)]
    assert ["public=false" in url for url in urls] == [True, False]


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("https://github.com", "https://token.actions.githubusercontent.com"),
        ("https://acme.ghe.com", "https://token.actions.acme.ghe.com"),
        ("https://ghes.example", "https://ghes.example/_services/token"),
    ],
)
def test_issuers(server: str, expected: str) -> None:
    assert issuer(server) == expected


def test_azure_gets_a_credential_for_each_environment_in_both_forms() -> None:
    made = setup(
        "https://github.com", EnvironmentSetup("dev", "dev"), EnvironmentSetup("stage", "stage")
    )
    task = tasks(made)["Let the chain see the clusters"]
    commands = [shlex.split(line) for line in task.lines if line.startswith("az ad ")]
    assert [json.loads(words[-1]) for words in commands] == [
        {
            "name": name,
            "issuer": "https://token.actions.githubusercontent.com",
            "subject": subject,
            "audiences": ["api://AzureADTokenExchange"],
        }
        for environment in ("dev", "stage")
        for name, subject in (
            (f"kalypso-{environment}", f"repo:acme/cp:environment:{environment}"),
            (f"kalypso-{environment}-by-id", f"repo:acme@7/cp@42:environment:{environment}"),
        )
    ]
    assert task.lines[-1].startswith("az role assignment create")
    assert "--role Reader" in task.lines[-1]


@pytest.mark.parametrize(
    ("server", "identity", "is_asked"),
    [
        ("https://github.com", Identity(), True),
        ("https://github.com", KNOWN, False),
        ("https://ghes.example", Identity(), False),
    ],
)
def test_who_does_not_know_the_ids_is_told_how_to_ask(
    server: str, identity: Identity, *, is_asked: bool
) -> None:
    lines = tasks(setup(server), identity)["Let the chain see the clusters"].lines
    question = "gh api repos/acme/cp --jq '.owner.id, .id' # OWNER-ID and REPOSITORY-ID"
    assert (question in lines) is is_asked


def test_a_new_environment_of_an_old_chain_must_be_named_by_another() -> None:
    old = EnvironmentSetup("dev", "dev", is_new=False)
    made = setup("https://github.com", old, EnvironmentSetup("on", "on"))
    task = tasks(made)["Say what comes before on"]
    assert task.lines[-1] == '    kalypso.io/next-environment: "on"'


@pytest.mark.parametrize(
    ("first", "asks"), [((False, False), True), ((True, False), False), ((True, True), False)]
)
def test_somebody_must_say_which_environment_is_first(
    first: tuple[bool, bool], *, asks: bool
) -> None:
    old = (
        EnvironmentSetup(name, name, is_new=False, is_first=is_first)
        for name, is_first in zip(("dev", "stage"), first, strict=True)
    )
    task = tasks(setup("https://github.com", *old)).get("Say which environment comes first")
    assert (task is not None) is asks
    if task:
        assert task.lines[-1] == '    kalypso.io/first-environment: "true"'
        assert task.links == {"files": "https://github.com/acme/cp/tree/main/.environments"}


def written(made: Setup, branch: str, url: str = "") -> WrittenBranch:
    plan = BranchPlan(made.control_plane, branch, "", ())
    return WrittenBranch(plan, "1" * 40, url)


def test_the_commits_of_clones_are_left_to_push() -> None:
    made = setup()
    branches = [written(made, branch) for branch in ("dev", "a;b", "main")]
    push, first_run = closing_tasks(made, branches, {"control plane": "my clone"})
    assert push.lines == ("git -C 'my clone' push --atomic origin dev 'a;b' main",)
    assert first_run.links == {
        "CI": "https://github.com/acme/cp/actions/workflows/ci.yaml",
        "pull requests": "https://github.com/acme/gitops/pulls",
    }


def test_pull_requests_are_left_to_merge() -> None:
    made = setup()
    branches = [written(made, "dev", "https://x"), written(made, "main")]
    merge, _ = closing_tasks(made, branches, {})
    assert merge.links == {"acme/cp, dev": "https://x"}


def test_nothing_follows_a_run_that_wrote_nothing() -> None:
    made = setup()
    unchanged = WrittenBranch(BranchPlan(made.control_plane, "main", "1" * 40, ()))
    assert list(closing_tasks(made, [unchanged], {})) == []


def test_the_files_of_upstream_are_left_to_delete() -> None:
    made = setup()
    changes = tuple(FileChange(path, "delete", "", None) for path in ("a", "b"))
    plan = BranchPlan(made.control_plane, "main", "1" * 40, changes)
    (task,) = obsolete_tasks([plan], Consent())
    assert task.lines == ("a", "b")
    assert task.links == {"files": "https://github.com/acme/cp/tree/main/.github/workflows"}
    assert list(obsolete_tasks([plan], Consent(delete_upstream_workflows=True))) == []
