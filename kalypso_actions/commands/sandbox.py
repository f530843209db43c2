"""`kalypso sandbox`: an embedded GitHub and Azure for trials on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.sandbox import SandboxInputs
from kalypso_actions.report.documents import AppEntry, SandboxDocument

if TYPE_CHECKING:
    from kalypso_actions.sandbox import Sandbox

OWNER: Final = "acme"
"""The organisation that is there from the start."""

KEY_FILE: Final = "app-key.pem"
OURS: Final = ("in-use", "world.json")
"""What is in the folder of a sandbox."""

EXTRA: Final = frozenset({"flask", "werkzeug", "cryptography", "graphql"})


@contextmanager
def sandbox(inputs: SandboxInputs, programs: Programs) -> Iterator[SandboxDocument]:
    """Serve the world of a folder as long as the context lasts; what a user needs to know of it.

    At its first start it gets an organisation, a token and an App. Raises UsageError for a folder
    that cannot be used or where the libraries for it are absent, KalypsoError for a taken port or
    a folder that another sandbox serves.
    """
    folder = private_folder(inputs.dir)
    if any(folder.iterdir()) and not any((folder / name).exists() for name in OURS):
        message = f"the folder {inputs.dir} holds other things than a sandbox"
        raise UsageError(message, advice="name an empty or a new one with --dir")
    embedded = load_sandbox()(
        folder, programs, port=inputs.port, tls=inputs.tls, flavour=inputs.flavour
    )
    with embedded:
        token = _token(embedded)
        app = _app(embedded, folder)
        for name in inputs.repository:
            if embedded.store.repository(name) is None:
                embedded.create_repository(name)
        yield SandboxDocument(
            dir=str(folder),
            url=embedded.url,
            environment=embedded.environment(token),
            app=app,
            repositories=tuple(one.full_name for one in embedded.store.repositories.values()),
        )


def load_sandbox() -> type[Sandbox]:
    """The sandbox is an extra: whoever renders only does not have its libraries.

    Raises UsageError where one of them is absent.
    """
    try:
        from kalypso_actions.sandbox import Sandbox  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        message = f"the sandbox needs {error.name}, which is not installed"
        raise UsageError(message, advice="pip install 'kalypso-actions[sandbox]'") from error
    return Sandbox


def private_folder(folder: Path) -> Path:
    """The folder, made for nobody else to look into: tokens and keys lie there.

    Raises UsageError for one that cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"the folder {folder} cannot be written to")
    return folder.absolute()


def keep_key(folder: Path, key: str) -> None:
    """Write an App's private key into a sandbox's folder, for the next time."""
    file = folder / KEY_FILE
    file.touch(mode=0o600)
    file.write_text(key, encoding="utf-8")


def _token(embedded: Sandbox) -> str:
    """The token of the first start."""
    tokens = embedded.store.tokens.items()
    known = (text for text, identity in tokens if identity.kind == "user" and not identity.owner)
    return next(known, "") or embedded.create_token()


def _app(embedded: Sandbox, folder: Path) -> AppEntry:
    """The App of the first start; another one where its key is gone, which was nowhere else."""
    file = folder / KEY_FILE
    if not file.exists():
        number, key = embedded.create_app(OWNER)
        keep_key(folder, key)
        return AppEntry(id=number, owner=OWNER, private_key=str(file))
    known = embedded.app_of_key(file.read_text(encoding="utf-8"))
    if known is None:
        raise KalypsoError(f"{file} belongs to no App of this sandbox", advice="remove the file")
    return AppEntry(id=known, owner=OWNER, private_key=str(file))
