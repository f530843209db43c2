"""The fields of a request's body by type, and GitHub's refusals of those that do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_actions.sandbox.endpoints import Call, Json, RefusedError

MAX_BODY_LENGTH = 65_536
"""Characters that the body of an issue, pull request or comment may have."""


def text(body: Mapping[str, Json], name: str) -> str | None:
    """A text; None where it is null or absent."""
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(name, value, "a string")


def required_text(body: Mapping[str, Json], name: str) -> str:
    """A text that must be there."""
    value = text(body, name)
    if value is None:
        raise missing(name)
    return value


def flag(body: Mapping[str, Json], name: str) -> bool:
    """A truth value; absent ones are false."""
    value = body.get(name, False)
    if isinstance(value, bool):
        return value
    raise wrong_type(name, value, "a boolean")


def mapping(body: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """An object; {} where it is null or absent."""
    value = body.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise wrong_type(name, value, "an object")


def listing(body: Mapping[str, Json], name: str) -> Sequence[Json] | None:
    """A list; None where it is null or absent."""
    value = body.get(name)
    if value is None or isinstance(value, list):
        return value
    raise wrong_type(name, value, "an array")


def choice(call: Call, name: str, allowed: Sequence[str]) -> str | None:
    """One of a few words; None where it is absent."""
    value = text(call.body, name)
    if value is not None and value not in allowed:
        words = ", ".join(allowed)
        raise RefusedError(
            422,
            f"Invalid request.\n\nFor 'properties/{name}', {value} is not a member of [{words}].",
        )
    return value


def missing(name: str) -> RefusedError:
    """422: a field must be there."""
    return RefusedError(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')


def wrong_type(name: str, value: Json, wanted: str) -> RefusedError:
    """422: a field is of another type."""
    return RefusedError(
        422, f"Invalid request.\n\nFor 'properties/{name}', {value!r} is not {wanted}."
    )


def custom(resource: str, message: str) -> RefusedError:
    """422 for what no single field is to blame for."""
    error = {"resource": resource, "code": "custom", "message": message}
    return RefusedError(422, "Validation Failed", (error,))
