"""Telling a repository something.

https://docs.github.com/rest/repos/repos#create-a-repository-dispatch-event
"""

from __future__ import annotations

import json
from typing import Final

from kalypso_actions.sandbox import events
from kalypso_actions.sandbox.endpoints import Answer, Call, RefusedError, endpoint
from kalypso_actions.sandbox.github import bodies

LONGEST_TYPE: Final = 100
MOST_PROPERTIES: Final = 10
MOST_CHARACTERS: Final = 65_535


@endpoint("POST", "/repos/{owner}/{repo}/dispatches", "contents: write", statuses=(204, 422))
def dispatch(call: Call) -> Answer:
    """A repository_dispatch event for the workflows of the default branch."""
    event_type = bodies.required_text(call.body, "event_type")
    payload = bodies.mapping(call.body, "client_payload")
    if not 0 < len(event_type) <= LONGEST_TYPE:
        message = f"event_type is too long (maximum is {LONGEST_TYPE} characters)"
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    if len(payload) > MOST_PROPERTIES:
        number = len(payload)
        message = f"No more than {MOST_PROPERTIES} properties are allowed; {number} were supplied."
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    if len(json.dumps(payload)) > MOST_CHARACTERS:
        raise RefusedError(422, "client_payload is too large.")
    events.repository_dispatch(
        call.world, call.named_repository, event_type, dict(payload), call.identity
    )
    return Answer(204)
