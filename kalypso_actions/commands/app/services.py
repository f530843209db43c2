"""Render the services of a platform: a chart of a repository for each target, by its digest."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kalypso_actions.clients.git.urls import CredentialTable
from kalypso_actions.clients.helm import Helm, HelmError
from kalypso_actions.commands.app.by_helm import begin_helm, render_chart
from kalypso_actions.commands.app.source_files import MAX_BYTES, Generated, Work
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import MANIFESTS_FILE, Target
from kalypso_actions.planning.application.helm import ChartPlace
from kalypso_actions.planning.application.services import (
    CODE,
    PlatformService,
    digest_of,
    digest_problem,
    files_of_archive,
    read_services,
)

CREDENTIALS: Final = "chart-credentials"

DEFAULT_NAMESPACE: Final = b"namespace: default"
"""Upstream deletes each line with this text, which helm writes without `--namespace`."""


def generate_services(work: Work) -> Generated:
    """Render each service for its targets. Raises KalypsoError.

    The targets of a service are the folder of its name in the configs, or those below it. Each
    chart is fetched once.
    """
    helm, generated = begin_helm(work)
    services, problems = read_services(
        work.source.repository, _files(work), work.inputs.compatibility
    )
    generated.findings.problems += problems
    targets = {service: service_targets(service.name, work) for service in services}
    assigned = {target.folder for found in targets.values() for target in found}
    for target in work.targets:
        if target.folder not in assigned:
            generated.findings.problems.append(_without_service(target, work))
    if generated.findings.problems:
        return generated
    lines = work.inputs.chart_credentials.get_secret_value()
    credentials = CredentialTable.parse(lines, CREDENTIALS)
    for service in services:
        if not targets[service]:
            generated.findings.warnings.append(_without_target(service))
            continue
        chart = _fetch(service, helm, credentials, generated)
        if isinstance(chart, Problem):
            generated.findings.problems.append(chart)
        else:
            _render(replace(work, targets=targets[service]), service, chart, helm, generated)
    return generated


def _files(work: Work) -> dict[str, bytes]:
    return {
        path: content
        for path, content in work.source.read_all(work.folder).items()
        if path.endswith((".yaml", ".yml"))
    }


def service_names(work: Work) -> frozenset[str]:
    """Return the names of the services, as far as their files can be read."""
    services, _ = read_services(work.source.repository, _files(work), work.inputs.compatibility)
    return frozenset(service.name for service in services)


def service_targets(name: str, work: Work) -> list[Target]:
    """Return the targets of a service."""
    return [each for each in work.targets if f"{each.folder}/".startswith(f"{name}/")]


def _fetch(
    service: PlatformService, helm: Helm, credentials: CredentialTable, generated: Generated
) -> ChartPlace | Problem:
    """Return the chart of a service, and record its archive."""
    try:
        login = credentials.authorize(service.repository.replace("oci://", "https://", 1))
        archive = helm.pull(service.repository, service.chart, service.version, login)
        files = files_of_archive(archive, MAX_BYTES)
    except HelmError as error:
        advice = "check repository, chart and version, and chart-credentials of a private one"
        return Problem(error.problem.message, service.where, advice, "chart-dependency")
    except ValueError as error:
        message = f"the archive of {service.chart} cannot be used: {error}"
        return Problem(message, service.where, "choose another version", CODE)
    changed = digest_problem(service, archive)
    if changed:
        return changed
    generated.dependencies[service.archive] = digest_of(archive)
    generated.archives[service.archive] = archive
    name = service.chart.rpartition("/")[2]
    return ChartPlace(f"{service.repository}/{service.chart}", "", name, files)


def _render(
    work: Work, service: PlatformService, chart: ChartPlace, helm: Helm, generated: Generated
) -> None:
    """Render a chart for the targets of a service, each with the name of the service."""
    inputs = work.inputs
    given: dict[str, object] = {"release_name": service.name}
    if inputs.compatibility != "none":
        given["compatibility"] = "2023"  # upstream replaces no variables in values of services
    render_chart(replace(work, inputs=inputs.model_copy(update=given)), chart, helm, generated)
    if inputs.compatibility == "none":
        return
    for target in work.targets:
        generated.bare.add(target.folder)  # upstream writes no kustomization for services
        files = generated.files.get(target.folder, {})
        if MANIFESTS_FILE in files:
            lines = files[MANIFESTS_FILE].splitlines(keepends=True)
            kept = [line for line in lines if DEFAULT_NAMESPACE not in line]
            files[MANIFESTS_FILE] = b"".join(kept)


def _without_service(target: Target, work: Work) -> Problem:
    name = target.folder.partition("/")[0]
    return Problem(
        f"no service makes the target {target.folder!r}",
        Location(work.configs.repository, target.folder),
        f"add a file with `name: {name}` to the folder {work.folder} of the source",
        CODE,
    )


def _without_target(service: PlatformService) -> Problem:
    return Problem(
        f"the configs have no folder {service.name!r}, so the service is not rendered",
        service.where,
        f"add {service.name}/values.yaml to the configs, or remove the service",
        "service-without-target",
    )
