"""A repository of the sandbox whose texts are all hostile to a web page."""

from __future__ import annotations

from tests.sandbox.api_client import ApiClient

HOSTILE = "</pre></title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>"
BRANCH = "\"onmouseover='alert(1)'"
WORKFLOW = ".github/workflows/a.yaml"


def fill(github: ApiClient) -> int:
    """Add a pull request, a run and a status; return the number of the pull request."""
    github.commit("main", {WORKFLOW: "name: A\non: workflow_dispatch\n"})
    github.branch(BRANCH, {"README.md": f"fleet\n{HOSTILE}\n", f"{BRANCH}.md": "x\n"})
    head = github.commit(BRANCH, {"more.md": "more\n"}, HOSTILE)
    number = github.propose(BRANCH, title=HOSTILE, body=HOSTILE)
    status = {
        "state": "failure",
        "context": HOSTILE[:60],
        "description": HOSTILE,
        "target_url": "https://a.test",
    }
    github.made("POST", f"statuses/{head}", status)
    github.made("POST", "actions/workflows/a.yaml/dispatches", {"ref": "main"})
    return number
