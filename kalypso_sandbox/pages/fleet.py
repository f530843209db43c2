"""The first page with the pipeline and what happens; the page of clusters, which people break."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from flask import request
from werkzeug.wrappers import Response

from kalypso_sandbox.azure.clusters import UnknownNameError
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.pages.conversations import state_of
from kalypso_sandbox.pages.site import NoPageError, Site, Views, to

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
        is_old=site.drawing is not None and site.drawing.is_old,
        drawing=site.drawing and site.drawing.html(),
        pulls=sorted(pulls, key=lambda each: -each[1].id)[:MOST],
        issues=[each for each in opened if not each[1].pull_request],
        runs=sorted(runs, key=lambda each: -each[1].id)[:MOST],
        state_of=state_of,
    )


@views.get("/clusters")
def clusters(site: Site) -> Response:
    """Show what the clusters run, by branch."""
    states = site.state.clusters.states()
    heads = {(each.repository, each.branch): "" for each in states}
    for repository, branch in heads:
        found = site.store.repository(repository)
        heads[repository, branch] = (site.store.git(found).head(branch) if found else "") or ""
    return site.page("clusters.html", "Clusters", clusters=states, heads=heads)


@views.post("/clusters")
def add_cluster(site: Site) -> Response:
    """Add a cluster like another one."""
    _change(partial(site.state.clusters.add, _field("name"), _field("like")))
    return to("/clusters")


@views.post("/clusters/<name>/<any(fail, stall, offline, mend, delete):what>")
def change_cluster(site: Site, name: str, what: str) -> Response:
    """Break a cluster, mend it, or delete it."""
    known = site.state.clusters
    changes = {
        "fail": partial(known.fail, name, _field("text")),
        "stall": partial(known.stall, name),
        "offline": partial(known.take_offline, name),
        "mend": partial(known.mend, name),
        "delete": partial(known.delete, name),
    }
    _change(changes[what])
    return to("/clusters")


def _field(name: str) -> str:
    return request.form.get(name, "").strip()


def _change(change: Callable[[], None]) -> None:
    """Change a cluster. Raises NoPageError and RefusedError."""
    try:
        change()
    except UnknownNameError as error:
        raise NoPageError(f"{error}.") from None
    except ValueError as error:
        raise RefusedError(409, f"{error}.") from None
