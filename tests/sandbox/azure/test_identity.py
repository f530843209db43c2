"""Jobs, applications and managed identities sign in, or are refused."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from werkzeug.test import TestResponse

from kalypso_sandbox.azure import Azure, JobIdentity
from kalypso_sandbox.azure.cloud import MANAGED_IDENTITY
from kalypso_sandbox.azure.clusters import UnknownNameError
from kalypso_sandbox.azure.identity import Application
from tests.sandbox.azure.azure_server import ask, client, names
from tests.sandbox.azure.builders import Clock, at, azure, cluster

AUDIENCE = "api://AzureADTokenExchange"
SUBJECT = "repo:acme/fleet:environment:dev"
DEV = JobIdentity("acme/fleet", environment="dev")
SIGNATURE_ONLY: Any = {f"verify_{name}": False for name in ("aud", "exp", "iat", "nbf")}
SCOPE = "https://management.azure.com/.default"


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Azure:
    return azure(tmp_path, clock, cluster())


def assertion_of(
    made: Azure, job: JobIdentity = DEV, audience: str = AUDIENCE, token: str | None = None
) -> TestResponse:
    """Return the endpoint's answer to a job."""
    variables = made.job_environment("", job)
    bearer = variables["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] if token is None else token
    url = variables["ACTIONS_ID_TOKEN_REQUEST_URL"]
    if audience:
        url += f"&audience={audience}"
    return client(made).get(url, headers={"Authorization": f"bearer {bearer}"})


def claims_of(made: Azure, job: JobIdentity, audience: str = AUDIENCE) -> Mapping[str, Any]:
    value = assertion_of(made, job, audience).get_json()["value"]
    return jwt.decode(value, made._key, algorithms=["HS256"], options=SIGNATURE_ONLY)


def sign_in(made: Azure, tenant: str | None = None, **form: str) -> TestResponse:
    """Return Entra's answer to an application."""
    form = {"grant_type": "client_credentials", "scope": SCOPE, **form}
    return client(made).post(f"/{tenant or made.tenant}/oauth2/v2.0/token", data=form)


def with_assertion(made: Azure, application: Application, value: str, **more: str) -> TestResponse:
    kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    return sign_in(
        made,
        client_id=application.client_id,
        client_assertion=value,
        client_assertion_type=kind,
        **more,
    )


def refusal_of(response: TestResponse) -> tuple[int, str, int]:
    """Return status, OAuth's error code and Entra's number."""
    error = response.get_json()
    [number] = error["error_codes"]
    assert error["error_description"].startswith(f"AADSTS{number}: ")
    assert f"Trace ID: {error['trace_id']} Correlation ID: " in error["error_description"]
    return response.status_code, error["error"], number


def test_a_job_gets_its_identity(made: Azure) -> None:
    answer = assertion_of(made).get_json()
    assert answer["count"] == len(answer["value"])
    assert claims_of(made, DEV) == {
        "iss": "https://token.actions.githubusercontent.com",
        "aud": AUDIENCE,
        "sub": SUBJECT,
        "repository": "acme/fleet",
        "repository_owner": "acme",
        "ref": "refs/heads/main",
        "environment": "dev",
        "nbf": int(at(-300).timestamp()),
        "iat": int(at(0).timestamp()),
        "exp": int(at(300).timestamp()),
    }


def test_subjects(made: Azure) -> None:
    repository = made.store.repositories["acme/fleet"]
    owner = made.store.accounts["acme"]
    immutable = f"repo:acme@{owner.id}/fleet@{repository.id}"
    for job, subject in (
        (DEV, SUBJECT),
        (JobIdentity("ACME/Fleet", ref="refs/heads/x"), "repo:acme/fleet:ref:refs/heads/x"),
        (JobIdentity("acme/fleet", "dev", immutable=True), f"{immutable}:environment:dev"),
        (JobIdentity("acme/fleet", immutable=True), f"{immutable}:ref:refs/heads/main"),
    ):
        assert claims_of(made, job)["sub"] == subject


def test_an_enterprise_server_speaks_for_itself(made: Azure) -> None:
    made.store.flavour = "ghes"
    made.store.server_url = "https://ghes.example"
    job = JobIdentity("acme/fleet", "dev", immutable=True)
    claims = claims_of(made, job)
    assert (claims["iss"], claims["sub"]) == ("https://ghes.example/_services/token", SUBJECT)
    value = assertion_of(made, job).get_json()["value"]
    assert with_assertion(made, made.register(SUBJECT), value).status_code == 200


def test_without_an_audience_it_is_the_owners_page(made: Azure) -> None:
    assert claims_of(made, DEV, "")["aud"] == "https://github.com/acme"


def test_only_the_jobs_token_opens_its_endpoint(made: Azure) -> None:
    assert assertion_of(made, token="wrong").status_code == 401
    assert assertion_of(made, token="").status_code == 401


def test_jobs_are_of_known_repositories(made: Azure) -> None:
    with pytest.raises(UnknownNameError):
        made.job_environment("", JobIdentity("acme/other"))


def test_the_subject_of_an_application_signs_in(made: Azure) -> None:
    application = made.register("repo:acme/fleet:environment:stage", SUBJECT)
    made.settings.token_lifetime = 1200
    answer = with_assertion(made, application, assertion_of(made).get_json()["value"]).get_json()
    assert answer["token_type"] == "Bearer"
    assert answer["expires_in"] == 1200
    assert names(ask(made, token=answer["access_token"])) == ["drone-1"]


def test_a_secret_signs_in(made: Azure) -> None:
    application = made.register(secret="hunter2")
    answer = sign_in(made, client_id=application.client_id, client_secret="hunter2").get_json()
    assert names(ask(made, token=answer["access_token"])) == ["drone-1"]
    assert "hunter2" not in repr(made)


@pytest.mark.parametrize(
    ("subject", "job", "audience", "issuer", "number"),
    [
        (SUBJECT.replace("dev", "prod"), DEV, AUDIENCE, "", 700213),
        (SUBJECT.replace("dev", "Dev"), DEV, AUDIENCE, "", 7002138),
        (SUBJECT, JobIdentity("acme/fleet", "dev", immutable=True), AUDIENCE, "", 700213),
        (SUBJECT, DEV, "api://other", "", 700212),
        (SUBJECT, DEV, AUDIENCE, "https://ghes.example/_services/token", 700211),
        ("", DEV, AUDIENCE, "", 70025),
    ],
)
def test_assertions_of_others_are_refused(
    made: Azure, subject: str, job: JobIdentity, audience: str, issuer: str, number: int
) -> None:
    application = made.register(*([subject] if subject else []))
    if issuer:
        application.federated[0].issuer = issuer
    value = assertion_of(made, job, audience).get_json()["value"]
    refused = refusal_of(with_assertion(made, application, value))
    assert refused == (401, "invalid_client", number)


@pytest.mark.parametrize(("seconds", "refused"), [(299, False), (300, True), (900, True)])
def test_assertions_live_five_minutes(
    made: Azure, clock: Clock, seconds: float, refused: bool
) -> None:
    application = made.register(SUBJECT)
    value = assertion_of(made).get_json()["value"]
    clock.seconds = seconds
    response = with_assertion(made, application, value)
    assert (response.status_code == 401) == refused
    if refused:
        assert refusal_of(response)[2] == 700024
        assert "expiry time of assertion 2026-07-01T12:05:00.0000000Z" in response.text


@pytest.mark.parametrize("value", ["", "x", "a.b.c", "a.b.é", "..", "eyJ9.eyJ9.!!"])
def test_forged_assertions_are_refused(made: Azure, value: str) -> None:
    response = with_assertion(made, made.register(SUBJECT), value)
    assert refusal_of(response) == (401, "invalid_client", 50027)


def test_a_token_is_no_assertion_nor_the_other_way_round(made: Azure) -> None:
    """The same key signs tokens and assertions."""
    application = made.register(SUBJECT)
    token = made.issue_token(audience=AUDIENCE)
    assert with_assertion(made, application, token).get_json()["error_codes"] == [50027]
    assertion = assertion_of(made, audience="https://management.azure.com").get_json()["value"]
    refused = ask(made, token=assertion)
    assert refused.status_code == 401
    assert refused.get_json()["error"]["code"] == "InvalidAuthenticationToken"


def test_a_changed_assertion_is_refused(made: Azure) -> None:
    value = assertion_of(made).get_json()["value"]
    header, claims, signature = value.split(".")
    changed = ".".join([header, claims[:-2] + ("AA" if claims[-2:] != "AA" else "BB"), signature])
    assert refusal_of(with_assertion(made, made.register(SUBJECT), changed))[2] == 50027


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"client_secret": "wrong"}, (401, "invalid_client", 7000215)),
        ({}, (401, "invalid_client", 7000218)),
        ({"client_id": "other"}, (400, "unauthorized_client", 700016)),
        ({"tenant": "other"}, (400, "invalid_request", 90002)),
        ({"grant_type": "password"}, (400, "unsupported_grant_type", 70003)),
        ({"client_secret": "right", "scope": "x"}, (400, "invalid_scope", 1002012)),
    ],
)
def test_wrong_sign_ins(made: Azure, form: dict[str, str], expected: tuple[int, str, int]) -> None:
    application = made.register(secret="right", client_id="app")
    assert refusal_of(sign_in(made, **{"client_id": application.client_id, **form})) == expected


def managed(made: Azure, header: str | None = None, **query: str) -> TestResponse:
    given = {"api-version": "2019-08-01", "resource": "https://management.azure.com", **query}
    return client(made).get(
        "/msi/token",
        query_string={name: value for name, value in given.items() if value},
        headers={"X-IDENTITY-HEADER": made.identity_header if header is None else header},
    )


def test_a_managed_identity_needs_no_secret(made: Azure) -> None:
    made.settings.token_lifetime = 600
    answer = managed(made).get_json()
    token = answer.pop("access_token")
    assert 500 < int(answer.pop("expires_on")) - time.time() <= 600
    assert answer == {
        "resource": "https://management.azure.com",
        "token_type": "Bearer",
        "client_id": MANAGED_IDENTITY,
    }
    assert names(ask(made, token=token)) == ["drone-1"]


def test_an_identity_may_be_chosen(made: Azure) -> None:
    made.register(client_id="app")
    assert managed(made, client_id="app").get_json()["client_id"] == "app"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"header": "wrong"}, 401),
        ({"header": ""}, 401),
        ({"api-version": "2017-09-01"}, 400),
        ({"resource": ""}, 400),
        ({"client_id": "other"}, 400),
        ({"mi_res_id": "/subscriptions/x"}, 400),
    ],
)
def test_wrong_requests_for_an_identity(made: Azure, query: dict[str, Any], status: int) -> None:
    response = managed(made, **query)
    assert (response.status_code, response.get_json()["statusCode"]) == (status, status)


def test_applications_and_jobs_are_made_by_json(made: Azure) -> None:
    asked = client(made)
    added = asked.post("/_sandbox/azure/applications", json={"subjects": [SUBJECT]}).get_json()
    assert added == {"clientId": next(iter(made.applications)), "tenantId": made.tenant}
    job = {"repository": "acme/fleet", "environment": "dev"}
    variables = asked.post("/_sandbox/azure/jobs", json=job).get_json()
    assert variables["ACTIONS_ID_TOKEN_REQUEST_URL"].startswith("http://localhost/_services/oidc/")
    assert len(variables["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]) > 20
    for wrong, status in (({"repository": "acme/x"}, 404), ({"name": "x"}, 422), ([], 422)):
        assert asked.post("/_sandbox/azure/jobs", json=wrong).status_code == status
