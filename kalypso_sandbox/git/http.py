"""Git over HTTP: authorize requests, serve fetches with git, and pushes with `receive_pack`.

https://git-scm.com/docs/http-protocol
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from werkzeug.wrappers import Request, Response

from kalypso_actions.clients.git.program import NO_USER_CONFIG
from kalypso_actions.clients.process import ProcessError
from kalypso_sandbox.git.receive_pack import FLUSH, ProtocolError, advertisement, line, receive
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.github.access import access_of_event, allowed, visible
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.rest import RequestContext
from kalypso_sandbox.github.tokens import authenticate
from kalypso_sandbox.state import State
from kalypso_sandbox.store import Repository, Store

PATH: Final = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?"
    r"/(?P<rest>info/refs|git-upload-pack|git-receive-pack)"
)
RECEIVE: Final = "git-receive-pack"
UPLOAD: Final = "git-upload-pack"
CHALLENGE: Final = {"WWW-Authenticate": 'Basic realm="GitHub"'}
INVALID_CREDENTIALS: Final = (
    "Invalid username or token. Password authentication is not supported for Git operations."
)
TEXT: Final = "text/plain; charset=utf-8"

VERSION_2: Final = "version=2"

CAPABILITIES: Final[dict[Path | None, bytes]] = {}
"""The first response in protocol version 2, by the path of the program git."""

LS_REFS: Final = b"0014command=ls-refs\n"

MAX_CACHED_RESULTS: Final = 200
"""The maximum number of cached packs and lists of refs. Each job of a chain repeats requests of the
last job."""

MAX_CACHED_SIZE: Final = 1 << 20
"""The largest size of a cached pack."""

HEADERS: Final = {
    "Cache-Control": "no-cache, max-age=0, must-revalidate",
    # libcurl repeats a request if a reused connection ends without a response. If each request has
    # a new connection, its faults apply exactly once.
    "Connection": "close",
}


@dataclass(frozen=True, slots=True)
class GitRequest:
    """A request by git; `rest` is the path after the repository."""

    owner: str
    name: str
    rest: str
    service: str

    @classmethod
    def of(cls, request: Request, path: str) -> GitRequest | None:
        """Return the request of a path, or None for other paths."""
        match = PATH.fullmatch(path)
        if match is None:
            return None
        owner, name, rest = (unquote(text) for text in match.groups())
        service = request.args.get("service", "") if rest == "info/refs" else rest
        return cls(owner, name, rest, service)

    @property
    def writes(self) -> bool:
        """Return whether the request belongs to a push."""
        return self.service == RECEIVE

    def is_probe(self, request: Request) -> bool:
        """Return whether the request is the empty push that git sends before a large one."""
        return self.rest == RECEIVE and request.content_length == len(FLUSH)


class GitHttp:
    """Answers git. Safe to use from several threads."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._cached_results: dict[tuple[Path, bytes, bytes], bytes] = {}

    def answer(
        self, git_request: GitRequest, request: Request, context: RequestContext
    ) -> Response:
        """Return GitHub's response."""
        context.permissions = ("contents: write" if git_request.writes else "contents: read",)
        with self._state.lock:
            try:
                repository = _authorize(self._state.store, git_request, request, context)
            except RefusedError as error:
                headers = CHALLENGE if error.status == 401 else {}
                return Response(error.message, error.status, HEADERS | headers, content_type=TEXT)
        named = f"{git_request.owner}/{git_request.name}"
        if named.lower() != repository.full_name.lower():
            query = f"?{request.query_string.decode('latin-1')}" if request.query_string else ""
            url = f"{request.host_url}{repository.full_name}.git/{git_request.rest}{query}"
            return Response(status=301, headers=HEADERS | {"Location": url})
        try:
            body = request.get_data()
            if request.content_encoding == "gzip":
                body = gzip.decompress(body)
            if git_request.rest == RECEIVE:
                return self._receive(repository, context, body)
            return self._serve(repository, git_request, request, body)
        except (ProtocolError, OSError, EOFError, zlib.error):
            return Response("This is not a valid git request.\n", 400, content_type=TEXT)
        except ProcessError as error:
            return Response(f"{error.stderr or error}\n", 500, content_type=TEXT)

    def _receive(self, repository: Repository, context: RequestContext, body: bytes) -> Response:
        kind = "application/x-git-receive-pack-result"
        if body == FLUSH:  # a probe
            return Response(headers=HEADERS, content_type=kind)
        access = access_of_event(self._state.store, repository, context.identity)
        report = receive(self._state, access, body, context.push_faults)
        return Response(report, headers=HEADERS, content_type=kind)

    def _serve(
        self, repository: Repository, git_request: GitRequest, request: Request, body: bytes
    ) -> Response:
        """Serve a fetch, or the start of a push."""
        protocol = request.headers.get("Git-Protocol", "")
        with self._state.lock:
            bare = self._state.store.git(repository)
        if git_request.rest == UPLOAD:
            return self._upload(bare, request, body, protocol)
        if request.method not in ("GET", "HEAD"):
            return Response(status=405, headers=HEADERS | {"Allow": "GET"})
        if git_request.writes:
            content = advertisement(bare)
        elif git_request.service == UPLOAD:
            content = self._capabilities(bare, protocol)
        else:
            return Response("Unsupported service.\n", 403, HEADERS, content_type=TEXT)
        if git_request.writes or protocol != VERSION_2:
            content = line(f"# service={git_request.service}\n") + FLUSH + content
        kind = f"application/x-{git_request.service}-advertisement"
        return Response(content, headers=HEADERS, content_type=kind)

    def _capabilities(self, bare: BareRepository, protocol: str) -> bytes:
        """Return git's capabilities, and before protocol version 2 the refs as well.

        In version 2 they are the same for every repository, so all sandboxes of the process share
        one cache.
        """
        git = self._state.programs.find("git")
        if protocol == VERSION_2 and git in CAPABILITIES:
            return CAPABILITIES[git]
        content = self._upload_pack(["--advertise-refs", str(bare.git_dir)], b"", protocol)
        if protocol == VERSION_2:
            CAPABILITIES[git] = content
        return content

    def _upload(
        self, bare: BareRepository, request: Request, body: bytes, protocol: str
    ) -> Response:
        """Answer as `git http-backend` does, with half as many processes."""
        if request.method != "POST":
            return Response(status=405, headers=HEADERS | {"Allow": "POST"})
        if request.content_type != f"application/x-{UPLOAD}-request":
            return Response("Unsupported Media Type\n", 415, HEADERS, content_type=TEXT)
        refs = bare.ref_files() if body.startswith(LS_REFS) else b""
        request_key = (bare.git_dir, body, refs)
        result = self._cached_results.get(request_key)
        if result is None:
            result = self._upload_pack([str(bare.git_dir)], body, protocol)
            if _is_cacheable(body, result) or (refs and refs == bare.ref_files()):
                kept = list(self._cached_results.items())[1 - MAX_CACHED_RESULTS :]
                self._cached_results = {**dict(kept), request_key: result}
        return Response(result, headers=HEADERS, content_type=f"application/x-{UPLOAD}-result")

    def _upload_pack(self, arguments: Sequence[str], body: bytes, protocol: str) -> bytes:
        command = ["git", "upload-pack", "--strict", "--stateless-rpc", *arguments]
        variables = {**NO_USER_CONFIG, "GIT_PROTOCOL": protocol}
        try:
            return self._state.programs.run(command, stdin=body, extra=variables)
        except ProcessError as error:
            # git has written its refusal for the client: `ERR upload-pack: not our ref`.
            if not error.stdout:
                raise
            return error.stdout


def _authorize(
    store: Store, git_request: GitRequest, request: Request, context: RequestContext
) -> Repository:
    """Return the repository if the identity may do this. Raises RefusedError in GitHub's words."""
    try:
        identity = authenticate(store, request.headers.get("Authorization", ""))
    except RefusedError as error:
        raise RefusedError(error.status, INVALID_CREDENTIALS) from None
    context.identity = identity
    if identity.kind == "app":  # only installation tokens have repositories
        raise RefusedError(401, INVALID_CREDENTIALS)
    repository = store.repository(f"{git_request.owner}/{git_request.name}")
    if not identity.login and (git_request.writes or repository is None or repository.private):
        raise RefusedError(401, "Authentication is required.")
    if repository is None or not visible(identity, repository):
        raise RefusedError(404, "Repository not found.")
    if not allowed(identity, context.permissions, repository):
        denial = "Write access to repository not granted."
        if identity.kind == "actions":
            denial = f"Permission to {repository.full_name}.git denied to {identity.login}."
        raise RefusedError(403, denial)
    if git_request.writes and repository.archived:
        raise RefusedError(403, "This repository was archived so it is read-only.")
    return repository


def _is_cacheable(body: bytes, result: bytes) -> bool:
    """Return whether the result of a version 2 request can be cached.

    The request names all objects by id, its client has none, and the result is a pack. Such results
    stay valid, because nothing changes or deletes objects.
    """
    names_objects = body.startswith(b"0011command=fetch") and b"0009done\n" in body
    return (
        names_objects
        and b"have " not in body
        and b"packfile\n" in result
        and len(result) <= MAX_CACHED_SIZE
    )
