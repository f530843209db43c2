"""GitHub by its REST and GraphQL APIs.

connection    one GitHub with one credential; what all calls go through
  server      which GitHub, and which URLs are its own
  apps        tokens of a GitHub App, one for each owner
  requester   PyGithub's objects on top of the transport
  transport   requests: repeated where that is safe, logged, counted
    exchange  a request, an answer, a refusal
    limits    when an answer means "not now", and until when
    patience  how long is waited before a request is sent again
    failures  what it means when no answer comes
    quota     how much was used
  refusals    what GitHub says when it refuses, and what to change
rest          calls by paths, JSON in and out
writing       writes that happen once
answers       GitHub's JSON as values of the model
lengths       how long GitHub lets texts be

branches, commits, heads, environments, repositories   what is read alone
refs, statuses, labels, comments, issues, pull_requests, merging, workflows   what is written, too
"""

from kalypso_actions.clients.github.connection import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
)

__all__ = ["AppAuth", "GitHub", "GitHubError", "GitHubServer", "TokenAuth"]
