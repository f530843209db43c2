"""The secrets that the files of planned assignments may contain, so that outputs can mask them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from kalypso_actions.assignment_rendering import PlannedAssignment
from kalypso_actions.comparison import Mask


def secret_texts(
    mask: Mask, items: Iterable[PlannedAssignment], prefix: str = ""
) -> dict[str, frozenset[str]]:
    """Return the secrets that the files of assignments may contain, by `prefix` and folder."""
    by_folder: dict[str, frozenset[str]] = {}
    by_config: dict[tuple[int, Hashable], frozenset[str]] = {}
    for item in items:
        target = item.assignment.target
        key = id(item.platform_config), item.combination
        if key not in by_config:
            values = {"values": item.config.values, "texts": item.config.texts}
            by_config[key] = mask.names.secrets_of(values)
        own = mask.names.secrets_of({**target.labels, **target.manifests})
        folder = prefix + item.assignment.folder
        by_folder[folder] = by_folder.get(folder, own) | own | by_config[key]
    return by_folder
