"""A client of GitHub's REST and GraphQL APIs, with PyGithub.

    github = GitHub(GitHubServer.of_environment(os.environ), TokenAuth(token), os.environ)
    head = branches.head(github, "acme/fleet", "main")
    pull = pull_requests.get(github, "acme/fleet", 7)

`GitHub.call` gives a function PyGithub's repository, and converts what fails. The functions of the
other modules return values of the model: PyGithub's objects, whose attributes can send requests,
stay within `call`.
"""

from kalypso_actions.clients.github.apps import AppAuth
from kalypso_actions.clients.github.connection import GitHub, TokenAuth
from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.clients.github.server import GitHubServer

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "TokenAuth"]
