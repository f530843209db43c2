"""`kalypso hub serve`: answer over HTTP from a database or from the record."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from kalypso_actions.clients.postgresql import PostgresDatabase, connect
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.record import ask, existing_head, record_branch
from kalypso_actions.errors import KalypsoError, MissingExtraError, UsageError
from kalypso_actions.inputs.chain import HubServeInputs
from kalypso_actions.observations.projection import Database, loaded_head
from kalypso_actions.report.hub_document import HubDocument

if TYPE_CHECKING:
    from fastapi import FastAPI

Answer = TypeVar("Answer")

REFRESHED_AFTER: Final = timedelta(seconds=30)
"""The time for which the record is not looked at again."""

MOST_AT_ONCE, MOST_IN_DATABASE = 100, 10
"""Connections of clients, and those to the database, of which a small server has few."""


class DatabaseSource:
    """Tables in PostgreSQL, which `hub load` fills. Each question has a connection of its own."""

    def __init__(self, inputs: HubServeInputs, environment: Mapping[str, str]) -> None:
        self._inputs = inputs
        self._environment = environment
        self._places = threading.BoundedSemaphore(MOST_IN_DATABASE)

    def ask(self, question: Callable[[Database], Answer]) -> Answer:
        """Return the answer to a question. Raises KalypsoError."""
        inputs = self._inputs
        given = inputs.database_url, inputs.database_password.get_secret_value()
        with self._places, connect(*given, self._environment, reads_only=True) as connection:
            database = PostgresDatabase(connection, inputs.schema_name)
            database.read()
            if not loaded_head(database):
                raise KalypsoError(
                    f"the schema {inputs.schema_name} is not loaded by this release",
                    advice="run kalypso hub load",
                )
            return question(database)


class RecordSource:
    """The record, which is looked at again twice a minute at most."""

    def __init__(self, inputs: HubServeInputs, context: CommandContext) -> None:
        self._branch = record_branch(context, inputs.record)
        self._context = context
        self._lock = threading.Lock()
        self._head = ""
        self._looked = context.runtime.now()

    def ask(self, question: Callable[[Database], Answer]) -> Answer:
        """Return the answer to a question. Raises KalypsoError."""
        environment = self._context.runtime.environment
        with self._lock:
            now = self._context.runtime.now()
            if not self._head or now - self._looked > REFRESHED_AFTER:
                self._context.remotes.forget_heads()
                self._head = existing_head(self._branch)
                ask(self._branch, self._head, environment, lambda _: None)
                self._looked = now
            head = self._head
        return ask(self._branch, head, environment, question)


def address(listen: str, *, has_token: bool) -> tuple[str, int]:
    """Return host and port. Raises UsageError for another form, and for a host without a token."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"listen: {listen!r} is no HOST:PORT", advice="write 127.0.0.1:8080")
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback and not has_token:
        raise UsageError(
            f"listen: without a token, {host} would be served to everybody",
            advice="set KALYPSO_API_TOKEN, or listen on 127.0.0.1",
        )
    return host, int(port)


def application(inputs: HubServeInputs, context: CommandContext) -> FastAPI:
    """Return the application. Raises UsageError, and KalypsoError if nothing can be read."""
    try:
        from kalypso_actions.commands.hub.api import create_app  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        advice = "pip install 'kalypso-actions[hub-serve]'"
        raise MissingExtraError(f"{error.name} is missing", "hub", advice) from error
    source = (
        DatabaseSource(inputs, context.runtime.environment)
        if inputs.database_url
        else RecordSource(inputs, context)
    )
    source.ask(lambda tables: tables.rows("select 1 from loaded"))
    return create_app(source, context.runtime.now, inputs.api_token.get_secret_value())


def hub_serve(inputs: HubServeInputs, context: CommandContext) -> HubDocument:
    """Serve until the process is stopped.

    Raises UsageError for an address that needs a token, KalypsoError if nothing can be read.
    """
    host, port = address(inputs.listen, has_token=bool(inputs.api_token.get_secret_value()))
    app = application(inputs, context)
    import uvicorn  # noqa: PLC0415 - an extra

    context.runtime.log(f"Serving on http://{inputs.listen} until Ctrl-C.")
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
    )
    return HubDocument(record=inputs.record)
