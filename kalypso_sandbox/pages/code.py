"""Pages of repositories: branches, folders, files and their editor, commits, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import request
from werkzeug.wrappers import Response

from kalypso_sandbox.git.objects import GitCommit
from kalypso_sandbox.git.repositories import BRANCHES, BareRepository
from kalypso_sandbox.github.branch_rules import latest_statuses
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.pages.site import NoPageError, Site, Views, segment, to
from kalypso_sandbox.pages.texts import code_lines, file_diffs, markdown, within
from kalypso_sandbox.store import Repository

MOST_COMMITS: Final = 50
"""The number of commits to show, newest first."""

README: Final = "README.md"

REPOSITORY: Final = "/<owner>/<name>"

STARTED: Final = frozenset({"workflow_dispatch", "repository_dispatch", "schedule"})
"""Events that are not about the commit of their run."""

views = Views()


@dataclass(frozen=True, slots=True)
class Place:
    """A path in a commit, which a URL names by a branch, a tag or the commit itself."""

    git: BareRepository
    ref: str
    commit: GitCommit
    path: str

    @property
    def is_branch(self) -> bool:
        """Whether people can commit here."""
        return self.git.head(self.ref) == self.commit.id

    @property
    def parents(self) -> Sequence[tuple[str, str]]:
        """The name and the path of each folder above."""
        names = self.path.split("/")[:-1]
        return [(name, "/".join(names[: end + 1])) for end, name in enumerate(names)]

    @property
    def blob(self) -> str:
        """The id of the file's content; "" without one."""
        object_id, kind = self.git.object_at(self.commit.id, self.path) or ("", "")
        return object_id if kind == "blob" else ""

    def content(self) -> bytes | None:
        """Return the content of the file, or None."""
        return self.git.files(self.commit.id).get(self.path)

    def entries(self) -> Sequence[tuple[str, bool]]:
        """Return the folders, then the files of the folder: name, and whether it is a folder."""
        prefix = f"{self.path}/" if self.path else ""
        files = self.git.files(self.commit.id)
        inside = (path.removeprefix(prefix) for path in files if path.startswith(prefix))
        names = {(rest.partition("/")[0], "/" in rest) for rest in inside}
        return sorted(names, key=lambda entry: (not entry[1], entry[0]))


def place_of(git: BareRepository, text: str) -> Place:
    """Return the place of `REF/PATH`; the longest branch wins. Raises NoPageError."""
    text = text.strip("/")
    branches = sorted(git.branches(), key=len, reverse=True)
    names = (name for name in branches if f"{text}/".startswith(f"{name}/"))
    ref = next(names, text.partition("/")[0])
    try:
        commit = git.commit(ref)
    except LookupError:
        raise NoPageError(f"There is no branch, tag or commit {ref}.") from None
    return Place(git, ref, commit, text[len(ref) :].strip("/"))


@views.get("/<owner>")
def account(site: Site, owner: str) -> Response:
    """List the repositories of an account."""
    known = [each for each in site.store.repositories.values() if each.owner == owner]
    if not known:
        raise NoPageError(f"There is no account {owner} with repositories.")
    return site.page("account.html", owner, owner=owner, owned=known)


@views.get(REPOSITORY)
def repository(site: Site, owner: str, name: str) -> Response:
    """Show the default branch."""
    found = site.repository(owner, name)
    if found.full_name != f"{owner}/{name}":
        return to(f"/{found.full_name}")
    if site.store.git(found).head(found.default_branch) is None:
        return site.page("empty.html", found.full_name, repository=found)
    return tree(site, owner, name, found.default_branch)


@views.get(f"{REPOSITORY}/tree/<path:where>")
def tree(site: Site, owner: str, name: str, where: str) -> Response:
    """Show a folder."""
    found = site.repository(owner, name)
    place = place_of(site.store.git(found), where)
    entries = place.entries()
    if place.path and not entries:
        if place.content() is not None:
            return to(f"/{found.full_name}/blob/{segment(where)}")
        raise NoPageError(f"{place.ref} has no folder {place.path}.")
    readme = f"{place.path}/{README}".strip("/")
    text = place.git.files(place.commit.id).get(readme)
    return site.page(
        "tree.html",
        f"{found.full_name} {place.path}".strip(),
        repository=found,
        place=place,
        entries=entries,
        branches=_branches(found, place.git),
        readme=None if text is None else _markdown(found, place, readme, text),
    )


@views.get(f"{REPOSITORY}/blob/<path:where>")
def blob(site: Site, owner: str, name: str, where: str) -> Response:
    """Show a file."""
    found = site.repository(owner, name)
    place = place_of(site.store.git(found), where)
    content = place.content()
    if content is None:
        if place.entries():
            return to(f"/{found.full_name}/tree/{segment(where)}")
        raise NoPageError(f"{place.ref} has no file {place.path}.")
    text = _text(content)
    is_markdown = place.path.endswith(".md") and "plain" not in request.args
    return site.page(
        "blob.html",
        f"{place.path} of {found.full_name}",
        repository=found,
        place=place,
        size=len(content),
        lines=code_lines(text, place.path) if text is not None and not is_markdown else None,
        rendered=_markdown(found, place, place.path, content) if is_markdown else None,
    )


@views.get(f"{REPOSITORY}/raw/<path:where>")
def raw(site: Site, owner: str, name: str, where: str) -> Response:
    """Return the content of a file."""
    place = place_of(site.store.git(site.repository(owner, name)), where)
    content = place.content()
    if content is None:
        raise NoPageError(f"{place.ref} has no file {place.path}.")
    return site.text(content)


@views.get(f"{REPOSITORY}/branches")
def branches(site: Site, owner: str, name: str) -> Response:
    """List the branches."""
    found = site.repository(owner, name)
    known = _branches(found, site.store.git(found))
    title = f"Branches of {found.full_name}"
    return site.page("branches.html", title, repository=found, branches=known)


def _editor(
    site: Site, repository: Repository, place: Place, text: str, *, is_new: bool
) -> Response:
    taken = place.git.branches()
    proposed = next(
        name for number in range(1, len(taken) + 2) if (name := f"patch-{number}") not in taken
    )
    return site.page(
        "edit.html",
        f"{'New file' if is_new else place.path} in {repository.full_name}",
        repository=repository,
        place=place,
        text=text,
        before=place.blob,
        is_new=is_new,
        proposed=proposed,
    )


@views.get(f"{REPOSITORY}/edit/<path:where>")
def edit(site: Site, owner: str, name: str, where: str) -> Response:
    """Show the editor of a file."""
    found = site.repository(owner, name)
    place = place_of(site.store.git(found), where)
    content = place.content()
    text = None if content is None else _text(content)
    if not place.is_branch or text is None:
        raise NoPageError(f"{place.path} is not a text file of a branch.")
    return _editor(site, found, place, text, is_new=False)


@views.get(f"{REPOSITORY}/new/<path:where>")
def new(site: Site, owner: str, name: str, where: str) -> Response:
    """Show the editor of a new file.

    As on GitHub, a link can propose its path below the folder, and its text. For a file that is
    there, the editor shows what it has.
    """
    found = site.repository(owner, name)
    place = place_of(site.store.git(found), where)
    path = f"{place.path}/{request.args.get('filename', '')}".strip("/")
    if path != place.path:
        place = replace(place, path=path)
        if place.content() is not None:
            return to(f"/{found.full_name}/edit/{segment(f'{place.ref}/{path}')}")
    return _editor(site, found, place, request.args.get("value", ""), is_new=True)


@views.post(f"{REPOSITORY}/<any(edit, new):kind>/<path:where>")
def save(site: Site, owner: str, name: str, kind: str, where: str) -> Response:
    """Commit a file, or open a pull request with it."""
    found, form = site.repository(owner, name), request.form
    place = place_of(site.store.git(found), where)
    place = replace(place, path=form.get("path", "").strip("/") or place.path)
    path, old, is_new = place.path, place.content(), kind == "new"
    if is_new and old is not None:
        raise RefusedError(409, f"{path} exists already: edit it.")
    if not is_new and form.get("before") != place.blob:
        raise RefusedError(409, f"{path} has changed since: look at it, and edit it anew.")
    lines = form.get("text", "").replace("\r\n", "\n")
    lines = lines.replace("\n", "\r\n") if b"\r\n" in (old or b"") else lines
    changes = {path: None if "delete" in form else lines}
    if changes[path] is not None and lines.encode() == old:
        raise RefusedError(422, f"{path} is the same as before: nothing has changed.")
    verb = "Delete" if "delete" in form else "Create" if is_new else "Change"
    subject = form.get("message", "").strip() or f"{verb} {path}"
    branch = form.get("branch", "").strip() if form.get("into") == "proposal" else ""
    commit(site, found, place, changes, subject, branch)
    if not branch:
        return to(f"/{found.full_name}/commit/{place.git.head(place.ref)}")
    body = {"title": subject, "head": branch, "base": place.ref, "body": form.get("body", "")}
    pull = site.act("POST", "/pulls", found, body)
    return to(f"/{found.full_name}/pull/{pull['number']}")


def commit(
    site: Site,
    repository: Repository,
    place: Place,
    changes: Mapping[str, str | None],
    message: str,
    branch: str = "",
) -> None:
    """Commit texts (None deletes) to the branch of a place, or to a new branch from there.

    Raises RefusedError.
    """
    entries = [
        {"path": path, "mode": "100644", **({"sha": None} if text is None else {"content": text})}
        for path, text in changes.items()
    ]
    tree = site.act(
        "POST", "/git/trees", repository, {"base_tree": place.commit.tree, "tree": entries}
    )
    body = {"message": message, "tree": tree["sha"], "parents": [place.commit.id]}
    made = site.act("POST", "/git/commits", repository, body)["sha"]
    if branch:
        ref = {"ref": BRANCHES + branch, "sha": made}
        site.act("POST", "/git/refs", repository, ref)
    else:
        site.act("PATCH", "/git/refs/{ref}", repository, {"sha": made}, ref=f"heads/{place.ref}")


@views.get(f"{REPOSITORY}/commits/<path:where>")
@views.get(f"{REPOSITORY}/commits")
def commits(site: Site, owner: str, name: str, where: str = "") -> Response:
    """List the newest commits of a branch."""
    found = site.repository(owner, name)
    place = place_of(site.store.git(found), where or found.default_branch)
    known = [place.git.commit(each) for each in place.git.history(place.commit.id, MOST_COMMITS)]
    title = f"Commits of {found.full_name}"
    return site.page("commits.html", title, repository=found, place=place, commits=known)


@views.get(f"{REPOSITORY}/commit/<revision>")
def one_commit(site: Site, owner: str, name: str, revision: str) -> Response:
    """Show a commit with its statuses and changes."""
    found = site.repository(owner, name)
    git = site.store.git(found)
    shown = place_of(git, revision).commit
    return site.page(
        "commit.html",
        f"{shown.message.partition(chr(10))[0]} of {found.full_name}",
        repository=found,
        commit=shown,
        **checks_of(found, shown.id),
        history=[each for each in found.statuses if each.commit == shown.id][::-1],
        branches=[name for name, head in git.branches().items() if head == shown.id],
        diffs=list(file_diffs(git, next(iter(shown.parents), None), shown.id)),
    )


@views.get(f"{REPOSITORY}/compare/<path:span>")
def compare(site: Site, owner: str, name: str, span: str) -> Response:
    """Show what a branch adds to another one."""
    found = site.repository(owner, name)
    git = site.store.git(found)
    first, dots, last = span.partition("...")
    if not dots:
        first, last = found.default_branch, span
    base, head = (place_of(git, each.rpartition(":")[2]) for each in (first, last))
    fork = git.merge_base(base.commit.id, head.commit.id) or base.commit.id
    return site.page(
        "compare.html",
        f"{base.ref}...{head.ref} of {found.full_name}",
        repository=found,
        base=base,
        head=head,
        commits=git.commits_between(fork, head.commit.id)[::-1],
        diffs=list(file_diffs(git, fork, head.commit.id)),
    )


@views.post(f"{REPOSITORY}/compare")
def propose(site: Site, owner: str, name: str) -> Response:
    """Open a pull request."""
    found, form = site.repository(owner, name), request.form
    body = {field: form.get(field, "") for field in ("title", "body", "head", "base")}
    pull = site.act("POST", "/pulls", found, body)
    return to(f"/{found.full_name}/pull/{pull['number']}")


def checks_of(repository: Repository, commit: str) -> dict[str, Any]:
    """Return a commit's latest `statuses`, sorted by context, its `checks`, and its `runs`.

    A run that a person, a run or the clock started is about the commits that its inputs name; its
    own is only the head of a branch at that moment.
    """
    statuses = latest_statuses(repository, commit).values()
    return {
        "statuses": sorted(statuses, key=lambda each: each.context),
        "checks": [each for each in repository.check_runs if each.commit == commit],
        "runs": [
            (repository, each)
            for each in repository.runs
            if commit in ({each.commit} if each.event not in STARTED else each.inputs.values())
        ],
    }


def _branches(repository: Repository, git: BareRepository) -> Sequence[tuple[str, GitCommit]]:
    """Return the branches with their heads, the default one first."""
    heads = git.branches()
    names = sorted(heads, key=lambda each: (each != repository.default_branch, each))
    return [(name, git.commit(heads[name])) for name in names]


def _text(content: bytes) -> str | None:
    """Return the text of a file; None for a binary one."""
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _markdown(repository: Repository, place: Place, path: str, content: bytes) -> str:
    page = f"/{repository.full_name}/blob/{segment(place.ref)}"
    return markdown(content.decode("utf-8", "replace"), within(page, path))
