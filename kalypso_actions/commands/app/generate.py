"""Start a generator for each target."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kalypso_actions import application
from kalypso_actions.application import ChartPlace, HelmOptions
from kalypso_actions.clients.helm import ChartFolder, Helm, HelmError
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.app import AppInputs
from kalypso_actions.model.application import MANIFESTS_FILE, Findings, Target
from kalypso_actions.model.progress import Progress
from kalypso_actions.snapshot.document_reader import in_parallel
from kalypso_actions.sources.yaml_documents import parse_yaml

CHART_FILE = "Chart.yaml"
MAX_CHART = 1 << 26
"""Bytes of a chart with its dependencies."""


@dataclass(slots=True)
class Generated:
    """The files of each target by its folder, and the programs that made them, with version."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)


@dataclass(frozen=True, slots=True)
class Work:
    """What every generator gets."""

    inputs: AppInputs
    source: OpenPlace
    configs: OpenPlace
    targets: Sequence[Target]
    variables: Mapping[str, str]
    programs: Programs
    progress: Progress
    folder: str = ""


FOLDERS = {"helm": "helm"}
"""The folders of generators in the source, unless `path` names another."""


def generate(work: Work) -> tuple[str, Generated]:
    """Choose the generator by what the source holds, and start it. Raises KalypsoError."""
    name, folder = _chosen(work)
    return name, GENERATORS[name](replace(work, folder=folder))


def _chosen(work: Work) -> tuple[str, str]:
    path, entries = work.inputs.path, work.source.files.entries()
    for folder in [path] if path else list(FOLDERS.values()):
        if posixpath.join(folder, CHART_FILE) in entries:
            return "helm", folder
    raise UsageError(
        f"the source has no chart in {path or ' or '.join(FOLDERS.values())}",
        Location(work.source.repository, path),
        "name the folder with path",
    )


def generate_by_helm(work: Work) -> Generated:
    """Render the chart for each target, several at once. Raises KalypsoError."""
    inputs = work.inputs
    helm = Helm(work.programs, timeout=inputs.timeout.total_seconds())
    if not helm.is_installed:
        advice = "install helm, or correct PATH"
        raise KalypsoError("the source has a chart, which takes the helm program", advice=advice)
    generated = Generated(programs={"helm": _checked_version(helm.version(), inputs.helm_version)})
    files, findings = chart_files(work)
    generated.findings.add(findings)
    place = ChartPlace(work.source.repository, work.folder, _chart_name(work, files), files)
    values = _values(work, generated.findings)
    options = HelmOptions(
        inputs.release_name,
        inputs.namespace,
        inputs.kube_version,
        inputs.api_versions,
        _flag(inputs.crds),
        inputs.hooks == "true",
        _flag(inputs.tests),
    )
    arguments = application.helm_arguments(options, inputs.compatibility)
    names = {
        target.folder: options.release_name
        or application.release_name(target, inputs.compatibility)
        for target in work.targets
    }
    generated.findings.problems += filter(
        None,
        (
            application.name_problem(names[target.folder], target, work.configs.repository)
            for target in work.targets
        ),
    )
    if generated.findings.problems:
        return generated
    with helm.chart(files) as chart:

        def render(target: Target) -> bytes | Problem:
            return _template(
                chart, place, target, names[target.folder], arguments, values[target.folder]
            )

        outputs = in_parallel(render, work.targets, work.progress, workers=parallel_programs())
    for target, output in zip(work.targets, outputs, strict=True):
        if isinstance(output, Problem):
            generated.findings.problems.append(output)
        else:
            generated.files[target.folder] = {MANIFESTS_FILE: output}
    return generated


def parallel_programs() -> int:
    """Return the number of programs that run at once."""
    return max(2, os.cpu_count() or 1)


def chart_files(work: Work) -> tuple[dict[str, bytes], Findings]:
    """Read the chart, follow its links in the repository, and replace its variables."""
    entries = work.source.files.entries()
    links = work.source.links()
    paths = application.files_of_folder(entries, links, work.folder)
    size = sum(entries[path].size for path in paths.values())
    if size > MAX_CHART:
        raise KalypsoError(
            f"the chart has {size >> 20} MB; at most {MAX_CHART >> 20} MB are possible",
            Location(work.source.repository, work.folder),
        )
    contents = work.source.files.read(set(paths.values()))
    where = Location(work.source.repository, work.folder)
    files, findings = application.with_variables(
        {path: contents[file] for path, file in paths.items()},
        work.variables,
        where,
        work.inputs.compatibility,
    )
    findings.problems += application.faulty_links(
        entries, links, work.folder, work.source.repository
    )
    if not findings.problems and "values.yaml" in files:
        at = Location(where.repository, f"{work.folder}/values.yaml".lstrip("/"))
        findings.add(application.check_values(files["values.yaml"], at))
    return files, findings


def _chart_name(work: Work, files: Mapping[str, bytes]) -> str:
    path = f"{work.folder}/{CHART_FILE}".lstrip("/")
    parsed = parse_yaml(work.source.repository, path, files[CHART_FILE])
    if parsed.problems:
        raise KalypsoError.of(parsed.problems)
    return str(parsed.documents[0].body.get("name", "")) if parsed.documents else ""


def _values(work: Work, findings: Findings) -> dict[str, dict[str, bytes]]:
    """Return the files of values of each target."""
    paths = {path for target in work.targets for path in target.levels}
    contents = work.configs.files.read(paths)
    values: dict[str, dict[str, bytes]] = {}
    for target in work.targets:
        values[target.folder], found = application.values_files(
            target, contents, work.variables, work.configs.repository, work.inputs.compatibility
        )
        findings.add(found)
    return values


def _template(
    chart: ChartFolder,
    place: ChartPlace,
    target: Target,
    name: str,
    arguments: Sequence[str],
    values: Mapping[str, bytes],
) -> bytes | Problem:
    try:
        return chart.template(name, arguments, values)
    except HelmError as error:
        output = error.output.decode("utf-8", "replace")
        return application.helm_problem(error.problem.message, place, target, output)
    except KalypsoError as error:
        message = f"target {target.folder!r}: {error.problem.message}"
        return Problem(message, place.at(""), error.problem.advice, "chart-bounds")


def _checked_version(version: str, wanted: str) -> str:
    """Raises UsageError for another version than the wanted one, or its first parts."""
    own, other = version.removeprefix("v"), wanted.removeprefix("v")
    if other and own != other and not own.startswith(f"{other}."):
        raise UsageError(
            f"helm has the version {version}, but helm-version is {wanted}",
            advice="install that version, or correct helm-version",
        )
    return version


def _flag(text: str) -> bool | None:
    return None if text == "auto" else text == "true"


GENERATORS: Mapping[str, Callable[[Work], Generated]] = {"helm": generate_by_helm}
