"""The output of `kalypso notify --output json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kalypso_actions.report.chain_document import ChainDocument


class NotifyDocument(ChainDocument):
    """The output of `kalypso notify --output json`."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "promoted": "true if the push is a promotion.",
        "promoted-commit": "The promoted commit of main.",
        "run-url": "The page of the started run, if GitHub names it.",
    }

    schema_name: str = Field("kalypso.notify/v1", alias="schema")
    environments: tuple[str, ...] = ()
    promoted: bool = False
    promoted_commit: str = ""
    run_url: str = ""
