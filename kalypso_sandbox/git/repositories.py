"""Bare git repositories of the sandbox. Run git only for objects and refs without loose files.

https://git-scm.com/docs/gitrepository-layout
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import GitFiles
from kalypso_actions.clients.git.files import GitObject, batch_objects
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_sandbox.git.objects import (
    EMPTY_TREE,
    FULL_ID,
    OPTIONS,
    Change,
    FileChange,
    GitCommit,
    LooseObjects,
    Person,
    commit_content,
    parse_commit,
    parse_diff_tree,
)

BRANCHES: Final = "refs/heads/"
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
FILE: Final = "100644"
SUBMODULE: Final = "160000"

CONFIGURATION: Final = """\
[core]
	repositoryformatversion = 0
	bare = true
	fsync = none
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[http]
	receivepack = true
[receive]
	autogc = false
	advertisePushOptions = true
[gc]
	auto = 0
"""
"""The features of GitHub's repositories: partial clones, fetches by commit id, and pushes. fsync is
off, because the data of a sandbox need not survive a crash.
"""


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """A full ref that is created (`before` None), moved, or deleted (`after` None)."""

    ref: str
    before: str | None
    after: str | None

    @property
    def branch(self) -> str:
        """Return the name of the branch; "" for other refs."""
        return self.ref.removeprefix(BRANCHES) if self.ref.startswith(BRANCHES) else ""


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
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (self.git_dir / folder).mkdir(parents=True)
        (self.git_dir / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n", encoding="utf-8")
        (self.git_dir / "config").write_text(CONFIGURATION, encoding="utf-8")

    def refs(self) -> Mapping[str, str]:
        """Return full ref name -> object id."""
        refs = {name: self._loose_ref(name) for name in sorted(self._paths("refs"))}
        if not (self.git_dir / "packed-refs").exists() and None not in refs.values():
            return {name: object_id for name, object_id in refs.items() if object_id}
        output = self._run("for-each-ref", "--format=%(objectname) %(refname)")
        lines = output.decode("utf-8", "replace").splitlines()
        return {name: object_id for object_id, name in (line.split(" ", 1) for line in lines)}

    def ref_files(self) -> bytes:
        """Return the content of all files that git reads to list the refs."""
        content = bytearray()
        for name in ("HEAD", "packed-refs", *sorted(self._paths("refs"))):
            with suppress(FileNotFoundError):  # a push may be removing it
                content += b"%s %s\n" % (os.fsencode(name), (self.git_dir / name).read_bytes())
        return bytes(content)

    def head(self, branch: str) -> str | None:
        """Return the commit at a branch's head."""
        return self.ref(BRANCHES + branch)

    def branches(self) -> Mapping[str, str]:
        """Return name of a branch -> commit at its head."""
        return {
            ref.removeprefix(BRANCHES): head
            for ref, head in self.refs().items()
            if ref.startswith(BRANCHES)
        }

    def ref(self, name: str) -> str | None:
        """Return the object of a full ref; None if there is none."""
        if INVALID_REVISION.search(name):
            return None
        if object_id := self._loose_ref(name):
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
        object_id = self._loose_ref(first) or first
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
        common = self._reachable(first) & self._reachable(second)
        best = common - {parent for commit in common for parent in self._parents_of(commit)}
        if len(best) < 2:
            return next(iter(best), None)
        answer = self._run_cached("merge-base", first, second)
        return answer.decode().strip() if answer else None

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Return whether the second commit reaches the first (each commit reaches itself).

        Raises LookupError for an unknown revision.
        """
        first, second = self._ids(ancestor, descendant)
        return first in self._reachable(second)

    def commits_between(self, base: str, head: str) -> Sequence[GitCommit]:
        """Return the commits that head reaches and base does not, oldest first.

        Raises LookupError.
        """
        first, last = self._ids(base, head)
        ids = self._newest_first(last, self._reachable(last) - self._reachable(first))[::-1]
        unknown = [commit for commit in ids if commit not in self._commits]
        for commit, _, content in self._objects(unknown):
            self._commits[commit] = parse_commit(commit, content)
        return [self._commits[commit] for commit in ids]

    def _reachable(self, commit: str) -> set[str]:
        """Return the commits that a commit reaches, including itself."""
        reached = {commit}
        pending = [commit]
        while pending:
            for parent in self._parents_of(pending.pop()):
                if parent not in reached:
                    reached.add(parent)
                    pending.append(parent)
        return reached

    def _newest_first(self, head: str, commits: AbstractSet[str]) -> Sequence[str]:
        """Sort commits, all reachable from the head, as `git rev-list --topo-order` does.

        A commit precedes its parents. Lines of history stay apart, that of the last parent first.
        """
        children = Counter(parent for commit in commits for parent in self._parents_of(commit))
        pending = [head] if head in commits else []
        ordered = []
        while pending:
            commit = pending.pop()
            ordered.append(commit)
            for parent in self._parents_of(commit):
                children[parent] -= 1
                if parent in commits and not children[parent]:
                    pending.append(parent)
        return ordered

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

    def changed_paths(self, base: str, head: str) -> Sequence[str]:
        """Return the paths of added, modified and removed files. Raises LookupError."""
        options = ["-r", "-z", "--no-renames", "--name-only"]
        output = self._run_cached("diff-tree", *options, *self._ids(base, head)) or b""
        return output.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def diff(self, base: str | None, head: str) -> Sequence[FileChange]:
        """Return the changed files, with renames; base None means all files. Raises LookupError."""
        trees = [self.commit(base).id if base else EMPTY_TREE, self.commit(head).id]
        return parse_diff_tree(self._run_cached("diff-tree", *OPTIONS, *trees) or b"")

    def patch(self, base: str | None, head: str) -> bytes:
        """Return the unified diff of two commits; base None means all files. Raises LookupError."""
        trees = [self.commit(base).id if base else EMPTY_TREE, self.commit(head).id]
        return self._run_cached("diff-tree", "-r", "-p", "-M", *trees) or b""

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
        return self._loose.write_tree(base, changes, self._existing)

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
        base = self.commit(parent).tree if parent else EMPTY_TREE
        tree = self._loose.write_tree(base, files, self._existing)
        commit = self.make_commit(tree, [parent] if parent else [], message, author, author)
        self.update_ref(f"refs/heads/{branch}", commit, parent)
        return commit

    def update_ref(self, ref: str, new: str | None, old: str | None) -> bool:
        """Set or delete (None) a full ref if it still is at `old`; return whether it was.

        With `old` None, the ref must not exist. Raises ProcessError if git refuses for another
        reason, such as an unknown object or a conflict with the name of another ref.
        """
        moves = is_valid_ref(ref) and (new is None or self.object_type(new) == "commit")
        if moves and self._move(ref, new, old):
            return True
        try:
            self._run("update-ref", ref, new or NO_OBJECT, old or NO_OBJECT)
        except ProcessError:
            if self.ref(ref) != old:
                return False
            raise
        return True

    def copy_objects(self, source: BareRepository) -> None:
        """Copy all objects of another repository, without changing refs."""
        shutil.copytree(source.git_dir / "objects", self.git_dir / "objects", dirs_exist_ok=True)

    def _loose_ref(self, name: str) -> str | None:
        """Return the object of a full ref; None if it has no file, or is symbolic."""
        with suppress(OSError, ValueError):
            object_id = (self.git_dir / name).read_text("ascii").removesuffix("\n")
            if FULL_ID.match(object_id):
                return object_id
        return None

    def _move(self, name: str, new: str | None, old: str | None) -> bool:
        """Set or delete (None) a ref that still is at `old` (None: it does not exist).

        Return False if git must make or refuse the change: for packed and symbolic refs, and for
        conflicts of names.
        """
        file = self.git_dir / name
        if (self.git_dir / "packed-refs").exists() or (old is None and os.path.lexists(file)):
            return False
        lock = file.with_name(f"{file.name}.lock")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            lock.touch(exist_ok=False)
        except OSError:
            return False
        try:
            if self._loose_ref(name) != old:
                return False
            if new is None:
                file.unlink()
            else:
                lock.write_text(f"{new}\n", "ascii")
                lock.replace(file)
        finally:
            lock.unlink(missing_ok=True)
        return True

    def _paths(self, folder: str) -> Iterator[str]:
        """Yield the paths of files below a folder, except lock files. A push may remove some."""
        with suppress(FileNotFoundError), os.scandir(self.git_dir / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir():
                    yield from self._paths(path)
                elif not path.endswith(".lock"):
                    yield path

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
