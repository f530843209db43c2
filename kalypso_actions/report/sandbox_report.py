"""The report of `kalypso sandbox`, for people: its URLs, and commands to try."""

from __future__ import annotations

import shlex
from typing import Final

from kalypso_actions.report.documents import SandboxDocument
from kalypso_actions.report.terminal_escaping import escape_line

OWN_REPOSITORY: Final = """\
curl -H "Authorization: Bearer $GITHUB_TOKEN" -d '{"name": "fleet"}' \\
  "$GITHUB_API_URL/orgs/acme/repos"
"""
CLONE: Final = """\
git clone -c http.extraHeader="Authorization: Bearer $GITHUB_TOKEN" \\
  "$GITHUB_SERVER_URL/acme/fleet"
"""
FAULT: Final = """\
curl -H "Content-Type: application/json" "$GITHUB_SERVER_URL/_sandbox/faults" \\
  -d '{"method": "POST", "path": "/repos/{owner}/{repo}/pulls", "kind": "lost"}'
"""


def sandbox_text(document: SandboxDocument) -> str:
    """Return the text to print once the sandbox serves; each command is on its own line."""
    exports = "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in document.environment.items()
    )
    parts = [
        f"# GitHub and Azure Resource Graph at {document.url}.\n"
        f"# Its repositories, pull requests and runs, in a browser: {document.page}\n"
        f"# Everything is kept in {escape_line(document.dir)}.\n"
        "# It serves until Ctrl-C. In the shell that uses it:\n",
        exports,
    ]
    if document.app:
        app = document.app
        key = escape_line(app.private_key)
        parts.append(f"# An App is installed for {app.owner}: its id is {app.id}, its key {key}\n")
    parts += ["# Create a repository, and clone it with the token:\n", OWN_REPOSITORY + CLONE]
    parts += ["# Open the next pull request, but lose the response:\n", FAULT]
    if document.repositories:
        parts.append("# Repositories: " + ", ".join(map(escape_line, document.repositories)) + "\n")
    return "\n".join(parts)
