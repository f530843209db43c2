"""Send recorded requests to the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import requests

from kalypso_sandbox import Sandbox
from kalypso_sandbox.github.endpoints import ENDPOINTS, Routes
from tests.github_api.description import answer_problems
from tools.github_api.shapes import differences, shape

Json = Any

OWNER: Final = "octokit-fixture-org"
BY_ID: Final = "/repositories/1000"
COMMIT: Final = re.compile(r"\b0{39}([12])\b")
"""The id of a commit in a recording: 1 is the newest commit."""

LINK: Final = re.compile(r'<[^>]*?/(repositories|repos)/[^>?]*([^>]*)>; rel="(\w+)"')
RENAMED: Final = "-newname"
ISSUES: Final = 13
"""The number of issues in the recording."""


class Replay:
    """A scenario's repository in the sandbox, in the state of the recording."""

    def __init__(self, sandbox: Sandbox, scenario: str) -> None:
        self._url = sandbox.url
        token = sandbox.create_token()
        self._session = requests.Session()
        self._session.headers["authorization"] = f"token {token}"
        self._routes = Routes(ENDPOINTS)
        renamed = scenario == "rename-repository"
        name = "hello-world" if scenario == "get-repository" else scenario
        self._name = f"{OWNER}/{name}{RENAMED if renamed else ''}"
        repository = sandbox.create_repository(self._name, files={"README.md": "1"}, private=False)
        if renamed:
            repository.former_names.append(f"{OWNER}/{name}")
        self._id = repository.id
        self._commits = [sandbox.commit(self._name, {"README.md": text}) for text in "23"]
        if scenario == "labels":
            self._ask("POST", f"/repos/{self._name}/labels", {"name": "bug", "description": "d"})
        for number in range(ISSUES if scenario == "paginate-issues" else 0):
            self._ask("POST", f"/repos/{self._name}/issues", {"title": f"issue {number}"})

    def compare(self, recorded: Json) -> Iterator[str]:
        """Yield the differences between the sandbox's answer and a recorded one."""
        method, status = recorded["method"].upper(), recorded["status"]
        path = self._here(recorded["path"])
        template = self._template(method, path)
        if not template:
            yield f"{method} {recorded['path']} is not answered"
            return
        answer = self._ask(method, path, recorded["body"])
        place, body = f"{method} {template} {status}", recorded["response"] or None
        for problem in answer_problems(method, template, status, body):
            yield f"{place}: the description contradicts the recording: {problem}"
        if answer.status_code != status:
            yield f"{place}: has status {answer.status_code}"
            return
        differing = (
            *map(str, differences(shape(body), shape(_json(answer)))),
            *_headers({*recorded["headers"]}, {name.lower() for name in answer.headers}),
            *_links(recorded["headers"].get("link", ""), answer.headers.get("link", "")),
        )
        yield from (f"{place}: {difference}" for difference in differing)

    def _here(self, path: str) -> str:
        """Return a recorded path with the sandbox's ids."""
        path = COMMIT.sub(lambda match: self._commits[-int(match[1])], path)
        return path.replace(BY_ID, f"/repositories/{self._id}")

    def _template(self, method: str, path: str) -> str:
        path = path.partition("?")[0].replace(f"/repositories/{self._id}", f"/repos/{self._name}")
        route = self._routes.find(method, path)
        return route.endpoint.path if route else ""

    def _ask(self, method: str, path: str, body: Json) -> requests.Response:
        if body:
            body = {
                name: self._here(value) if isinstance(value, str) else value
                for name, value in body.items()
            }
        return self._session.request(
            method, self._url + path, json=body or None, allow_redirects=False, timeout=60
        )


def _json(answer: requests.Response) -> Json:
    return answer.json() if answer.content else None


def _headers(recorded: set[str], ours: set[str]) -> Iterator[str]:
    yield from (f"missing header {name}" for name in sorted(recorded - ours))
    yield from (f"added header {name}" for name in sorted(ours - recorded))


def _links(recorded: str, ours: str) -> Iterator[str]:
    """Compare the form of the header Link: paged path, parameters and their order."""
    if _form(recorded) != _form(ours):
        yield f"link has the form {_form(ours)}, recorded {_form(recorded)}"


def _form(link: str) -> Sequence[tuple[str, ...]]:
    return LINK.findall(link)
