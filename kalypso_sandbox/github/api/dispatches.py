"""Repository dispatch events.

https://docs.github.com/rest/repos/repos#create-a-repository-dispatch-event
"""

from __future__ import annotations

import json
from typing import Final

from kalypso_sandbox.github import events
from kalypso_sandbox.github.api import body_fields
from kalypso_sandbox.github.endpoints import Answer, Call, RefusedError, endpoint

MAX_TYPE_LENGTH: Final = 100
MAX_PROPERTIES: Final = 10
MAX_CHARACTERS: Final = 65_535


@endpoint("POST", "/repos/{owner}/{repo}/dispatches", "contents: write", statuses=(204, 422))
def dispatch(call: Call) -> Answer:
    """Send a repository_dispatch event to the workflows of the default branch."""
    event_type = body_fields.required_text(call.body, "event_type")
    payload = body_fields.mapping(call.body, "client_payload")
    if not 0 < len(event_type) <= MAX_TYPE_LENGTH:
        message = f"event_type is too long (maximum is {MAX_TYPE_LENGTH} characters)"
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    if len(payload) > MAX_PROPERTIES:
        number = len(payload)
        message = f"No more than {MAX_PROPERTIES} properties are allowed; {number} were supplied."
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    if len(json.dumps(payload)) > MAX_CHARACTERS:
        raise RefusedError(422, "client_payload is too large.")
    events.repository_dispatch(
        call.store, call.named_repository, event_type, dict(payload), call.identity
    )
    return Answer(204)
