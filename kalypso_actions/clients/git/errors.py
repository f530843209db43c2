"""Git's error messages when it cannot read a repository or push a branch, with advice."""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.clients.process import ProcessError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.urls import is_loopback, without_secret

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
RATE_LIMIT: Final = re.compile(r"rate limit", re.IGNORECASE)
"""GitHub answers 403 for some of its rate limits."""

CONCURRENT_PUSH: Final = re.compile(
    r"stale info|cannot lock ref|failed to (lock|update ref)|incorrect old value"
    r"|reference already exists|internal server error|fatal error in commit_refs"
    r"|failed to report status",
    re.IGNORECASE,
)
"""Another push is in progress; its result is known a moment later."""

MISSING_OBJECT: Final = re.compile(
    r"unable to read [0-9a-f]{40}|missing (blob|tree|commit) object|bad object [0-9a-f]{40}"
    r"|could not (read|parse) [0-9a-f]{40}"
)
NOT_SENT: Final = re.compile(r"^!\t.*\t\[rejected\]", re.MULTILINE)

REDIRECT: Final = re.compile(r"returned error: 30\d|unable to update url base from redirection")
LOCATION: Final = re.compile(r"recv header(?:, \w+)?: location: (\S+)", re.IGNORECASE)

MISMATCHED_FORMAT: Final = "mismatched algorithms"
MISSING_REF: Final = "couldn't find remote ref"

SINGLE_SIGN_ON: Final = (
    r"saml sso|enforced saml|re-authorize",
    "the organization accepts only tokens that are authorized for single sign-on",
    "authorize the token for the organization, in the settings of its account",
)

PROTECTED: Final = "the branch is protected"
FORBIDDEN_BY_RULE: Final = "a rule of the repository forbids it"
UNSIGNED: Final = "a rule of the repository requires signed commits"
"""GitHub words this reason in two ways: sustainable-computing-io/kepler#240, github/gh-aw#29301."""

UNREACHABLE: Final = (
    (
        r"dubious ownership",
        "git refuses a repository that belongs to another user",
        "give its path instead of a URL, or add it to safe.directory",
    ),
    (r"host key verification", "the server's ssh key is not known", "add it to known_hosts"),
    (
        r"certificate|trust anchors",
        "the server's certificate is not trusted",
        "put its authority's certificate into the file that SSL_CERT_FILE names",
    ),
    (
        r"from proxy after connect|connect tunnel failed|could not resolve proxy",
        "the proxy does not let git through",
        "check HTTPS_PROXY with its user and password, and NO_PROXY",
    ),
    (
        r"could not resolve host",
        "the server's name is not known",
        "check the URL, the network and the proxy",
    ),
    (
        r"failed to connect to|couldn't connect to server|connection refused",
        "the server cannot be reached",
        "check the URL with its port, the network and the proxy",
    ),
    (
        r"\b(open)?ssl|gnutls",
        "the encrypted connection to the server fails",
        "check the URL with its port, the network and the proxy",
    ),
)

NO_LOGIN: Final = re.compile("could not read (username|password)", re.IGNORECASE)
FOR_SANDBOX: Final = (
    "if this is the sandbox, run the export lines that `kalypso sandbox` printed in this shell: "
    "GITHUB_SERVER_URL names it, and GITHUB_TOKEN is its token"
)

UNREADABLE: Final = (
    (
        MISSING_REF,
        "there is no such branch",
        "check its name and its case",
    ),
    (
        r"not our ref|unadvertised object|no such remote ref|remote did not send all necessary",
        "the server does not have that commit",
        "check its id; it may have been on a branch that was rewritten or deleted",
    ),
    (
        r"could not read (username|password)|authentication failed|error: 401|invalid user",
        "the repository does not exist, or is private and there is no valid credential for it",
        "check the URL, that the token is right and has not expired, and that the GitHub App is "
        "installed for its owner, or that git-credentials has a token that may read its contents",
    ),
    SINGLE_SIGN_ON,
    (
        r"returned error: 403|permission denied|access denied|not authorized|forbidden",
        "the credential may not read the repository",
        "give its token or key read permission for the repository's contents (contents: read)",
    ),
    (
        r"not found|returned error: 404|does not appear to be a git|does not exist",
        "the repository does not exist, or the credential may not see it",
        "check the URL, and that the token is good for this repository (an App's: that the App is "
        "installed for it) and may read its contents (contents: read)",
    ),
    *UNREACHABLE,
)

UNWRITABLE: Final = (
    (
        r"was archived|is archived",
        "the repository is archived",
        "unarchive it, or name the repository that took its place",
    ),
    (
        r"refusing to allow .* workflow",
        "the token may not change files below .github/workflows",
        "give it the permission workflows: write (a classic token: the scope workflow); a job's "
        "GITHUB_TOKEN cannot have it",
    ),
    (
        r"gh001|file size limit|large files detected",
        "a file is larger than the server accepts",
        "leave the file out",
    ),
    (
        r"push cannot contain secrets|push protection",
        "the server has found a secret in a file",
        "remove the secret from the files, and revoke it",
    ),
    (
        r"gh007|private email address",
        "the author's address is private",
        "use the account's noreply address",
    ),
    (
        r"must have (verified|valid) signatures",
        UNSIGNED,
        "let GitHub make and sign the commits: commit-by: api, with a GitHub App or the job's "
        "token",
    ),
    (
        r"gh006|protected branch",
        PROTECTED,
        "let the token's user or app bypass the protection, or name a branch that has none",
    ),
    (
        r"gh013|repository rule violations",
        FORBIDDEN_BY_RULE,
        "put the token's app or user on the ruleset's bypass list, or name another branch; a job's "
        "GITHUB_TOKEN cannot be on the list",
    ),
    (
        r"branch is currently checked out",
        "the branch is checked out there",
        "push to a bare repository, or check another branch out there",
    ),
    (
        r"hook declined",
        "a hook of the server refuses it",
        "follow the hook's message, or ask the operator of the server",
    ),
    (
        r"shallow update not allowed",
        "the server does not have the parent of the commit",
        "run again: the branch may have been rewritten",
    ),
    (
        r"could not read (username|password)|authentication failed|error: 401|invalid user",
        "there is no valid credential for the repository",
        "check that the token is right and has not expired",
    ),
    SINGLE_SIGN_ON,
    (
        r"returned error: 403|permission to .* denied|permission denied|access denied"
        r"|access to repository not granted|not authorized|forbidden",
        "the credential may not write to the repository",
        "give its token or key write permission for the repository's contents (contents: write)",
    ),
    (
        r"repository .*not found|returned error: 404|does not appear to be a git",
        "the repository does not exist, or the credential may not see it",
        "check the URL, and that the token is good for this repository (an App's: that the App is "
        "installed for it) and may write its contents (contents: write)",
    ),
)
"""The more specific patterns come first: GitHub answers 403 for several of the causes."""

REMOTE_LINE: Final = re.compile(
    r"^remote:[ \t]*(?:error:[ \t]*)?([^%\n]*[^%\s])[ \t]*$", re.MULTILINE
)
"""A message of the server; lines with a percent sign report progress."""

REJECTED: Final = re.compile(r"^!\t.*\t\[(?:remote )?rejected\](?: \((.*)\))?$", re.MULTILINE)
"""The line of a rejected branch, with the reason."""

MAX_MESSAGE: Final = 500


class ProtectedBranchError(KalypsoError):
    """A rule protects the branch from pushes; a pull request may be possible."""


class UnsignedCommitError(ProtectedBranchError):
    """The branch accepts only signed commits; git pushes unsigned ones."""


def is_transient(error: ProcessError) -> bool:
    """Return whether the same call may succeed later."""
    if RATE_LIMIT.search(error.stderr):
        return True
    return TRANSIENT.search(error.stderr) is not None and PERMANENT.search(error.stderr) is None


def may_push_later(error: ProcessError) -> bool:
    """Return whether the same push may succeed later."""
    return is_transient(error) or CONCURRENT_PUSH.search(_output(error)) is not None


def is_redirect(error: ProcessError) -> bool:
    """Return whether the server has redirected git."""
    return REDIRECT.search(error.stderr) is not None


def redirect_target(error: ProcessError) -> str:
    """Return the repository's URL in the last redirect of a traced call, or ""."""
    locations = LOCATION.findall(error.stderr)
    return str(locations[-1]).partition("/info/refs")[0] if locations else ""


def is_unsent(error: ProcessError) -> bool:
    """Return whether git itself rejected the push, because of the heads that the server listed."""
    return NOT_SENT.search(_output(error)) is not None


def lacks_objects(error: ProcessError) -> bool:
    """Return whether a push failed because objects are missing here."""
    return MISSING_OBJECT.search(error.stderr) is not None


def read_error(error: ProcessError, url: str, subject: str) -> KalypsoError:
    """Convert the error of reading `subject` (a branch, a commit …) of a repository."""
    where = Location(without_secret(url))
    # The name of a repository must not match a pattern.
    message_and_advice = _match(UNREADABLE, error.stderr.replace(url, ""))
    message, advice = message_and_advice or (error.problem.message, error.problem.advice)
    if is_loopback(url) and NO_LOGIN.search(error.stderr):
        advice = FOR_SANDBOX
    return KalypsoError(f"{subject} cannot be read: {message}", where, advice)


def is_unreachable(error: KalypsoError) -> bool:
    """Return whether a repository could not be read because its server could not be reached."""
    cause = error.__cause__
    return isinstance(cause, ProcessError) and _match(UNREACHABLE, cause.stderr) is not None


def push_refusal(error: ProcessError, url: str, branch: str) -> KalypsoError | None:
    """Convert the error of a push that the server certainly refuses; None for other errors."""
    output = _output(error).replace(url, "").replace(f"refs/heads/{branch}", "")
    match = None if RATE_LIMIT.search(output) else _match(UNWRITABLE, output)
    return _push_error(*match, error, url, branch) if match else None


def push_failure(error: ProcessError, url: str, branch: str) -> KalypsoError:
    """Convert any other error of a push."""
    match = _match(UNREACHABLE, error.stderr.replace(url, "").replace(f"refs/heads/{branch}", ""))
    rejected = REJECTED.search(_output(error))
    reason = (rejected[1] if rejected else "") or error.problem.message
    message, advice = match or (reason, error.problem.advice)
    return _push_error(message, advice, error, url, branch)


def _push_error(
    message: str, advice: str, error: ProcessError, url: str, branch: str
) -> KalypsoError:
    """Add the server's message, which may name a rule, a file or a token."""
    remote = " ".join(REMOTE_LINE.findall(error.stderr))
    quote = (
        f" (the server says: {remote[:MAX_MESSAGE]})" if remote and remote not in message else ""
    )
    text = f"the branch {branch!r} cannot be pushed: {message}{quote}"
    kinds = {
        PROTECTED: ProtectedBranchError,
        FORBIDDEN_BY_RULE: ProtectedBranchError,
        UNSIGNED: UnsignedCommitError,
    }
    kind = kinds.get(message, KalypsoError)
    return kind(text, Location(without_secret(url)), advice)


def _match(table: tuple[tuple[str, str, str], ...], output: str) -> tuple[str, str] | None:
    for pattern, message, advice in table:
        if re.search(pattern, output, re.IGNORECASE):
            return message, advice
    return None


def _output(error: ProcessError) -> str:
    """Return standard error, and the lines of `git push --porcelain`, one for each branch."""
    return f"{error.stderr}\n{error.stdout.decode('utf-8', 'replace')}"
