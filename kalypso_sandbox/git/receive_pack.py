"""A push: its commands and objects, the refusals in GitHub's words, and the report.

This replaces `git receive-pack`, because GitHub's rules inspect the objects before a ref moves.
https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server
https://git-scm.com/docs/protocol-common
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kalypso_actions.clients.git.program import NO_USER_CONFIG, Git
from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_sandbox.git.objects import LooseObjects, Person
from kalypso_sandbox.git.repositories import (
    NO_OBJECT,
    BareRepository,
    RefUpdate,
    is_valid_ref,
)
from kalypso_sandbox.github import branch_rules
from kalypso_sandbox.github.access import RepositoryAccess, access_of_event
from kalypso_sandbox.github.pushes import handle_push, merge_ready
from kalypso_sandbox.state import State
from kalypso_sandbox.store import Identity

VERBATIM_REASONS: Final = ("refusing ", "deny ")
"""The prefixes of reasons to report as they are; other reasons are those of a protected branch."""

OBJECT: Final = re.compile(r"[0-9a-f]{40}")
HOOK: Final = "pre-receive hook declined"
PROTECTED: Final = "protected branch hook declined"
VIOLATION: Final = "push declined due to repository rule violations"

CAPABILITIES: Final = (
    "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options"
    " object-format=sha1 agent=kalypso-sandbox"
)

UNPACK_LIMIT: Final = 100
"""Unpack a push of at most this many objects into loose objects, as git does by default.

https://git-scm.com/docs/git-config#Documentation/git-config.txt-receiveunpackLimit
"""

FLUSH: Final = b"0000"
MAX_DATA: Final = 65515
"""The maximum number of bytes in a line, without its length and band number."""

OTHER_USER: Final = Identity(kind="user", login="somebody-else", permissions={})
"""The author of the commit that the fault `raced` adds."""


@dataclass
class Command:
    """An update of a ref, and why it is refused."""

    update: RefUpdate
    refusal: str = ""


@dataclass
class Push:
    """The content of a push, and its messages and result."""

    commands: list[Command]
    capabilities: frozenset[str]
    pack: bytes
    messages: list[str] = field(default_factory=list)
    unpacked: str = "ok"

    @classmethod
    def parse(cls, body: bytes) -> Push:
        """Parse commands, options and objects. Raises ProtocolError."""
        lines, position = section(body, 0)
        capabilities: frozenset[str] = frozenset()
        commands = []
        for sent in lines:
            text, _, known = sent.rstrip(b"\n").partition(b"\0")
            capabilities |= frozenset(known.decode("utf-8", "replace").split())
            if text.startswith(b"shallow "):  # git refuses objects without their history
                continue
            messages = text.decode("utf-8", "replace").split(" ", 2)
            if len(messages) != 3:
                raise ProtocolError(f"{messages!r} is not a command")
            old, new, ref = messages
            if not (OBJECT.fullmatch(old) and OBJECT.fullmatch(new)):
                raise ProtocolError(f"{messages!r} contains an invalid object id")
            before, after = (None if oid == NO_OBJECT else oid for oid in (old, new))
            commands.append(Command(RefUpdate(ref, before, after)))
        if "push-options" in capabilities:
            _, position = section(body, position)
        return cls(commands, capabilities, body[position:])

    def report(self) -> bytes:
        """Return the report that the client asked for."""
        lines = [line(f"unpack {self.unpacked}\n")]
        for command in self.commands:
            ref, refusal = command.update.ref, command.refusal
            lines.append(line(f"ng {ref} {refusal}\n" if refusal else f"ok {ref}\n"))
        report = b"".join(lines) + FLUSH
        if not self.capabilities & {"report-status", "report-status-v2"}:
            return b""
        if "side-band-64k" not in self.capabilities:
            return report
        messages = "".join(f"{text}\n" for text in self.messages).encode()
        return band(2, messages) + band(1, report) + FLUSH


def advertisement(git: BareRepository) -> bytes:
    """Return the refs and capabilities, which the server sends at the start of a push."""
    refs = git.refs() or {"capabilities^{}": NO_OBJECT}
    first, *others = [f"{object_id} {ref}" for ref, object_id in refs.items()]
    lines = [f"{first}\0{CAPABILITIES}", *others]
    return b"".join(line(f"{text}\n") for text in lines) + FLUSH


def receive(state: State, access: RepositoryAccess, body: bytes, faults: frozenset[str]) -> bytes:
    """Carry out the permitted part of a push. Raises ProtocolError."""
    push = Push.parse(body)
    git = access.git
    incoming = IncomingPack(git.git_dir, state.programs)
    with state.lock:
        if "raced" in faults:
            _push_first(access, push)
        if push.pack and not _store(push, incoming):
            return push.report()
        _refuse(state, access, push, incoming, refuse_all="refused" in faults)
        moved = _move(git, push)
        if not moved:
            incoming.discard()
        for command in moved:
            handle_push(access, command.update)
        merge_ready(state.store)
        state.store.save()
    return push.report()


def _store(push: Push, incoming: IncomingPack) -> bool:
    try:
        incoming.store(push.pack)
    except ProcessError as error:
        push.messages += error.stderr.splitlines()
        push.unpacked = f"{incoming.program} abnormal exit"
        _refuse_all(push.commands, "unpacker error")
        return False
    return True


def _refuse(
    state: State, access: RepositoryAccess, push: Push, incoming: IncomingPack, *, refuse_all: bool
) -> None:
    """Set the reasons to refuse refs; in an atomic push, one refusal refuses all refs."""
    if refuse_all:
        push.messages.append("error: a hook of the sandbox refuses this push")
        _refuse_all(push.commands, HOOK)
        return
    large = incoming.large_files(state.max_file_size)
    if large:
        push.messages += _large_file_messages(large, state.max_file_size)
        _refuse_all(push.commands, HOOK)
        return
    refs = access.git.refs()
    for command in push.commands:
        update = command.update
        messages, command.refusal = _git_refusal(update, refs.get(update.ref), access.git)
        push.messages += messages
        if command.refusal:
            continue
        reason = branch_rules.refusal(access, update)
        if reason and reason.startswith(VERBATIM_REASONS):
            command.refusal = reason
        elif reason:
            messages, command.refusal = _rule_refusal(access, update, reason)
            push.messages += messages
    if "atomic" in push.capabilities and any(command.refusal for command in push.commands):
        others = [command for command in push.commands if not command.refusal]
        _refuse_all(others, "atomic push failure")


def _git_refusal(
    update: RefUpdate, current: str | None, git: BareRepository
) -> tuple[Sequence[str], str]:
    """Return the messages and reason if git refuses: invalid names, moved refs, bad objects."""
    ref = update.ref
    if not is_valid_ref(ref):
        return [f"error: refusing to update funny ref '{ref}' remotely"], "funny refname"
    if update.after is not None:
        kind = git.object_type(update.after)
        if kind is None:
            return (), "bad object"
        if kind != "commit" and update.branch:
            return [f"error: {ref} cannot stand at a {kind}"], "failed to update ref"
    if update.before == current:
        return (), ""
    if update.before is None:
        fault = "reference already exists"
    elif current is None:
        fault = f"unable to resolve reference '{ref}'"
    else:
        fault = f"is at {current} but expected {update.before}"
    return [f"error: cannot lock ref '{ref}': {fault}"], "failed to update ref"


def _move(git: BareRepository, push: Push) -> list[Command]:
    """Move the refs without a refusal; return their commands."""
    moved = []
    for command in push.commands:
        if command.refusal:
            continue
        try:
            update = command.update
            if git.update_ref(update.ref, update.after, update.before):
                moved.append(command)
                continue
        except ProcessError as error:
            push.messages += error.stderr.splitlines()
        command.refusal = "failed to update ref"
    return moved


def _push_first(access: RepositoryAccess, push: Push) -> None:
    """Commit as another user to each branch of the push."""
    git, store = access.git, access.store
    author = Person(OTHER_USER.login, f"{OTHER_USER.login}@example.com", store.now)
    for update in (command.update for command in push.commands if command.update.branch):
        before = git.head(update.branch)
        text = f"{update.after} was about to be pushed\n"
        files = {"raced.txt": text}
        after = git.commit_files(update.branch, files, "Be there first", author)
        other_access = access_of_event(store, access.repository, OTHER_USER)
        handle_push(other_access, RefUpdate(update.ref, before, after))


def _refuse_all(commands: Sequence[Command], reason: str) -> None:
    for command in commands:
        command.refusal = reason


def _rule_refusal(
    access: RepositoryAccess, update: RefUpdate, reason: str
) -> tuple[list[str], str]:
    """Return the messages and the reason for git, which depend on the kind of rules."""
    rules = branch_rules.rules_for_branch(access.repository, update.branch)
    if reason != branch_rules.UNSIGNED or any(rule.classic for rule in rules):
        first = f"error: GH006: Protected branch update failed for {update.ref}."
        return [first, "", f"- {reason}"], PROTECTED
    first = f"error: GH013: Repository rule violations found for {update.ref}."
    return [first, "", f"- {reason}"], VIOLATION


def _large_file_messages(files: Sequence[tuple[str, int]], limit: int) -> list[str]:
    most = f"{limit / (1 << 20):.2f} MB"
    return [
        *(
            f"error: File {path} is {size / (1 << 20):.2f} MB; this exceeds GitHub's file size "
            f"limit of {most}"
            for path, size in files
        ),
        "error: GH001: Large files detected. You may want to try Git Large File Storage - "
        "https://git-lfs.github.com.",
    ]


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


class ProtocolError(Exception):
    """The client sent invalid lines."""


def line(content: bytes | str) -> bytes:
    """Encode one line."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    return b"%04x%s" % (len(content) + 4, content)


def band(number: int, content: bytes) -> bytes:
    """Encode content of a band: 1 is for the program, 2 is for people, 3 is a fatal error."""
    parts = range(0, len(content), MAX_DATA)
    return b"".join(line(bytes([number]) + content[at : at + MAX_DATA]) for at in parts)


def section(content: bytes, start: int) -> tuple[list[bytes], int]:
    """Return the lines before the next flush, and the offset after it. Raises ProtocolError."""
    lines: list[bytes] = []
    for content_line, end in _lines(content, start):
        if content_line is None:
            return lines, end
        lines.append(content_line)
    raise ProtocolError("the lines end without a flush")


def _lines(content: bytes, start: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield each line (None for a flush) and the offset after it."""
    while start < len(content):
        head = content[start : start + 4]
        try:
            length = int(head, 16)
        except ValueError:
            raise ProtocolError(f"{head!r} is not the length of a line") from None
        end = start + max(length, 4)
        if end > len(content) or (0 < length < 4) or not head.isalnum():
            raise ProtocolError(f"a line of {length} bytes is cut off")
        yield (None if length == 0 else content[start + 4 : end]), end
        start = end
