"""Inputs of `kalypso check-pages`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from kalypso_actions.inputs.chain import ChainInputs


class CheckPagesInputs(ChainInputs):
    """Inputs of `kalypso check-pages`."""

    report: Annotated[Path, Field(description="The report.json of the report to publish.")]
