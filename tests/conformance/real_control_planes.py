"""The folder of the real control planes, which are not part of this project."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KALYPSO_REAL_CONTROL_PLANES", ROOT.parent / "shared" / "data"))
OLD = DATA / "kalypso-2023-02-old-form"
NEW = DATA / "kalypso-2024-04-current-form"

MICROSOFT = "https://github.com/microsoft"
