"""`kalypso check-pages`: check that the site of GitHub Pages may show a report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kalypso_actions.clients.github import repositories
from kalypso_actions.commands.registry import CONTROL_PLANE, Permission
from kalypso_actions.commands.shared.context import CommandContext, visibility_of
from kalypso_actions.comparison.masking import unpublishable
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.chain import CheckPagesInputs
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.report_document import CheckPagesDocument

PERMISSIONS: Final = (
    Permission(CONTROL_PLANE, "pages", "read", "asks who may read the site of GitHub Pages"),
)
"""The permissions that the command's token needs, as in `registry.ChainCommand`."""


def check_pages(inputs: CheckPagesInputs, context: CommandContext) -> CheckPagesDocument:
    """Check that everybody who can read the site may also read the repositories in the report.

    If GitHub does not say who may read a repository or site, assume the worst case. Raises
    UsageError for a file that is no report, and GitHubError.
    """
    own = context.url(context.control_plane)
    shown = dict.fromkeys((own, *_repositories(_read(inputs.report), context)))
    visibilities = {url: visibility_of(context, url) for url in shown}
    is_public = repositories.site_is_public(context.github, context.control_plane)
    site = "is public" if is_public else "may be public"
    problems = [
        Problem(
            f"the site of GitHub Pages {site}, and this repository is "
            f"{visibilities[url] or 'not known to be'}{'' if visibilities[url] else ' public'}",
            Location(url),
            "do not publish the report: keep it as an artifact, or let GitHub Pages restrict who "
            "may read the site (GitHub Enterprise Cloud)",
        )
        for url in unpublishable(is_public, visibilities)
    ]
    return CheckPagesDocument(
        control_plane=context.control_plane,
        site_is_public=is_public,
        repositories=visibilities,
        problems=ProblemEntry.all_of(problems),
    )


def _read(file: Path) -> dict[str, Any]:
    """Return the document of a report. Raises UsageError."""
    advice = "name the report.json that kalypso report has written"
    try:
        document = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", advice=advice) from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("schema") != "kalypso.report/v1":
        raise UsageError(f"{file} is not the report.json of a report", advice=advice)
    return document


def _repositories(document: object, context: CommandContext) -> Iterator[str]:
    """Yield the URLs of all repositories in the document."""
    match document:
        case dict():
            for key, value in document.items():
                if key == "repository" and isinstance(value, str) and value:
                    is_name = value.count("/") == 1 and ":" not in value
                    yield context.url(value) if is_name else value
                else:
                    yield from _repositories(value, context)
        case list():
            for item in document:
                yield from _repositories(item, context)
