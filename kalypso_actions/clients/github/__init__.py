"""GitHub by its REST and GraphQL APIs."""

from kalypso_actions.clients.github.connection import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
)

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "TokenAuth"]
