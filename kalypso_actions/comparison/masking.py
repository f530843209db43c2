"""Remove secrets from a comparison, before anything shows it.

Values below keys with certain names become `***`, in configuration and in files. What comes from a
repository that is less visible than the control plane becomes a number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model.differences import Comparison, MaskedComparison

MASKED: Final = "***"

MASKED_KEYS: Final = (
    "*apikey*",
    "*connectionstring*",
    "*connstr*",
    "*cookie*",
    "*credential*",
    "*dsn*",
    "*key*",
    "*passphrase*",
    "*passwd*",
    "*password*",
    "*pwd*",
    "*sas",
    "*secret*",
    "*signature*",
    "*token*",
    "*webhook*",
    "auth",
    "authorization",
    "pass",
)
"""Key names whose values are masked: globs, compared in lower case without `-`, `_`, `.`, ` `."""


@dataclass(frozen=True, slots=True)
class Mask:
    """What to remove: values below `keys` (globs), and the content of `hidden` repositories (URLs).

    `keys` are added to MASKED_KEYS.
    """

    keys: Collection[str] = ()
    hidden: Collection[str] = ()

    def masked(self, comparison: Comparison) -> MaskedComparison:
        """Return the comparison without secrets."""
        raise NotImplementedError
