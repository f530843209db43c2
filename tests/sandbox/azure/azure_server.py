"""The simulated Azure on its own port, and its clients."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from kalypso_sandbox.azure import Azure
from kalypso_sandbox.azure.routes import blueprint
from kalypso_sandbox.certificates import server_context
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
    """Serve, and yield the URL; with TLS if there is the certificate of an authority."""
    file = str(certificate.with_name("server.pem")) if certificate else ""
    tls = (file, file) if file else None
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
    """Return the certificate of an authority, with that of a server beside it."""
    _, authority = server_context(folder, datetime.now(UTC))
    return authority


def error_of(response: TestResponse) -> Any:
    """Return Azure's error object."""
    return json.loads(response.data)["error"]
