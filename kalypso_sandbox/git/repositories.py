"""Bare git repositories of the sandbox. Run git only for objects and refs without loose files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import GitFiles
from kalypso_actions.clients.git.objects import GitObject, batch_objects
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_sandbox.git import ancestry, loose_files
from kalypso_sandbox.git.commits import GitCommit, Person, commit_content, parse_commit
from kalypso_sandbox.git.diff_tree import EMPTY_TREE, OPTIONS, FileChange, parse_diff_tree
from kalypso_sandbox.git.objects import LooseObjects
from kalypso_sandbox.git.tree_changes import Change, write_changed_tree

NO_OBJECT: Final = "0" * 40
"""The id that git writes for a ref that does not exist."""

INVALID_REVISION: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")
"""Characters that no ref's name contains and that git would interpret."""
ABBREVIATED_ID: Final = re.compile(r"[0-9a-f]{4,40}\Z")
INVALID_REF: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[./]\Z|\ufffd|[\ud800-\udfff]"
)
"""The forbidden parts of a ref's name: https://git-scm.com/docs/git-check-ref-format"""

MAX_CACHED_TREES: Final = 4  # events look for workflows in the same trees
MAX_CACHED_OUTPUTS: Final = 500  # polling a pull request repeats commands
STATES: Final = {"A": "added", "D": "removed", "M": "modified", "T": "modified"}
FILE: Final = "100644"
SUBMODULE: Final = "160000"


class BareRepository:
    """One bare repository. For unknown ids and refs, methods return None or raise LookupError.

    A `revision` is the name of a branch or a tag, a full ref, or a commit's id (its first digits
    suffice). Git's other forms are not supported.
    """

    def __init__(self, git_dir: Path, programs: Programs) -> None:
        self.git_dir = git_dir
        self._git = Git(programs)
        self._loose = LooseObjects(git_dir / "objects")
        # These caches stay valid: the object of a full id never changes, and ids precede names.
        self._commits: dict[str, GitCommit] = {}
        self._parents: dict[str, Sequence[str]] = {}
        self._trees: dict[str, Mapping[str, bytes]] = {}
        self._outputs: dict[tuple[str, ...], bytes | None] = {}

    def create(self, default_branch: str) -> None:
        """Create the repository, ready to serve partial and shallow clones and commits by id."""
        loose_files.create(self.git_dir, default_branch)

    def refs(self) -> Mapping[str, str]:
        """Return full ref name -> object id."""
        names = sorted(loose_files.paths(self.git_dir, "refs"))
        refs = {name: loose_files.ref(self.git_dir, name) for name in names}
        if not (self.git_dir / "packed-refs").exists() and None not in refs.values():
            return {name: object_id for name, object_id in refs.items() if object_id}
        output = self._run("for-each-ref", "--format=%(objectname) %(refname)")
        lines = output.decode("utf-8", "replace").splitlines()
        return {name: object_id for object_id, name in (line.split(" ", 1) for line in lines)}

    def ref_files(self) -> bytes:
        """Return the content of all files that git reads to list the refs."""
        return loose_files.all_refs(self.git_dir)

    def head(self, branch: str) -> str | None:
        """Return the commit at a branch's head."""
        return self.ref(f"refs/heads/{branch}")

    def ref(self, name: str) -> str | None:
        """Return the object of a full ref; None if there is none."""
        if INVALID_REVISION.search(name):
            return None
        if object_id := loose_files.ref(self.git_dir, name):
            return object_id
        if not (self.git_dir / "packed-refs").exists() and not (self.git_dir / name).exists():
            return None
        answer = self._run_or_none("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return answer.decode().strip() if answer is not None else None

    def object_type(self, object_id: str) -> str | None:
        """Return `commit`, `tag`, `tree` or `blob`; None for an unknown object."""
        if object_id in self._commits:
            return "commit"
        is_id = ABBREVIATED_ID.match(object_id)
        git_object = next(self._objects([object_id]), None) if is_id else None
        return git_object[1] if git_object else None

    def commit(self, revision: str) -> GitCommit:
        """Return a commit by id, branch or tag. Raises LookupError."""
        if known := self._commits.get(revision):
            return known
        if revision == "HEAD":
            revision = (self.git_dir / revision).read_text("utf-8").removeprefix("ref: ").strip()
        names = candidates(revision)
        first = names[0] if names else ""
        object_id = loose_files.ref(self.git_dir, first) or first
        if known := self._commits.get(object_id):
            return known
        commit = self._loose_commit(object_id)
        if commit is None:
            commit = next(self._objects([f"{name}^{{commit}}" for name in names]), None)
        if commit is None:
            raise LookupError(f"there is no commit {revision!r}")
        object_id, _, content = commit
        return self._commits.setdefault(object_id, parse_commit(object_id, content))

    def files(self, revision: str) -> Mapping[str, bytes]:
        """Return every file of a commit. Raises LookupError."""
        commit = self.commit(revision).id
        if (known := self._trees.get(commit)) is not None:
            return known
        try:
            files = self._loose_files(commit)
        except LookupError:
            listing = GitFiles(self._git, self.git_dir, str(self.git_dir), commit)
            entries = listing.entries().values()
            files = listing.read([entry.path for entry in entries if entry.mode != SUBMODULE])
        self._trees = {**dict(list(self._trees.items())[1 - MAX_CACHED_TREES :]), commit: files}
        return files

    def _loose_files(self, commit: str) -> Mapping[str, bytes]:
        """Return every file of a commit, from loose objects only. Raises LookupError."""
        return {
            path.decode("utf-8", "surrogateescape"): self._loose.read(object_id).content
            for mode, path, object_id in self._loose.files(commit)
            if mode != SUBMODULE
        }

    def _loose_commit(self, object_id: str) -> GitObject | None:
        with suppress(LookupError):
            git_object = self._loose.read(object_id)
            return git_object if git_object.type == "commit" else None
        return None

    def object_at(self, revision: str, path: str) -> tuple[str, str] | None:
        """Return the id and type (`tree`, `blob`) of a path in a commit; "" is the root."""
        if "\n" in path:
            return None
        with suppress(LookupError):
            loose = self._loose.at(self.commit(revision).id, path.strip("/"))
            return (loose.id, loose.type) if loose else None
        names = [f"{name}:{path.strip('/')}" for name in candidates(revision)]
        git_object = next(self._objects(names), None)
        return (git_object[0], git_object[1]) if git_object else None

    def tree_id(self, revision: str, path: str) -> str | None:
        """Return the object id of a folder in a commit; "" is the root."""
        object_id, kind = self.object_at(revision, path) or ("", "")
        return object_id if kind == "tree" else None

    def merge_base(self, first: str, second: str) -> str | None:
        """Return the best common ancestor. Raises LookupError for an unknown revision."""
        first, second = self._ids(first, second)
        best = ancestry.common_ancestors(first, second, self._parents_of)
        if len(best) < 2:
            return next(iter(best), None)
        answer = self._run_cached("merge-base", first, second)
        return answer.decode().strip() if answer else None

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Return whether the second commit reaches the first (each commit reaches itself).

        Raises LookupError for an unknown revision.
        """
        first, second = self._ids(ancestor, descendant)
        return first in ancestry.reachable(second, self._parents_of)

    def commits_between(self, base: str, head: str) -> Sequence[GitCommit]:
        """Return the commits that head reaches and base does not, oldest first.

        Raises LookupError.
        """
        first, last = self._ids(base, head)
        parents = self._parents_of
        between = ancestry.reachable(last, parents) - ancestry.reachable(first, parents)
        ids = ancestry.newest_first(last, between, parents)[::-1]
        unknown = [commit for commit in ids if commit not in self._commits]
        for commit, _, content in self._objects(unknown):
            self._commits[commit] = parse_commit(commit, content)
        return [self._commits[commit] for commit in ids]

    def _parents_of(self, commit: str) -> Sequence[str]:
        """Return the parents of an id. Raises LookupError if there is no such commit."""
        if commit not in self._parents:
            if commit in self._commits or self._loose_commit(commit):
                self._parents[commit] = self.commit(commit).parents
            else:  # one run of git reads the whole packed history
                answer = self._run_cached("rev-list", "--parents", commit) or b""
                lines = [line.split() for line in answer.decode().splitlines()]
                self._parents |= {line[0]: line[1:] for line in lines}
        return self._parents[commit]

    def history(self, revision: str, limit: int) -> Sequence[str]:
        """Return the ids of the newest commits that a revision reaches, newest first.

        Raises LookupError.
        """
        answer = self._run_cached("rev-list", f"--max-count={limit}", self.commit(revision).id)
        return (answer or b"").decode().split()

    def history_length(self, revision: str) -> int:
        """Return the number of commits that a revision reaches. Raises LookupError."""
        answer = self._run_cached("rev-list", "--count", self.commit(revision).id)
        return int(answer or b"0")

    def changed_paths(self, base: str, head: str) -> Mapping[str, str]:
        """Return path -> `added`, `modified` or `removed`. Raises LookupError."""
        commits = self._ids(base, head)
        options = ["-r", "-z", "--no-renames", "--name-status"]
        output = self._run_cached("diff-tree", *options, *commits) or b""
        words = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return {path: STATES[state] for state, path in zip(words[::2], words[1::2], strict=True)}

    def diff(self, base: str | None, head: str) -> Sequence[FileChange]:
        """Return the changed files, with renames; base None means all files. Raises LookupError."""
        trees = [self.commit(base).id if base else EMPTY_TREE, self.commit(head).id]
        return parse_diff_tree(self._run_cached("diff-tree", *OPTIONS, *trees) or b"")

    def patch(self, base: str, head: str) -> bytes:
        """Return the unified diff of two commits. Raises LookupError."""
        return self._run_cached("diff-tree", "-r", "-p", "-M", *self._ids(base, head)) or b""

    def merge_tree(self, base: str, head: str) -> str | None:
        """Return the tree of head merged into base; None for a conflict or unrelated histories.

        Raises LookupError for an unknown revision.
        """
        commits = self._ids(base, head)
        ancestor = self.merge_base(*commits)
        if ancestor is None:
            return None
        if ancestor in commits:
            return self.commit(commits[1 - commits.index(ancestor)]).tree
        answer = self._run_cached("merge-tree", "--write-tree", "--no-messages", *commits)
        return answer.decode().strip() if answer else None

    def make_commit(
        self,
        tree: str,
        parents: Sequence[str],
        message: str,
        author: Person,
        committer: Person,
        *,
        signed: bool = False,
    ) -> str:
        """Write a commit object and return its id."""
        content = commit_content(tree, parents, message, author, committer, signed=signed)
        return self._loose.write("commit", content)

    def write_blob(self, content: bytes) -> str:
        """Write a blob and return its id."""
        return self._loose.write("blob", content)

    def write_tree(self, base: str, changes: Mapping[str, Change | None]) -> str | None:
        """Write the tree `base` ("": an empty one) with some changes, and return its id.

        Each path has a mode with an object id (text) or a content (bytes); None deletes it. Return
        None if a path to delete does not exist.
        """
        base = base or EMPTY_TREE
        deleted = {path for path, change in changes.items() if change is None}
        if deleted:
            paths = self._run("ls-tree", "-r", "-z", "--name-only", base)
            if not deleted <= set(paths.decode("utf-8", "surrogateescape").split("\0")):
                return None
        return self._changed_tree(base, changes)

    def _changed_tree(self, base: str, changes: Mapping[str, Change | None]) -> str:
        return write_changed_tree(self._loose, self._existing, base, changes)

    def commit_files(
        self, branch: str, changes: Mapping[str, str | bytes | None], message: str, author: Person
    ) -> str:
        """Commit files to a branch (created if missing; None deletes a file); return the id."""
        parent = self.head(branch)
        files = {
            path: None
            if content is None
            else (FILE, content.encode() if isinstance(content, str) else content)
            for path, content in changes.items()
        }
        tree = self._changed_tree(self.commit(parent).tree if parent else EMPTY_TREE, files)
        commit = self.make_commit(tree, [parent] if parent else [], message, author, author)
        self.update_ref(f"refs/heads/{branch}", commit, parent)
        return commit

    def update_ref(self, ref: str, new: str | None, old: str | None) -> bool:
        """Set or delete (None) a full ref if it still is at `old`; return whether it was.

        With `old` None, the ref must not exist. Raises ProcessError if git refuses for another
        reason, such as an unknown object or a conflict with the name of another ref.
        """
        moves = is_valid_ref(ref) and (new is None or self.object_type(new) == "commit")
        if moves and loose_files.move(self.git_dir, ref, new, old):
            return True
        try:
            self._run("update-ref", ref, new or NO_OBJECT, old or NO_OBJECT)
        except ProcessError:
            if self.ref(ref) != old:
                return False
            raise
        return True

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return self._git.run(self.git_dir, arguments, stdin=stdin)

    def _run_or_none(self, *arguments: str) -> bytes | None:
        """Return git's output; None for exit code 1, with which git answers "no"."""
        try:
            return self._run(*arguments)
        except ProcessError as error:
            if error.status == 1:
                return None
            raise

    def _ids(self, *revisions: str) -> list[str]:
        """Return the commits' ids. Raises LookupError."""
        return [self.commit(revision).id for revision in revisions]

    def _run_cached(self, *arguments: str) -> bytes | None:
        """Run git as `_run_or_none` does, and cache the output."""
        if arguments not in self._outputs:
            answer = self._run_or_none(*arguments)
            kept = list(self._outputs.items())[1 - MAX_CACHED_OUTPUTS :]
            self._outputs = {**dict(kept), arguments: answer}
        return self._outputs[arguments]

    def _existing(self, object_id: str) -> GitObject:
        return next(self._objects([object_id]))

    def _objects(self, names: Sequence[str]) -> Iterator[GitObject]:
        """Yield the objects of these names that exist."""
        with suppress(LookupError):
            yield from [self._loose.read(name) for name in names]
            return
        request = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        yield from filter(None, batch_objects(self._run("cat-file", "--batch", stdin=request)))


def candidates(revision: str) -> list[str]:
    """Return the possible full names of a revision, in the order of precedence."""
    if not revision or INVALID_REVISION.search(revision):
        return []
    names = [f"refs/heads/{revision}", f"refs/tags/{revision}"]
    if revision.startswith("refs/"):
        names = [revision]
    elif revision.startswith(("heads/", "tags/")):
        names.append(f"refs/{revision}")
    if ABBREVIATED_ID.match(revision):
        # A branch's name may look like an id; only a full id takes precedence over it.
        names.insert(0 if len(revision) == 40 else len(names), revision)
    elif revision == "HEAD":
        names.append(revision)
    return names


def is_valid_ref(text: str) -> bool:
    """Return whether the text is a full ref, such as `refs/heads/main`."""
    parts = text.split("/")
    return len(parts) > 2 and parts[0] == "refs" and parts[1] != "" and not INVALID_REF.search(text)
