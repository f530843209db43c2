"""Take plain manifests of the source for each target."""

from __future__ import annotations

from kalypso_actions import application
from kalypso_actions.application import ChartPlace
from kalypso_actions.commands.app.work import Generated, Work, check_size
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import MANIFESTS_FILE, Findings


def generate_plain(work: Work) -> Generated:
    """Join the manifests of each target, with a comment that names each file."""
    generated = Generated()
    files = replaced_files(work, generated.findings)
    warn_of_values(work, generated.findings)
    prefix = f"{work.folder}/" if work.folder else ""
    own = {path[len(prefix) :]: content for path, content in files.items()}
    generated.sources = ChartPlace(work.source.repository, work.folder, work.folder, own)
    for target in work.targets:
        paths = application.manifests_of(files, work.folder, work.inputs.environment, target)
        if not paths:
            generated.findings.problems.append(
                application.missing_overlay(
                    work.folder, work.inputs.environment, target, work.source.repository
                )
            )
        text = b"".join(
            b"---\n# Source: %s\n%s\n" % (path.encode(), files[path].rstrip(b"\n"))
            for path in paths
        )
        generated.files[target.folder] = {MANIFESTS_FILE: text}
    return generated


def replaced_files(work: Work, findings: Findings) -> dict[str, bytes]:
    """Return the files of the generator's folder, with the variables in YAML files replaced."""
    entries, links = work.source.files.entries(), work.source.links()
    paths = application.files_of_folder(entries, links, work.folder)
    check_size(sum(entries[path].size for path in paths.values()), work.where)
    findings.problems += application.faulty_links(
        entries, links, work.folder, work.source.repository
    )
    contents = work.source.files.read(set(paths.values()))
    prefix = f"{work.folder}/" if work.folder else ""
    files: dict[str, bytes] = {}
    for path, file in paths.items():
        content = contents[file]
        if path.endswith((".yaml", ".yml")):
            where = Location(work.source.repository, file)
            content, own = application.replace_variables(
                content, work.variables, where, work.inputs.compatibility
            )
            findings.add(own)
        files[prefix + path] = content
    return files


def warn_of_values(work: Work, findings: Findings) -> None:
    """Warn of values in the configs: only charts read them."""
    levels = {path for target in work.targets for path in target.levels}
    for path, content in work.configs.files.read(sorted(levels)).items():
        if content.strip():
            where = Location(work.configs.repository, path)
            message = "only charts read values; the source has none"
            advice = "write the difference into an overlay of the source"
            findings.warnings.append(Problem(message, where, advice, "values-unread"))
