"""The secrets that the files of planned assignments may contain, so that outputs can mask them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kalypso_actions.comparison import Mask
from kalypso_actions.model.caches import IdentityCache
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.planning.assignment_rendering import PlannedAssignment

_MOST_CONFIGS: Final = 1_000
"""The most configurations whose secrets are remembered."""


class SecretTexts:
    """Finds the secrets of assignments; remembers some configurations, which assignments share."""

    def __init__(self, mask: Mask) -> None:
        self._names = mask.names
        self._known: IdentityCache[MergedConfig, frozenset[str]] = IdentityCache(_MOST_CONFIGS)

    def of(self, item: PlannedAssignment) -> frozenset[str]:
        """Return the secrets that the files of an assignment may contain."""
        target = item.assignment.target
        own = self._names.secrets_of({**target.labels, **target.manifests})
        return own | self._known.result(self._of_config, item.config)

    def _of_config(self, config: MergedConfig) -> frozenset[str]:
        return self._names.secrets_of({"values": config.values, "texts": config.texts})


def secret_texts(
    mask: Mask, items: Iterable[PlannedAssignment], prefix: str = ""
) -> dict[str, frozenset[str]]:
    """Return the secrets that the files of assignments may contain, by `prefix` and folder."""
    texts = SecretTexts(mask)
    return {prefix + item.assignment.folder: texts.of(item) for item in items}
