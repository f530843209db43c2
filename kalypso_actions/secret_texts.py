"""The secrets that the files of planned assignments may contain, so that outputs can mask them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from kalypso_actions.assignment_rendering import PlannedAssignment
from kalypso_actions.comparison import Mask


class SecretTexts:
    """Finds the secrets of assignments; looks only once at a configuration."""

    def __init__(self, mask: Mask) -> None:
        self._names = mask.names
        self._by_config: dict[tuple[int, Hashable], frozenset[str]] = {}

    def of(self, item: PlannedAssignment) -> frozenset[str]:
        """Return the secrets that the files of an assignment may contain."""
        target = item.assignment.target
        key = id(item.platform_config), item.combination
        known = self._by_config.get(key)
        if known is None:
            values = {"values": item.config.values, "texts": item.config.texts}
            known = self._by_config[key] = self._names.secrets_of(values)
        return known | self._names.secrets_of({**target.labels, **target.manifests})


def secret_texts(
    mask: Mask, items: Iterable[PlannedAssignment], prefix: str = ""
) -> dict[str, frozenset[str]]:
    """Return the secrets that the files of assignments may contain, by `prefix` and folder."""
    texts = SecretTexts(mask)
    return {prefix + item.assignment.folder: texts.of(item) for item in items}
