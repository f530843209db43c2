"""Build a kustomization for each target, by the kustomize program."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.commands.app.plain import replaced_files, warn_of_values
from kalypso_actions.commands.app.work import Generated, Work, parallel_programs
from kalypso_actions.commands.shared.reading.document_reader import in_parallel
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.application import MANIFESTS_FILE, Target
from kalypso_actions.planning import application
from kalypso_actions.planning.application import KUSTOMIZATION_NAMES


def generate_by_kustomize(work: Work) -> Generated:
    """Build the overlay of each target, several at once. Raises KalypsoError.

    kustomize gets only the files of its folder, runs neither plug-ins nor helm, and has no network.
    """
    kustomize = find_kustomize(work.programs)
    if kustomize is None:
        message = "the source has kustomizations, which take the kustomize program"
        raise KalypsoError(message, advice="install kustomize, or correct PATH")
    generated = Generated(programs={"kustomize": kustomize.version()})
    files = replaced_files(work, generated.findings)
    warn_of_values(work, generated.findings)
    environment, repository = work.inputs.environment, work.source.repository
    timeout = work.inputs.timeout.total_seconds()
    overlays: dict[str, str] = {}
    for target in work.targets:
        overlay = application.overlay_of(files, work.folder, environment, target)
        if overlay is None:
            problem = application.missing_overlay(work.folder, environment, target, repository)
            generated.findings.problems.append(problem)
        else:
            overlays[target.folder] = overlay
    if generated.findings.problems:
        return generated

    def build(target: Target) -> bytes | Problem:
        overlay = overlays[target.folder]
        try:
            return kustomize(files, overlay, timeout=timeout)
        except KalypsoError as error:
            names = (posixpath.join(overlay, name) for name in KUSTOMIZATION_NAMES)
            where = Location(repository, next(name for name in names if name in files))
            return replace(error.problem, where=where, code="kustomize-failed")

    outputs = in_parallel(build, work.targets, work.progress, workers=parallel_programs())
    failures = [output for output in outputs if isinstance(output, Problem)]
    if failures:
        remote = list(application.remote_bases(files, repository))
        generated.findings.problems += remote or failures
        return generated
    for target, output in zip(work.targets, outputs, strict=True):
        if isinstance(output, bytes):
            generated.files[target.folder] = {MANIFESTS_FILE: output}
    return generated
