"""Git refs.

https://docs.github.com/rest/git/refs
"""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.repositories import is_valid_ref
from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import commits
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.github.pushes import handle_push

SHA: Final = re.compile(r"[0-9a-f]{40}")
REFS: Final = "/repos/{owner}/{repo}/git/refs"
UPDATE_FAILED: Final = "Reference update failed"


@endpoint("GET", "/repos/{owner}/{repo}/git/ref/{ref}", "contents: read", statuses=(200, 404, 409))
def read(call: Call) -> Answer:
    """Return a ref by its exact name."""
    ref = f"refs/{call.parameters['ref']}"
    sha = _refs(call).get(ref)
    if sha is None:
        raise lookups.not_found()
    return Answer(200, _payload(call, ref, sha))


@endpoint(
    "GET", "/repos/{owner}/{repo}/git/matching-refs/{ref}", "contents: read", statuses=(200, 409)
)
def matching(call: Call) -> Answer:
    """List the refs whose names begin with a prefix."""
    prefix = f"refs/{call.parameters['ref']}"
    refs = [(ref, sha) for ref, sha in _refs(call).items() if ref.startswith(prefix)]
    page, headers = paginate(call, refs)
    return Answer(200, [_payload(call, ref, sha) for ref, sha in page], headers)


@endpoint("POST", REFS, "contents: write", statuses=(201, 403, 409, 422))
def create(call: Call) -> Answer:
    """Create a ref at an existing object."""
    ref = body_fields.required_text(call.body, "ref")
    sha = body_fields.required_text(call.body, "sha")
    if not ref.startswith("refs/") or ref.count("/") < 2:
        message = "Reference name must contain at least three slash-separated components."
        raise RefusedError(422, message)
    if not is_valid_ref(ref):
        raise RefusedError(422, f"{ref} is not a valid ref name.")
    known = _refs(call)
    if ref in known:
        raise RefusedError(422, "Reference already exists")
    _check_target(call, ref, sha)
    _check_rules(call, ref, None, sha)
    _move(call, ref, None, sha)
    answer = _payload(call, ref, sha)
    return Answer(201, answer, {"location": answer["url"]})


@endpoint("PATCH", f"{REFS}/{{ref}}", "contents: write", statuses=(200, 403, 409, 422))
def update(call: Call) -> Answer:
    """Move a ref forward, or with `force` to any commit."""
    ref, before = _existing(call)
    sha = body_fields.required_text(call.body, "sha")
    force = body_fields.flag(call.body, "force")
    _check_target(call, ref, sha)
    if before != sha:
        git = call.store.git(call.named_repository)
        if not force and not git.is_ancestor(before, sha):
            raise RefusedError(422, "Update is not a fast forward")
        _check_rules(call, ref, before, sha)
        _move(call, ref, before, sha)
    return Answer(200, _payload(call, ref, sha))


@endpoint("DELETE", f"{REFS}/{{ref}}", "contents: write", statuses=(204, 409, 422))
def delete(call: Call) -> Answer:
    """Delete a ref."""
    ref, before = _existing(call)
    _check_rules(call, ref, before, None)
    _move(call, ref, before, None)
    return Answer(204)


def _refs(call: Call) -> dict[str, str]:
    refs = dict(call.store.git(call.named_repository).refs())
    if not refs:
        raise RefusedError(409, "Git Repository is empty.")
    return refs


def _existing(call: Call) -> tuple[str, str]:
    """Return the ref of the path, and its object."""
    ref = f"refs/{call.parameters['ref']}"
    before = _refs(call).get(ref)
    if before is None:
        raise RefusedError(422, "Reference does not exist")
    return ref, before


def _check_target(call: Call, ref: str, sha: str) -> None:
    """Check that the object exists, and that a branch gets a commit."""
    if not SHA.fullmatch(sha):
        message = "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
        raise RefusedError(422, message)
    kind = call.store.git(call.named_repository).object_type(sha)
    if kind is None:
        raise RefusedError(422, "Object does not exist")
    if ref.startswith(branch_rules.BRANCHES) and kind != "commit":
        raise RefusedError(422, UPDATE_FAILED)


def _check_rules(call: Call, ref: str, before: str | None, after: str | None) -> None:
    repository = (call.store, call.named_repository)
    reason = branch_rules.ref_refusal(*repository, ref, before, after, call.identity)
    if reason:
        raise RefusedError(422, f"Repository rule violations found\n\n{reason}\n\n")
    if after and ref.startswith(branch_rules.BRANCHES):
        reason = branch_rules.workflows_refusal(*repository, before, after, call.identity)
        if reason:
            raise RefusedError(403, reason)


def _move(call: Call, ref: str, before: str | None, after: str | None) -> None:
    """Set the ref and handle the push. Git refuses invalid and conflicting names."""
    repository = call.named_repository
    try:
        moved = call.store.git(repository).update_ref(ref, after, before)
    except ProcessError:
        moved = False
    if not moved:
        raise RefusedError(422, UPDATE_FAILED)
    handle_push(call.store, repository, ref, before, after, call.identity)


def _payload(call: Call, ref: str, sha: str) -> Json:
    git = call.store.git(call.named_repository)
    kind = "commit" if ref.startswith(branch_rules.BRANCHES) else git.object_type(sha) or "commit"
    return commits.reference(View.of(call), call.named_repository, ref, sha, kind)
