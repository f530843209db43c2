"""`kalypso cd`: a commit of main reaches an environment."""

from __future__ import annotations

from kalypso_actions.clients.github import commits, statuses
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.commands.environment_branch import EnvironmentBranch
from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.commands.promoting import Promoted, check_promotable, promote
from kalypso_actions.commands.starting import acknowledge_cd, start_schedule
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses as table
from kalypso_actions.report.cd_page import CdFacts, cd_headline, cd_page
from kalypso_actions.report.chain_documents import CdDocument
from kalypso_actions.report.documents import ProblemEntry


def cd(inputs: CdInputs, session: ChainSession) -> Outcome:
    """Promote a commit of main to an environment, and start schedule for it.

    The commit is written to base-repo.yaml on the environment's branch, or proposed to it. Run
    again, this repairs what an earlier run has left undone. `verify-only` replaces the record of
    the start, and otherwise only looks whether the inputs hold. Raises UsageError for an
    environment that does not exist, and for a commit that is not on main or goes back without being
    told so.
    """
    environment = session.environment(inputs.environment)
    main = session.main()
    branch = EnvironmentBranch(session, environment, main)
    if inputs.verify_only:
        check_promotable(inputs, session, branch, main)
        acknowledge_cd(session, inputs.environment, inputs.commit)
        return _verified(inputs, session, branch)
    acknowledge_cd(session, inputs.environment, inputs.commit)
    promoted = promote(inputs, session, branch, main)
    _post_statuses(inputs, session, promoted)
    _yield_to_newer(inputs, session, branch, promoted)
    started = ""
    if promoted.action in {"written", "unchanged"}:
        started = start_schedule(
            session,
            inputs.schedule_workflow,
            environment=inputs.environment,
            environment_commit=promoted.environment_commit,
            force=_is_wish(inputs, promoted),
        )
    document = CdDocument(
        environment=inputs.environment,
        commit=inputs.commit,
        action=promoted.action,
        changed=promoted.changed,
        reason=promoted.withheld.reason if promoted.withheld else "",
        environment_commit=promoted.environment_commit,
        pull_request_number=promoted.pull.number if promoted.pull else None,
        pull_request_url=promoted.pull.url if promoted.pull else "",
        warnings=ProblemEntry.all_of(_warnings(promoted, session)),
        problems=ProblemEntry.all_of(_problems(promoted)),
    )
    facts = CdFacts(
        repository_url=session.url(session.control_plane),
        branch=branch.name,
        before=promoted.before,
        hook=promoted.hook.summary() if promoted.hook else "",
        started=started,
    )
    session.around.say(f"{cd_headline(document)}.")
    return Outcome(document, cd_page(document, facts), failed=bool(document.problems))


def _is_wish(inputs: CdInputs, promoted: Promoted) -> bool:
    """Whether a person wants what the environment has once more, whatever people took out."""
    return promoted.action == "unchanged" and not inputs.promoted_from


def _verified(inputs: CdInputs, session: ChainSession, branch: EnvironmentBranch) -> Outcome:
    document = CdDocument(environment=inputs.environment, commit=inputs.commit, verify_only=True)
    session.around.say(f"{cd_headline(document)}.")
    facts = CdFacts(repository_url=session.url(session.control_plane), branch=branch.name)
    return Outcome(document, cd_page(document, facts))


def _warnings(promoted: Promoted, session: ChainSession) -> list[Problem]:
    if promoted.action != "rejected" or promoted.pull is None:
        return []
    message = f"nothing is proposed: #{promoted.pull.number} with the same commit was closed "
    advice = "to propose it again, start cd by hand, without promoted-from; a newer commit of main "
    return [
        Problem(
            f"{message}without merging",
            Location(session.url(session.control_plane)),
            f"{advice}is proposed by itself",
        )
    ]


def _problems(promoted: Promoted) -> list[Problem]:
    hook = promoted.hook
    if hook is None or not hook.failed:
        return []
    advice = "its output says why; correct that, then run again"
    return [Problem(f"{hook.reason}: nothing was written", advice=advice)]


def _post_statuses(inputs: CdInputs, session: ChainSession, promoted: Promoted) -> None:
    """Tell where the commit stands, and the end of the one that it replaces."""
    environment, commit = inputs.environment, inputs.commit
    match promoted:
        case Promoted(action="written"):
            _post(session, commit, table.promoted(environment))
        case Promoted(action="unchanged"):
            _post_unless_deployed(session, commit, table.promoted(environment))
        case Promoted(action="proposed", pull=pull) if pull:
            _post(session, commit, table.waiting_for(environment, pull.number))
        case Promoted(withheld=withheld) if withheld:
            back = table.rolled_back(environment, withheld.back_to or "none")
            _post_unless_deployed(session, commit, back)
        case Promoted(action="superseded", before=before) if before:
            _post_unless_deployed(session, commit, table.superseded(environment, before))
        case Promoted(hook=hook) if hook:
            _post(session, commit, table.failed(environment, hook.reason))
    if promoted.replaced:
        _end(session, environment, promoted.replaced, commit)


def _yield_to_newer(
    inputs: CdInputs, session: ChainSession, branch: EnvironmentBranch, promoted: Promoted
) -> None:
    """What has replaced the commit since it was written may have been told before it was.

    Whoever tells last looks last, so that the older commit ends superseded whoever is faster.
    """
    if promoted.action not in {"written", "unchanged", "proposed"}:
        return
    standing = branch.read(proposals=promoted.action == "proposed")
    now = standing.base.commit
    if standing.proposal and standing.proposal.commit:
        now = standing.proposal.commit
        branch.describe(standing, now)
    if now and now != inputs.commit:
        _end(session, inputs.environment, inputs.commit, now)


def _end(session: ChainSession, environment: str, commit: str, by: str) -> None:
    """Tell that another commit came, unless this one was deployed.

    What is no longer in the repository cannot be told anything.
    """
    relation = commits.relation(session.github, session.control_plane, commit, by)
    if relation is not None:
        goes_back = relation in {"behind", "diverged"}
        end = table.rolled_back if goes_back else table.superseded
        _post_unless_deployed(session, commit, end(environment, by))


def _post_unless_deployed(session: ChainSession, commit: str, status: CommitStatus) -> None:
    latest = statuses.latest(session.github, session.control_plane, commit)
    if not table.is_deployed(latest.get(status.context.lower())):
        _post(session, commit, status)


def _post(session: ChainSession, commit: str, status: CommitStatus) -> None:
    if statuses.post(session.github, session.control_plane, commit, status):
        session.around.say(f"{commit[:7]}: {status.context}: {status.description}")
