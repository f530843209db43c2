"""Git objects, refs, commits, comparisons, branches and rules; the statuses of commits.

https://docs.github.com/rest/git, https://docs.github.com/rest/commits
https://docs.github.com/rest/branches/branches, https://docs.github.com/rest/repos/rules
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, get_args
from urllib.parse import quote, urlsplit

from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.objects import GitCommit, Person
from kalypso_sandbox.git.repositories import BRANCHES, BareRepository, RefUpdate, is_valid_ref
from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.access import RepositoryAccess
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.payloads import commits as payloads
from kalypso_sandbox.github.payloads.accounts import (
    node_id,
    own_person,
    timestamp,
    user,
)
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import BranchRule, CheckRun, Status

MODES: Final = ("100644", "100755", "040000", "160000", "120000")
BAD_TREE: Final = "GitRPC::BadObjectState"
EMPTY: Final = "Git Repository is empty."

REFS: Final = "/repos/{owner}/{repo}/git/refs"
UPDATE_FAILED: Final = "Reference update failed"

MAX_FILES: Final = 300

MAX_COMMITS: Final = 250
"""The number of last commits that a comparison returns if the request names no page."""

RELATIONS: Final = {
    (True, True): "diverged",
    (True, False): "ahead",
    (False, True): "behind",
    (False, False): "identical",
}
"""Whether the head is ahead of the base, and behind it -> the status of a comparison."""

MAX_STATUSES: Final = 1000
"""The maximum number of statuses of one commit and context."""

MAX_DESCRIPTION_LENGTH: Final = 140

MAX_CONTEXT_LENGTH: Final = 255


@endpoint("POST", "/repos/{owner}/{repo}/git/blobs", "contents: write", statuses=(201, 409, 422))
def create_blob(call: Call) -> Answer:
    """Write the content of a file."""
    git = _git(call)
    text = requests.required_text(call.body, "content")
    encoding = requests.text(call.body, "encoding") or "utf-8"
    if encoding not in {"utf-8", "base64"}:
        raise RefusedError(422, f"Invalid encoding: {encoding}")
    try:
        content = base64.b64decode(text) if encoding == "base64" else text.encode()
    except binascii.Error:
        raise RefusedError(422, "content is not valid Base64") from None
    sha = git.write_blob(content)
    return requests.created({"sha": sha, "url": f"{call.url}/git/blobs/{sha}"})


@endpoint(
    "POST", "/repos/{owner}/{repo}/git/trees", "contents: write", statuses=(201, 404, 409, 422)
)
def create_tree(call: Call) -> Answer:
    """Write a tree: a base with changes, or all entries of a new one."""
    git = _git(call)
    base = requests.text(call.body, "base_tree") or ""
    kind = git.object_type(base) if base else "tree"
    if kind == "commit":
        base = git.commit(base).tree
    elif kind != "tree":
        raise requests.not_found()
    entries = requests.listing(call.body, "tree")
    if not entries:
        raise RefusedError(422, "Invalid tree info")
    sha = git.write_tree(base, {_path(entry): _change(git, entry) for entry in entries})
    if sha is None:
        raise RefusedError(422, BAD_TREE)
    url = f"{call.url}/git/trees/{sha}"
    return requests.created({"sha": sha, "url": url, "tree": [], "truncated": False})


@endpoint("POST", "/repos/{owner}/{repo}/git/commits", "contents: write", statuses=(201, 409, 422))
def create_commit(call: Call) -> Answer:
    """Write a commit. GitHub signs commits of Apps and jobs if the request names no author."""
    git, body = _git(call), call.body
    message = requests.required_text(body, "message")
    tree = requests.required_text(body, "tree")
    if git.object_type(tree) != "tree":
        raise RefusedError(422, "Tree SHA does not exist")
    parents = [str(parent) for parent in requests.listing(body, "parents") or ()]
    if any(git.object_type(parent) != "commit" for parent in parents):
        raise RefusedError(422, "Parent SHA does not exist or is not a commit object")
    author, committer = (_person(call, name) for name in ("author", "committer"))
    signed = call.identity.kind != "user" and author is None and committer is None
    if signed:
        committer = branch_rules.github_committer(call.store)
    author = author or own_person(call)
    sha = git.make_commit(tree, parents, message, author, committer or author, signed=signed)
    return requests.created(payloads.git_commit(call, git.commit(sha)))


def _git(call: Call) -> BareRepository:
    if not call.git.refs():
        raise RefusedError(409, EMPTY)
    return call.git


def _path(entry: Mapping[str, Json]) -> str:
    path = requests.required_text(entry, "path")
    parts = path.split("/")
    if {"", ".", "..", ".git"} & set(parts):
        raise RefusedError(422, "tree.path contains a malformed path component")
    return path


def _change(git: BareRepository, entry: Mapping[str, Json]) -> tuple[str, str | bytes] | None:
    """Return the mode and content of an entry; None for an entry that deletes a path."""
    mode = requests.required_text(entry, "mode")
    if mode not in MODES:
        raise RefusedError(422, "Must supply a valid tree.mode")
    content, sha = requests.text(entry, "content"), requests.text(entry, "sha")
    if content is not None and sha is not None:
        raise RefusedError(422, "Must supply either tree.sha or tree.content but not both.")
    if content is not None:
        return mode, content.encode()
    if "sha" not in entry:
        raise RefusedError(422, "Must supply either tree.sha or tree.content")
    if sha is None:
        return None
    if git.object_type(sha) is None:
        raise RefusedError(422, f"tree.sha {sha} does not exist")
    return mode, sha


def _person(call: Call, name: str) -> Person | None:
    fields = requests.mapping(call.body, name)
    if not fields:
        return None
    date = datetime.fromisoformat(fields["date"]) if "date" in fields else call.store.now
    name, email = (requests.required_text(fields, key) for key in ("name", "email"))
    return Person(name, email, date)


@endpoint("GET", "/repos/{owner}/{repo}/git/ref/{ref}", "contents: read", statuses=(200, 404, 409))
def read_ref(call: Call) -> Answer:
    """Return a ref by its exact name."""
    ref = f"refs/{call.parameters['ref']}"
    sha = _refs(call).get(ref)
    if sha is None:
        raise requests.not_found()
    return Answer(200, _payload(call, ref, sha))


@endpoint("POST", REFS, "contents: write", statuses=(201, 403, 409, 422))
def create_ref(call: Call) -> Answer:
    """Create a ref at an existing object."""
    ref = requests.required_text(call.body, "ref")
    sha = requests.required_text(call.body, "sha")
    if not ref.startswith("refs/") or ref.count("/") < 2:
        message = "Reference name must contain at least three slash-separated components."
        raise RefusedError(422, message)
    if not is_valid_ref(ref):
        raise RefusedError(422, f"{ref} is not a valid ref name.")
    if ref in _refs(call):
        raise RefusedError(422, "Reference already exists")
    _check_target(call, ref, sha)
    _move(call, RefUpdate(ref, None, sha))
    return requests.created(_payload(call, ref, sha))


@endpoint("PATCH", f"{REFS}/{{ref}}", "contents: write", statuses=(200, 403, 409, 422))
def update_ref(call: Call) -> Answer:
    """Move a ref forward, or with `force` to any commit."""
    ref, before = _existing(call)
    sha = requests.required_text(call.body, "sha")
    force = requests.flag(call.body, "force")
    _check_target(call, ref, sha)
    if before != sha:
        if not force and not call.git.is_ancestor(before, sha):
            raise RefusedError(422, "Update is not a fast forward")
        _move(call, RefUpdate(ref, before, sha))
    return Answer(200, _payload(call, ref, sha))


@endpoint("DELETE", f"{REFS}/{{ref}}", "contents: write", statuses=(204, 409, 422))
def delete_ref(call: Call) -> Answer:
    """Delete a ref."""
    ref, before = _existing(call)
    _move(call, RefUpdate(ref, before, None))
    return Answer(204)


def _refs(call: Call) -> dict[str, str]:
    refs = dict(call.git.refs())
    if not refs:
        raise RefusedError(409, EMPTY)
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
    if not requests.SHA.fullmatch(sha):
        message = "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
        raise RefusedError(422, message)
    kind = call.git.object_type(sha)
    if kind is None:
        raise RefusedError(422, "Object does not exist")
    if ref.startswith(BRANCHES) and kind != "commit":
        raise RefusedError(422, UPDATE_FAILED)


def _move(call: Call, update: RefUpdate) -> None:
    """Set the ref and handle the push. Rules may refuse it, git invalid and conflicting names."""
    reason = branch_rules.ref_refusal(call, update)
    if reason:
        raise RefusedError(422, f"Repository rule violations found\n\n{reason}\n\n")
    if update.after and update.branch:
        reason = branch_rules.workflows_refusal(call, update.before, update.after)
        if reason:
            raise RefusedError(403, reason)
    try:
        moved = call.git.update_ref(update.ref, update.after, update.before)
    except ProcessError:
        moved = False
    if not moved:
        raise RefusedError(422, UPDATE_FAILED)
    handle_push(call, update)


def _payload(call: Call, ref: str, sha: str) -> Json:
    kind = "commit" if ref.startswith(BRANCHES) else call.git.object_type(sha) or "commit"
    return payloads.reference(call, ref, sha, kind)


@endpoint("GET", "/repos/{owner}/{repo}/branches/{branch}", "contents: read", statuses=(200, 404))
def read_branch(call: Call) -> Answer:
    """Return a branch with the commit at its head."""
    branch = call.parameters["branch"]
    head = call.git.head(branch)
    if head is None:
        raise RefusedError(404, "Branch not found")
    protecting = branch_rules.rules_for_branch(call.repository, branch)
    contexts = [context for rule in protecting for context in rule.required_contexts]
    url = f"{call.url}/branches/{quote(branch)}"
    answer = {
        "name": branch,
        "commit": payloads.full(call, call.git.commit(head)),
        "_links": {"self": url, "html": f"{call.page}/tree/{quote(branch)}"},
        "protected": bool(protecting),
        "protection": {
            "enabled": bool(protecting),
            "required_status_checks": {
                "enforcement_level": "everyone" if contexts else "off",
                "contexts": contexts,
                "checks": [{"context": context, "app_id": None} for context in contexts],
            },
        },
        "protection_url": f"{url}/protection",
    }
    return Answer(200, answer)


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/rules/branches/{branch}",
    "metadata: read",
    statuses=(200,),
)
def read_rules(call: Call) -> Answer:
    """List the rules for a branch name; the branch need not exist."""
    repository = call.repository
    parts = [
        {
            **part,
            "ruleset_source_type": "Repository",
            "ruleset_source": repository.full_name,
            "ruleset_id": 1 + repository.rules.index(rule),
        }
        for rule in branch_rules.rules_for_branch(repository, call.parameters["branch"])
        if not rule.classic
        for part in rule_parts(rule)
    ]
    page, headers = requests.paginate(call, parts)
    return Answer(200, page, headers)


def rule_parts(rule: BranchRule) -> list[Json]:
    """Return the rules into which GitHub splits this rule."""
    parts: list[Json] = [{"type": "deletion"}]
    if not rule.allow_force_push:
        parts.append({"type": "non_fast_forward"})
    if rule.restrict_pushes:
        parts.append({"type": "update"})
    if rule.required_signatures:
        parts.append({"type": "required_signatures"})
    if rule.required_reviews:
        reviews = {
            "required_approving_review_count": rule.required_reviews,
            "dismiss_stale_reviews_on_push": rule.dismiss_stale_reviews,
            "require_code_owner_review": False,
            "require_last_push_approval": False,
            "required_review_thread_resolution": False,
            "allowed_merge_methods": ["merge", "squash", "rebase"],
        }
        parts.append({"type": "pull_request", "parameters": reviews})
    if rule.required_contexts:
        checks = {
            "strict_required_status_checks_policy": False,
            "do_not_enforce_on_create": True,
            "required_status_checks": [{"context": name} for name in rule.required_contexts],
        }
        parts.append({"type": "required_status_checks", "parameters": checks})
    return parts


StatusState = Literal["error", "failure", "pending", "success"]


@endpoint(
    "GET",
    "/repos/{owner}/{repo}/git/commits/{commit_sha}",
    "contents: read",
    statuses=(200, 404, 409),
)
def read_git_commit(call: Call) -> Answer:
    """Return git's fields of a commit."""
    if not call.git.refs():
        raise RefusedError(409, "Git Repository is empty.")
    commit = requests.commit(call, call.parameters["commit_sha"])
    return Answer(200, payloads.git_commit(call, commit))


@endpoint("GET", "/repos/{owner}/{repo}/compare/{basehead}", "contents: read", statuses=(200, 404))
def compare(call: Call) -> Answer:
    """Compare head with base: commits in pages, changed files on the first page."""
    span = call.parameters["basehead"]
    if span.count("...") != 1:
        raise requests.not_found()
    base, head = (_side(call, name) for name in span.split("..."))
    git, owner = call.git, call.repository.owner
    fork = git.merge_base(base.id, head.id)
    if fork is None:
        raise RefusedError(404, f"No common ancestor between {base.id} and {head.id}.")
    ahead = git.commits_between(base.id, head.id)
    behind = git.commits_between(head.id, base.id)
    number, page, headers = 1, ahead[-MAX_COMMITS:], dict[str, str]()
    if "page" in call.query or "per_page" in call.query:
        number, _ = requests.page_request(call.query)
        page, link = requests.paginate(call, ahead, MAX_COMMITS, MAX_COMMITS)
        headers |= link
    files = git.diff(fork, head.id)[:MAX_FILES] if number == 1 else ()
    page_url = f"{call.page}/compare"
    answer = {
        "url": f"{call.url}/compare/{span}",
        "html_url": f"{page_url}/{span}",
        "permalink_url": f"{page_url}/{owner}:{base.id[:7]}...{owner}:{head.id[:7]}",
        "diff_url": f"{page_url}/{span}.diff",
        "patch_url": f"{page_url}/{span}.patch",
        "base_commit": payloads.full(call, base),
        "merge_base_commit": payloads.full(call, git.commit(fork)),
        "status": RELATIONS[bool(ahead), bool(behind)],
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [payloads.full(call, commit) for commit in page],
        "files": [payloads.changed_file(call, change, head.id) for change in files],
    }
    return Answer(200, answer, headers)


@endpoint("POST", "/repos/{owner}/{repo}/statuses/{sha}", "statuses: write", statuses=(201, 422))
def create_status(call: Call) -> Answer:
    """Create a status; older ones of the context stay in the list."""
    sha = call.parameters["sha"]
    state = requests.choice(call, "state", get_args(StatusState))
    if state is None:
        raise requests.missing("state")
    context = requests.text(call.body, "context") or "default"
    description = requests.text(call.body, "description")
    target_url = requests.text(call.body, "target_url") or None
    status = add_status(call, sha, context, state, description, target_url, call.store.now)
    return requests.created(_full_status(call, status))


def add_status(
    access: RepositoryAccess,
    commit: str,
    context: str,
    state: str,
    description: str | None,
    target_url: str | None,
    created_at: datetime,
) -> Status:
    """Add a status of an identity. Raises RefusedError."""
    if not requests.SHA.fullmatch(commit) or access.git.object_type(commit) != "commit":
        raise RefusedError(422, f"No commit found for SHA: {commit}")
    requests.check_length("Status", "description", description, MAX_DESCRIPTION_LENGTH)
    requests.check_length("Status", "context", context, MAX_CONTEXT_LENGTH)
    if target_url and urlsplit(target_url).scheme not in {"http", "https"}:
        raise invalid("Status", "target_url", "custom", "target_url must use http(s) scheme")
    known = [
        status
        for status in access.repository.statuses
        if status.commit == commit and status.context.lower() == context.lower()
    ]
    if len(known) >= MAX_STATUSES:
        message = "This SHA and context has reached the maximum number of statuses."
        raise requests.custom("Status", message)
    fields = {
        "id": access.store.new_id(),
        "commit": commit,
        "context": context,
        "state": state,
        "description": description,
        "target_url": target_url,
        "author": access.identity.login,
        "created_at": created_at,
    }
    status = Status.model_validate(fields)
    access.repository.statuses.append(status)
    return status


@endpoint(
    "GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", "statuses: read", statuses=(200, 404)
)
def read_statuses(call: Call) -> Answer:
    """List the statuses, latest first."""
    commit = requests.commit(call, call.parameters["ref"]).id
    known = [status for status in reversed(call.repository.statuses) if status.commit == commit]
    return requests.listed(call, known, _full_status)


@endpoint("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", "checks: read", statuses=(200,))
def read_check_runs(call: Call) -> Answer:
    """List the check runs of a commit; of each App and name, only the latest unless `all`."""
    commit = requests.commit(call, call.parameters["ref"]).id
    name, every = call.query.get("check_name"), call.query.get("filter") == "all"
    runs = [
        run
        for run in reversed(call.repository.check_runs)
        if run.commit == commit and name in {None, run.name}
    ]
    if not every:
        runs = list({(run.app, run.name): run for run in reversed(runs)}.values())
    return requests.counted(call, "check_runs", runs, _check_run)


def _check_run(call: Call, run: CheckRun) -> Json:
    """Return GitHub's `check-run`."""
    url = f"{call.url}/check-runs/{run.id}"
    started = timestamp(run.started_at)
    app = {
        "id": run.id,
        "slug": run.app,
        "node_id": node_id("App", run.id),
        "owner": user(call, call.repository.owner),
        "name": run.app,
        "description": None,
        "external_url": call.page,
        "html_url": call.page,
        "created_at": started,
        "updated_at": started,
        "permissions": {"checks": "write"},
        "events": [],
    }
    return {
        "id": run.id,
        "node_id": node_id("CheckRun", run.id),
        "head_sha": run.commit,
        "external_id": "",
        "url": url,
        "html_url": f"{call.page}/runs/{run.id}",
        "details_url": None,
        "status": "completed" if run.conclusion else "in_progress",
        "conclusion": run.conclusion,
        "started_at": started,
        "completed_at": started if run.conclusion else None,
        "output": {
            "title": None,
            "summary": None,
            "text": None,
            "annotations_count": 0,
            "annotations_url": f"{url}/annotations",
        },
        "name": run.name,
        "check_suite": {"id": run.id},
        "app": app,
        "pull_requests": [],
    }


def _side(call: Call, name: str) -> GitCommit:
    """Return the commit of `revision` or `owner:revision`; there are no forks."""
    owner, colon, revision = name.rpartition(":")
    if colon and owner.lower() != call.repository.owner.lower():
        raise requests.not_found()
    return requests.commit(call, revision)


def _status(call: Call, status: Status) -> dict[str, Json]:
    """Return GitHub's `simple-commit-status`, as in a combined status."""
    return {
        "url": f"{call.url}/statuses/{status.commit}",
        "avatar_url": user(call, status.author)["avatar_url"],
        "id": status.id,
        "node_id": node_id("StatusContext", status.id),
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": timestamp(status.created_at),
        "updated_at": timestamp(status.created_at),
    }


def _full_status(call: Call, status: Status) -> Json:
    """Return GitHub's `status`."""
    return {**_status(call, status), "creator": user(call, status.author)}
