"""The repositories whose content a preview or a site must not show: fewer people may read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.model.github import Visibility

ORDER: Final[tuple[Visibility, ...]] = ("private", "internal", "public")


def less_visible(
    control_plane: Visibility, repositories: Mapping[str, Visibility | None]
) -> frozenset[str]:
    """Return the repositories that are less visible than the control plane.

    None means that the visibility is unknown, for example on another server: the repository counts
    as private. A private repository may have other readers than the control plane.
    """
    level = ORDER.index(control_plane)
    return frozenset(
        url
        for url, visibility in repositories.items()
        if visibility is None or ORDER.index(visibility) < level
    )


def unpublishable(
    site_is_public: bool | None, repositories: Mapping[str, Visibility | None]
) -> tuple[str, ...]:
    """Return the repositories whose content a site must not show, in their order.

    On a public site, or one with unknown readers (None), return all repositories that may not be
    public.
    """
    if site_is_public is False:
        return ()
    return tuple(url for url, visibility in repositories.items() if visibility != "public")
