"""What all pages share: the layout, the headers that protect them, and the actions of people.

A page reads the store. What people change goes through the endpoints of GitHub's API, so every rule
of the API holds for them, too.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from flask import Blueprint, render_template, request
from markupsafe import Markup
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from kalypso_sandbox.administration import Administration
from kalypso_sandbox.github.endpoints import ENDPOINTS, Call, RefusedError
from kalypso_sandbox.github.pushes import merge_ready
from kalypso_sandbox.json_http import Json
from kalypso_sandbox.pages.drawing import Draw, Drawing
from kalypso_sandbox.pages.texts import NO_BREAK, markdown
from kalypso_sandbox.store import Repository, StepRun, WorkflowRun

PAGES: Final = "pages"
FOLDER: Final = Path(__file__).parent

CSRF_FIELD: Final = "sandbox-token"
"""The field of each form with the token that only a page of this sandbox knows."""

COMMIT_ID: Final = re.compile(r"\b([0-9a-f]{7})[0-9a-f]{33}\b")

SUMMARY: Final = "summary.md"
MARKDOWN_MARK: Final = re.compile(r"\\([!-/:-@\[-`{-~])|[`*]")
"""A mark of Markdown, or a character that a backslash escapes."""

MAX_FORM: Final = 4 << 20
"""The largest form, in bytes: a file of a repository fits."""

LOOKS: Final = {
    **dict.fromkeys(("success", "merged", "open", "ready"), "good"),
    **dict.fromkeys(("failure", "error", "cancelled", "timed_out", "closed", "failing"), "bad"),
    **dict.fromkeys(("pending", "queued", "in_progress", "waiting", "draft"), "warn"),
    **dict.fromkeys(("applying", "depending"), "warn"),
}
"""The look of a state: its color and, with `MARKS`, its sign."""

MARKS: Final = {"good": "✓", "bad": "✗", "warn": "●", "": "○"}


HTML: Final = "text/html; charset=utf-8"

View = Callable[..., Response]
"""Answers a request with the site, and the parameters of its path by name."""


class Views:
    """The views of a module, by method and path."""

    def __init__(self) -> None:
        self._views: list[tuple[str, str, View]] = []

    def get(self, path: str) -> Callable[[View], View]:
        """Add the decorated view of a page."""
        return partial(self._add, "GET", path)

    def post(self, path: str) -> Callable[[View], View]:
        """Add the decorated view of a form."""
        return partial(self._add, "POST", path)

    def _add(self, method: str, path: str, view: View) -> View:
        self._views.append((method, path, view))
        return view

    def add_to(self, routes: Blueprint, site: Site) -> None:
        """Add the views to the routes."""
        for method, path, view in self._views:
            name = f"{method} {path}".replace(".", " ")
            routes.add_url_rule(
                path, name, partial(view, site), methods=[method], strict_slashes=False
            )


class NoPageError(LookupError):
    """There is no such page; the message says what is missing."""


class Site:
    """The frame of the pages, and the person who uses them."""

    def __init__(self, contents: Administration, draw: Draw | None) -> None:
        self.contents = contents
        self.state = contents.state
        self.store = contents.store
        self.drawing = Drawing(draw, self.state.pause) if draw else None
        self._headings: dict[tuple[int, int], str] = {}
        self._token = secrets.token_urlsafe(32)
        self._style = (FOLDER / "style.css").read_text(encoding="utf-8")
        self._script = (FOLDER / "live.js").read_text(encoding="utf-8")
        self._headers = {
            "Content-Security-Policy": f"default-src 'none'; style-src '{_digest(self._style)}'; "
            f"script-src '{_digest(self._script)}'; connect-src 'self'; form-action 'self'; "
            "base-uri 'none'; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            # With `no-referrer`, browsers send `Origin: null` with the forms of these pages.
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }

    def add_to(self, routes: Blueprint) -> None:
        """Add the checks and the answers for errors to the routes."""
        routes.before_request(self._check_form)
        routes.register_error_handler(LookupError, self._missing)
        routes.register_error_handler(RefusedError, self._refused)

    def repository(self, owner: str, name: str) -> Repository:
        """Return a repository. Raises NoPageError."""
        repository = self.store.repository(f"{owner}/{name}")
        if repository is None:
            raise NoPageError(f"There is no repository {owner}/{name}.")
        return repository

    def act(
        self, method: str, path: str, repository: Repository, body: Json = None, **parameters: str
    ) -> Json:
        """Call an endpoint of GitHub's API as the person; return its answer. Raises RefusedError.

        `path` is the part of the endpoint's path after the repository.
        """
        endpoint = ENDPOINTS[method, "/repos/{owner}/{repo}" + path]
        access = self.contents.access(repository.full_name)
        call = Call(
            store=self.store,
            identity=access.identity,
            target=repository,
            api_url=self.store.api_url,
            server_url=self.store.server_url,
            path=path,
            parameters=parameters,
            query={},
            body={} if body is None else body,
            rate_limits=self.state.rate_limits,
        )
        answer = endpoint.handler(call)
        if endpoint.writes:
            merge_ready(self.store)
            self.store.save()
        return answer.body

    def page(self, template: str, title: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page; a script that knows its present version gets 304."""
        text = render_template(
            template,
            title=short(title),
            told=self._told,
            style=Markup(self._style),  # noqa: S704 - a file of this package
            script=Markup(self._script),  # noqa: S704
            token=Markup('<input type="hidden" name="{}" value="{}">').format(
                CSRF_FIELD, self._token
            ),
            repositories=list(self.store.repositories.values()),
            now=self.store.now,
            speed=self.state.speed,
            look=lambda state: LOOKS.get(state or "", ""),
            mark=lambda state: MARKS[LOOKS.get(state or "", "")],
            markdown=markdown,
            segment=segment,
            short=short,
            **values,
        )
        content = text.encode("utf-8", "backslashreplace")
        response = Response(content, status, headers=self._headers, content_type=HTML)
        clock = f"{self.store.now:%Y-%m-%d %H:%M:%S}"
        response.headers["X-Sandbox-Time"] = clock
        response.set_etag(hashlib.sha256(content.replace(clock.encode(), b"", 1)).hexdigest())
        return response.make_conditional(request) if status == 200 else response

    def _told(self, run: WorkflowRun) -> str:
        """Return what a completed run says first in its last summary; "" without one."""
        if self.state.runner is None or run.status != "completed":
            return ""
        key = run.id, run.attempt
        if key not in self._headings:
            steps = (step for job in run.jobs[::-1] for step in job.steps[::-1])
            file = next(filter(None, (self.file_of(step, SUMMARY) for step in steps)), None)
            self._headings[key] = _heading(file.read_text("utf-8", "replace") if file else "")
        return self._headings[key]

    def file_of(self, step: StepRun, name: str) -> Path | None:
        """Return a file that a step has written; None without one."""
        runner = self.state.runner
        file = runner.folder / step.folder / name if runner and step.folder else None
        return file if file and file.is_file() else None

    def text(self, content: bytes) -> Response:
        """Return the bytes of a file as plain text."""
        return Response(content, headers=self._headers, content_type="text/plain; charset=utf-8")

    def _check_form(self) -> Response | None:
        """Refuse a form that no page of this sandbox sent.

        A page of another site cannot read the token, and a browser names that site as the origin.
        """
        if request.method in {"GET", "HEAD"}:
            return None
        request.max_content_length = request.max_form_memory_size = MAX_FORM
        origin = request.headers.get("Origin", "")
        own = urlsplit(request.host_url)
        known = not origin or urlsplit(origin)[:2] == own[:2]
        fetched = request.headers.get("Sec-Fetch-Site", "same-origin")
        given = request.form.get(CSRF_FIELD, "")
        if known and fetched == "same-origin" and hmac.compare_digest(given, self._token):
            return None
        message = "The form is not of this page, or the sandbox has started anew since."
        return self.page("message.html", "Refused", status=403, heading="Refused", message=message)

    def _missing(self, error: LookupError) -> Response:
        message = str(error) if isinstance(error, NoPageError) else "There is no such page."
        heading = "Not found"
        return self.page("message.html", heading, status=404, heading=heading, message=message)

    def _refused(self, error: RefusedError) -> Response:
        details = [
            each.get("message") or f"{each.get('field')}: {each.get('code')}"
            for each in error.errors
            if isinstance(each, Mapping)
        ]
        return self.page(
            "message.html",
            "Refused",
            status=422,
            heading="GitHub refuses this",
            message=error.message,
            details=details,
        )


def to(path: str) -> Response:
    """Lead the browser to another page of this sandbox after a form."""
    return redirect(path, 303)


def segment(text: str) -> str:
    """Return a text as a part of a URL; slashes stay."""
    return quote(text.encode("utf-8", "surrogateescape"))


def short(text: str) -> str:
    """Return a text with short ids of commits."""
    return COMMIT_ID.sub(r"\1", text)


def _heading(summary: str) -> str:
    """Return the first heading of a summary as plain text, without the command's name."""
    line = next((line for line in summary.split("\n") if line.startswith("#")), "")
    plain = MARKDOWN_MARK.sub(r"\1", line.lstrip("# ")).replace(NO_BREAK, "")
    return plain.partition(": ")[2] if plain.startswith("kalypso ") else plain


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
