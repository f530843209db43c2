"""The GitOpsRepo and the BaseRepo that an environment's branch lacks."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kalypso_actions.errors import Diagnostics, KalypsoError, Location, Problem
from kalypso_actions.fleet.named_branches import has_kind
from kalypso_actions.model.documents import Document, Reading
from kalypso_actions.model.kinds import (
    MAIN_BASE_REPO,
    Environment,
    GitOpsRepo,
    RepositoryPath,
    WorkloadRegistration,
)
from kalypso_actions.model.layout import gitops_folder
from kalypso_actions.model.nearest import misspelled
from kalypso_actions.model.source_forms import branch_fault
from kalypso_actions.model.urls import repository_key
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView

BASE_REPO_MISSING: Final = "base-repo-missing"

_Place = tuple[str, str, str]
"""A repository, its branch, and a folder."""


@dataclass(frozen=True, slots=True)
class KnownRepositories:
    """The probable content of a missing document: the GitOps repository, and the commit of main."""

    gitops_url: str = ""
    main_commit: str = ""

    @classmethod
    def of(cls, branches: Iterable[Reading], main_commit: str = "") -> KnownRepositories:
        """Take the URL from the GitOpsRepos of all branches, if they agree."""
        urls = {
            repo
            for branch in branches
            for document in branch.documents
            if document.kind == "GitOpsRepo"
            if (repo := repo_of(document))
        }
        return cls(urls.pop() if len(urls) == 1 else "", main_commit)


def repo_of(document: Document) -> str:
    """Return `spec.repo` of a document; "" without one."""
    match document.body:
        case {"spec": {"repo": str(repo)}}:
            return repo
    return ""


def missing_repositories(
    environment: str,
    own: Reading,
    declared: Environment | None,
    known: KnownRepositories | None = None,
) -> Iterator[Problem]:
    """Report the documents that the branch of an environment lacks, each with the file to add.

    `declared` is its Environment object; without one, a folder is checked alone and needs no
    GitOpsRepo. Report nothing if a file is unreadable: it may have the missing document.
    """
    if own.problems:
        return
    known = known or KnownRepositories()
    if declared and not has_kind(own, "GitOpsRepo"):
        yield _missing(
            own,
            "GitOpsRepo",
            f"the branch of environment {environment!r} has no GitOpsRepo: nobody knows where its "
            "manifests belong",
            _file(
                own,
                "GitOpsRepo",
                environment,
                known.gitops_url or "URL OF THE GITOPS REPOSITORY",
                environment,
            ),
            "gitops-repo-missing",
        )
    base_repos = [document for document in own.documents if document.kind == "BaseRepo"]
    if MAIN_BASE_REPO in (document.name for document in base_repos):
        return
    subject = f"the branch of environment {environment!r} has no BaseRepo"
    if base_repos:
        other = base_repos[0]
        is_built = not other.marks  # kustomize has written it
        yield Problem(
            f"{subject} named {MAIN_BASE_REPO!r}, but one named {other.name!r}"
            + (" by kustomize" if is_built else ""),
            other.at("metadata", "name"),
            "remove namePrefix and nameSuffix, which rename all objects"
            if is_built and MAIN_BASE_REPO in other.name
            else f"rename it to {MAIN_BASE_REPO}",
            BASE_REPO_MISSING,
        )
        return
    repo = declared.control_plane.repo if declared else "URL OF THE CONTROL PLANE"
    yield _missing(
        own,
        "BaseRepo",
        f"{subject}: it takes nothing over from main, and no commit of main is tracked",
        _file(own, "BaseRepo", MAIN_BASE_REPO, repo, "main", known.main_commit),
        BASE_REPO_MISSING,
    )


def _missing(own: Reading, kind: str, message: str, advice: str, code: str) -> Problem:
    """Return the problem of a missing document, at the rule or the file that hides one."""
    hidden = (item for item in own.warnings if item.code == "document-ignored")
    of_kind = next((item for item in hidden if f"{kind} " in item.message), None)
    if of_kind:
        return Problem(f"{message}; {of_kind.message}", of_kind.where, of_kind.advice, code)
    return Problem(message, _place(own, kind), advice, code)


def unpinned_base_repo(environment: str, own: Reading) -> Iterator[Problem]:
    """Report a branch's BaseRepo without a commit of main: it follows the head of main."""
    for document in own.documents if own.revision.branch else ():
        match document.body:
            case {"kind": "BaseRepo", "metadata": {"name": name}, "spec": dict(spec)} if (
                name == MAIN_BASE_REPO and not spec.get("commit")
            ):
                yield Problem(
                    f"the BaseRepo of environment {environment!r} has no commit: nothing is "
                    "promoted yet",
                    document.where,
                    "cd writes the commit when it promotes one",
                    "base-commit-missing",
                )


def foreign_base_repo(own: Reading, main: RepositoryPath) -> Iterator[Problem]:
    """Report the BaseRepo of a branch that names another repository or branch than `main`.

    Each promotion writes a commit of main into it.
    """
    for document in own.documents:
        match document.body:
            case {"kind": "BaseRepo", "metadata": {"name": name}, "spec": dict(spec)} if (
                name == MAIN_BASE_REPO
            ):
                repo, branch = spec.get("repo"), spec.get("branch")
            case _:
                continue
        for field, value, expected, is_same in (
            ("repo", repo, main.repo, repository_key(str(repo)) == repository_key(main.repo)),
            ("branch", branch, main.branch, branch == main.branch),
        ):
            if isinstance(value, str) and not is_same:
                yield Problem(
                    f"BaseRepo 'main' has the {field} {value}, but commits are promoted from "
                    f"{expected}",
                    document.at("spec", field),
                    f"write {expected}",
                    "base-repo-foreign",
                )


def branch_names(view: FleetView) -> Iterator[Problem]:
    """Report names of branches that git refuses, or that mean another branch."""
    for scope in view.scopes:
        fleet = scope.fleet
        places = [
            *(
                (f"BaseRepo {base.name!r}", base.source, base.where)
                for base in fleet.base_repos
                if base.name != MAIN_BASE_REPO  # each promotion compares its branch with main
            ),
            *(
                (f"GitOpsRepo {repo.name!r}", repo.target, repo.where)
                for repo in fleet.gitops_repos
            ),
            *(
                (f"WorkloadRegistration {item.name!r}", item.source, item.source_where)
                for item in fleet.registrations
                if item.name not in scope.missing  # the finding about that names the branch
            ),
        ]
        for noun, place, where in places:
            fault, meant = branch_fault(place.branch)
            if fault:
                yield Problem(
                    f"{noun} names the branch {place.branch!r}, which {fault}",
                    place.places.get("branch", where),
                    f"write {meant}" if meant else "write the name of a branch, such as main",
                    "branch-name-invalid",
                )


def _file(own: Reading, kind: str, name: str, repo: str, branch: str, commit: str = "") -> str:
    """Return the advice to restore or add a file, with its whole content."""
    branch_of = own.revision.branch
    restore = (
        f"if it was lost, restore it from the history of {branch_of}, else " if branch_of else ""
    )
    place = f" to the branch {branch_of}" if branch_of else ""
    pinned = f"  commit: {commit}\n" if commit else ""
    return (
        f"{restore}add {_path(own, kind)}{place}:\napiVersion: scheduler.kalypso.io/v1alpha1\n"
        f"kind: {kind}\nmetadata:\n  name: {name}\n"
        f"spec:\n  repo: {repo}\n  branch: {branch}\n  path: .\n"
        f"{pinned}"
    )


def _place(own: Reading, kind: str) -> Location:
    """Return the branch, which has no such file; in a folder, return the missing file."""
    revision = own.revision
    if revision.branch:
        return Location(revision.repository, branch=revision.branch)
    return Location(revision.repository, _path(own, kind))


def _path(own: Reading, kind: str) -> str:
    name = {"BaseRepo": "base-repo.yaml", "GitOpsRepo": "gitops-repo.yaml"}[kind]
    return posixpath.normpath(f"{own.revision.path}/{name}")


def base_documents(own: Reading, main: Reading) -> tuple[Document, ...]:
    """Return the documents of main below the path that an environment's BaseRepo names."""
    path = next((posixpath.normpath(path) for _, path in _base_paths(own)), ".")
    return tuple(
        document
        for document in main.documents
        if path == "." or document.where.path.startswith(f"{path}/")
    )


def missing_base_folder(own: Reading, main: Reading) -> Iterator[Problem]:
    """Report a BaseRepo whose path leads to no document of main."""
    for base, path in _base_paths(own):
        if main.documents and not base_documents(own, main):
            yield Problem(
                f"BaseRepo {base.name!r}: main has no document in the folder {path!r}",
                base.at("spec", "path"),
                "write path: . for the whole branch, or the folder that has the documents",
                "folder-missing",
            )


def _base_paths(own: Reading) -> Iterator[tuple[Document, str]]:
    """Yield the BaseRepo named main with its path."""
    for document in own.documents:
        match document.body.get("spec"):
            case {"path": str(path)} if path and document.kind == "BaseRepo":
                if document.name == MAIN_BASE_REPO:
                    yield document, path


def check_places(view: FleetView, diagnostics: Diagnostics) -> None:
    """Report places that two owners write to: each would delete the other's files."""
    environments = view.environments or {}
    shared = _shared_branches(view, diagnostics)
    by_branch: dict[tuple[str, str], dict[str, _GitOpsPlace]] = {}
    # A command about one environment has its scope first; the text is the same for all commands.
    for scope in sorted(view.scopes, key=lambda scope: scope.environment):
        for repo in scope.fleet.gitops_repos:
            in_control_plane = [*_in_control_plane(repo, scope, environments)]
            diagnostics.problems += in_control_plane
            try:
                gitops_folder(repo.target.path, repo.at("path"))
            except KalypsoError as error:
                diagnostics.problems += error.problems
            if not in_control_plane:
                diagnostics.warnings += _improbable_place(repo, scope, view)
            repository, branch, path = _written_place(repo.target)
            if repository:
                own = _GitOpsPlace(scope.environment, repo)
                other = by_branch.setdefault((repository, branch), {}).setdefault(path, own)
                is_one_branch = own.environment in shared.get(other.environment, ())
                if other.environment != own.environment and not is_one_branch:
                    diagnostics.problems.append(_shared_gitops_place(own, other, view))
    for places in by_branch.values():
        diagnostics.warnings += _nested_gitops_places(places)
    diagnostics.warnings += branch_names(view)


class _GitOpsPlace(NamedTuple):
    """The GitOpsRepo of an environment."""

    environment: str
    repo: GitOpsRepo


def _shared_branches(view: FleetView, diagnostics: Diagnostics) -> dict[str, set[str]]:
    """Report each second environment of a branch; return the environments with the branch of each.

    Each environment deletes the manifests of the other, if the branch has a GitOpsRepo.
    """
    with_repos = {scope.environment for scope in view.scopes if scope.fleet.gitops_repos}
    by_branch: dict[_Place, list[Environment]] = {}
    for environment in (view.environments or {}).values():
        of_branch = by_branch.setdefault(_written_place(environment.control_plane), [])
        of_branch.append(environment)
        if len(of_branch) > 1:
            other, writes = of_branch[0], any(each.name in with_repos for each in of_branch)
            (diagnostics.problems if writes else diagnostics.warnings).append(
                Problem(
                    f"Environments {other.name!r} and {environment.name!r} have the same branch, "
                    f"{environment.control_plane.branch!r}"
                    + (", and delete each other's manifests" if writes else ""),
                    environment.control_plane.places.get("branch", environment.where),
                    "give each environment a branch of its own in spec.controlPlane.branch",
                    "environment-branch-shared",
                    related=(other.control_plane.places.get("branch", other.where),),
                )
            )
    return {
        each.name: {other.name for other in of_branch}
        for of_branch in by_branch.values()
        for each in of_branch
    }


def _shared_gitops_place(own: _GitOpsPlace, other: _GitOpsPlace, view: FleetView) -> Problem:
    """Report the GitOpsRepo that does not name the branch of its environment, else the second."""
    branch = own.repo.target.branch
    wrong, right = (other, own) if branch == own.environment else (own, other)
    used = {repo.target.branch for scope in view.scopes for repo in scope.fleet.gitops_repos}
    places = [(each.repo.where, each.repo.where.branch) for each in (own, other)]
    if places[0] == places[1]:  # the branches of environments have files of equal names
        name = own.repo.name
        advice = f"move it from main to the branch of the environment that {name!r} is for"
    elif wrong.environment in used:
        advice = "give each environment a branch or path of its own"
    else:
        advice = f"write branch: {wrong.environment}, or give each environment a path of its own"
    return Problem(
        f"GitOpsRepo {wrong.repo.name!r}: the environments {other.environment!r} and "
        f"{own.environment!r} write to the same branch, {branch!r}, and delete each other's "
        "manifests",
        wrong.repo.at("branch"),
        advice,
        "gitops-repo-shared",
        related=(right.repo.at("branch"),),
    )


def _nested_gitops_places(places: Mapping[str, _GitOpsPlace]) -> Iterator[Problem]:
    """Report paths below others of the same branch."""
    for path, (environment, repo) in places.items():
        above = path
        while above:
            above = posixpath.dirname(above)
            if above in places:
                outer = places[above]
                yield Problem(
                    f"GitOpsRepo {repo.name!r}: the path {path!r} of {environment} is below the "
                    f"path {above or '.'!r} of {outer.environment} on the branch "
                    f"{repo.target.branch!r}: what applies the outer folder applies both",
                    repo.at("path"),
                    "give each a folder beside the other, or a branch of its own",
                    "gitops-repo-nested",
                    related=(outer.repo.at("path"),),
                )
                break


def _in_control_plane(
    repo: GitOpsRepo, scope: FleetScope, environments: Mapping[str, Environment]
) -> Iterator[Problem]:
    """Report a branch of the control plane that has the documents of environments."""
    repository, branch, path = _written_place(repo.target)
    owners = [
        "main"
        for base in scope.fleet.base_repos
        if base.name == MAIN_BASE_REPO and _written_place(base.source)[:2] == (repository, branch)
    ]
    for environment in environments.values():
        own = _written_place(environment.control_plane)
        nested = posixpath.commonpath((path, own[2])) in {path, own[2]}
        if (repository, branch) == own[:2] and nested:
            owners.append(f"the environment {environment.name!r}")
    for owner in owners[:1] if repository else ():
        yield Problem(
            f"GitOpsRepo {repo.name!r} names the branch of {owner} in the control plane",
            repo.at("branch"),
            "name the GitOps repository, or a branch that is neither main nor an environment's",
            "gitops-repo-in-control-plane",
        )


def _improbable_place(repo: GitOpsRepo, scope: FleetScope, view: FleetView) -> Iterator[Problem]:
    """Report a branch that is nearly the environment's name, and a server that is another one.

    The name of a branch is free, unless all other environments have branches of their names.
    """
    environments, branch = view.environments or {}, repo.target.branch
    others = [
        item.target.branch == other.environment
        for other in view.scopes
        if other.environment != scope.environment
        for item in other.fleet.gitops_repos
    ]
    is_free = branch in environments or not (others and all(others))
    main = [base.source.branch for base in scope.fleet.base_repos if base.name == MAIN_BASE_REPO]
    read = _read_from(repo, view)
    if read:
        yield Problem(
            f"GitOpsRepo {repo.name!r} writes to the branch {branch!r}, from which the application "
            f"{read.name!r} is read: manifests of the environment come between people's files",
            repo.at("branch"),
            "name a branch, or a path, that has nothing else"
            if branch == scope.environment
            else f"write branch: {scope.environment}, or a path that has nothing else",
            "gitops-branch-misspelled",
            related=(read.source_where,),
        )
    elif not is_free and (
        misspelled(branch, [scope.environment]) or branch in main  # people work there
    ):
        yield Problem(
            f"GitOpsRepo {repo.name!r} names the branch {branch!r}, while all other environments "
            "write to branches of their names",
            repo.at("branch"),
            f"did you mean {scope.environment}?",
            "gitops-branch-misspelled",
        )
    declared = environments.get(scope.environment)
    servers = [
        repository_key(url).partition("/")[0] if "://" in url or "@" in url else ""
        for url in (repo.target.repo, declared.control_plane.repo if declared else "")
    ]
    if all(servers) and servers[0] != servers[1]:
        yield Problem(
            f"GitOpsRepo {repo.name!r} is on {servers[0]}, but the control plane on {servers[1]}: "
            "schedule cannot open a pull request there",
            repo.at("repo"),
            f"name a repository on {servers[1]}",
            "gitops-repo-other-server",
        )


def _read_from(repo: GitOpsRepo, view: FleetView) -> WorkloadRegistration | None:
    """Return the registration whose folder is in the folder that a GitOpsRepo writes to."""
    repository, branch, path = _written_place(repo.target)
    for registration in (item for scope in view.scopes for item in scope.fleet.registrations):
        if repository and registration.source.branch == branch:
            other, _, read = _written_place(registration.source)
            if other == repository and posixpath.commonpath((path, read)) == path:
                return registration
    return None


def _written_place(place: RepositoryPath) -> _Place:
    path = posixpath.normpath(place.path.strip("/") or ".")
    return repository_key(place.repo), place.branch, "" if path == "." else path
