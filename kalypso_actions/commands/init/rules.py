"""Read the demands of branch rules on the workflow files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kalypso_actions.clients.github import GitHub, GitHubError, branches
from kalypso_actions.model.github import BranchRules
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.onboarding import RepositorySetup, Setup
from kalypso_actions.onboarding.workflows import RuleNeeds


def read_rule_needs(setup: Setup, github: GitHub | None) -> RuleNeeds:
    """Read the rules of the branches that cd and schedule push to; clones have none.

    Raises GitHubError.
    """
    if github is None:
        return RuleNeeds()
    environments = setup.environments
    of_cd = list(_rules(github, setup.control_plane, (item.branch for item in environments)))
    gitops = {name for item in environments for name in item.gitops_branches}
    own = {f"{OWN_BRANCHES}{item.name}" for item in environments}
    return RuleNeeds(
        cd_by_app=any(rules.refuses_pushes for rules in of_cd),
        cd_signs=any(rules.requires_signatures for rules in of_cd),
        schedule_signs=any(
            rules.requires_signatures for rules in _rules(github, setup.gitops, gitops | own)
        ),
    )


def _rules(
    github: GitHub, repository: RepositorySetup, names: Iterable[str]
) -> Iterator[BranchRules]:
    for name in sorted(set(names)):
        try:
            yield branches.rules(github, repository.name, name)
        except GitHubError as error:
            if error.status not in branches.WITHOUT_RULESETS:
                raise
