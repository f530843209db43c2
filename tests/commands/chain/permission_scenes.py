"""Scenes in which the commands of the chain use all permissions that they ever need.

All repositories of acme are private: nothing can be read without permission.
"""

from __future__ import annotations

from typing import Final

from tests.commands.chain.promotion_permissions import PROMOTION_SCENES
from tests.commands.chain.proposal_permissions import PROPOSAL_SCENES

SCENES: Final = (*PROMOTION_SCENES, *PROPOSAL_SCENES)
