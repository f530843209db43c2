"""What git says when a repository cannot be reached, and what to change then."""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.clients.git.urls import without_secret
from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location

TRANSIENT: Final = re.compile(
    r"could not resolve (host|proxy)|temporary failure in name resolution"
    r"|(connection|operation) timed out|connection (was )?(reset|refused|closed)"
    r"|failed to connect|couldn't connect|empty reply|early eof|hung up unexpectedly"
    r"|unexpected disconnect|rpc failed|ssl_error_syscall|gnutls recv error"
    r"|returned error: (429|5\d\d)|http/2 stream|kex_exchange_identification"
    r"|index-pack (failed|died)|invalid index-pack output|transfer closed",
    re.IGNORECASE,
)
PERMANENT: Final = re.compile(r"returned error: (3\d\d|4(?!29)\d\d)", re.IGNORECASE)

REDIRECT: Final = re.compile(r"returned error: 30\d|unable to update url base from redirection")
LOCATION: Final = re.compile(r"recv header(?:, \w+)?: location: (\S+)", re.IGNORECASE)

MISMATCHED_FORMAT: Final = "mismatched algorithms"

REFUSALS: Final = (
    (
        r"couldn't find remote ref",
        "there is no such branch",
        "check its name; branches are spelled as on the server",
    ),
    (
        r"not our ref|unadvertised object|no such remote ref|remote did not send all necessary",
        "the server does not have that commit",
        "check its id; it may have been on a branch that was rewritten or deleted",
    ),
    (
        r"could not read (username|password)|authentication failed|error: 401|invalid user",
        "the repository does not exist, or is private and there is no valid credential for it",
        "check the URL, and that git-credentials has a token for it that may read its contents",
    ),
    (
        r"returned error: 403|permission denied|access denied|not authorized|forbidden",
        "the credential may not read the repository",
        "give its token or key read permission for the repository's contents",
    ),
    (
        r"not found|returned error: 404|does not appear to be a git|does not exist",
        "the repository does not exist, or the credential may not see it",
        "check the URL, and that the token may read this repository",
    ),
    (
        r"dubious ownership",
        "git refuses a repository that belongs to another user",
        "give its path instead of a URL, or add it to safe.directory",
    ),
    (r"host key verification", "the server's ssh key is not known", "add it to known_hosts"),
    (
        r"certificate|ssl",
        "the server's certificate is not trusted",
        "put its authority's certificate into the file that SSL_CERT_FILE names",
    ),
    (
        r"could not resolve host",
        "the server's name is not known",
        "check the URL, the network and the proxy",
    ),
)


def is_transient(error: ProcessError) -> bool:
    """Whether the same call may well succeed a little later."""
    return TRANSIENT.search(error.words) is not None and PERMANENT.search(error.words) is None


def is_redirect(error: ProcessError) -> bool:
    """Whether the server sent git elsewhere."""
    return REDIRECT.search(error.words) is not None


def redirect_target(error: ProcessError) -> str:
    """The URL of the repository that a traced call was sent to; "" when it does not say."""
    found = LOCATION.findall(error.words)
    return str(found[-1]).partition("/info/refs")[0] if found else ""


def refusal(error: ProcessError, url: str, what: str) -> KalypsoError:
    """The error for `what` (a branch, a commit …) of the repository at `url`."""
    where = Location(without_secret(url))
    # What a repository is called says nothing about why it cannot be read.
    words = error.words.replace(url, "")
    for pattern, message, advice in REFUSALS:
        if re.search(pattern, words, re.IGNORECASE):
            return KalypsoError(f"{what} cannot be read: {message}", where, advice)
    problem = error.problem
    return KalypsoError(f"{what} cannot be read: {problem.message}", where, problem.advice)
