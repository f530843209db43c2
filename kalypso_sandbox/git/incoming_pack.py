"""The objects of a push, which the sandbox removes again if it refuses the whole push."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kalypso_actions.clients.git.program import NO_USER_CONFIG, Git
from kalypso_actions.clients.process import Programs
from kalypso_sandbox.git.objects import LooseObjects

UNPACK_LIMIT: Final = 100
"""Unpack a push of at most this many objects into loose objects, as git does by default.

https://git-scm.com/docs/git-config#Documentation/git-config.txt-receiveunpackLimit
"""


class IncomingPack:
    """The objects of one push, stored in the repository so that rules can read its commits."""

    def __init__(self, git_dir: Path, programs: Programs) -> None:
        self._git_dir = git_dir
        self._programs = programs
        self._git = Git(programs)
        self._files: list[Path] = []
        self.program = "unpack-objects"
        """The `git` command that stores the objects."""

    def store(self, pack: bytes) -> None:
        """Store the objects, and check that every object they refer to exists.

        Raises ProcessError with git's message.
        """
        if int.from_bytes(pack[8:12], "big") <= UNPACK_LIMIT:
            self._unpack(pack)
            return
        self.program = "index-pack"
        folder = self._git_dir / "objects" / "pack"
        before = set(folder.iterdir()) if folder.exists() else set()
        self._run("index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)
        self._files = sorted(set(folder.iterdir()) - before)

    def _unpack(self, pack: bytes) -> None:
        """Store each object in its own file."""
        objects = self._git_dir / "objects"
        with TemporaryDirectory(prefix="tmp_objdir-", dir=objects) as folder:
            environment = {
                **NO_USER_CONFIG,
                "GIT_DIR": str(self._git_dir),
                "GIT_OBJECT_DIRECTORY": folder,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
            }
            command = ["git", "unpack-objects", "-q", "--strict"]
            self._programs.run(command, stdin=pack, extra=environment)
            for file in sorted(Path(folder).glob("??/*")):
                target = objects / file.relative_to(folder)
                target.parent.mkdir(exist_ok=True)
                self._files.append(file.replace(target))

    def discard(self) -> None:
        """Remove the objects. No ref may reach them."""
        for file in self._files:
            file.chmod(0o600)  # Windows removes no read-only files
            file.unlink()
        self._files = []

    def large_files(self, limit: int) -> list[tuple[str, int]]:
        """Return the paths and sizes of new files above the limit."""
        contents = list(self._contents())
        sizes = {oid: size for oid, kind, size in contents if kind == "blob" and size > limit}
        if not sizes:
            return []
        commits = "".join(f"{oid}\n" for oid, kind, _ in contents if kind == "commit").encode()
        output = self._run("rev-list", "--objects", "--stdin", stdin=commits)
        lines = output.decode("utf-8", "replace").splitlines()
        paths = {oid: path for oid, _, path in (line.partition(" ") for line in lines)}
        return [(paths.get(oid, oid), size) for oid, size in sizes.items()]

    def _contents(self) -> Iterator[tuple[str, str, int]]:
        """Yield id, type and size of every object."""
        if self.program == "unpack-objects":
            loose = LooseObjects(self._git_dir / "objects")
            for file in self._files:
                git_object = loose.read(f"{file.parent.name}{file.name}")
                yield git_object.id, git_object.type, len(git_object.content)
        for index in (file for file in self._files if file.suffix == ".idx"):
            listing = self._run("show-index", stdin=index.read_bytes()).decode()
            ids = "".join(f"{line.split()[1]}\n" for line in listing.splitlines())
            answer = self._run("cat-file", "--batch-check", stdin=ids.encode()).decode()
            for line in answer.splitlines():
                object_id, kind, size = line.split()
                yield object_id, kind, int(size)

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return self._git.run(self._git_dir, arguments, stdin=stdin)
