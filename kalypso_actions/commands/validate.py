"""`kalypso validate`: check all documents of branches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kalypso_actions.clients.git import GitRepository, is_path
from kalypso_actions.clients.git.local import local_files
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import (
    CurrentClone,
    LocalContext,
    check_given_sources,
    check_manifest_folders,
)
from kalypso_actions.commands.shared.reading.base_history import passed_commits
from kalypso_actions.commands.shared.reading.base_trees import unreadable_branches
from kalypso_actions.commands.shared.reading.control_plane import (
    find_environments,
    reading_branch_of,
)
from kalypso_actions.commands.shared.reading.document_reader import Reader, read_branch
from kalypso_actions.commands.shared.reading.snapshot import read_registered
from kalypso_actions.commands.shared.workflow_templates import (
    faults_of_branches,
    read_workflows,
)
from kalypso_actions.doctor_rules.workflows import BranchWorkflows
from kalypso_actions.errors import Finding, KalypsoError, Problem, UsageError, distinct, leveled
from kalypso_actions.fleet.named_branches import (
    foreign_commits,
    has_kind,
    main_base,
    older_commit,
)
from kalypso_actions.fleet.workloads import folder_of_workloads
from kalypso_actions.inputs.local import ValidateInputs
from kalypso_actions.inputs.paths import PathAtBranch, split_branch
from kalypso_actions.model.documents import Reading, RevisionFiles
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import Environment, RepositoryPath
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.fleet_checks.branches import ControlPlaneBranches
from kalypso_actions.planning.merged_findings import at_newer
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.validation import validate_control_plane, validate_workloads
from kalypso_actions.promotion.base_repo import base_document
from kalypso_actions.report.documents import PositionEntry, SourceEntry, finding_fields
from kalypso_actions.report.validate_document import OF_GITOPS_TREES, ValidateDocument
from kalypso_actions.sources.yaml_documents import parse_yaml


def validate(inputs: ValidateInputs, context: LocalContext) -> ValidateDocument:
    """Read the branches and check them together; an unreadable branch is a problem."""
    validated = _validate_workloads if inputs.workload else _validate_branches
    return validated(inputs, context).strictly(strict=inputs.strict)


def _validate_branches(inputs: ValidateInputs, context: LocalContext) -> ValidateDocument:
    with context.reader(inputs.source) as reader:
        clone = None if inputs.places or inputs.control_plane else context.clone(reader)
        _check_places(inputs.places, reader, context)
        read = _read_branches(inputs, clone, reader, context)
        readings = read.readings
        is_folder = clone is None and all(item.revision.commit is None for item in readings)
        registered = read_registered(
            readings, reader, allow_network=not is_folder, delivery=inputs.delivery
        )
        branches = ControlPlaneBranches.among(readings)
        positions = [
            None if reading is branches.main else _position(reading, branches.main, clone, reader)
            for reading in readings
        ]
        clones = context.clones() if any(item and item.fault for item in positions) else {}
        absent = partial(_absent_commit, clones=clones, programs=context.programs)
        findings = validate_control_plane(
            [
                _with_base_commit(item, position, absent, reader)
                for item, position in zip(readings, positions, strict=True)
            ],
            registered,
            PlanOptions.of(inputs),
            context.now,
            clone.head_of_main if clone else "",
        )
        if clone:
            findings = (*at_newer(findings, clone.newer), *_older_commit(clone, readings))
        passed = _passed_commits(branches, readings, positions, clone, reader)
        of_workflows = _workflow_faults(branches, clone, reader)
        workloads = (item.reading for item in registered.values() if item.reading)
        of_manifests = check_manifest_folders(
            (document for reading in workloads for document in reading.documents), reader
        )
        of_gitops = unreadable_branches(
            readings, reader.repositories, is_connected=context.connect is not None
        )
        of_workflows = (*of_workflows, *of_manifests, *of_gitops)
    of_sources = check_given_sources(inputs.source, readings, context.programs)
    return _document(
        readings,
        (
            *read.findings,
            *findings,
            *passed,
            *of_workflows,
            *of_sources,
        ),
        [
            PositionEntry.of(reading.revision.branch, position)
            for reading, position in zip(readings, positions, strict=True)
            if position
        ],
    )


def _workflow_faults(
    branches: ControlPlaneBranches, clone: CurrentClone | None, reader: Reader
) -> tuple[Finding, ...]:
    """Return what breaks the chain in the workflow files of the branches of a control plane."""
    main = branches.main
    if main is None or not main.revision.branch:
        return ()

    def workflows(reading: Reading) -> BranchWorkflows:
        repository, branch = reading.revision.repository, reading.revision.branch
        of_clone = clone.files_of(branch) if clone else None
        files = of_clone or reader.repositories.open(repository, branch=branch)
        documents = {document.where.path for document in reading.documents}
        return BranchWorkflows(repository, branch, read_workflows(files), sorted(documents))

    own = map(workflows, branches.own.values())
    known = [item.control_plane.branch for item in branches.environments.values()]
    return tuple(distinct(faults_of_branches(workflows(main), own, known)))


def _document(
    readings: Sequence[Reading], findings: Iterable[Finding], main: Iterable[PositionEntry] = ()
) -> ValidateDocument:
    kinds = {document.kind for reading in readings for document in reading.documents}
    has_repos = "GitOpsRepo" in kinds
    return ValidateDocument(
        main=tuple(main),
        sources=SourceEntry.all_of(
            (reading.revision.branch, reading.revision) for reading in readings
        ),
        documents=sum(len(reading.documents) for reading in readings),
        not_checked=OF_GITOPS_TREES if has_repos else (),
        **finding_fields(findings),
    )


@dataclass(slots=True)
class _ReadBranches:
    """The branches of a control plane that were read, and what is wrong besides their content."""

    readings: list[Reading] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def _read_branches(
    inputs: ValidateInputs, clone: CurrentClone | None, reader: Reader, context: LocalContext
) -> _ReadBranches:
    """Read the branches that the inputs name, or those of the current clone or folder."""
    read = _ReadBranches()
    undeclared = None if clone is None or clone.checked_out else _undeclared(clone, reader)
    if inputs.control_plane:
        _read_repository(inputs.control_plane, "", reader, read)
    elif clone and clone.checked_out:
        read.readings += _readings_of_clone(clone, reader, context)
        read.findings += (*clone.absent_branches(), *clone.branches_behind())
    elif clone and undeclared:
        read.findings += (*clone.absent_branches(), *clone.branches_behind())
        read.readings += (*_readings_of_clone(clone, reader, context), undeclared)
    else:
        if not inputs.places:
            reason = _no_clone(clone, context)
            context.log(f"{reason[0].upper()}{reason[1:]}: validating the files of this folder.")
        for place in inputs.places or (".",):
            _read_place(place, reader, read, context.programs)
    return read


def _undeclared(clone: CurrentClone, reader: Reader) -> Reading | None:
    """Return the checked-out branch if it belongs to an environment that main does not declare."""
    source = clone.undeclared()
    if source is None:
        return None
    reading = read_branch(clone.working_tree, source, reader.kustomize)
    return reading if has_kind(reading, "BaseRepo") or has_kind(reading, "GitOpsRepo") else None


def _readings_of_clone(
    clone: CurrentClone, reader: Reader, context: LocalContext
) -> Iterator[Reading]:
    """Read main and the environments' branches: the checked-out one from the working tree."""
    sources, _ = clone.branches
    places = ", ".join(f"{source.branch} ({clone.place(source.branch)})" for source in sources)
    context.log(f"Validating {places} of {clone}.")
    for source in sources:
        yield clone.read(source, reader)


def _no_clone(clone: CurrentClone | None, context: LocalContext) -> str:
    """Return why the files are not those of a control plane's clone."""
    if clone is None:
        return context.why_no_clone()
    return "what is checked out belongs to no branch of the control plane"


def _check_places(places: Iterable[str], reader: Reader, context: LocalContext) -> None:
    """Refuse the name of an environment or branch of the current clone; advise the right form."""
    for place in places:
        is_folder = PathAtBranch.parse(place).path.exists()
        clone = None if is_folder or not is_path(place) else context.clone(reader)
        if clone is None:
            continue
        branches = {name: item.control_plane.branch for name, item in clone.environments.items()}
        branches |= {branch: branch for branch in (*branches.values(), clone.main)}
        name = nearest(place, branches)
        if name:
            raise UsageError(
                f"{place}: there is no such folder",
                advice=f"did you mean the branch .@{branches[name]}? "
                "Without a name, validate checks all branches of this clone",
            )


def _read_place(place: str, reader: Reader, read: _ReadBranches, programs: Programs) -> None:
    """Read the branches that a place names.

    A folder means its files, even in a clone: people check before they commit. A URL or a bare
    repository without a branch means main and the branches of its environments.
    """
    folder, url, branch = _parsed(place)
    if folder:
        files = local_files(folder, programs, repository=place)
        read.readings.append(read_branch(files, RepositoryPath(place, "", "."), reader.kustomize))
    else:
        _read_repository(url, branch, reader, read)


def _read_repository(url: str, branch: str, reader: Reader, read: _ReadBranches) -> None:
    """Read a branch of a repository; without one, main and the branches of its environments."""
    try:
        sources = {RepositoryPath(url, branch, "."): None} if branch else _branches(url, reader)
    except KalypsoError as error:
        read.findings += error.problems
        return
    for done, (source, environment) in enumerate(sources.items()):
        reader.fetched(done, len(sources))
        try:
            with reading_branch_of(environment):
                files = reader.repositories.open(url, branch=source.branch)
            read.readings.append(read_branch(files, source, reader.kustomize))
        except KalypsoError as error:
            read.findings += error.problems
    reader.fetched(len(sources), len(sources))


def _branches(url: str, reader: Reader) -> dict[RepositoryPath, Environment | None]:
    """Return main, and the branches of its environments with the first Environment of each.

    The check of main reports faulty Environments.
    """
    main = RepositoryPath(url, reader.repositories.main_branch(url), ".")
    environments, _ = find_environments(reader, url, main.branch)
    branches: dict[RepositoryPath, Environment | None] = {main: None}
    for environment in environments.values():
        branches.setdefault(dataclasses.replace(environment.control_plane, repo=url), environment)
    return branches


def _position(
    reading: Reading, main: Reading | None, clone: CurrentClone | None, reader: Reader
) -> BranchPosition | None:
    """Return the position on main of the commit that an environment's branch names."""
    base = main_base(reading)
    revision = reading.revision
    repository = str(clone.path) if clone else revision.repository if revision.commit else ""
    if not repository or base is None or base.commit is None:
        return None
    branch = main.revision.branch if main else ""
    return reader.repositories.position(repository, branch or base.source.branch, base.commit)


def _passed_commits(
    branches: ControlPlaneBranches,
    readings: Iterable[Reading],
    positions: Iterable[BranchPosition | None],
    clone: CurrentClone | None,
    reader: Reader,
) -> tuple[Finding, ...]:
    """Return the findings of commits that environments have, and the ones before them never had.

    A branch of the clone that is behind its remote one may lack the promotion.
    """
    of_reading = {id(each): item for each, item in zip(readings, positions, strict=True) if item}
    known = {name: of_reading.get(id(own)) for name, own in branches.own.items()}
    ahead = {name: item.ahead for name, item in known.items() if item and item.ahead is not None}
    behind = {item.where.branch for item in clone.branches_behind() if item.where} if clone else ()
    bases = {
        name: base
        for name, own in branches.own.items()
        if name in ahead and own.revision.branch not in behind and (base := main_base(own))
    }
    main = branches.main.revision if branches.main else None
    if main is None:
        return ()
    return tuple(
        passed_commits(
            branches.environments,
            bases,
            ahead,
            reader.repositories,
            main.repository,
            main.branch,
        )
    )


def _absent_commit(
    reading: Reading,
    position: BranchPosition | None,
    clones: Mapping[str, Path],
    programs: Programs,
) -> Iterator[Problem]:
    """Warn about a commit that a clone lacks, although its main has it; `clones` are by URL."""
    base = main_base(reading)
    if base is None or position is None or not position.fault:
        return
    by_key = {repository_key(url): path for url, path in clones.items()}
    clone = by_key.get(repository_key(base.source.repo))
    if clone:
        branch = base.source.branch
        command = GitRepository(clone, programs).fetch_command(branch, history=True)
        yield Finding(
            f"the commit {base.commit} of {branch} is not in this clone",
            base.commit_where or base.where,
            f"{command}; if it stays absent, write a commit that {branch} has",
            "base-commit-absent",
            level="warning",
        )


def _older_commit(clone: CurrentClone, readings: Iterable[Reading]) -> Iterator[Finding]:
    """Yield the finding of the checked-out branch if its commit of main has gone back."""
    own = next((each for each in readings if each.revision.branch == clone.checked_out), None)
    base = main_base(own) if own and clone.checked_out != clone.main else None
    before = clone.file_before(base.where.path) if base else b""
    document = base_document(parse_yaml("", "", before).documents) if before else None
    earlier = document.promoted_commit if document else None
    if own and base and base.commit and earlier and earlier != base.commit:
        repository = clone.repository
        known = all(map(repository.has_commit, (earlier, base.commit)))
        if known and repository.merge_base(base.commit, earlier) == base.commit:
            taken = repository.distance(base.commit, earlier) or 0
            yield from older_commit(base, earlier, taken, own)


def _with_base_commit(
    own: Reading,
    position: BranchPosition | None,
    absent: Callable[[Reading, BranchPosition | None], Iterable[Problem]],
    reader: Reader,
) -> Reading:
    """Add what is wrong with the commit of main that an environment's branch names."""
    base = main_base(own)
    found = [*absent(own, position)]
    if base and position and position.ahead is None and not position.fault:
        at_commit = reader.documents(
            dataclasses.replace(base.source, repo=own.revision.repository), base.commit
        )
        found += foreign_commits([(base, at_commit)], position)
    return dataclasses.replace(
        own,
        problems=(*own.problems, *(item for item in found if item.level == "error")),
        warnings=(*own.warnings, *(item for item in found if item.level != "error")),
    )


def _validate_workloads(inputs: ValidateInputs, context: LocalContext) -> ValidateDocument:
    """Read folders or branches of application teams, and check them alone."""
    readings: list[Reading] = []
    problems: list[Problem] = []
    with context.reader(()) as reader:
        for place in inputs.places or (".",):
            try:
                readings.append(_reading_of_workloads(place, reader, context))
            except KalypsoError as error:
                problems += error.problems
    findings = validate_workloads(readings, inputs.registration_text)
    return _document(readings, (*leveled(problems, "error"), *findings))


def _reading_of_workloads(place: str, reader: Reader, context: LocalContext) -> Reading:
    """Read the folder of Workloads at a place.

    Repositories of applications have other YAML files as well, such as charts. Raises KalypsoError.
    """
    folder_place, url, branch = _parsed(place)
    files: RevisionFiles
    if folder_place:
        files = local_files(folder_place, context.programs, repository=place)
    else:
        branch = branch or reader.repositories.main_branch(url)
        files = reader.repositories.open(url, branch=branch)
    reading = reader.documents_of(files, branch=branch)
    folder = folder_of_workloads(reading.documents)
    narrowed = reader.documents_of(files, branch=branch, path=folder)
    if (narrowed.documents, narrowed.problems) == (reading.documents, reading.problems):
        return reading
    context.log(f"Checking ./{folder} of {place}: the WorkloadRegistration must name this path.")
    return narrowed


def _parsed(place: str) -> tuple[Path | None, str, str]:
    """Return the folder whose files a place names, or None with a repository and its branch."""
    local = PathAtBranch.parse(place)
    path = local.path
    if not path.is_dir():
        return None, *split_branch(place)
    is_bare = (
        not (path / ".git").exists() and (path / "HEAD").is_file() and (path / "objects").is_dir()
    )
    if local.branch or is_bare:
        return None, str(path), local.branch
    return path, "", ""
