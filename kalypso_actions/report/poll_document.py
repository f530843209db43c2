"""The output of `kalypso poll --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import Document


class StartEntry(Document):
    """A workflow that poll has started, with its inputs and the reason.

    `commit` is the promoted commit ("" for schedule); `attempt` counts the starts from 1; `url` is
    the page of the run.
    """

    workflow: str
    environment: str
    commit: str = ""
    attempt: int = 1
    reason: str
    url: str


class PollDocument(ChainDocument):
    """The output of `kalypso poll --output json`.

    `environments` are those where schedule was started, `started` all starts.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON)."
    }

    schema_name: str = Field("kalypso.poll/v1", alias="schema")
    environments: tuple[str, ...] = ()
    started: tuple[StartEntry, ...] = ()
