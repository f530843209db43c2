"""Render a chart for each target, by the helm program."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kalypso_actions.clients.helm import RELEASE, ChartFolder, Helm, HelmError, install_release
from kalypso_actions.clients.network import CERTIFICATES
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.app.source_files import Generated, Work, check_size, parallel_programs
from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.errors import Diagnostics, KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.app import AppInputs
from kalypso_actions.model.application import MANIFESTS_FILE, VALUES_FILE, Target
from kalypso_actions.planning.application.chart import (
    Dependency,
    check_dependencies,
    check_templates,
    digests,
    faulty_links,
    files_of_folder,
    missing_problem,
    unlocked_content,
    unlocked_problem,
    with_variables,
)
from kalypso_actions.planning.application.helm import (
    CHART_FILE,
    ChartPlace,
    helm_problems,
    name_problem,
    of_targets,
    place_of_error,
    release_name,
)
from kalypso_actions.planning.application.values import (
    ReadValues,
    check_schemas,
    check_values,
    values_files,
)
from kalypso_actions.sources.yaml_documents import parse_yaml


def generate_by_helm(work: Work) -> Generated:
    """Render the chart for each target, several at once. Raises KalypsoError."""
    helm, generated = begin_helm(work)
    files = _chart_files(work, helm, generated)
    if CHART_FILE not in files:  # it is a broken link
        return generated
    chart = ChartPlace(work.source.repository, work.folder, _chart_name(work, files), files)
    render_chart(work, chart, helm, generated)
    return generated


def begin_helm(work: Work) -> tuple[Helm, Generated]:
    """Return helm, and an empty result with its version. Raises KalypsoError."""
    timeout = work.inputs.timeout.total_seconds()
    helm, version = find_helm(work.programs, work.inputs.helm_version, timeout)
    generated = Generated(programs={"helm": version})
    if work.inputs.compatibility != "none" and not version.startswith("v3."):
        generated.findings.warnings.append(_other_bytes(version))
    return helm, generated


def render_chart(work: Work, chart: ChartPlace, helm: Helm, generated: Generated) -> None:
    """Add a chart's files for each target, unless there are problems."""
    files = chart.files
    releases, findings = _releases(work, chart)
    generated.findings.add(findings)
    for release in releases:
        generated.sources[release.target.folder] = replace(chart, levels=release.levels)
    if generated.findings.problems:
        return
    options = _arguments(work.inputs)
    with helm.chart(files) as folder:

        def render(release: _Release) -> bytes | list[Problem]:
            return _template(folder, chart, release, options)

        outputs = in_parallel(render, releases, work.progress, workers=parallel_programs())
    failures: list[tuple[Target, list[Problem]]] = []
    for release, output in zip(releases, outputs, strict=True):
        if isinstance(output, bytes):
            generated.files[release.target.folder] = {MANIFESTS_FILE: output}
        else:
            failures.append((release.target, output))
    generated.findings.problems += of_targets(failures)


@dataclass(frozen=True, slots=True)
class _Release:
    """A target, the name of its release, its files of values for helm, and their sources."""

    target: Target
    name: str
    values: Mapping[str, bytes]
    levels: Sequence[tuple[Location, bytes]]


def _releases(work: Work, chart: ChartPlace) -> tuple[list[_Release], Diagnostics]:
    """Return the release of each target, and the findings about chart and values."""
    findings = Diagnostics(list(check_schemas(chart)), list(check_templates(chart)))
    releases = [_release(work, target, findings) for target in work.targets]
    read = ReadValues(chart)
    levels = {where: content for release in releases for where, content in release.levels}
    for where, content in levels.items():
        findings.warnings += read.check(where, content)
    return releases, findings


def _release(work: Work, target: Target, findings: Diagnostics) -> _Release:
    compatibility, configs = work.inputs.compatibility, work.configs.repository
    name = work.inputs.release_name or release_name(target, compatibility)
    fault = name_problem(name, target, configs)
    findings.problems += [fault] if fault else []
    contents = work.configs.files.read(target.levels)
    values, value_findings = values_files(target, contents, work.variables, configs, compatibility)
    findings.add(value_findings)
    levels = [
        (Location(configs, path), values.get(path, contents[path]))
        for path in reversed(target.levels)
    ]
    return _Release(target, name, values, levels)


def _arguments(inputs: AppInputs) -> tuple[str, ...]:
    """Return the options of `helm template`, except the files of values.

    By default, upstream's modes include tests but no CRDs, as upstream does, and `none` includes
    CRDs but no tests, as a GitOps tree needs.
    """
    own = inputs.compatibility == "none"
    crds = own if inputs.crds == "auto" else inputs.crds == "true"
    tests = not own if inputs.tests == "auto" else inputs.tests == "true"
    return (
        *(("--namespace", inputs.namespace) if inputs.namespace else ()),
        *(("--kube-version", inputs.kube_version) if inputs.kube_version else ()),
        *(item for version in inputs.api_versions for item in ("--api-versions", version)),
        *(("--include-crds",) if crds else ()),
        *(() if inputs.hooks == "true" else ("--no-hooks",)),
        *(() if tests else ("--skip-tests",)),
    )


def _chart_files(work: Work, helm: Helm, generated: Generated) -> dict[str, bytes]:
    """Read the chart and its dependencies, and replace the variables in its values.

    Follow links within the repository.
    """
    files, own_findings = _read(work, work.folder)
    findings = generated.findings
    findings.add(own_findings)
    missing, problems = check_dependencies(files, work.where)
    findings.problems += problems
    if not findings.problems:
        files |= _fetched(work, helm, files, missing, generated)
    check_size(sum(map(len, files.values())), work.where)
    compatibility = work.inputs.compatibility
    files, variable_findings = with_variables(files, work.variables, work.where, compatibility)
    findings.add(variable_findings)
    for path in _values_files(files) if not findings.problems else ():
        at = Location(work.source.repository, posixpath.join(work.folder, path))
        findings.add(check_values(files[path], at, compatibility))
    return files


def _values_files(files: Mapping[str, bytes]) -> Iterable[str]:
    """Yield the values.yaml of the chart and of its subcharts."""
    for path in files:
        folder, name = posixpath.split(path)
        if name == VALUES_FILE and posixpath.join(folder, CHART_FILE) in files:
            yield path


def _read(work: Work, folder: str) -> tuple[dict[str, bytes], Diagnostics]:
    entries, links = work.source.files.entries(), work.source.links()
    paths = files_of_folder(entries, links, folder)
    check_size(sum(entries[path].size for path in paths.values()), work.where)
    contents = work.source.files.read(set(paths.values()))
    faults = faulty_links(entries, links, folder, work.source.repository)
    return {path: contents[file] for path, file in paths.items()}, Diagnostics(list(faults))


def _fetched(
    work: Work,
    helm: Helm,
    files: Mapping[str, bytes],
    missing: Iterable[Dependency],
    generated: Generated,
) -> dict[str, bytes]:
    """Return the files of dependencies: from the source, or with `fetch` from the network."""
    findings = generated.findings
    fetched: dict[str, bytes] = {}
    remote: list[Dependency] = []
    for dependency in missing:
        folder = posixpath.normpath(posixpath.join(work.folder, dependency.folder))
        if not dependency.folder:
            remote.append(dependency)
        elif posixpath.join(folder, CHART_FILE) in work.source.files.entries():
            chart, chart_findings = _read(work, folder)
            findings.add(chart_findings)
            fetched |= {f"charts/{dependency.name}/{path}": chart[path] for path in chart}
        else:
            findings.problems.append(missing_problem(dependency))
    if work.inputs.dependencies != "fetch":
        findings.problems += map(missing_problem, remote)
    elif unlocked := [item for item in remote if not item.locked]:
        findings.problems += map(unlocked_problem, unlocked)
    elif remote:
        try:
            archives = helm.dependencies(files, [item.repository for item in remote])
            fetched |= archives
            generated.dependencies |= digests(archives)
            findings.warnings.append(unlocked_content(archives, remote[0].where))
        except HelmError as error:
            findings.problems.append(
                Problem(
                    error.problem.message,
                    remote[0].where,
                    "check the repository, or commit the folder charts",
                    "chart-dependency",
                )
            )
    return fetched


def _chart_name(work: Work, files: Mapping[str, bytes]) -> str:
    path = posixpath.join(work.folder, CHART_FILE)
    parsed = parse_yaml(work.source.repository, path, files[CHART_FILE])
    if parsed.problems:
        raise KalypsoError.of(parsed.problems)
    return str(parsed.documents[0].body.get("name", "")) if parsed.documents else ""


def _template(
    folder: ChartFolder, chart: ChartPlace, release: _Release, options: Sequence[str]
) -> bytes | list[Problem]:
    try:
        return folder.template(release.name, options, release.values)
    except HelmError as error:
        output = error.output.decode("utf-8", "replace")
        own = replace(chart, levels=release.levels)
        return helm_problems(error.problem.message, own, output)
    except KalypsoError as error:
        message, advice = error.problem.message, error.problem.advice
        where = place_of_error(message, chart)
        return [Problem(message, where, advice, "generator-bounds")]


def _other_bytes(version: str) -> Problem:
    return Problem(
        f"upstream used helm 3; helm {version} writes an empty line between the objects",
        None,
        "install helm 3 for upstream's bytes",
        "helm-version",
    )


PROXIES: Final = ("https_proxy", "all_proxy", "no_proxy")

Install = Callable[[Path, Mapping[str, str]], Path]


def find_helm(
    programs: Programs, wanted: str, timeout: float, install: Install = install_release
) -> tuple[Helm, str]:
    """Return helm and its version; `wanted` is a version or its first parts, "" for any.

    In a job whose runner has no such helm, install the pinned release if the inputs want it. Raises
    KalypsoError, UsageError for another version.
    """
    helm = Helm(programs, timeout=timeout)
    version = helm.version() if helm.is_installed else ""
    if version and _is_version(version, wanted):
        return helm, version
    folder = programs.variable("RUNNER_TEMP")
    if folder and programs.variable("GITHUB_ACTIONS") == "true" and _is_version(RELEASE, wanted):
        names = (*CERTIFICATES, *PROXIES, *map(str.upper, PROXIES))
        program = install(Path(folder), {name: programs.variable(name) for name in names})
        return Helm(programs, program=str(program), timeout=timeout), RELEASE
    if version:
        raise UsageError(
            f"helm has the version {version}, but helm-version is {wanted}",
            advice="install that version, or correct helm-version",
        )
    advice = "install helm, or correct PATH"
    raise KalypsoError("the source has a chart, which takes the helm program", advice=advice)


def _is_version(version: str, wanted: str) -> bool:
    parts = wanted.removeprefix("v")
    return not parts or f"{version.removeprefix('v')}.".startswith(f"{parts}.")
