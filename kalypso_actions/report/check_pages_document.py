"""The JSON output of check-pages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kalypso_actions.report.documents import Document, ProblemEntry


class CheckPagesDocument(Document):
    """The output of `kalypso check-pages --output json`.

    `site_is_public` is null if GitHub does not say who may read the site. `repositories` are the
    control plane and all that the report shows, with their visibility (null: unknown).
    """

    schema_name: str = Field("kalypso.check-pages/v1", alias="schema")
    control_plane: str = ""
    site_is_public: bool | None = None
    repositories: dict[str, Literal["private", "internal", "public"] | None] = Field(
        default_factory=dict
    )
    problems: tuple[ProblemEntry, ...] = ()
