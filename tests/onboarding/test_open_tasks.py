"""The tasks for people, with the exact page or command."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from kalypso_actions.model.federated_credentials import IDS_SINCE, subject_prefixes
from kalypso_actions.model.github import RepositoryFacts
from kalypso_actions.onboarding.branches import BranchPlan, Consent, OnboardingChange, WrittenBranch
from kalypso_actions.onboarding.open_tasks import (
    Task,
    closing_tasks,
    continued_subjects,
    issuer,
    obsolete_tasks,
    remaining_tasks,
    subjects,
)
from kalypso_actions.onboarding.setup import EnvironmentSetup, RepositorySetup, Setup

PERMISSIONS = {"actions": "write", "pull_requests": "write"}


def setup(server: str = "https://github.com", *environments: EnvironmentSetup) -> Setup:
    return Setup(
        RepositorySetup("control plane", "acme/cp", f"{server}/acme/cp", "main"),
        RepositorySetup("GitOps repository", "acme/gitops", f"{server}/acme/gitops", "main"),
        environments or (EnvironmentSetup("dev", "dev", is_first=True),),
        is_new=True,
    )


KNOWN = RepositoryFacts(
    id=42,
    name="acme/cp",
    owner_id=7,
    is_organization=True,
    default_branch="main",
    may_push=True,
    is_archived=False,
    created_at=IDS_SINCE - timedelta(seconds=1),
)
NEW = KNOWN._replace(created_at=IDS_SINCE)


def tasks(made: Setup, facts: RepositoryFacts | None = KNOWN) -> dict[str, Task]:
    return {task.title: task for task in remaining_tasks(made, facts, PERMISSIONS)}


def test_the_tasks_in_their_order() -> None:
    assert list(tasks(setup())) == [
        "Create a GitHub App",
        "Create the notifier, a second GitHub App",
        "Give each repository the credentials of its App",
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
    facts = None if is_organization is None else KNOWN._replace(is_organization=is_organization)
    links = list(tasks(setup(server), facts)["Create a GitHub App"].links.values())
    assert [f"{urlsplit(link).scheme}://{urlsplit(link).netloc}" for link in links] == [
        server
    ] * len(pages)
    assert [urlsplit(link).path for link in links] == pages
    assert parse_qs(urlsplit(links[0]).query, strict_parsing=True) == {
        "name": ["kalypso-acme"],
        "url": [f"{server}/acme/cp"],
        "public": ["false"],
        "webhook_active": ["false"],
        "actions": ["write"],
        "pull_requests": ["write"],
    }


def test_the_notifier_gets_one_permission_in_one_repository() -> None:
    made = setup()
    made = replace(made, gitops=replace(made.gitops, name="others/gitops"))
    assert all(
        parse_qs(urlsplit(link).query)["public"] == ["true"]
        for link in tasks(made)["Create a GitHub App"].links.values()
    )
    task = tasks(made)["Create the notifier, a second GitHub App"]
    (link,) = task.links.values()
    assert parse_qs(urlsplit(link).query, strict_parsing=True) == {
        "name": ["kalypso-notifier-acme"],
        "url": ["https://github.com/acme/cp"],
        "public": ["false"],
        "webhook_active": ["false"],
        "actions": ["write"],
    }
    assert "install it for acme/cp alone" in task.text


def test_a_long_owner_leaves_a_name_that_an_app_may_have() -> None:
    made = setup()
    owner = "o" * 39
    long = replace(made, control_plane=replace(made.control_plane, name=f"{owner}/cp"))
    (link,) = tasks(long)["Create a GitHub App"].links.values()
    assert len(parse_qs(urlsplit(link).query)["name"][0]) == 34


def test_variables_and_secrets_have_their_pages_in_both_repositories() -> None:
    task = tasks(setup("https://ghes.example"))["Give each repository the credentials of its App"]
    assert dict(task.links) == {
        f"{kind} of {name}": f"https://ghes.example/{name}/settings/{page}/actions/new"
        for name in ("acme/cp", "acme/gitops")
        for kind, page in (("variable", "variables"), ("secret", "secrets"))
    } | {"tokens, without an App": "https://ghes.example/settings/personal-access-tokens/new"}


@pytest.mark.parametrize("is_organization", [True, False])
def test_jobs_that_propose_must_be_allowed_to(*, is_organization: bool) -> None:
    facts = KNOWN._replace(is_organization=is_organization)
    (task,) = (
        task
        for task in remaining_tasks(setup(), facts, PERMISSIONS, jobs_propose=True)
        if task.title == "Allow GitHub Actions to create and approve pull requests"
    )
    own = {"settings of acme/cp": "https://github.com/acme/cp/settings/actions"}
    whole = {"settings of acme": "https://github.com/organizations/acme/settings/actions"}
    assert task.links == (own | whole if is_organization else own)


@pytest.mark.parametrize(
    ("server", "facts", "expected"),
    [
        (
            "https://github.com",
            KNOWN,
            ["repo:acme/cp:environment:dev", "repo:acme@7/cp@42:environment:dev"],
        ),
        (
            "https://github.com",
            None,
            [
                "repo:acme/cp:environment:dev",
                "repo:acme@OWNER-ID/cp@REPOSITORY-ID:environment:dev",
            ],
        ),
        ("https://github.com", NEW, ["repo:acme@7/cp@42:environment:dev"]),
        ("https://ghes.example", NEW, ["repo:acme/cp:environment:dev"]),
    ],
)
def test_subjects(server: str, facts: RepositoryFacts | None, expected: list[str]) -> None:
    prefixes = subject_prefixes("acme/cp", server, facts)
    credentials = subjects("dev", prefixes)
    assert [subject for _, subject in credentials] == expected
    assert len({name for name, _ in credentials}) == len(credentials)
    continued = [subject for _, subject in continued_subjects("trunk", prefixes)]
    place = "ref:refs/heads/trunk"
    assert continued == [subject.replace("environment:dev", place) for subject in expected]


@pytest.mark.parametrize(
    ("count", "facts", "environments"),
    [
        pytest.param(10, KNOWN, [10], id="ten, both forms"),
        pytest.param(12, KNOWN, [9, 3], id="twelve, both forms"),
        pytest.param(30, KNOWN, [9, 10, 10, 1], id="thirty, both forms"),
        pytest.param(20, NEW, [20], id="twenty, one form"),
        pytest.param(21, NEW, [19, 2], id="twenty-one, one form"),
    ],
)
def test_each_identity_has_its_own_commands(
    count: int, facts: RepositoryFacts, environments: list[int]
) -> None:
    """Continued runs sign in with the first one, and every one needs the role."""
    names = [f"e{number}" for number in range(count)]
    made = setup("https://github.com", *(EnvironmentSetup(name, name) for name in names))
    lines = tasks(made, facts)["Let the chain see the clusters"].lines
    forms = 1 if facts is NEW else 2
    for number, environments_of_it in enumerate(environments, 1):
        variable = "$AZURE_CLIENT_ID" + (f"_{number}" if number > 1 else "")
        own = [line for line in lines if f'"{variable}"' in line]
        created = [line for line in own if line.startswith("az ad ")]
        credentials = [line for line in created if "kalypso-main" not in line]
        assert len(credentials) == environments_of_it * forms
        assert sum(line.startswith("az role assignment create ") for line in own) == 1
        continued = [line for line in own if "kalypso-main" in line]
        assert len(continued) == (forms if number == 1 else 0)
        fits = len(credentials) + len(continued) <= 20
        assert all(line.startswith("# az ad ") != fits for line in continued)
        assert fits or any("delete those of the other form" in line for line in lines)


def test_the_environments_of_a_second_identity_are_named() -> None:
    names = [f"e{number}" for number in range(12)]
    made = setup("https://github.com", *(EnvironmentSetup(name, name) for name in names))
    (line,) = [
        line
        for line in tasks(made)["Let the chain see the clusters"].lines
        if line.startswith("# Azure accepts 20")
    ]
    assert "For e9, e10, e11, create another one, $AZURE_CLIENT_ID_2 below" in line


def test_an_app_for_two_owners_is_public() -> None:
    made = setup("https://github.com")
    other = replace(made, gitops=replace(made.gitops, name="other/go"))
    links = [tasks(each)["Create a GitHub App"].links.values() for each in (made, other)]
    assert [["public=false" in url for url in urls] for urls in links] == [[True], [False]]


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
        for place, of_place in (
            ("dev", "environment:dev"),
            ("stage", "environment:stage"),
            ("main", "ref:refs/heads/main"),  # for jobs without a GitHub environment
        )
        for name, subject in (
            (f"kalypso-{place}", f"repo:acme/cp:{of_place}"),
            (f"kalypso-{place}-by-id", f"repo:acme@7/cp@42:{of_place}"),
        )
    ]
    assert any(line.startswith("variable KALYPSO_RECORD: acme/cp, or ") for line in task.lines)
    assert task.lines[-1].startswith("az role assignment create")
    assert "--role Reader" in task.lines[-1]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (
            "commit-statuses",
            [
                "variable KALYPSO_CLUSTER_REPORTS: commit-statuses",
                "kubectl --context berlin-1 apply -f clusters/dev/berlin-1.yaml",
            ],
        ),
        (
            "argocd",
            [
                "variable KALYPSO_CLUSTER_REPORTS: argocd",
                "argocd cluster set berlin-1 --label kalypso.io/dev-standard=true",
                "kubectl --context <that of Argo CD> apply -f clusters/dev",
                "# argocd-rbac-cm: p, role:kalypso, applications, get, */*, allow",
            ],
        ),
    ],
)
def test_clusters_outside_of_azure_need_no_azure(source: str, lines: list[str]) -> None:
    environments = (
        EnvironmentSetup("dev", "dev", clusters=("berlin-1",), lists_clusters=True),
        EnvironmentSetup("stage", "stage"),
        EnvironmentSetup("prod", "prod", clusters=("rome",), reconciler="flux"),
    )
    made = replace(setup("https://github.com", *environments), cluster_reports=source)
    task = tasks(made)["Let the chain see the clusters"]
    assert set(lines) <= set(task.lines)
    annotated = [line for line in task.lines if ": annotate its cluster types " in line]
    assert [line.partition(";")[0] for line in annotated] == [
        "# stage: annotate its cluster types kalypso.io/clusters: <names>",
        "# prod: annotate its cluster types kalypso.io/clusters: rome",
    ]
    assert all("remove kalypso.io/compliance: none" in line for line in annotated)
    reconciled = [line for line in task.lines if line.startswith("# prod: if its clusters")]
    assert len(reconciled) == (source == "argocd")
    assert any(line.startswith("variable KALYPSO_RECORD: acme/cp, or ") for line in task.lines)
    assert task.lines[-1].startswith("kalypso clusters --control-plane acme/cp --cluster-reports ")
    assert "azure" not in f"{task}".lower()


@pytest.mark.parametrize(
    ("server", "facts", "is_asked"),
    [
        ("https://github.com", None, True),
        ("https://github.com", KNOWN, False),
        ("https://ghes.example", None, False),
    ],
)
def test_without_the_ids_the_task_says_how_to_get_them(
    server: str, facts: RepositoryFacts | None, *, is_asked: bool
) -> None:
    lines = tasks(setup(server), facts)["Let the chain see the clusters"].lines
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
    changes = tuple(OnboardingChange(path, "delete", "", None) for path in ("a", "b"))
    plan = BranchPlan(made.control_plane, "main", "1" * 40, changes)
    (task,) = obsolete_tasks([plan], Consent())
    assert task.lines == ("a", "b")
    assert task.links == {"files": "https://github.com/acme/cp/tree/main/.github/workflows"}
    assert list(obsolete_tasks([plan], Consent(delete_upstream_workflows=True))) == []
