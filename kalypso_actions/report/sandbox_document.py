"""The output of `kalypso sandbox`: its document, and its text with URLs and commands to try."""

from __future__ import annotations

import shlex
from typing import Final

from pydantic import Field

from kalypso_actions.report.documents import Document, ProblemEntry
from kalypso_actions.report.escaping import escape_line

EXAMPLES: Final = """\
# Create a repository, and clone it with the token:

curl -H "Authorization: Bearer $GITHUB_TOKEN" -d '{"name": "fleet"}' \\
  "$GITHUB_API_URL/orgs/acme/repos"
git clone -c http.extraHeader="Authorization: Bearer $GITHUB_TOKEN" \\
  "$GITHUB_SERVER_URL/acme/fleet"

# Open the next pull request, but lose the response:

curl -H "Content-Type: application/json" "$GITHUB_SERVER_URL/_sandbox/faults" \\
  -d '{"method": "POST", "path": "/repos/{owner}/{repo}/pulls", "kind": "lost"}'
"""


class AppEntry(Document):
    """A GitHub App of the sandbox; `privateKey` is the path of its key."""

    id: int
    owner: str
    private_key: str


class SandboxDocument(Document):
    """The output of `kalypso sandbox --output json` once the sandbox serves.

    `page` is the URL of a page that shows the sandbox's contents. `environment` has the variables
    for programs that use the sandbox, including the token.
    """

    schema_name: str = Field("kalypso.sandbox/v1", alias="schema")
    dir: str
    url: str = ""
    page: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    app: AppEntry | None = None
    repositories: tuple[str, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


def sandbox_text(document: SandboxDocument) -> str:
    """Return the text to print once the sandbox serves; each command is on its own line."""
    exports = (
        f"export {name}={shlex.quote(value)}\n" for name, value in document.environment.items()
    )
    parts = [
        f"# GitHub and Azure Resource Graph at {document.url}.\n"
        f"# Its repositories, pull requests and runs, in a browser: {document.page}\n"
        f"# Everything is kept in {escape_line(document.dir)}.\n"
        "# It serves until Ctrl-C. In the shell that uses it:\n",
        "".join(exports),
    ]
    if app := document.app:
        key = escape_line(app.private_key)
        parts.append(f"# An App is installed for {app.owner}: its id is {app.id}, its key {key}\n")
    parts.append(EXAMPLES)
    if document.repositories:
        parts.append(f"# Repositories: {', '.join(map(escape_line, document.repositories))}\n")
    return "\n".join(parts)
