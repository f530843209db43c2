"""Attacks that `measuring` runs in processes of their own; each returns the visible result."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.reading.document_reader import (
    KustomizeBuild,
    Reader,
)
from kalypso_actions.commands.shared.reading.repositories import Repositories
from kalypso_actions.commands.shared.reading.snapshot import (
    RegistrationSources,
    plan_registrations,
    read_registrations,
)
from kalypso_actions.comparison.masked_keys import KeyNames
from kalypso_actions.comparison.text_masking import mask_text
from kalypso_actions.config_schemas import validate
from kalypso_actions.errors import Location
from kalypso_actions.model.documents import TextPlace
from kalypso_actions.model.kinds import RepositoryPath, Template, WorkloadRegistration
from kalypso_actions.model.processes import no_progress
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from kalypso_actions.rendering.jinja.manifests import JinjaManifest
from kalypso_actions.rendering.manifests import ManifestError, TextManifest
from kalypso_go import gotemplate
from kalypso_go.gotemplate import Budget, Limits, TemplateError
from tests.builders import cluster_type, config_map, fleet, policy, target
from tests.git_repositories import git, programs, repository
from tests.hostile.fleet_under_attack import CONFIG, FLUX, MANIFESTS
from tests.plans import reading, snapshot_of

HERE: Final = Location("https://git.test/fleet", "app.yaml", 1)


def template_data(manifests: Mapping[str, str], budget: Budget | None = None) -> TemplateData:
    return TemplateData(
        target="t",
        namespace="dev-large-t",
        environment="dev",
        workspace="ws",
        workload="wl",
        labels={"tier": "front"},
        manifests=manifests,
        cluster_type="large",
        config={"replicas": 3},
        budget=budget or Budget(gotemplate.DEFAULT_LIMITS),
    )


def render_go(text: str, manifests: Mapping[str, str], times: int = 1) -> str:
    """Render the manifests of one assignment, all of the same text."""
    data = template_data(manifests)
    try:
        for _ in range(times):
            output = TextManifest(text).render(data)
    except ManifestError as error:
        return error.message
    return f"{len(output)} characters"


def render_jinja(text: str) -> str:
    try:
        return f"{len(JinjaManifest(text).render(template_data({})))} characters"
    except ManifestError as error:
        return f"line {error.line}: {error.message}"


def execute_each(texts: Mapping[str, str], work: int) -> str:
    """Execute templates one by one; return the slowest, with its seconds."""
    costs = {}
    for name, text in texts.items():
        started = time.process_time()
        with suppress(TemplateError):  # most end at the limit
            template = gotemplate.parse(text, functions=FUNCTIONS, refused=REFUSED)
            template.execute({}, Limits(work=work))
        costs[name] = time.process_time() - started
    return _slowest(costs)


def render_each(texts: Mapping[str, str], work: int) -> str:
    """Render Jinja2 manifests one by one; return the slowest, with its seconds."""
    costs = {}
    for name, text in texts.items():
        started = time.process_time()
        with suppress(ManifestError):  # most end at the limit, some refuse their arguments
            JinjaManifest(text).render(template_data({}, Budget(Limits(work=work))))
        costs[name] = time.process_time() - started
    return _slowest(costs)


def _slowest(costs: Mapping[str, float]) -> str:
    name = max(costs, key=lambda name: costs[name])
    return f"{costs[name]:.2f} {name}"


def check_configuration(config: Mapping[str, object], schemas: list[str]) -> str:
    return validate(config, schemas) or "valid"


def read_built_registration(path: Path) -> str:
    """Read a registered repository, and build its kustomizations by the real program."""
    return read_registration(path, find_kustomize(Programs(os.environ)))


def read_registration(path: Path, kustomize: KustomizeBuild | None = None) -> str:
    """Read a registered repository as a run does, over git's protocol."""
    registration = WorkloadRegistration(
        "app", RepositoryPath(f"file://{path}", "main", "."), "ws", HERE
    )
    with RemoteRepositories(programs(), protocols=frozenset({"file"})) as remotes:
        reader = Reader(Repositories((), remotes, programs()), kustomize or _build)
        (reading,) = read_registrations(
            [registration], (), RegistrationSources("dev", reader, PlanOptions())
        )
    problems = [f"{problem.where}: {problem.message}" for problem in reading.problems]
    return f"{reading.state}: {problems[:1]}".replace(f"file://{path}", "app")


def plan_targets(
    cluster_types: int,
    targets: int,
    manifests: Mapping[str, str],
    more: str = "",
    schema: str = "",
    honest: int = 0,
) -> str:
    """Plan the targets of one registration on all cluster types; `more` continues the Template.

    Return the result. With a `schema`, each target has one of its own. `honest` is the number of
    targets of another registration, whose texts are usual.
    """
    texts = ("reconciler", FLUX + more), ("namespace", "kind: Namespace\n"), ("config", CONFIG)
    names = [f"c{number:03}" for number in range(cluster_types)]
    evil = reading(
        *(
            target(
                f"{number:05}",
                manifests={**MANIFESTS, **manifests},
                config_schemas=[schema.replace("NUMBER", str(number))] if schema else [],
            )
            for number in range(targets)
        )
    )
    usual = (
        target(f"{number:05}", workload="calm", manifests=MANIFESTS) for number in range(honest)
    )
    calm = reading(*usual, name="calm")
    snapshot = snapshot_of(
        fleet(
            cluster_types=[cluster_type(name, place=name) for name in names],
            templates=[
                Template(name, name, "", (text,), {}, HERE, (TextPlace(1),)) for name, text in texts
            ],
            policies=[policy("all")],
            config_maps=[
                config_map(name, {"REGION": name, "LONG": "x" * 5_000}, place=name)
                for name in names
            ],
        ),
        *((evil, calm) if honest else (evil,)),
    )
    with RemoteRepositories(programs(), protocols=frozenset()) as remotes:
        reader = Reader(Repositories((), remotes, programs()), None)
        planned, plan = plan_registrations(snapshot, PlanOptions(), reader, no_progress)
    registered = planned.registrations[0]
    problems = [*registered.problems, *plan.problems]
    first = problems[0].message if problems else ""
    return f"{registered.state}, {len(plan.assignments)} assignments: {first}"


def _build(files: Mapping[str, bytes], folder: str, /, **_: object) -> bytes:
    """Replace kustomize, which is not the subject of the attack."""
    return files[f"{folder}/a.yaml"]


def registered(path: Path, files: Mapping[str, bytes]) -> Path:
    """Make a repository of these files on main; equal contents are one blob."""
    repository(path)
    git(path, "config", "core.bigFileThreshold", "1m")  # the limit of a server does not matter here
    marks: dict[bytes, int] = {}
    stream = []
    for content in files.values():
        if content not in marks:
            marks[content] = len(marks) + 1
            stream.append(
                b"blob\nmark :%d\ndata %d\n%s\n" % (marks[content], len(content), content)
            )
    stream.append(b"commit refs/heads/main\ncommitter n <n@example.com> 0 +0000\ndata 1\nx\n")
    stream += [
        b"M 100644 :%d %s\n" % (marks[content], name.encode()) for name, content in files.items()
    ]
    git(path, "fast-import", "--quiet", stdin=b"".join(stream))
    return path


def mask(text: str) -> str:
    """Mask the secrets of a file; return the end of the result."""
    return mask_text(text, KeyNames(), ["a-secret"])[-20:]
