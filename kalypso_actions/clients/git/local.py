"""Repositories on this machine: read clones, worktrees and bare repositories, and write commits.

Commits are made without a checkout and without a push, and do not disturb a user's work tree.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from kalypso_actions.clients.folder import FolderFiles, mode_of
from kalypso_actions.clients.git.commits import (
    FAST_IMPORT,
    REF,
    WRITING,
    Signature,
    fast_import,
    import_blobs,
)
from kalypso_actions.clients.git.files import GitFiles, batch_objects
from kalypso_actions.clients.git.history import (
    TreePlace,
    read_line,
    read_trees,
    without_boundary,
)
from kalypso_actions.clients.git.line_log import LineLog, read_line_log
from kalypso_actions.clients.git.program import Git
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.differences import CommitSubject
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.history import HistoryCommit
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.object_ids import FileContent, is_commit_id
from kalypso_actions.model.processes import WriteBlobs

ABBREVIATED: Final = re.compile("[0-9a-f]{4,64}")

ANCESTOR: Final = re.compile(r"(?P<name>[^~^]+)(?P<steps>[~^][~^0-9]{0,40})")
"""`main~2` or `HEAD^`: git's names of a commit's parents."""

# The rules of `git check-ref-format`; in addition, no leading dash and no surrogates.
INVALID_BRANCH: Final = re.compile(
    r"^[-/]|[\x00-\x20\x7f\ud800-\udc7f\udd00-\udfff~^:?*\[\\]"
    r"|\.\.|//|/\.|^\.|@\{|\.lock(/|$)|[/.]$|^@?$"
)


def is_repository(path: Path) -> bool:
    """Return whether `path` itself is a clone, a worktree or a bare repository."""
    return (path / ".git").exists() or _is_bare(path)


def enclosing_clone(folder: Path) -> Path | None:
    """Return the clone or worktree whose files contain the folder; None without one.

    Raises UsageError if the current folder has been deleted.
    """
    try:
        parents = folder.resolve().parents
    except FileNotFoundError as error:
        message = "the current folder no longer exists"
        raise UsageError(message, advice="change to a folder that exists, such as cd ~") from error
    for parent in (folder, *parents):
        if (parent / ".git").exists():
            return parent
    return None


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def local_files(
    folder: Path, programs: Programs, *, repository: str = "", also: Sequence[str] = ()
) -> FolderFiles:
    """Return the files of a folder; in a clone, those that git tracks, or does not ignore.

    `also` are git's patterns of ignored files that count. A folder that git ignores as a whole is
    read as it is, and so is any folder without the program git. Raises KalypsoError.
    """
    clone = enclosing_clone(folder)
    if clone is None or not _has_git(clone) or programs.find("git") is None:
        return FolderFiles(folder, repository=repository)
    tree = WorkingTree(folder, programs, repository=repository, also=also)
    is_top = clone.resolve() == folder.resolve()
    return tree if is_top or tree.entries() else FolderFiles(folder, repository=repository)


def _has_git(clone: Path) -> bool:
    """Return whether `.git` is more than an empty folder."""
    return (clone / ".git").is_file() or (clone / ".git" / "HEAD").is_file()


def check_branch(branch: str, repository: str) -> None:
    """Refuse an invalid name of a branch. Raises KalypsoError."""
    if INVALID_BRANCH.search(branch):
        raise KalypsoError(f"{branch!r} is not the name of a branch", Location(repository))


def check_commit(commit: str, repository: str) -> None:
    """Refuse a text that is not a full commit id. Raises KalypsoError."""
    if not is_commit_id(commit):
        message = f"{commit!r} is not a commit id"
        advice = "write all 40 hexadecimal digits, in lower case"
        raise KalypsoError(message, Location(repository), advice)


_AHEAD: Final = re.compile(r"ahead (\d+)")
_BEHIND: Final = re.compile(r"behind (\d+)")


@dataclass(frozen=True, slots=True)
class BehindBranch:
    """A branch of a clone that lacks commits of the remote branch, and may have others."""

    name: str
    remote: str
    behind: int
    ahead: int


class GitRepository:
    """The commits of a repository on this machine, without uncommitted changes."""

    def __init__(
        self,
        path: Path,
        programs: Programs,
        *,
        repository: str = "",
        trust_user_config: bool = False,
    ) -> None:
        """`repository` is the name for messages (default: the path)."""
        self.repository = repository or str(path)
        if not is_repository(path):
            raise KalypsoError("this is not a git repository", Location(self.repository))
        self._git = Git(programs, trust_user_config=trust_user_config)
        self._git_dir = (path / ".git" if (path / ".git").exists() else path).absolute()

    @cached_property
    def remote_names(self) -> tuple[str, ...]:
        """The remotes; the first one is origin, else that of the checked-out branch, if any."""
        lines = self._query("config", "--get-regexp", r"^remote\..*\.url$").splitlines()
        names = [line.partition(" ")[0].removeprefix("remote.")[: -len(".url")] for line in lines]
        tracked = self._query("config", "--get", f"branch.{self.checked_out}.remote")
        order = {"origin": 0, tracked: 1}
        return tuple(sorted(dict.fromkeys(names), key=lambda name: order.get(name, 2)))

    @property
    def remote(self) -> str:
        """The first of the remotes; `origin` without any."""
        return next(iter(self.remote_names), "origin")

    def default_branch(self) -> str:
        """Return the branch of the remote's HEAD in a clone, else the branch of HEAD.

        Raises KalypsoError if HEAD is detached.
        """
        branch = self._default_of_remote() or self.checked_out
        if not branch:
            raise KalypsoError(
                "the repository's HEAD is detached, so its default branch is not known",
                Location(self.repository),
                "check a branch out, or name the branch",
            )
        return branch

    @property
    def checked_out(self) -> str:
        """The branch of HEAD, which may have no commit yet; "" if HEAD is detached."""
        return self._query("symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")

    @property
    def checked_out_commit(self) -> str:
        """The commit that is checked out. Raises KalypsoError before the first one."""
        commit = self._commit("HEAD")
        if not commit:
            raise KalypsoError("nothing is committed yet", Location(self.repository))
        return commit

    def has_branch(self, branch: str) -> bool:
        """Return whether the branch exists, in the clone or at a remote."""
        return not INVALID_BRANCH.search(branch) and self._head(branch) != ""

    def at_branch(self, branch: str) -> GitFiles:
        """Return the files of a branch: the clone's own, else a remote's. Raises KalypsoError."""
        check_branch(branch, self.repository)
        commit = self._head(branch)
        if commit:
            return self.files(commit)
        raise self._missing("branch", branch)

    def at_commit(self, commit: str) -> GitFiles:
        """Return the files of a commit by its full id. Raises KalypsoError if it is missing."""
        check_commit(commit, self.repository)
        if self._commit(commit) != commit:
            message = f"the commit {commit} is not in the repository"
            raise KalypsoError(message, Location(self.repository), "fetch it first")
        return self.files(commit)

    def files(self, commit: str, *, sizes: bool = True) -> GitFiles:
        """Return the files of a commit that is here."""
        return GitFiles(self._git, self._git_dir, self.repository, commit, sizes=sizes)

    def has_commit(self, commit: str) -> bool:
        """Return whether a commit is here, by its full id."""
        return is_commit_id(commit) and self._commit(commit) == commit

    def resolve(self, revision: str) -> str:
        """Return the commit of a branch (`main`, `origin/main`), a tag, or an abbreviated id.

        HEAD is the commit that is checked out, and `main~1` a parent. A full id always means that
        commit, even if a branch has the same name. Raises KalypsoError.
        """
        if self.has_commit(revision):
            return revision
        ancestor = ANCESTOR.fullmatch(revision)
        commit = self._named(ancestor["name"] if ancestor else revision)
        if commit and ancestor:
            commit = self._commit(commit + ancestor["steps"])
        if not commit:
            raise self._missing("branch, tag or commit", revision)
        return commit

    def _named(self, name: str) -> str:
        """Return the commit of HEAD, a branch, a tag or an abbreviated id; "" for none."""
        if name == "HEAD":
            return self.checked_out_commit
        if INVALID_BRANCH.search(name):
            return ""
        commit = self._head(name) or self._commit(f"refs/tags/{name}")
        commit = commit or self._commit(f"refs/remotes/{name}")
        return commit or (self._commit(name) if ABBREVIATED.fullmatch(name) else "")

    def _missing(self, kind: str, name: str) -> KalypsoError:
        known = list(dict.fromkeys(self.branches()))
        near = nearest(name, known)
        advice = f"is {near!r} meant?" if near else "fetch it first, or check its name"
        fetch = self.fetch_command(name) if self.remote_names and kind == "branch" else ""
        if not near and fetch:
            advice = f"fetch it first ({fetch}), or check its name"
        if not near and kind == "branch" and not self.has_some_branches:
            advice += f"; the branches here are {abbreviated(known, MAX_LISTED)}"
        return KalypsoError(f"there is no {kind} {name!r}", Location(self.repository), advice)

    @property
    def has_some_branches(self) -> bool:
        """Whether this is a clone of a single branch, or of several, but not of all."""
        kept = self._query("config", "--get-all", f"remote.{self.remote}.fetch").split()
        keeps_all = any(refspec.lstrip("+").startswith("refs/heads/*:") for refspec in kept)
        return bool(self.remote_names) and not keeps_all

    @property
    def is_shallow(self) -> bool:
        """Whether the clone lacks older commits."""
        return self._query("rev-parse", "--is-shallow-repository") == "true"

    def fetch_command(self, branch: str, *, history: bool = False) -> str:
        """Return the command that fetches and keeps a branch; with `history`, all its commits."""
        remote = f"--unshallow {self.remote}" if history and self.is_shallow else self.remote
        target = f":refs/remotes/{self.remote}/{branch}" if self.has_some_branches else ""
        return f"git fetch {remote} {shlex.quote(f'{branch}{target}')}"

    def subject(self, commit: str) -> str:
        """Return the first line of a commit's message. Raises KalypsoError."""
        return self._query("log", "-1", "--format=%s", "--end-of-options", commit)

    def ahead(self, branch: str, commit: str) -> int | None:
        """Count the commits that follow a commit on a branch, here or at the remote.

        Return None if the commit is not on the branch. Raises KalypsoError.
        """
        names = (f"refs/heads/{branch}", f"refs/remotes/{self.remote}/{branch}")
        heads = [head for name in names if (head := self._commit(name))]
        if not any(self._query("merge-base", commit, head) == commit for head in heads):
            return None
        return int(self._query("rev-list", "--count", f"^{commit}", *heads))

    def distance(self, base: str, head: str) -> int | None:
        """Count the commits that `head` has and `base` lacks; None if they share no history.

        Raises KalypsoError.
        """
        if not self.merge_base(base, head):
            return None
        return int(self._query("rev-list", "--count", f"^{base}", head))

    def commits_after(self, base: str, head: str, most: int) -> tuple[CommitSubject, ...]:
        """Return the newest commits that `head` has and `base` lacks. Raises KalypsoError."""
        options = ("--topo-order", "--format=%H %s", f"--max-count={most}", "--end-of-options")
        lines = self._query("log", *options, head, f"^{base}").splitlines()
        rows = (line.partition(" ") for line in lines)
        return tuple(CommitSubject(commit, subject) for commit, _, subject in rows)

    def history(self, revision: str, most: int) -> Iterator[HistoryCommit]:
        """Yield the newest commits of a first-parent line, newest first; see `resolve`.

        A shallow clone has fewer. Raises KalypsoError.
        """
        commit = self.resolve(revision)
        options = ("--first-parent", f"--max-count={most}", "--end-of-options", commit)
        shallow = Path(self._query("rev-parse", "--git-path", "shallow"))
        ids = without_boundary(self._query("rev-list", *options).split(), shallow)
        try:
            yield from read_line(self._run, ids)
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error

    def trees(self, places: Sequence[TreePlace]) -> Mapping[TreePlace, str]:
        """Return the tree ids of folders at commits, as far as they exist. Raises KalypsoError."""
        try:
            return read_trees(self._run, places)
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error

    def line_log(self, commit: str, after: str = "") -> LineLog:
        """Return the changed lines of a first-parent line after `after`, or of the whole line.

        Raises KalypsoError, also while the commits are read.
        """

        def run(*arguments: str, stdin: bytes = b"") -> bytes:
            try:
                return self._run(*arguments, stdin=stdin)
            except ProcessError as error:
                raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error

        return read_line_log(run, commit, after)

    def parent(self, commit: str) -> str:
        """Return the first parent of a commit; "" without one."""
        return self._commit(f"{commit}^1")

    def last_changed(self, commit: str, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
        """Return the newest commit that changed one of these files, and those that it changed.

        ("", none) without one. Raises KalypsoError.
        """
        options = ("--first-parent", "-m", "-1", "--format=%H", "--name-only", "-z")
        output = self._query("log", *options, commit, "--", *paths)
        changed, _, names = output.partition("\0")
        return changed.strip(), frozenset(names.strip("\n").split("\0")) & {*paths}

    def ancestors(self, commit: str) -> frozenset[str]:
        """Return a commit and all its ancestors that are here. Raises KalypsoError."""
        return frozenset(self._query("rev-list", "--end-of-options", commit).split())

    def merge_base(self, first: str, second: str) -> str:
        """Return the newest common ancestor of two commits; "" for none. Raises KalypsoError."""
        return self._query("merge-base", first, second)

    def nearest(self, branches: Iterable[str]) -> str:
        """Return the branch that lacks the fewest commits of HEAD; "" if none shares history."""
        head = self._commit("HEAD")
        lacking = {
            branch: int(self._query("rev-list", "--count", f"^{self._head(branch)}", head))
            for branch in branches
            if head
            and self.has_branch(branch)
            and self._query("merge-base", self._head(branch), head)
        }
        return min(lacking, key=lambda branch: lacking[branch], default="")

    def remotes(self) -> tuple[str, ...]:
        """Return the URLs of the remotes, in the order of their names."""
        urls = (self._query("config", "--get", f"remote.{name}.url") for name in self.remote_names)
        return tuple(filter(None, urls))

    def blobs(self, ids: Collection[str]) -> dict[str, bytes]:
        """Return the contents of the blobs that are here, by id. Raises KalypsoError.

        In a partial clone, git fails as a whole if it lacks one of several blobs.
        """
        request = "".join(f"{object_id}\n" for object_id in ids).encode()
        try:
            output = self._run("cat-file", "--batch", stdin=request)
        except ProcessError as error:
            if "promisor" not in error.stderr:
                raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
            each = [self.blobs([object_id]) for object_id in ids] if len(ids) > 1 else []
            return {object_id: content for blobs in each for object_id, content in blobs.items()}
        return {entry.id: entry.content for entry in batch_objects(output) if entry is not None}

    def left_out(self, folder: Path) -> frozenset[str]:
        """Return the files that a sparse checkout leaves out of a working tree."""
        lines = self.listed(folder, "--cached", "-t")
        return frozenset(line[2:] for line in lines if line.startswith("S "))

    def listed(self, folder: Path, *options: str) -> list[str]:
        """Return the lines of `git ls-files` in a folder of the working tree, with its paths."""
        top = enclosing_clone(folder) or folder
        command = ["-C", str(folder.absolute()), f"--work-tree={top.absolute()}", "ls-files", "-z"]
        try:
            output = self._git.run(self._git_dir, [*command, *options])
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
        return [line for line in output.decode("utf-8", "surrogateescape").split("\0") if line]

    def untracked(self, folder: Path, suffixes: Iterable[str]) -> list[str]:
        """Return the files of a working tree that git neither tracks nor ignores.

        Listing them runs no filter and no hook. Raises KalypsoError.
        """
        patterns = (f"*{suffix}" for suffix in suffixes)
        return self.listed(folder, "--others", "--exclude-standard", "--", *patterns)

    def ignore_rules(self, folder: Path, paths: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Return the ignore file and the line by which git ignores each path. Raises KalypsoError.

        The ignore file is relative to the folder, if it is in the working tree.
        """
        top = enclosing_clone(folder) or folder
        command = ["-C", str(folder.absolute()), f"--work-tree={top.absolute()}", "check-ignore"]
        names = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        try:
            output = self._git.run(
                self._git_dir, [*command, "-v", "-z", "--stdin", "--no-index"], stdin=names
            )
        except ProcessError as error:
            if error.status == 1:
                return {}
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error
        fields = output.decode("utf-8", "surrogateescape").split("\0")
        rows = zip(*[iter(fields)] * 4, strict=False)
        return {path: (file, int(line or 0)) for file, line, _, path in rows if file}

    def behind(self, branches: Iterable[str]) -> Iterator[BehindBranch]:
        """Yield the clone's own branches, among these, that lack commits of their remote branch.

        One call of git answers for all of them. Raises KalypsoError.
        """
        wanted = {*branches}
        form = "%(refname)%00%(objectname)%00%(upstream)%00%(upstream:track)"
        remotes = [f"refs/remotes/{self.remote}/{branch}" for branch in sorted(wanted)]
        own = [f"refs/heads/{branch}" for branch in sorted(wanted)]
        output = self._run("for-each-ref", f"--format={form}", *own, *remotes)
        rows = [line.split("\0") for line in output.decode("utf-8", "replace").splitlines()]
        commits = {name: commit for name, commit, _, _ in rows}
        for name, commit, upstream, track in rows:
            branch = name.removeprefix("refs/heads/")
            remote = f"refs/remotes/{self.remote}/{branch}"
            if branch == name or branch not in wanted:
                continue
            if upstream == remote:
                numbers = (pattern.search(track) for pattern in (_AHEAD, _BEHIND))
                ahead, behind = (int(number[1]) if number else 0 for number in numbers)
            elif not upstream and remote in commits and commits[remote] != commit:
                counts = self._query("rev-list", "--left-right", "--count", f"{name}...{remote}")
                ahead, behind = map(int, counts.split())
            else:
                continue
            if behind:
                yield BehindBranch(branch, f"{self.remote}/{branch}", behind, ahead)

    def _default_of_remote(self) -> str:
        """Return the branch of the remote's HEAD; "" without one."""
        prefix = f"refs/remotes/{self.remote}/"
        return self._query("symbolic-ref", "--quiet", f"{prefix}HEAD").removeprefix(prefix)

    def _head(self, branch: str) -> str:
        """Return the commit of the clone's own branch, else of the remote's, else of the only one.

        `git switch` also takes the branch of another remote if no other one has it.
        """
        own = self._commit(f"refs/heads/{branch}")
        if own or (first := self._commit(f"refs/remotes/{self.remote}/{branch}")):
            return own or first
        others = (self._commit(f"refs/remotes/{name}/{branch}") for name in self.remote_names[1:])
        commits = list(filter(None, others))
        return commits[0] if len(commits) == 1 else ""

    def _commit(self, revision: str) -> str:
        return self._query(
            "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
        )

    def branches(self) -> list[str]:
        """Return the names of all branches, here and at the remotes."""
        remotes = self.remote_names or (self.remote,)
        places = ["refs/heads", *(f"refs/remotes/{name}" for name in remotes)]
        command = ["for-each-ref", "--format=%(refname)", *places]
        refs = self._git.run(self._git_dir, command).decode("utf-8", "replace").split()
        prefixes = tuple(f"{place}/" for place in places)
        names = (ref.removeprefix(next(filter(ref.startswith, prefixes))) for ref in refs)
        return [name for name in names if name != "HEAD"]

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return self._git.run(self._git_dir, arguments, stdin=stdin)

    def _query(self, *arguments: str) -> str:
        """Return one line of git's output; "" for exit code 1, which means that there is none."""
        try:
            answer = self._git.run(self._git_dir, arguments)
            return answer.decode("utf-8", "replace").strip()
        except ProcessError as error:
            if error.status == 1:
                return ""
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error


class WorkingTree(FolderFiles):
    """A folder of a clone's working tree, as git sees it.

    It has the tracked files as they are on the disk, and new files that git does not ignore. Files
    of nested clones and working trees belong to these. A file that a sparse checkout leaves out has
    the content of git's index. The configuration of the user may name ignored files.
    """

    def __init__(
        self,
        folder: Path,
        programs: Programs,
        *,
        repository: str = "",
        also: Sequence[str] = (),
    ) -> None:
        """Raise KalypsoError if the folder is in no clone."""
        super().__init__(folder, repository=repository)
        self._also = also
        self._clone = GitRepository(
            enclosing_clone(folder) or folder,
            programs,
            repository=self.repository,
            trust_user_config=True,
        )
        self._left_out: dict[str, tuple[str, str]] = {}
        self._contents: dict[str, bytes] = {}
        self._submodules: dict[str, str] = {}
        self._unmerged: dict[str, None] = {}

    def read(self, paths: Iterable[str], max_bytes: int | None = None) -> Mapping[str, bytes]:
        """Return the contents of files; see `FolderFiles.read`.

        Raise KalypsoError for a file that neither the disk nor the clone has.
        """
        self.entries()
        paths = list(paths)
        self._read_left_out([path for path in paths if path in self._left_out])
        return super().read(paths, max_bytes)

    @property
    def submodules(self) -> Mapping[str, str]:
        """The commits of submodules, by path. They are no entries: each is a folder on the disk."""
        self.entries()
        return self._submodules

    @property
    def unmerged(self) -> Collection[str]:
        """The paths of which git's index has several versions, until a merge is resolved."""
        self.entries()
        return self._unmerged

    @cached_property
    def hidden(self) -> Mapping[str, tuple[str, int]]:
        """The YAML files that git ignores, each with the ignore file and the line that say so.

        Nested clones and packages of programs have files of their own. Raises KalypsoError.
        """
        also = set(self.entries())
        options = ("--others", "--ignored", "--exclude-standard", "--", "*.yaml", "*.yml")
        paths = [
            path
            for path in self._clone.listed(self._folder, *options)
            # A nested clone or working tree ends with a slash.
            if not path.endswith("/") and path not in also and "node_modules" not in path.split("/")
        ]
        return self._clone.ignore_rules(self._folder, paths) if paths else {}

    def read_hidden(self, path: str) -> bytes:
        """Return the content of a file that git ignores. Raises KalypsoError."""
        return super()._content(path, FILE_MODE)

    def _walk(self) -> Iterator[tuple[str, str]]:
        links: dict[str, bool] = {"": False}
        for line in self._clone.listed(self._folder, "--cached", "--stage", "-t"):
            fields, _, path = line.partition("\t")
            tag, mode, object_id, stage = fields.split(" ")
            on_disk = self._mode(path, links)
            if mode == SUBMODULE_MODE and not on_disk:
                self._submodules[path] = object_id
            if stage != "0":
                self._unmerged[path] = None
            if on_disk:
                yield path, on_disk
            elif tag == "S" and mode != SUBMODULE_MODE:
                self._left_out[path] = mode, object_id
                yield path, mode
        new = ["--others", "--exclude-standard"]
        paths = self._clone.listed(self._folder, *new)
        if self._also:
            paths += self._clone.listed(self._folder, *new, "--ignored", "--", *self._also)
        for path in paths:
            # A nested clone or working tree ends with a slash.
            if not path.endswith("/") and (mode := self._mode(path, links)):
                yield path, mode

    def _mode(self, path: str, links: dict[str, bool]) -> str:
        """Return the mode of a file on the disk; "" without one. Follow no link to a folder."""
        if self._is_linked(path.rpartition("/")[0], links):
            return ""
        try:
            return mode_of((self._folder / path).lstat())
        except OSError:
            return ""

    def _is_linked(self, folder: str, links: dict[str, bool]) -> bool:
        if folder not in links:
            is_link = (self._folder / folder).is_symlink()
            links[folder] = is_link or self._is_linked(folder.rpartition("/")[0], links)
        return links[folder]

    def _read_left_out(self, paths: Iterable[str]) -> None:
        ids = {path: self._left_out[path][1] for path in paths if path not in self._contents}
        blobs = self._clone.blobs(set(ids.values())) if ids else {}
        for path, object_id in ids.items():
            if object_id not in blobs:
                raise KalypsoError(
                    "a sparse checkout leaves the file out, and the clone lacks its content",
                    Location(self.repository, path),
                    "git sparse-checkout disable restores all files",
                )
            self._contents[path] = blobs[object_id]

    def _entry(self, path: str, mode: str) -> FileEntry:
        if path not in self._left_out:
            return super()._entry(path, mode)
        return FileEntry(path, mode, self._left_out[path][1], -1)

    def _content(self, path: str, mode: str) -> bytes:
        return self._contents[path] if path in self._left_out else super()._content(path, mode)


SUBMODULE_MODE: Final = "160000"

REFLOG_MESSAGE: Final = "kalypso"
"""The message in the reflog of a moved branch."""


class WritableRepository(GitRepository):
    """A clone or a bare repository."""

    def own_head(self, branch: str) -> str:
        """Return the commit of a branch of the repository itself; "" if it does not exist."""
        check_branch(branch, self.repository)
        return self._commit(f"refs/heads/{branch}")

    def owner(self) -> Signature | None:
        """Return git's `user.name` and `user.email` as an author; None unless both are set."""
        name = self._query("config", "--get", "user.name")
        address = self._query("config", "--get", "user.email")
        return Signature(name, address) if name and address else None

    def commit(
        self,
        parent: str,
        changes: Mapping[str, FileContent | None],
        message: str,
        author: Signature,
        date: datetime | None = None,
        earlier: Sequence[Mapping[str, FileContent | None]] = (),
    ) -> str:
        """Make a commit on `parent` ("": a root commit) and return its id; no branch moves.

        Commits with `earlier` changes come before it. By default, the `date` is now.
        """
        date = date or datetime.now(UTC)
        stream = fast_import(
            parent or None, changes, message, author, date, self._list_folders, earlier
        )
        commit = self._write(*FAST_IMPORT, stdin=stream).decode().strip()
        self._write("update-ref", "-d", REF)
        return commit

    def _list_folders(self, commit: str, path: str) -> Collection[str]:
        return self.files(commit).folder_ids(path)

    def blob_writer(self) -> WriteBlobs | None:
        """Return a function that writes blobs for a commit; None unless their ids are SHA-1.

        Blobs that no commit uses are garbage, which git removes itself.
        """
        has_sha1 = self._query("rev-parse", "--show-object-format") == "sha1"
        return self._write_blobs if has_sha1 else None

    def _write_blobs(self, contents: Iterable[bytes]) -> None:
        self._write(*FAST_IMPORT, stdin=import_blobs(contents), timeout=WRITING)

    def setting(self, name: str) -> str:
        """Return a setting of git, "" without one. No push can change it."""
        return self._query("config", "--local", "--default", "", "--get", name)

    def set(self, name: str, value: str) -> None:
        """Set a setting of this repository. Raises KalypsoError."""
        self._write("config", "--local", name, value)

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Move a branch from `expected` to a commit; create the branch if `expected` is "".

        Raises KalypsoError if the branch has moved, or if it is checked out in a work tree, whose
        files would then differ.
        """
        check_branch(branch, self.repository)
        reference = f"refs/heads/{branch}"
        worktrees = self._write("worktree", "list", "--porcelain").decode("utf-8", "replace")
        if f"branch {reference}" in worktrees.splitlines():
            raise KalypsoError(
                f"the branch {branch!r} is checked out in a work tree",
                Location(self.repository),
                "check another branch out there",
            )
        if self._commit(reference) != expected:
            message = f"the branch {branch!r} has moved during this run"
            raise KalypsoError(message, Location(self.repository), "run again")
        # An empty old value means that the branch must not exist.
        self._write("update-ref", "-m", REFLOG_MESSAGE, reference, commit, expected)

    def _write(
        self, *arguments: str, stdin: bytes | Iterable[bytes] = b"", timeout: float = 600
    ) -> bytes:
        try:
            return self._git.run(self._git_dir, arguments, stdin=stdin, timeout=timeout)
        except ProcessError as error:
            raise KalypsoError(error.stderr or str(error), Location(self.repository)) from error


class WorkingClone(WritableRepository):
    """A clone with a work tree on this machine.

    Its owner's git configuration applies: the author, and the format of files in the work tree.
    """

    def __init__(self, folder: Path, programs: Programs) -> None:
        """Raise UsageError if the folder is not a clone with a work tree."""
        if not (folder / ".git").exists():
            raise UsageError(
                f"{folder} is not a clone of a repository",
                advice="name the folder that git clone has created",
            )
        super().__init__(folder, programs, trust_user_config=True)
        self.folder = folder

    @property
    def origin(self) -> str:
        """The URL of the remote; "" without one."""
        return next(iter(self.remotes()), "")

    def main_branch(self, preferred: str) -> str:
        """Return the branch of the remote's HEAD, else `preferred` if it exists, else HEAD's.

        Raises UsageError if HEAD is detached.
        """
        branch = self._default_of_remote()
        if not branch:
            branch = preferred if self.head(preferred) else self.checked_out
        if not branch:
            raise UsageError(
                "no branch is checked out", Location(self.repository), "check main out"
            )
        return branch

    def head(self, branch: str) -> str:
        """Return the commit of a branch, the clone's own or a remote's; "" if none exists."""
        check_branch(branch, self.repository)
        return self._head(branch)

    def check_clean(self) -> None:
        """Raise UsageError if the work tree has uncommitted changes."""
        changes = self._run(*self._work_tree, "status", "--porcelain", "--untracked-files=no")
        if changes:
            raise UsageError(
                "the work tree has uncommitted changes",
                Location(self.repository),
                "commit or stash them first",
            )

    def commit(
        self,
        parent: str,
        changes: Mapping[str, FileContent | None],
        message: str,
        author: Signature,
        date: datetime | None = None,
        earlier: Sequence[Mapping[str, FileContent | None]] = (),
    ) -> str:
        """Make a commit; the author is the clone's owner if git knows one, else `author`."""
        return super().commit(parent, changes, message, self.owner() or author, date, earlier)

    def move(self, branch: str, commit: str, expected: str) -> None:
        """Fast-forward a branch to a commit; if it is checked out, update the work tree.

        `expected` is the earlier result of `head`. Raises KalypsoError if the branch has moved
        since, if an untracked file is in the way, or if another work tree has the branch.
        """
        if branch == self.checked_out:
            # git merge itself refuses to lose changes.
            self._run(*self._work_tree, "merge", "--quiet", "--ff-only", commit)
            return
        own = self.own_head(branch)
        super().move(branch, commit, expected if own else "")

    @property
    def _work_tree(self) -> tuple[str, ...]:
        return (f"--work-tree={self.folder.absolute()}",)
