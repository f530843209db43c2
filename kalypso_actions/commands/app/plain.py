"""Take plain manifests of the source for each target."""

from __future__ import annotations

import posixpath

from kalypso_actions.commands.app.work import Generated, Work, check_size
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import MANIFESTS_FILE, Findings
from kalypso_actions.planning import application
from kalypso_actions.planning.application import KUSTOMIZATION_NAMES, ChartPlace
from kalypso_actions.sources.file_texts import read_text


def generate_plain(work: Work) -> Generated:
    """Join the manifests of each target, with a comment that names each file."""
    generated = Generated()
    findings, repository = generated.findings, work.source.repository
    files = replaced_files(work, findings)
    warn_of_values(work, findings)
    environment, manifests = work.inputs.environment, {}
    for target in work.targets:
        paths = application.manifests_of(files, work.folder, environment, target)
        manifests[target.folder] = paths
        if not paths:
            findings.problems.append(
                application.missing_overlay(work.folder, environment, target, repository)
            )
    texts = {}
    for path in sorted({path for paths in manifests.values() for path in paths}):
        text = read_text(files[path], Location(repository, path))
        if isinstance(text, Problem):
            findings.problems.append(text)
        else:
            text = text.replace("\r\n", "\n")
            texts[path] = text if text.endswith("\n") else f"{text}\n"
    if findings.problems:
        return generated
    own = {path: text.encode() for path, text in texts.items()}
    sources = ChartPlace(repository, "", "", own)
    for folder, paths in manifests.items():
        parts = (f"---\n# Source: {' '.join(path.splitlines())}\n{texts[path]}" for path in paths)
        generated.files[folder] = {MANIFESTS_FILE: "".join(parts).encode()}
        generated.sources[folder] = sources
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
        if path.endswith((".yaml", ".yml")) or posixpath.basename(path) in KUSTOMIZATION_NAMES:
            where = Location(work.source.repository, file)
            content, file_findings = application.replace_variables(
                content, work.variables, where, work.inputs.compatibility
            )
            findings.add(file_findings)
        files[prefix + path] = content
    return files


def warn_of_values(work: Work, findings: Findings) -> None:
    """Warn of values in the configs: only charts read them."""
    levels = {path for target in work.targets for path in target.levels}
    for path, content in work.configs.files.read(sorted(levels)).items():
        if content.strip():
            where = Location(work.configs.repository, path)
            message = "only charts read values, and none makes this target"
            advice = "write the difference into an overlay of the source"
            findings.warnings.append(Problem(message, where, advice, "values-unread"))
