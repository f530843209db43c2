"""A client of GitHub's REST and GraphQL APIs.

connection         one GitHub server with one credential; every call goes through it
  server           the server's URLs, and whether a URL belongs to its API
  apps             tokens of a GitHub App, one for each owner
  transport        sends requests, retries them where that is safe, logs and counts them
    messages      a request, a response, and the errors in place of a response
    rate_limits   whether a response asks to wait, and until when
    retry_policy  how long to wait before a request is sent again
    connection_failures  why `requests` got no response
    quota         how much of the rate limit was used
  errors           GitHubError, with advice for GitHub's error messages
rest               REST calls by path, JSON in and out
idempotent_writes  writes that happen once
from_json          GitHub's JSON as values of the model
length_limits how long GitHub lets texts be

Reads: branches, commits, environments, heads, repositories, settings.
Reads and writes: comments, issues, labels, merging, pull_requests, refs, statuses, workflows.
"""

from kalypso_actions.clients.github.connection import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
)

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "TokenAuth"]
