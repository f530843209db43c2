"""Branches and commits that an Environment or a BaseRepo names, and that are not as it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kalypso_actions.errors import Diagnostics, Finding
from kalypso_actions.fleet.parsing import parse_document
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.history import BranchPosition
from kalypso_actions.model.kinds import MAIN_BASE_REPO, BaseRepo, Environment
from kalypso_actions.model.source_forms import branch_fault


def environment_branch_missing(
    environment: Environment, fault: str = "there is no such branch", advice: str = ""
) -> Finding:
    """Return the finding of an Environment whose branch cannot be read: it goes unchecked.

    A name that means another branch is an error, with the name to write.
    """
    place = environment.control_plane
    of_name, meant = branch_fault(place.branch)
    return Finding(
        f"Environment {environment.name!r} names the branch {place.branch!r}, which "
        + (of_name or f"is not checked: {fault}"),
        place.places.get("branch", environment.where),
        f"write {meant}"
        if meant
        else "write the name of a branch, such as dev"
        if of_name
        else advice or "correct the name, or push the branch",
        "environment-branch-missing",
        level="error" if of_name else "warning",
    )


def foreign_commits(
    bases: Iterable[tuple[BaseRepo, Reading]], position: BranchPosition | None
) -> Iterator[Finding]:
    """Yield the finding of the BaseRepo named main if the commit's position is not on main."""
    for base, at_commit in bases:
        is_main = (
            base.name == MAIN_BASE_REPO and base.commit and not branch_fault(base.source.branch)[0]
        )
        if is_main and position and position.ahead is None and not position.fault:
            yield _commit_not_on_main(base, position, at_commit)


def _commit_not_on_main(base: BaseRepo, position: BranchPosition, at_commit: Reading) -> Finding:
    """Return the finding of a BaseRepo whose commit is not on its branch, and that has these files.

    A commit of an environment's branch is an error: the environment would lose its applications.
    """
    is_of_environment = has_kind(at_commit, "BaseRepo") or has_kind(at_commit, "GitOpsRepo")
    what = ", but on the branch of an environment" if is_of_environment else ""
    branch = base.source.branch
    return Finding(
        f"BaseRepo {base.name!r} names the commit {position.commit[:7]}, which is not on {branch}"
        f"{what}",
        base.commit_where or base.where,
        f"write a commit of {branch}, or promote one: cd writes it",
        "base-commit-foreign",
        level="error" if is_of_environment else "warning",
    )


def main_base(reading: Reading) -> BaseRepo | None:
    """Return the BaseRepo named main of a branch; None without a valid one."""
    for document in reading.documents:
        if (document.kind, document.name) == ("BaseRepo", MAIN_BASE_REPO):
            base = parse_document(document, Diagnostics())
            return base if isinstance(base, BaseRepo) else None
    return None


def older_commit(base: BaseRepo, before: str, taken: int, own: Reading) -> Iterator[Finding]:
    """Yield the finding of a BaseRepo that has gone back `taken` commits of main, from `before`.

    A hold says that people mean it, as `kalypso rollback` does.
    """
    if own.policy.policy is None or not own.policy.policy.holds:
        yield Finding(
            f"BaseRepo {base.name!r} goes back from {before[:7]} to {(base.commit or '')[:7]}: the "
            f"environment loses {counted(taken, 'commit')} of {base.source.branch}",
            base.commit_where or base.where,
            f"write commit: {before}; to go back, run kalypso rollback, which also holds the "
            "environment there",
            "base-commit-older",
            level="warning",
        )


def commit_ahead(base: BaseRepo, before: Mapping[str, str]) -> Finding:
    """Return the finding of a BaseRepo with a commit of main that no environment before it had.

    `before` are their present commits. It is a warning, as what breaks nothing yet: the clusters
    run what nobody has seen run.
    """
    commit, names = (base.commit or "")[:7], " or ".join(before)
    have = " and ".join(f"{name} names {commit[:7]}" for name, commit in before.items())
    return Finding(
        f"BaseRepo {base.name!r} names the commit {commit}, which has never been in {names}, the "
        f"environment before this one: {have}, which is older",
        base.commit_where or base.where,
        f"promote {commit} to {names} first, or write commit: {next(iter(before.values()))}",
        "base-commit-ahead",
        level="warning",
    )


def has_kind(reading: Reading, kind: str) -> bool:
    """Whether a branch has a document of a kind."""
    return any(document.kind == kind for document in reading.documents)
