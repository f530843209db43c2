"""A client of GitHub's API in a sandbox with one repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from kalypso_sandbox import Sandbox
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.store import Event, Issue, PullRequest, Repository
from tests.chain.direct_requests import direct_requests
from tests.sandbox.served_sandbox import FLEET, ask, serving


class ApiClient:
    """Sends requests to a sandbox as a user with all permissions.

    Relative paths are below the repository `acme/fleet`.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.root = self.head("main")
        self.token = sandbox.create_token()
        self.job = sandbox.create_token("actions", repositories=[FLEET])

    @property
    def repository(self) -> Repository:
        return self.sandbox.store.repositories[FLEET]

    @property
    def git(self) -> BareRepository:
        return self.sandbox.git(FLEET)

    def head(self, branch: str) -> str:
        head = self.git.head(branch)
        assert head is not None
        return head

    def ask(
        self, method: str, path: str, body: Any = None, *, token: str = ""
    ) -> requests.Response:
        url = path if path.startswith("/") else f"/repos/{FLEET}/{path}"
        authorization = f"token {token or self.token}"
        return ask(self.sandbox, method, url, by=authorization, json=body)

    def made(self, method: str, path: str, body: Any = None, *, token: str = "") -> Any:
        answer = self.ask(method, path, body, token=token)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def refused(self, method: str, path: str, body: Any = None, *, token: str = "") -> str:
        """Return the status and the reasons: `422 Validation Failed: head is invalid`."""
        answer = self.ask(method, path, body, token=token)
        assert answer.status_code >= 400, answer.text
        content = answer.json()
        errors = [
            error.get("message") or f"{error.get('field')} {error['code']}"
            for error in content.get("errors", ())
        ]
        return ": ".join([f"{answer.status_code} {content['message']}", *errors])

    def branch(
        self, name: str, files: Mapping[str, str | None] | None = None, *, at: str = ""
    ) -> str:
        """Create a branch with a commit of its own, and return the commit's id."""
        self.git.update_ref(f"refs/heads/{name}", at or self.root, None)
        return self.commit(name, files or {f"{name}.txt": "1\n"})

    def commit(self, branch: str, files: Mapping[str, str | None], message: str = "Change") -> str:
        return self.sandbox.commit(FLEET, files, branch=branch, message=message)

    def propose(self, head: str, base: str = "main", **more: Any) -> int:
        """Open a pull request, and return its number."""
        body = {"title": f"Take {head}", "head": head, "base": base, **more}
        return int(self.made("POST", "pulls", body)["number"])

    def issue(self, number: int) -> Issue:
        return self.repository.issues[number]

    def pull_request(self, number: int) -> PullRequest:
        pull_request = self.issue(number).pull_request
        assert pull_request is not None
        return pull_request

    def events(self, name: str = "") -> list[Event]:
        return [event for event in self.sandbox.store.events if name in {"", event.name}]

    def actions(self) -> list[str]:
        """Return the actions of pull request events."""
        return [event.payload["action"] for event in self.events("pull_request")]


@contextmanager
def hub(folder: Path, **options: Any) -> Iterator[ApiClient]:
    """Serve a sandbox, and return a client that needs no socket."""
    with serving(folder, **options) as sandbox, direct_requests(sandbox):
        yield ApiClient(sandbox)
