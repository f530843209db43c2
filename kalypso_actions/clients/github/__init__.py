"""A client of GitHub's REST and GraphQL APIs.

connection         one GitHub server with one credential; every call goes through it
  server           the server's URLs, and whether a URL belongs to its API
  apps             tokens of a GitHub App, one for each owner
  transport        sends, logs and counts requests, and retries them if that is safe
    messages      a request, a response, and the errors in place of a response
    rate_limits   whether a response reports a rate limit, and until when
    retry_policy  how long to wait before a request is sent again
    connection_failures  why `requests` got no response
    rate_limit_usage  how much of the rate limit was used
  recent_writes    repeats requests that GitHub refuses because it does not know of a recent write
  errors           GitHubError, with advice for GitHub's error messages
rest               REST calls by path, JSON in and out
idempotent_writes  writes that happen once
from_json          GitHub's JSON as values of the model
length_limits      GitHub's limits on the length of texts

repository_queries  GraphQL queries about one repository
branches, commits, environments, overviews, pages, proposal_overviews, registered_heads,
repositories, settings, viewer
                   read
auto_merges, comments, git_data, issues, labels, merging, pull_requests, refs, statuses, workflows
                   read and write
"""

from kalypso_actions.clients.github.connection import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
)

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "TokenAuth"]
