"""What is open about an environment, though its sources are again as its branches know them.

An application changes and changes back: the branches of the environment were made of just what is
there now. What was opened in between still says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kalypso_actions import gitops
from kalypso_actions.clients.github import issues, pull_requests
from kalypso_actions.commands.chain_session import ChainSession
from kalypso_actions.commands.gitops_branches import GitOpsBranch, tree_at
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model.github import PathHead
from kalypso_actions.promotion.moved import has_moved
from kalypso_actions.report import failure_issues, pull_request


def outdated(
    session: ChainSession,
    environment: str,
    places: Sequence[GitOpsBranch],
    back: Mapping[str, PathHead],
) -> frozenset[str]:
    """The registrations among those that are `back` that something open may be about.

    That is a proposal of ours that was made of another content, or any issue of ours about the
    environment. Raises KalypsoError where it cannot be looked up.
    """
    if not back:
        return frozenset()
    known = issues.find_all(session.github, places[0].repository)
    if failure_issues.about(known, environment):
        return frozenset(back)
    proposed = [one for place in places for one in _proposed(session, environment, place)]
    return frozenset(
        name
        for name, now in back.items()
        for one in proposed
        if (then := one.registrations.get(name)) and has_moved(then.commit, then.tree, now)
    )


def _proposed(
    session: ChainSession, environment: str, place: GitOpsBranch
) -> Iterator[PreviousSources]:
    """What our open proposals to a branch were made of."""
    for pull in pull_requests.into(session.github, place.repository, place.branch):
        in_repository = pull.head_repository.lower() == place.repository.lower()
        if in_repository and pull_request.is_ours(pull.body, environment):
            tree = tree_at(session, place, pull.head_commit)
            found = gitops.read_sources(tree.sources, environment)
            if found:
                yield found
