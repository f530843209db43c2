"""Routes of the sandbox's controls, which take and return JSON, one request after the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from flask import Blueprint, Response, request
from pydantic import ValidationError

from kalypso_sandbox import strict_json


def add_control(
    routes: Blueprint,
    lock: AbstractContextManager[Any],
    method: str,
    path: str,
    handler: Callable[..., Any],
) -> None:
    """Add a route; its handler runs under the lock and returns the body (None: an empty one).

    The handler raises LookupError for an unknown name, and ValueError for an invalid request.
    """

    def view(**parameters: str) -> Response:
        try:
            with lock:
                body = handler(**parameters)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False, include_input=False)
            return _response(422, {"message": "The body is not valid.", "errors": errors})
        except LookupError as error:
            return _response(404, {"message": str(error)})
        except ValueError as error:
            return _response(422, {"message": str(error)})
        if body is None:
            return Response(status=204)
        return _response(201 if method == "POST" else 200, body)

    routes.add_url_rule(path, handler.__name__, view, methods=[method])


def request_body() -> Any:
    """Return the parsed JSON of the request. Raises ValueError."""
    return strict_json.loads(request.get_data())


def _response(status: int, body: Any) -> Response:
    return Response(json.dumps(body, default=str) + "\n", status, mimetype="application/json")
