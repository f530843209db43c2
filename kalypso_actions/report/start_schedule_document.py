"""The output of `kalypso start-schedule --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument


class StartScheduleDocument(ChainDocument):
    """The output of `kalypso start-schedule --output json`; `environments` are those started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where schedule was started (JSON)."
    }

    schema_name: str = Field("kalypso.start-schedule/v1", alias="schema")
    branch: str = ""
    environments: tuple[str, ...] = ()
