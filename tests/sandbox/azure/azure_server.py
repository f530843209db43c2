"""The simulated Azure on its own port, and its clients."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import RetryPolicy
from azure.mgmt.resourcegraph import ResourceGraphClient
from azure.mgmt.resourcegraph.models import QueryRequest, QueryRequestOptions
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from flask import Blueprint, Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from kalypso_sandbox.azure import Azure
from kalypso_sandbox.azure.routes import blueprint
from kalypso_sandbox.controls import add_azure_controls
from tests.sandbox.azure.builders import FLUX_CONFIGURATIONS

PATH = "/providers/Microsoft.ResourceGraph/resources"
VERSION = "api-version=2021-03-01"
QUERY = f"{FLUX_CONFIGURATIONS}| project id, properties\n| order by id asc"


def application(azure: Azure) -> Flask:
    """Return a Flask application with Azure alone."""
    flask = Flask(__name__)
    controls = Blueprint("control", __name__)
    add_azure_controls(controls, azure)
    flask.register_blueprint(blueprint(azure))
    flask.register_blueprint(controls)
    return flask


def client(azure: Azure) -> FlaskClient:
    """Return a client without a network."""
    return application(azure).test_client()


def ask(azure: Azure, query: str = QUERY, token: str | None = None, **body: Any) -> TestResponse:
    """Send a query, by default with a valid token; `body` are further fields."""
    bearer = azure.issue_token() if token is None else token
    return client(azure).post(
        f"{PATH}?{VERSION}",
        json={"query": query, **body},
        headers={"Authorization": f"Bearer {bearer}"},
    )


def names(response: TestResponse) -> list[str]:
    """Return the clusters in an answer."""
    assert response.status_code == 200, response.text
    return [row["id"].split("/")[8] for row in response.get_json()["data"]]


@contextlib.contextmanager
def serving(azure: Azure, certificate: Path | None = None) -> Iterator[str]:
    """Serve, and yield the URL; with TLS if there is a file of key and certificate."""
    tls = (str(certificate), str(certificate)) if certificate else None
    server = make_server("127.0.0.1", 0, application(azure), threaded=True, ssl_context=tls)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def certificate(folder: Path) -> Path:
    """Return a file with a key and its self-signed certificate for the loopback address."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sandbox")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    written = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "sandbox.pem"
    file.write_bytes(written + made.public_bytes(serialization.Encoding.PEM))
    return file


class Given:
    """A credential with one token, as Azure's clients take it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken(self._token, 2**33)


def sdk(url: str, token_of_header: Any) -> ResourceGraphClient:
    """Return Azure's own client, without retry delays."""
    return ResourceGraphClient(
        token_of_header,
        base_url=url,
        credential_scopes=[f"{url}/.default"],
        retry_policy=RetryPolicy.no_retries(),
    )


def query(asked: ResourceGraphClient, **options: Any) -> Any:
    """Query with the client, and return the answer and its headers."""
    request = QueryRequest(query=QUERY, options=QueryRequestOptions(**options))
    return asked.resources(
        request,
        enforce_https=False,
        cls=lambda response, content, _: (content, dict(response.http_response.headers)),
    )


def error_of(response: TestResponse) -> Any:
    """Return Azure's error object."""
    return json.loads(response.data)["error"]
