"""A sandbox that runs its workflows: the sample organisation, its secrets, and the runner.

with running(embedded, clock, inputs, machine, secrets):
    ...  # pushes, pull requests, dispatches and crons start the workflow files
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from kalypso_actions.clients.process import ProcessError, Programs
from kalypso_actions.commands.registry import ACTIONS
from kalypso_actions.commands.sandbox import OWNER, write_private
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import SandboxInputs
from kalypso_sandbox.azure import Cluster, Configuration
from kalypso_sandbox.azure.clusters import SUBSCRIPTION

if TYPE_CHECKING:
    from kalypso_sandbox import Sandbox
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner, JobClock
    from kalypso_sandbox.workflow_runner.clock import FastClock
    from kalypso_sandbox.workflow_runner.runs import Execute

SPEED: Final = 20.0
"""The speed of the clock while workflows run: settle, grace and soak take seconds."""

COMMAND_INPUTS: Final = frozenset(
    {"generator-command", "post-deployment", "pre-deployment", "reports-command", "scan"}
)
"""The inputs of actions that name a command of the user."""

CLUSTERS: Final[Mapping[str, Mapping[str, int]]] = {
    "dev": {"drone": 2, "command-center": 1, "large": 1, "small": 1},
    "stage": {"drone": 1, "command-center": 1, "large": 1},
}
"""The clusters of the sample by environment and type."""

POINT_HERE: Final = "Name the repositories of this sandbox"
REGISTRATION: Final = "Register hello-world"
RECORDED: Final = 4 << 20
"""The bytes of recorded requests: jobs ask all the time, and the sandbox should stay small."""

SECRETS_FILE: Final = "secrets.json"
OWN_SECRETS_FILE: Final = "own-secrets.json"
"""The secrets of single repositories, by name: the team of an application has its own Apps."""

RUNS: Final = "runs"
"""The folder with the logs and summaries of the steps."""

APP_KEY: Final = "KALYPSO_APP_PRIVATE_KEY"
NOTIFIER_KEY: Final = "KALYPSO_NOTIFIER_PRIVATE_KEY"


def create_sample(embedded: Sandbox, inputs: SandboxInputs, folder: Path) -> str:
    """Set the sample organisation up, unless the folder has it; return its App's private key.

    Its last commit registers an application, so that its chain begins with the runner.
    """
    # A sandbox without the sample starts without the commands of the demo.
    from kalypso_actions.commands.demo import organisation  # noqa: PLC0415

    is_new = embedded.store.repository(organisation.CONTROL_PLANE) is None
    secrets: dict[str, str] = {}
    if is_new:
        secrets = organisation.create_organisation(
            embedded, inputs.cluster_reports, CLUSTERS, left_out=("report",)
        )
        write_private(folder / SECRETS_FILE, json.dumps(secrets))
    if inputs.application:
        _create_application(embedded, inputs, folder, is_new=is_new)
    if is_new:
        with embedded.lock:
            embedded.store.events_run_until = max(event.id for event in embedded.store.events)
            files = organisation.change("registration", embedded)
            embedded.commit(organisation.CONTROL_PLANE, files, message=REGISTRATION)
    return secrets.get(APP_KEY, "")


def _create_application(
    embedded: Sandbox, inputs: SandboxInputs, folder: Path, *, is_new: bool
) -> None:
    """Give an application of a new sample its chain. Raises UsageError for another sample."""
    # The commands that it imports are slow to import.
    from kalypso_actions.commands.demo import application  # noqa: PLC0415

    if is_new:
        of_team = application.create_application(embedded)
        repositories = application.SOURCE, application.CONFIGS, application.MANIFESTS
        own = json.dumps(dict.fromkeys(repositories, of_team))
        write_private(folder / OWN_SECRETS_FILE, own)
    elif embedded.store.repository(application.CONFIGS) is None:
        message = f"the sample in {inputs.dir} lacks the chain of an application"
        raise UsageError(message, advice="name a new folder with --dir")


NAME_OF_REPOSITORY: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]+?)(\.git)?/*$")

YAML: Final = (".yaml", ".yml")


def clone(embedded: Sandbox, programs: Programs, places: Sequence[str]) -> tuple[str, ...]:
    """Copy repositories from URLs or paths into the sandbox, and let them name each other there.

    Their YAML files name repositories by URLs; those of copied ones become the sandbox's, in a
    commit on each branch. Each cluster type of an environment gets a cluster. The copies are those
    of the first start. Returns their names; raises UsageError for a place that cannot be read.
    """
    names = {}
    for place in places:
        match = NAME_OF_REPOSITORY.search(place)
        if match is None:
            raise UsageError(f"--clone: {place!r} ends with no name of a repository")
        names[place] = f"{OWNER}/{match['name']}"
    new = [place for place, name in names.items() if embedded.store.repository(name) is None]
    for place in new:
        _copy(embedded, programs, place, names[place])
    for place in new:
        _point_here(embedded, names[place], [*names.values()])
    for place in new:
        _add_clusters(embedded, names[place])
    return tuple(names.values())


def _copy(embedded: Sandbox, programs: Programs, place: str, name: str) -> None:
    """Copy all branches and tags of a place. Raises UsageError."""
    source = str(Path(place).absolute()) if Path(place).exists() else place
    quiet = {"GIT_TERMINAL_PROMPT": "0"}
    try:
        listing = ("git", "ls-remote", "--symref", "--", source, "HEAD")
        head = programs.run(listing, extra=quiet).decode("utf-8", "replace")
        default = re.search(r"^ref: refs/heads/(\S+)\s", head, re.MULTILINE)
        repository = embedded.create_repository(
            name, default_branch=default[1] if default else "main"
        )
        folder = str(embedded.store.git(repository).git_dir)
        refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        fetch = ("git", "--git-dir", folder, "fetch", "--quiet", "--", source, *refs)
        programs.run(fetch, extra=quiet)
    except ProcessError as error:
        message = f"--clone: {place} cannot be read: {error.stderr or error}"
        raise UsageError(message, advice="name the URL or the path of a git repository") from error


def _point_here(embedded: Sandbox, name: str, copied: Sequence[str]) -> None:
    """Replace the URLs of copied repositories in the YAML files of every branch."""
    short = {each.partition("/")[2]: each for each in copied}
    known = "|".join(map(re.escape, short))
    url = re.compile(
        rf"https?://[^\s\"'/]+/[^\s\"'/]+/(?P<name>{known})(?:\.git)?(?=[\s\"'/,}}]|$)"
    )

    def here(match: re.Match[str]) -> str:
        return f"{embedded.url}/{short[match['name']]}"

    git = embedded.git(name)
    for branch in git.branches():
        changed: dict[str, str | bytes | None] = {}
        for path, content in git.files(branch).items():
            if path.endswith(YAML):
                text = content.decode("utf-8", "surrogateescape")
                replaced = url.sub(here, text)
                if replaced != text:
                    changed[path] = replaced.encode("utf-8", "surrogateescape")
        if changed:
            embedded.commit(name, changed, branch=branch, message=POINT_HERE)


def _add_clusters(embedded: Sandbox, name: str) -> None:
    """Add a cluster for each cluster type of a control plane's branch; it follows its folder."""
    git = embedded.git(name)
    for branch in git.branches():
        documents = _documents(git.files(branch))
        types = [each["metadata"]["name"] for each in documents if each["kind"] == "ClusterType"]
        targets = [each["spec"] for each in documents if each["kind"] == "GitOpsRepo"]
        for target in targets[:1]:
            root = str(target.get("path") or ".").strip("./")
            for cluster_type in types:
                follows = Configuration(
                    repository=str(target.get("repo")),
                    branch=str(target.get("branch")),
                    paths=[f"./{root}/{cluster_type}" if root else f"./{cluster_type}"],
                    delay=15,
                    reconcile_delay=20,
                    settle=20,
                    releases=True,
                    nested=True,
                )
                cluster = Cluster(name=f"{branch}-{cluster_type}", configurations=[follows])
                embedded.azure.put(cluster)


def _documents(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the objects with a kind, a name and a spec; the checks of a run report other ones."""
    found = []
    for path, content in sorted(files.items()):
        if not path.endswith(YAML):
            continue
        try:
            documents = list(yaml.safe_load_all(content))
        except (yaml.YAMLError, UnicodeDecodeError, ValueError):
            continue
        for document in documents:
            match document:
                case {"kind": str(), "metadata": {"name": str()}, "spec": dict()}:
                    found.append(document)
    return found


def secrets_of(folder: Path, app_key: str, argocd_token: str) -> dict[str, str]:
    """Return the secrets of all jobs: those of the sample, else the key of the sandbox's App."""
    secrets = {APP_KEY: app_key, NOTIFIER_KEY: app_key, **_kept(folder / SECRETS_FILE)}
    return {**secrets, "KALYPSO_ARGOCD_TOKENS": argocd_token}


def _kept(file: Path) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return kept


def share_variables(embedded: Sandbox, app: int, argocd: str) -> None:
    """Give every repository the variables of its workflows; those of a repository come first."""
    with embedded.lock:
        for repository in embedded.store.repositories.values():
            repository.shared_variables |= {
                "AZURE_SCOPES": SUBSCRIPTION,
                "KALYPSO_APP_ID": str(app),
                "KALYPSO_ARGOCD_SERVERS": argocd,
                "KALYPSO_NOTIFIER_APP_ID": str(app),
            }
            if "KALYPSO_ARGOCD_SERVERS" in repository.variables:  # the port may be another one
                repository.variables["KALYPSO_ARGOCD_SERVERS"] = argocd
        embedded.store.save()


def running(
    embedded: Sandbox,
    clock: FastClock,
    inputs: SandboxInputs,
    machine: Mapping[str, str],
    secrets: Mapping[str, str],
    folder: Path,
) -> BackgroundRunner:
    """Return the runner of a sandbox's workflows, a context manager."""
    # Only a sandbox that runs workflows needs it.
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner  # noqa: PLC0415

    # Tokens last as long as on the machine: Azure's libraries compare them with its clock.
    embedded.azure.settings.token_lifetime = round(3600 * clock.speed)
    embedded.traffic.max_size = RECORDED
    _register_identities(embedded)
    return BackgroundRunner(
        embedded,
        clock,
        machine,
        secrets,
        folder / RUNS,
        _in_process,
        own_secrets=_kept(folder / OWN_SECRETS_FILE),
        actions=frozenset(ACTIONS),
        command_inputs=COMMAND_INPUTS,
        allow_commands=inputs.allow_commands,
    )


def _in_process(clock: JobClock) -> Execute:
    # The commands are slow to import, and the first page does not need them.
    from kalypso_actions.commands.demo.scenario_runner import InProcess  # noqa: PLC0415

    return InProcess(clock)


def _register_identities(embedded: Sandbox) -> None:
    """Let jobs sign in to Azure as their repositories' variables say, also after a new start."""
    with embedded.lock:
        for repository in embedded.store.repositories.values():
            client_id = repository.variables.get("AZURE_CLIENT_ID")
            if client_id and client_id not in embedded.azure.applications:
                branches = embedded.store.git(repository).branches()
                names = [name for name in branches if name != repository.default_branch]
                subjects = [f"repo:{repository.full_name}:environment:{name}" for name in names]
                embedded.azure.register(*subjects[:20], client_id=client_id)
