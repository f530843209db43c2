"""Every break that is tried."""

from __future__ import annotations

from typing import Final

from tools.mutants.access_breaks import ACCESS_BREAKS
from tools.mutants.chain_breaks import CHAIN_BREAKS
from tools.mutants.cost_breaks import COST_BREAKS
from tools.mutants.placement_breaks import PLACEMENT_BREAKS
from tools.mutants.preview_breaks import PREVIEW_BREAKS
from tools.mutants.promotion_breaks import PROMOTION_BREAKS
from tools.mutants.scale_breaks import SCALE_BREAKS
from tools.mutants.unchanged_breaks import UNCHANGED_BREAKS

BREAKS: Final = (
    *CHAIN_BREAKS,
    *PROMOTION_BREAKS,
    *ACCESS_BREAKS,
    *PREVIEW_BREAKS,
    *COST_BREAKS,
    *PLACEMENT_BREAKS,
    *SCALE_BREAKS,
    *UNCHANGED_BREAKS,
)
