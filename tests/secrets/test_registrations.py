"""Repositories that a control plane names on other servers get no credential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from kalypso_actions.commands.ci import ci
from kalypso_actions.commands.poll import poll
from kalypso_actions.commands.schedule import schedule
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import CiInputs, PollInputs, ScheduleInputs
from tests.commands.chain import documents
from tests.commands.chain.conftest import acme as acme  # noqa: PLC0414 - a fixture
from tests.commands.chain.conftest import acme_over_http as acme_over_http  # noqa: PLC0414 - a fixture
from tests.commands.chain.conftest import founded as founded  # noqa: PLC0414 - a fixture
from tests.commands.chain.organisation import Organisation
from tests.secrets.foreign_server import Listener, listening
from tests.secrets.secret_forms import found

ELSEWHERE = "glpat-0123456789abcdefghij"


@pytest.fixture
def other() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


def commands(acme: Organisation, **given: Any) -> str:
    """Run the commands that read registrations; return their output."""
    printed: list[str] = []
    runs: Mapping[str, Any] = {
        "ci": lambda: acme.run(ci, CiInputs, start_cd="false", **given),
        "schedule": lambda: acme.run(schedule, ScheduleInputs, environment="dev", **given),
        "poll": lambda: acme.run(poll, PollInputs, **given),
    }
    for run in runs.values():
        try:
            outcome = run()
        except KalypsoError as error:
            printed.append(str(error))
        else:
            printed += [outcome.summary, str(outcome.document)]
    return "\n".join([*printed, *acme.logged])


def name_elsewhere(acme: Organisation, url: str) -> None:
    """Yield control planes whose registration, base or GitOps repository is elsewhere."""
    head = acme.head("main") or ""
    acme.commit({"elsewhere.yaml": documents.registration("elsewhere", f"{url}/team/app")})
    acme.commit({"other-base.yaml": documents.base_repo(f"{url}/team/base", head)}, "stage")
    files = {"gitops-repo.yaml": documents.gitops_repo(f"{url}/team/gitops", "stage")}
    acme.commit(files, "stage")
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), acme.head("main") or "")}, "dev")


def test_servers_that_are_not_allowed_get_no_request(acme: Organisation, other: Listener) -> None:
    name_elsewhere(acme, other.url)
    printed = commands(acme)
    assert "not among those that may be read" in printed
    assert other.requests == []


def test_allowed_servers_get_no_credential(acme: Organisation, other: Listener) -> None:
    name_elsewhere(acme, other.url)
    printed = commands(acme, allowed_repositories=f"acme/*,{other.url}/**")
    assert other.requests
    assert "authorization" not in other.text.lower()
    assert found(acme.sandbox.store.tokens, printed + other.text) == []


def test_a_credential_for_elsewhere_goes_there_alone(acme: Organisation, other: Listener) -> None:
    name_elsewhere(acme, other.url)
    printed = commands(
        acme,
        allowed_repositories=f"acme/*,{other.url}/**",
        git_credentials=f"{other.url}/team=kalypso:{ELSEWHERE}",
    )
    assert other.requests and all(found([ELSEWHERE], request) for request in other.requests)
    assert found(acme.sandbox.store.tokens, printed + other.text) == []
    assert found([ELSEWHERE], printed) == []


@pytest.mark.parametrize(
    "url", ["http://x-access-token@{0}/team/app", "http://{1}@{0}/team/app", "http://{0}@{2}/app"]
)
def test_urls_that_look_like_another_server(acme: Organisation, other: Listener, url: str) -> None:
    hosts = urlsplit(other.url).netloc, urlsplit(acme.url()).netloc
    written = url.format(*hosts, hosts[0])
    acme.commit({"elsewhere.yaml": documents.registration("elsewhere", written)})
    acme.commit({"base-repo.yaml": documents.base_repo(acme.url(), acme.head("main") or "")}, "dev")
    printed = commands(acme, allowed_repositories=f"acme/*,{other.url}/**")
    assert found(acme.sandbox.store.tokens, printed + other.text) == []
