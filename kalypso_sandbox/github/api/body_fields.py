"""Typed fields of a request's body, and GitHub's refusals of invalid ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_sandbox.github.endpoints import Call, Json, RefusedError

MAX_BODY_LENGTH = 65_536
"""The maximum number of characters in the body of an issue, pull request or comment."""


def text(body: Mapping[str, Json], name: str) -> str | None:
    """Return a string; None if it is null or absent."""
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(name, value, "a string")


def required_text(body: Mapping[str, Json], name: str) -> str:
    """Return a string. Raises RefusedError if it is null or absent."""
    value = text(body, name)
    if value is None:
        raise missing(name)
    return value


def flag(body: Mapping[str, Json], name: str) -> bool:
    """Return a boolean, by default false."""
    value = body.get(name, False)
    if isinstance(value, bool):
        return value
    raise wrong_type(name, value, "a boolean")


def mapping(body: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return an object; {} if it is null or absent."""
    value = body.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise wrong_type(name, value, "an object")


def listing(body: Mapping[str, Json], name: str) -> Sequence[Json] | None:
    """Return an array; None if it is null or absent."""
    value = body.get(name)
    if value is None or isinstance(value, list):
        return value
    raise wrong_type(name, value, "an array")


def choice(call: Call, name: str, allowed: Sequence[str]) -> str | None:
    """Return one of the allowed strings; None if it is absent."""
    value = text(call.body, name)
    if value is not None and value not in allowed:
        words = ", ".join(allowed)
        raise RefusedError(
            422,
            f"Invalid request.\n\nFor 'properties/{name}', {value} is not a member of [{words}].",
        )
    return value


def missing(name: str) -> RefusedError:
    """Return a 422 for a missing field."""
    return RefusedError(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')


def wrong_type(name: str, value: Json, wanted: str) -> RefusedError:
    """Return a 422 for a field of another type."""
    return RefusedError(
        422, f"Invalid request.\n\nFor 'properties/{name}', {value!r} is not {wanted}."
    )


def custom(resource: str, message: str) -> RefusedError:
    """Return a 422 that names no field."""
    error = {"resource": resource, "code": "custom", "message": message}
    return RefusedError(422, "Validation Failed", (error,))
