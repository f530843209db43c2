"""The first page: the pipeline, and what happens in the repositories; the page of clusters."""

from __future__ import annotations

from typing import Final

from werkzeug.wrappers import Response

from kalypso_sandbox.pages.conversations import state_of
from kalypso_sandbox.pages.site import Site, Views, to

MOST: Final = 8
"""The number of runs, and of pull requests, to show on the first page."""

views = Views()


@views.get("/_sandbox/")
def former_page(_site: Site) -> Response:
    """Lead from the former address to the first page."""
    return to("/")


@views.get("/")
def pipeline(site: Site) -> Response:
    """Show the pipeline, and what happens in the repositories."""
    repositories = site.store.repositories.values()
    issues = [(each, issue) for each in repositories for issue in each.issues.values()]
    opened = [each for each in issues if each[1].state == "open"]
    pulls = [each for each in opened if each[1].pull_request]
    runs = [(each, run) for each in repositories for run in each.runs]
    return site.page(
        "pipeline.html",
        "Pipeline",
        drawing=site.drawing and site.drawing.html(),
        pulls=sorted(pulls, key=lambda each: -each[1].id)[:MOST],
        issues=[each for each in opened if not each[1].pull_request],
        runs=sorted(runs, key=lambda each: -each[1].id)[:MOST],
        state_of=state_of,
    )
