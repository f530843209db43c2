"""Refusals of servers, and our errors for them."""

from __future__ import annotations

import pytest

from kalypso_actions.clients.git.errors import (
    is_transient,
    is_unsent,
    may_push_later,
    push_failure,
    push_refusal,
    read_error,
)
from kalypso_actions.clients.process import ProcessError

URL = "https://github.com/acme/protected-branch"
BRANCH = "certificate"
"""The names in a message must not decide its reason."""


def failed(words: str, reason: str = "") -> ProcessError:
    """Return the failure of `git push --porcelain` with this text and this reason."""
    ref = f"refs/heads/{BRANCH}"
    line = f"!\t{'1' * 40}:{ref}\t[remote rejected] ({reason})\n" if reason else ""
    words += f"\nerror: failed to push some refs to '{URL}'"
    output = f"To {URL}\n{line}Done\n" if reason else ""
    return ProcessError(f"git: {words}", stderr=words, stdout=output.encode(), status=1)


def unreachable(status: int, remote: str = "") -> ProcessError:
    remote_lines = f"remote: {remote}\n" if remote else ""
    return failed(
        f"{remote_lines}fatal: unable to access '{URL}/': The requested URL returned error: {status}"
    )


RULES = """remote: error: GH013: Repository rule violations found for refs/heads/certificate.
remote: Review all repository rules at https://github.com/acme/x/rules?ref=refs%2Fheads%2Fmain
remote:
remote: - Changes must be made through a pull request.
remote:"""

SIGNATURES = """remote: error: GH013: Repository rule violations found for refs/heads/certificate.
remote: Review all repository rules at https://github.com/acme/x/rules?ref=refs%2Fheads%2Fmain
remote:
remote: - Commits must have verified signatures.
remote:"""

SECRETS = """remote: error: GH013: Repository rule violations found for refs/heads/certificate.
remote: - GITHUB PUSH PROTECTION
remote:     - Push cannot contain secrets"""

LARGE = """remote: error: Trace: 6a1c
remote: error: See https://gh.io/lfs for more information.
remote: error: File a.bin is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB
remote: error: GH001: Large files detected. You may want to try Git Large File Storage."""

WORKFLOW = (
    "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yaml` "
    "without `workflows` permission"
)
SSO = (
    "The 'acme' organization has enabled or enforced SAML SSO. To access this repository, you must"
)


@pytest.mark.parametrize(
    ("error", "message", "advice"),
    [
        (
            failed(
                "remote: error: GH006: Protected branch update failed for refs/heads/certificate.",
                "protected branch hook declined",
            ),
            "the branch is protected",
            "bypass the protection",
        ),
        (failed("", "protected branch hook declined"), "the branch is protected", "bypass"),
        (
            failed(RULES, "push declined due to repository rule violations"),
            "Changes must be made through a pull request.",
            "bypass list",
        ),
        (
            failed(SIGNATURES, "push declined due to repository rule violations"),
            "Commits must have verified signatures.",
            "commit-by: api",
        ),
        (failed(SECRETS, "push declined"), "found a secret in a file", "remove the secret"),
        (failed(LARGE, "pre-receive hook declined"), "a.bin is 150.00 MB", "leave the file out"),
        (failed("", WORKFLOW), "may not change files below .github", "workflows: write"),
        (
            failed("remote: error: GH007: Your push would publish a private email address.", "x"),
            "the author's address is private",
            "noreply",
        ),
        (
            failed("remote: no trailing spaces, please", "pre-receive hook declined"),
            "a hook of the server refuses it (the server says: no trailing spaces, please)",
            "follow the hook's message",
        ),
        (
            unreachable(403, "This repository was archived so it is read-only."),
            "the repository is archived",
            "unarchive it",
        ),
        (
            unreachable(403, "Permission to acme/x.git denied to github-actions[bot]."),
            "may not write to the repository (the server says: Permission to acme/x.git denied to",
            "contents: write",
        ),
        (unreachable(403, "Write access to repository not granted."), "may not write", "contents"),
        (
            unreachable(403, SSO),
            "only tokens that are authorized for single sign-on",
            "authorize the",
        ),
        (
            failed("fatal: Authentication failed for 'x'"),
            "there is no valid credential",
            "has not expired",
        ),
        (
            failed(f"remote: Repository not found.\nfatal: repository '{URL}/' not found"),
            "does not exist, or the credential may not see it",
            "check the URL",
        ),
        (
            failed("", "shallow update not allowed"),
            "does not have the parent of the commit",
            "run again",
        ),
    ],
)
def test_pushes_that_the_server_does_not_want(
    error: ProcessError, message: str, advice: str
) -> None:
    refused = push_refusal(error, URL, BRANCH)
    assert refused
    assert message in refused.problem.message
    assert advice in refused.problem.advice
    assert refused.problem.where
    assert refused.problem.where.repository == URL
    assert not may_push_later(error)


@pytest.mark.parametrize(
    ("error", "later"),
    [
        (failed("", "cannot lock ref 'refs/heads/x': is at 1 but expected 2"), True),
        (failed("", "failed to update ref"), True),
        (failed("", "Internal Server Error"), True),
        (unreachable(500), True),
        (unreachable(429), True),
        (unreachable(403, "You have exceeded a secondary rate limit."), True),
        (failed("error: RPC failed; curl 56 Recv failure: Connection reset by peer"), True),
        (failed("fatal: the remote end hung up unexpectedly"), True),
        (failed("fatal: something new"), False),
        (failed("", "something new"), False),
        (failed("! [remote failure] x -> x (remote failed to report status)"), True),
    ],
)
def test_pushes_with_an_unknown_outcome(error: ProcessError, *, later: bool) -> None:
    assert push_refusal(error, URL, BRANCH) is None
    assert may_push_later(error) is later


def test_a_push_that_git_did_not_send_is_certain_not_to_have_happened() -> None:
    line = b"!\tx:refs/heads/x\t[%s] (%s)\n"
    for kind, reason, unsent in (
        (b"rejected", b"stale info", True),
        (b"remote rejected", b"failed to update ref", False),
        (b"remote failure", b"remote failed to report status", False),
    ):
        assert is_unsent(ProcessError("git: x", stdout=line % (kind, reason))) is unsent


def test_other_failures_of_a_push() -> None:
    known = push_failure(failed("fatal: SSL certificate problem: self-signed"), URL, BRANCH)
    assert "certificate is not trusted" in known.problem.message
    error = push_failure(failed("remote: Counting: 100% (1/1)\nremote: hm", "new"), URL, BRANCH)
    assert error.problem.message == (
        f"the branch {BRANCH!r} cannot be pushed: new (the server says: hm)"
    )
    silent = push_failure(ProcessError("git: exit code 128", status=128), URL, BRANCH)
    assert silent.problem.message == f"the branch {BRANCH!r} cannot be pushed: git: exit code 128"
    long = push_failure(failed("remote: " + "x" * 2000, "new"), URL, BRANCH)
    assert len(long.problem.message) < 700


def test_limits_pass_although_they_say_forbidden() -> None:
    assert is_transient(unreachable(403, "API rate limit exceeded"))
    assert not is_transient(unreachable(403))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"remote: {SSO}\nfatal: returned error: 403", "authorized for single sign-on"),
        ("fatal: Host key verification failed.", "the server's ssh key is not known"),
        ("fatal: SSL certificate problem: unable to get local issuer", "is not trusted"),
        ("fatal: error adding trust anchors from file: /ca.pem", "is not trusted"),
        (
            "fatal: OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 104",
            "the encrypted connection to the server fails",
        ),
        (
            "fatal: error:0A00010B:SSL routines::wrong version number",
            "the encrypted connection to the server fails",
        ),
        ("fatal: detected dubious ownership in repository at '/x'", "belongs to another user"),
        ("fatal: Could not resolve host: nowhere.invalid", "the server's name is not known"),
        ("fatal: Failed to connect to 127.0.0.1 port 9", "the server cannot be reached"),
        ("fatal: something new", "the branch 'x' cannot be read: git: fatal: something new"),
    ],
)
def test_reading_that_is_refused(words: str, message: str) -> None:
    error = read_error(
        ProcessError(f"git: {words}", stderr=words, status=128), URL, "the branch 'x'"
    )
    assert message in error.problem.message


def test_a_sandbox_without_its_token() -> None:
    words = "fatal: could not read Username for 'http://127.0.0.1:8000': terminal prompts disabled"
    for url, is_sandbox in (("http://127.0.0.1:8000/acme/fleet", True), (URL, False)):
        error = read_error(ProcessError(words, stderr=words, status=128), url, "the branch 'x'")
        assert ("kalypso sandbox" in error.problem.advice) is is_sandbox
