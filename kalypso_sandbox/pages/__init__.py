"""The pages of a sandbox for people, at GitHub's own paths: look, edit, merge, start.

    routes = github_pages(administration, draw=lambda: "<p>dev, then stage</p>")

Links of reports, comments and jobs lead to these pages. Browsers get them; programs, which do not
accept HTML, get the answers of the API.
"""

from __future__ import annotations

from typing import Final

from flask import Blueprint
from werkzeug.wrappers import Request

from kalypso_sandbox.administration import Administration
from kalypso_sandbox.pages import actions, code, conversations, fleet
from kalypso_sandbox.pages.drawing import Draw
from kalypso_sandbox.pages.site import FOLDER, PAGES, Site

__all__ = ["PAGES", "Draw", "github_pages", "is_of_browser"]

FORM: Final = "application/x-www-form-urlencoded"


def is_of_browser(request: Request) -> bool:
    """Return whether a request asks for a page, or is a form of one."""
    if request.method in {"GET", "HEAD"}:
        return "text/html" in request.headers.get("Accept", "")
    return request.mimetype == FORM


def github_pages(contents: Administration, draw: Draw | None = None) -> Blueprint:
    """Return the pages, which need the lock; `draw` draws the pipeline, without the lock."""
    routes = Blueprint(PAGES, __name__, template_folder=FOLDER / "templates")
    site = Site(contents, draw)
    site.add_to(routes)
    for module in (fleet, code, conversations, actions):
        module.views.add_to(routes, site)
    return routes
