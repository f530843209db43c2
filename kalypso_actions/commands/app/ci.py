"""`kalypso app ci`: record the version and image of a commit, and start its deployment."""

from __future__ import annotations

from kalypso_actions.clients.github import statuses
from kalypso_actions.commands.app.environment import read_environments, read_main
from kalypso_actions.commands.shared.carry_out import carry_out
from kalypso_actions.commands.shared.context import CommandContext, checked_start
from kalypso_actions.commands.shared.result import CommandResult, dry_run_result
from kalypso_actions.errors import Location, Problem, UsageError
from kalypso_actions.inputs.app import AppCiInputs
from kalypso_actions.model.writes import PostStatus, Write
from kalypso_actions.promotion.environments import FROM_CI, first_environments
from kalypso_actions.promotion.starts import deploy_start
from kalypso_actions.promotion.version_records import Release, makes_releases, release_of
from kalypso_actions.report.application_document import AppCiDocument, app_ci_summary
from kalypso_actions.report.documents import ProblemEntry


def app_ci(inputs: AppCiInputs, context: CommandContext) -> CommandResult:
    """Record the version and image of a commit, and start its deployment.

    It runs after the build has pushed the image. Raises UsageError for a commit that is not on
    main, for another version than the commit has already, and without a first environment;
    KalypsoError if the source cannot be read.
    """
    checked_start(context)
    source = context.control_plane
    commit = inputs.commit or context.runtime.job.commit
    if not commit:
        raise UsageError("commit is needed", advice="outside of a job, name it")
    release = Release(inputs.version, inputs.image_tag, inputs.image_name)
    record = release.status()
    first = _first(inputs, context)
    main, ancestry = read_main(source, context)
    where = Location(context.url(source))
    if commit not in ancestry:
        raise UsageError(
            f"the commit {commit[:7]} is not on {main}",
            where,
            "release commits of the main branch only: run this job after a push to it",
        )
    is_recorded = _is_recorded(release, commit, inputs, context)
    warnings = [_without_digest(release, where)] if "@" not in release.image_tag else []
    starts = [
        deploy_start(
            source, inputs.deploy_workflow, environment=name, commit=commit, origin=FROM_CI
        )
        for name in (first if inputs.start_deploy else ())
    ]
    posted = () if is_recorded else (PostStatus(source, commit, record, is_new=True),)
    writes: tuple[Write, ...] = (*posted, *starts)
    document = AppCiDocument(
        commit=commit,
        version=release.version,
        image_tag=release.image_tag,
        environments=()
        if inputs.dry_run
        else tuple(str(each.inputs["environment"]) for each in starts),
        warnings=ProblemEntry.all_of(warnings),
    )
    if inputs.dry_run:
        return dry_run_result("app ci", document, writes, context)
    done = carry_out(writes, context)
    return CommandResult(document, app_ci_summary(document, context.url(source), done.started()))


def _first(inputs: AppCiInputs, context: CommandContext) -> tuple[str, ...]:
    """Return the first environments: given, or by the order on main. Raises UsageError."""
    environments = read_environments(context.control_plane, context)
    if inputs.start_environment and not environments:
        return inputs.start_environment
    if environments:
        return first_environments(inputs.start_environment, environments)
    if not inputs.start_deploy:
        return ()
    raise UsageError(
        "no first environment is known",
        Location(context.url(context.control_plane)),
        "give start-environment, or name the environments in .github/kalypso/environments.yaml",
    )


def _is_recorded(
    release: Release, commit: str, inputs: AppCiInputs, context: CommandContext
) -> bool:
    """Whether the commit has this version already.

    Raises UsageError if it has another one: a repeated build makes another image.
    """
    source = context.control_plane
    counts = makes_releases(context.github.identity(source), inputs.release_by)
    where = Location(context.url(source))
    posted = statuses.history(context.github, source, commit)
    known, problem = release_of(posted, counts, commit, where)
    if problem:
        raise UsageError.of([problem])
    if known and known != release:
        raise UsageError(
            f"the commit {commit[:7]} is released as {known.description!r} already",
            where,
            "release a new commit; a job that is run again must give the version and the image of "
            "its first attempt",
        )
    return known is not None


def _without_digest(release: Release, where: Location) -> Problem:
    return Problem(
        f"the image tag {release.image_tag!r} has no digest, so another image may take its place",
        where,
        "give the digest that the build has printed: image-tag: <tag>@sha256:<digest>",
        "image-without-digest",
    )
