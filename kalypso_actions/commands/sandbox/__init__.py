"""`kalypso sandbox`: serve an embedded GitHub, Azure and Argo CD on this machine."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.local import IN_SANDBOX, SANDBOX_CLOCK, SandboxInputs
from kalypso_actions.report.demo_document import AppEntry, SandboxDocument, exports

if TYPE_CHECKING:
    from kalypso_sandbox import Sandbox

OWNER: Final = "acme"
"""The organisation of a new sandbox."""

CLUSTERS: Final = f"{OWNER}-clusters[bot]"
"""The App by which clusters post commit statuses, here and in the demo."""

HUB: Final = "hub"
"""The Argo CD server of the sandbox's clusters."""

KEY_FILE: Final = "app-key.pem"
ENVIRONMENT_FILE: Final = "env"
"""The lines for a shell that uses the sandbox: `. trial/env`."""

SANDBOX_FILES: Final = ("in-use", "world.json")
"""Files that identify the folder of a sandbox."""

EXTRA: Final = ("cryptography", "flask", "graphql", "markdown_it", "nh3", "pygments")
"""The libraries of the sandbox alone; it imports some of them only when it uses them."""


@contextmanager
def sandbox(
    inputs: SandboxInputs, programs: Programs, machine: Mapping[str, str] | None = None
) -> Iterator[SandboxDocument]:
    """Serve the sandbox of a folder as long as the context lasts.

    The first start creates an organisation, a token and an App. With `run`, events start the
    workflow files of the repositories; `machine` are the variables of the surrounding process.
    Raises UsageError for an unusable folder or missing libraries, KalypsoError for a port or a
    folder that is in use.
    """
    folder = private_folder(inputs.dir)
    if any(folder.iterdir()) and not any((folder / name).exists() for name in SANDBOX_FILES):
        message = f"the folder {inputs.dir} is not empty, and holds no sandbox"
        raise UsageError(message, advice="name an empty or a new folder with --dir")
    if inputs.application:
        require_helm(programs)
    sandbox_class = load_sandbox()
    # These imports need the sandbox's libraries, too.
    from kalypso_actions.commands.sandbox import trial  # noqa: PLC0415
    from kalypso_actions.commands.sandbox.drawing import PipelineDrawing  # noqa: PLC0415
    from kalypso_sandbox.workflow_runner.clock import FastClock  # noqa: PLC0415

    clock = FastClock(speed=inputs.speed or (trial.SPEED if inputs.run else 1))
    embedded = sandbox_class(
        folder,
        programs,
        now=clock,
        port=inputs.port,
        tls=inputs.tls,
        sign_in=inputs.run,
        flavour=inputs.flavour,
    )
    embedded.draw = PipelineDrawing(embedded, machine or {})
    with embedded:
        token = _token(embedded)
        if inputs.sample and (key := trial.create_sample(embedded, inputs, folder)):
            write_private(folder / KEY_FILE, key)
        app = _app(embedded, folder)
        cloned = trial.clone(embedded, programs, inputs.clone)
        for name in inputs.repository:
            if embedded.store.repository(name) is None:
                embedded.create_repository(name)
        argocd, argocd_token = embedded.argocd_url(HUB), embedded.argocd.create_token(HUB)
        environment = {
            **_environment(embedded, token, inputs),
            "CLUSTERS_TOKEN": _token_of_clusters(embedded),
            "KALYPSO_ARGOCD_TOKENS": argocd_token,
            IN_SANDBOX: str(folder),
        }
        if clock.speed != 1:
            moments = f"{time.time():.3f} {clock().timestamp():.3f} {clock.speed:g}"
            environment[SANDBOX_CLOCK] = moments
        write_private(folder / ENVIRONMENT_FILE, exports(environment))
        runner: AbstractContextManager[object] = nullcontext()
        if inputs.run:
            key = Path(app.private_key).read_text(encoding="utf-8")
            secrets = trial.secrets_of(folder, key, argocd_token)
            trial.share_variables(embedded, app.id, argocd)
            runner = trial.running(embedded, clock, inputs, machine or {}, secrets, folder)
        with runner:
            yield SandboxDocument(
                dir=str(folder),
                url=embedded.url,
                page=embedded.page_url,
                environment=environment,
                argocd=argocd,
                app=app,
                speed=clock.speed,
                runs=inputs.run,
                cloned=cloned,
                repositories=tuple(
                    repository.full_name for repository in embedded.store.repositories.values()
                ),
            )


def environment_of(inputs: SandboxInputs) -> SandboxDocument:
    """Return the variables of the sandbox that a folder keeps. Raises UsageError without one."""
    file = inputs.dir / ENVIRONMENT_FILE
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        message = f"the folder {inputs.dir} holds no sandbox"
        raise UsageError(message, advice="start one, or name its folder with --dir") from error
    words = (shlex.split(line) for line in lines)
    pairs = (word.partition("=") for _, *rest in words for word in rest)
    return SandboxDocument(
        dir=str(inputs.dir.absolute()), environment={name: value for name, _, value in pairs}
    )


def _environment(embedded: Sandbox, token: str, inputs: SandboxInputs) -> dict[str, str]:
    """Return the variables of a person's shell.

    Without `tls`, only jobs use https, to sign in to Azure: the authority of the sandbox would keep
    other programs of the shell from the internet.
    """
    from kalypso_sandbox.embedded import AUTHORITY  # noqa: PLC0415 - an extra

    variables = embedded.environment(token)
    for_jobs = () if inputs.tls else ("AZURE_AUTHORITY_HOST", *AUTHORITY)
    return {name: value for name, value in variables.items() if name not in for_jobs}


def load_sandbox() -> type[Sandbox]:
    """Import the sandbox, an extra with its own libraries.

    Raises UsageError if a library is missing.
    """
    missing = next((name for name in EXTRA if find_spec(name) is None), "")
    if missing:
        message = f"the sandbox needs {missing}, which is not installed"
        raise UsageError(message, advice="pip install 'kalypso-actions[sandbox]'")
    from kalypso_sandbox import Sandbox  # noqa: PLC0415 - after the check

    return Sandbox


def require_helm(programs: Programs) -> None:
    """Raise UsageError without the program with which an application renders its chart."""
    if programs.find("helm") is None:
        advice = "install helm: https://helm.sh/docs/intro/install/"
        raise UsageError("--application needs the helm program", advice=advice)


def private_folder(folder: Path) -> Path:
    """Create a folder that only the user can read, for tokens and keys.

    Raises UsageError for an unusable folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be created: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"the folder {folder} is not writable")
    return folder.absolute()


def write_private(file: Path, text: str) -> None:
    """Write a file with tokens or keys, which only the user can read."""
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")


def _token(embedded: Sandbox) -> str:
    """Return the token of the first start."""
    tokens = embedded.store.tokens.items()
    known = (text for text, identity in tokens if identity.kind == "user" and not identity.owner)
    return next(known, "") or embedded.create_token()


def _token_of_clusters(embedded: Sandbox) -> str:
    """Return the token with which people post statuses as a cluster."""
    for text, identity in embedded.store.tokens.items():
        if (identity.kind, identity.login) == ("user", CLUSTERS):
            return text
    with embedded.lock:
        embedded.store.account(CLUSTERS, "Bot")
    return embedded.create_token("user", {"statuses": "write"}, login=CLUSTERS, owner=OWNER)


def _app(embedded: Sandbox, folder: Path) -> AppEntry:
    """Return the App of the first start; create another if the only copy of its key is gone."""
    file = folder / KEY_FILE
    if not file.exists():
        number, key = embedded.create_app(OWNER)
        write_private(file, key)
        return AppEntry(id=number, owner=OWNER, private_key=str(file))
    known = embedded.app_of_key(file.read_text(encoding="utf-8"))
    if known is None:
        raise KalypsoError(f"{file} belongs to no App of this sandbox", advice="remove the file")
    return AppEntry(id=known, owner=OWNER, private_key=str(file))
