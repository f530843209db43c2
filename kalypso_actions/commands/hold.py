"""`kalypso hold` and `kalypso release`: let nothing enter an environment, and let it in again.

    read → decide → writes → carry out → document

Both edit the PromotionPolicy on the environment's branch, by a commit or a pull request, with the
token of the person who asks. If somebody else moves the branch in between, it is read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC

from kalypso_actions.commands.cd.reading import check_on_main
from kalypso_actions.commands.shared.carry_out import Done, carry_out
from kalypso_actions.commands.shared.context import CommandContext, person_of
from kalypso_actions.commands.shared.environment_branch import (
    EnvironmentBranch,
    checked_branch,
    read_promotion,
    while_the_branch_moves,
)
from kalypso_actions.commands.shared.policy_entry import (
    PolicyFile,
    read_policy_file,
    short_reason,
)
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.inputs.chain import HoldInputs, ReleaseInputs
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.promotion_policy import Hold, policy_path
from kalypso_actions.model.writes import NewCommit, OpenedPullRequest, OpenPullRequest, Push, Write
from kalypso_actions.promotion.policy import same_person
from kalypso_actions.promotion.policy_file import with_hold, without_holds
from kalypso_actions.report.chain_document import WriteEntry
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.hold_document import HoldDocument, HoldEntry, hold_body
from kalypso_actions.sources.source_tree import normalize


@dataclass(frozen=True, slots=True)
class PolicyEdit:
    """The new text of a policy (None: no file), its holds, and those that it no longer has."""

    text: str | None
    holds: tuple[Hold, ...]
    released: tuple[Hold, ...] = ()


def hold(inputs: HoldInputs, context: CommandContext) -> HoldDocument:
    """Let nothing enter an environment, except the commit `at` if one is given.

    Raises UsageError for an unknown environment, a commit that is not on main, and a time that has
    passed; KalypsoError for a policy that is invalid or cannot be edited.
    """
    now, at = context.runtime.now(), inputs.at
    reason = short_reason(inputs.reason)
    if not reason:
        raise UsageError("--reason is empty", advice="say why: everybody who waits reads it")
    if inputs.until and inputs.until <= now:
        raise UsageError(f"--until has passed: it is {now:%Y-%m-%dT%H:%M:%SZ}")
    if at and not is_commit_id(at):
        at = context.repositories.resolve(context.url(context.control_plane), context.main(), at)
    if at:
        check_on_main(at, context.main(), context)
    until = inputs.until.astimezone(UTC) if inputs.until else None
    new = Hold(reason, person_of(context), until, at)

    def edit(policy: PolicyFile) -> PolicyEdit:
        known = policy.policy.holds
        if new in known:
            return PolicyEdit(policy.text, known)
        return PolicyEdit(with_hold(policy.text, new, policy.where), (*known, new))

    return _edited(inputs, context, edit, f"Hold {inputs.environment}")


def release(inputs: ReleaseInputs, context: CommandContext) -> HoldDocument:
    """Take away the holds of the person who asks, of `by`, or all of an environment.

    With `reason`, only those whose reason contains it. Holds that are over go, too. If others hold
    the environment, and no hold goes, that is a problem. Raises UsageError and KalypsoError as
    `hold`.
    """
    if inputs.by and inputs.all:
        raise UsageError("--by and --all exclude each other", advice="give one of them")
    login, now = inputs.by or person_of(context), context.runtime.now()

    def is_released(each: Hold) -> bool:
        if each.until is not None and each.until <= now:
            return True
        is_meant = inputs.reason.casefold() in each.reason.casefold()
        return is_meant and (inputs.all or same_person(each.by, login))

    def edit(policy: PolicyFile) -> PolicyEdit:
        known = policy.policy.holds
        places = {place for place, each in enumerate(known) if is_released(each)}
        kept = tuple(each for place, each in enumerate(known) if place not in places)
        released = tuple(known[place] for place in sorted(places))
        if policy.text is None or not places:
            return PolicyEdit(policy.text, known)
        return PolicyEdit(without_holds(policy.text, places, policy.where), kept, released)

    document = _edited(inputs, context, edit, f"Release {inputs.environment}")
    if document.holds and not document.released:
        problem = _nothing_released(inputs, document, login, context)
        return document.model_copy(update={"problems": ProblemEntry.all_of([problem])})
    name = inputs.environment
    enters = [
        Problem(
            f"the hold {each.reason!r} is released, too: newer commits of main than {each.at[:7]} "
            f"may enter {name}",
            _place(name, context),
            f"to keep them out, write a hold: kalypso hold {name}; to release one hold of several, "
            "name a part of its --reason",
        )
        for each in document.released
        if each.at and not document.holds
    ]
    return document.model_copy(update={"warnings": ProblemEntry.all_of(enters)})


def _nothing_released(
    inputs: ReleaseInputs, document: HoldDocument, login: str, context: CommandContext
) -> Problem:
    owners = list(dict.fromkeys(each.by.removeprefix("@") for each in document.holds))
    is_owner = any(same_person(login, owner) for owner in owners)
    near = nearest(login, owners) if inputs.by and not is_owner else ""
    advice = f"did you mean {near!r}? " if near else ""
    advice += "name its owner: " + " or ".join(f"--by {owner}" for owner in owners)
    message = f"nothing is released: {login} does not hold {inputs.environment}"
    if inputs.all or is_owner:
        message = f"nothing is released: no such hold has {inputs.reason!r} in its reason"
        advice = "write a part of its reason: " + "; ".join(each.line for each in document.holds)
    return Problem(message, _place(inputs.environment, context), advice)


def _place(environment: str, context: CommandContext) -> Location:
    """Return the place of the policy of an environment whose branch was read."""
    place = context.environment(environment).control_plane
    path = policy_path(normalize(place.path))
    return Location(context.url(context.control_plane), path, branch=place.branch)


def _edited(
    inputs: HoldInputs | ReleaseInputs,
    context: CommandContext,
    edit: Callable[[PolicyFile], PolicyEdit],
    title: str,
) -> HoldDocument:
    """Edit the policy on the environment's branch, or propose the edit."""
    environment = context.environment(inputs.environment)
    branch = checked_branch(environment, context.main(), context)
    own_name = f"{OWN_BRANCHES}hold/{environment.name}/{person_of(context)}"
    done = Done()

    def attempt() -> HoldDocument:
        now = read_promotion(branch, context, proposals=False)
        policy = read_policy_file(now, context)
        if policy.problems:
            raise KalypsoError.of(policy.problems)
        edited = edit(policy)
        writes = tuple(_writes(inputs, context, now, policy, edited, title, own_name))
        if not inputs.dry_run:
            carry_out(writes, context, done)
        pull = done.pulls.get(OpenedPullRequest(context.control_plane, own_name, now.name))
        return HoldDocument(
            control_plane=context.control_plane,
            environment=environment.name,
            changed=bool(writes) and not inputs.dry_run,
            holds=HoldEntry.all_of(edited.holds),
            released=HoldEntry.all_of(edited.released),
            environment_commit=done.commits.get(NewCommit(context.control_plane, now.name), ""),
            pull_request_url=pull[0].url if pull else "",
            writes=WriteEntry.all_of(writes) if inputs.dry_run else (),
        )

    return while_the_branch_moves(attempt, context)


def _writes(
    inputs: HoldInputs | ReleaseInputs,
    context: CommandContext,
    branch: EnvironmentBranch,
    policy: PolicyFile,
    edited: PolicyEdit,
    title: str,
    own_name: str,
) -> list[Write]:
    """Return the writes of an edit; none if it changes nothing."""
    if edited.text == policy.text:
        return []
    control_plane, proposes = context.control_plane, inputs.mode == "pull-request"
    own_head = context.remotes.heads(branch.url, [own_name]).get(own_name) if proposes else None
    push = Push(
        repository=control_plane,
        url=branch.url,
        branch=own_name if proposes else branch.name,
        base=branch.name,
        expected=own_head if proposes else branch.head,
        parent=branch.head,
        changes={policy.path: None if edited.text is None else edited.text.encode()},
        message=title,
        commit_by=inputs.commit_by,
        alternative="" if proposes else "use --mode pull-request",
    )
    if not proposes:
        return [push]
    pull_request = OpenPullRequest(
        repository=control_plane,
        head=own_name,
        base=branch.name,
        title=title,
        body=hold_body(branch.environment.name, edited.holds, edited.released),
        commit=NewCommit(control_plane, own_name),
    )
    return [push, pull_request]
