"""A sandbox with objects of every kind, and requests to it as in GitHub's documentation."""

from __future__ import annotations

import itertools
import re
from typing import Any, Final

import jwt
import requests

from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import BranchRule, Permissions

Json = Any

WORKFLOW: Final = """\
on:
  workflow_dispatch:
    inputs:
      commit:
        required: true
      size:
        type: choice
        options: [small, large]
jobs: {}
"""
FILES: Final = {
    "README.md": "fleet\n",
    "docs/index.md": "1\n",
    ".github/workflows/poll.yaml": WORKFLOW,
    ".github/workflows/quiet.yaml": "on: push\njobs: {}\n",
}
VISIBLE: Final = [f"acme/{name}" for name in ("fleet", "moved", "archived", "empty")]

JOB: Final[Permissions] = {"contents": "write", "pull_requests": "write"}
"""A job's token never has the permission to change workflows."""

NAME: Final = re.compile(r"\{(\w+)\}")


class Scene:
    """The repositories of acme, and the permissions of the tokens in them.

    `fleet` has everything, `empty` no commit; `moved` was called `former`, and jobs may not open
    pull requests in it; `archived` is read-only; `hidden` is not for the tokens. In paths and
    bodies of requests, a name in braces is an attribute: those without an argument make something
    new each time.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        sandbox.state.rate_limits.per_hour[""] = 5000  # as many wrong tokens as there are endpoints
        self._numbers = itertools.count(1)
        self._session = requests.Session()
        self._session.trust_env = False  # reads neither .netrc nor proxies
        for name in ("fleet", "moved", "archived", "hidden"):
            sandbox.create_repository(f"acme/{name}", FILES)
        sandbox.create_repository("acme/empty")
        self.first = sandbox.commit("acme/fleet", {"README.md": "first\n"})
        self.second = sandbox.commit("acme/fleet", {"docs/index.md": "second\n"})
        self.app, self.key = sandbox.create_app("acme", repositories=VISIBLE)
        sandbox.install(self.app, "somebody")
        with sandbox.lock:
            self._settle()
        self._tokens = {
            "owner": sandbox.create_token(owner="acme", repositories=VISIBLE),
            "person": sandbox.create_token(),
            "powerless": sandbox.create_token("user", {}, owner="acme", repositories=VISIBLE),
            "unknown": "github_pat_unknown",
            "installation": sandbox.create_token("installation", owner="acme", app_id=self.app),
            "job": sandbox.create_token(
                "actions", JOB, owner="acme", repositories=["acme/fleet", "acme/moved"]
            ),
        }

    def _settle(self) -> None:
        store = self.sandbox.store
        store.repositories["acme/moved"].former_names.append("acme/former")
        store.repositories["acme/moved"].actions_may_open_pull_requests = False
        store.repositories["acme/moved"].actions_enabled = False
        store.repositories["acme/moved"].has_pages = True
        store.repositories["acme/archived"].archived = True
        store.repositories["acme/archived"].allowed_actions = "selected"
        fleet = store.repositories["acme/fleet"]
        fleet.variables |= {"FIRST": "1", "SECOND": "2"}
        fleet.secrets += ["APP_KEY", "TOKEN"]
        fleet.shared_secrets.append("SHARED_KEY")
        fleet.shared_variables["SHARED"] = "1"
        fleet.rules.append(
            BranchRule(pattern="protected", required_reviews=1, required_signatures=True)
        )
        installations = store.apps[self.app].installations
        self.installation_id = installations["acme"].id
        self.suspended_id = installations["somebody"].id
        installations["somebody"].suspended = True

    def request(self, method: str, path: str, body: Json = None, who: str = "owner") -> Json:
        """Send a request; a path that does not begin with a slash is below `acme/fleet`."""
        path = path if path.startswith("/") else f"/repos/acme/fleet/{path}"
        content = self._filled(body)
        return self._session.request(
            method,
            self.sandbox.api_url + self._filled(path),
            json=None if isinstance(content, bytes) else content,
            data=content if isinstance(content, bytes) else None,
            headers={"authorization": f"Bearer {self.token(who)}"} if who else {},
            allow_redirects=False,
            timeout=60,
        )

    def json(self, method: str, path: str, body: Json = None) -> Json:
        """Send a request, which must succeed, and return the JSON of the answer."""
        answer = self.request(method, path, body)
        assert answer.ok, answer.text
        return answer.json()

    def token(self, who: str) -> str:
        if who != "app":
            return self._tokens[who]
        now = int(self.sandbox.store.now.timestamp())
        claims = {"iat": now - 5, "exp": now + 300, "iss": str(self.app)}
        return jwt.encode(claims, self.key, algorithm="RS256")

    def _filled(self, value: Json) -> Json:
        if isinstance(value, str):
            return NAME.sub(lambda match: str(self._attribute(match[1])), value)
        if isinstance(value, dict):
            return {name: self._filled(content) for name, content in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        return value

    def _attribute(self, name: str) -> Json:
        value = getattr(self, name)
        return value() if callable(value) else value

    def name(self) -> str:
        """Return an unused name."""
        return f"new-{next(self._numbers)}"

    def branch(self) -> str:
        """Make a branch with a commit that main lacks."""
        branch = self.name()
        self._make_branch(branch, self.first)
        self.sandbox.commit("acme/fleet", {f"{branch}.txt": branch}, branch=branch)
        return branch

    def tree(self) -> str:
        """Return the tree of main."""
        return self.sandbox.git("acme/fleet").commit("main").tree

    def clashing_branch(self) -> str:
        """Make a branch that cannot be merged into main."""
        branch = self.name()
        self._make_branch(branch, self.first)
        self.sandbox.commit("acme/fleet", {"docs/index.md": branch}, branch=branch)
        return branch

    def unrelated(self) -> str:
        """Make a branch without a commit in common with main."""
        branch = self.name()
        self.sandbox.commit("acme/fleet", {"a": branch}, branch=branch)
        return branch

    def _make_branch(self, branch: str, commit: str) -> None:
        self.json("POST", "git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})

    def protected(self) -> str:
        """Return the branch that only pull requests may change."""
        git = self.sandbox.git("acme/fleet")
        if git.head("protected") is None:
            self._make_branch("protected", self.first)
        return "protected"

    def pull(self) -> int:
        """Open a pull request."""
        return self._pull(self.branch(), "main")

    def clashing_pull(self) -> int:
        """Open a pull request with a conflict."""
        return self._pull(self.clashing_branch(), "main")

    def blocked_pull(self) -> int:
        """Open a pull request that lacks a review."""
        return self._pull(self.branch(), self.protected())

    def merged_pull(self) -> int:
        """Open a pull request, and merge it."""
        number = self.pull()
        self.json("PUT", f"pulls/{number}/merge", {})
        return number

    def branch_of_pull(self) -> str:
        """Open a pull request; return its branch."""
        branch = self.branch()
        self._pull(branch, "main")
        return branch

    def workflows(self) -> str:
        """Make a commit that changes workflows and is on no branch, whose files GitHub accepts."""
        branch = self.branch()
        files = {".github/workflows/poll.yaml": f"# {branch}\n{WORKFLOW}"}
        commit = self.sandbox.commit("acme/fleet", files, branch=branch)
        assert self.sandbox.git("acme/fleet").update_ref(f"refs/heads/{branch}", None, commit)
        return commit

    def workflows_pull(self) -> int:
        """Open a pull request that changes workflows."""
        branch = self.name()
        self._make_branch(branch, self.workflows())
        return self._pull(branch, "main")

    def _pull(self, head: str, base: str) -> int:
        body = {"title": head, "head": head, "base": base}
        return int(self.json("POST", "pulls", body)["number"])

    def issue(self) -> int:
        """Open an issue with the label `bug`."""
        body = {"title": self.name(), "labels": ["bug"]}
        return int(self.json("POST", "issues", body)["number"])

    def eventful_issue(self) -> int:
        """Make an issue that was renamed, closed, opened again, and lost its label."""
        number = self.issue()
        changes: tuple[Json, ...] = (
            {"title": "other"},
            {"state": "closed"},
            {"state": "open"},
            {"labels": []},
        )
        for change in changes:
            self.json("PATCH", f"issues/{number}", change)
        return number

    def eventful_pull(self) -> int:
        """Make a merged pull request whose branch was deleted and created again."""
        branch = self.branch()
        number = self._pull(branch, "main")
        self.json("PUT", f"pulls/{number}/merge", {})
        head = self.sandbox.git("acme/fleet").head(branch)
        assert head is not None
        assert self.request("DELETE", f"git/refs/heads/{branch}").ok
        self._make_branch(branch, head)
        return number

    def comment(self) -> int:
        """Comment on an issue; return the comment."""
        return int(self.json("POST", f"issues/{self.issue()}/comments", {"body": "c"})["id"])

    def issue_of_comment(self) -> int:
        """Comment on an issue; return the issue."""
        issue = self.issue()
        self.json("POST", f"issues/{issue}/comments", {"body": "c"})
        return issue

    def label(self) -> str:
        """Make a label of the repository."""
        return str(self.json("POST", "labels", {"name": self.name()})["name"])

    def environment(self) -> str:
        """Make an environment with the variable NEXT."""
        name = self.name()
        self.json("PUT", f"environments/{name}", {})
        variable = {"name": "NEXT", "value": "qa"}
        self.request("POST", f"environments/{name}/variables", variable).raise_for_status()
        return name

    def run(self) -> int:
        """Start a run of a workflow."""
        body = {"ref": "main", "inputs": {"commit": "1"}, "return_run_details": True}
        path = "actions/workflows/poll.yaml/dispatches"
        return int(self.json("POST", path, body)["workflow_run_id"])
