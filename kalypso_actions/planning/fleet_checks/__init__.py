"""Semantic checks of a fleet: find valid documents that select nothing or apply nowhere.

scope           the fleets that are checked together, as far as they were read
branches        main and the environments' branches among the given ones
repositories    the GitOpsRepo and BaseRepo that a branch lacks
places          branches that two environments write to
policies        policies that select nothing, or the same as another
targets         targets and applications that run nowhere
templates       the types of Templates
configuration   ConfigMaps and schemas that apply nowhere, and keywords without effect
label_advice    the label that was probably meant
acknowledgement warnings that an annotation acknowledges
"""

from __future__ import annotations

from kalypso_actions.fleet import Diagnostics
from kalypso_actions.gitops import duplicate_gitops_repos
from kalypso_actions.planning.fleet_checks.acknowledgement import Acknowledgements
from kalypso_actions.planning.fleet_checks.branches import (
    ControlPlaneBranches,
    Registered,
    RegisteredReading,
    check_branches,
    foreign_bases,
    unpinned_branches,
)
from kalypso_actions.planning.fleet_checks.configuration import (
    check_configuration,
    misspelled_keywords,
    schema_faults,
)
from kalypso_actions.planning.fleet_checks.places import check_places
from kalypso_actions.planning.fleet_checks.policies import check_policies
from kalypso_actions.planning.fleet_checks.repositories import (
    BASE_REPO_MISSING,
    KnownRepositories,
    has_kind,
    missing_repositories,
)
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.planning.fleet_checks.targets import check_targets
from kalypso_actions.planning.fleet_checks.templates import (
    merge_field_faults,
    misspelled_fields,
    unknown_content_types,
    unknown_types,
    wrong_types,
)

__all__ = [
    "BASE_REPO_MISSING",
    "Acknowledgements",
    "ControlPlaneBranches",
    "FleetScope",
    "FleetView",
    "KnownRepositories",
    "Registered",
    "RegisteredReading",
    "check_branches",
    "check_fleet",
    "foreign_bases",
    "has_kind",
    "merge_field_faults",
    "missing_repositories",
    "misspelled_keywords",
    "schema_faults",
    "unknown_types",
    "unpinned_branches",
]


def check_fleet(view: FleetView) -> Diagnostics:
    """Return the findings of all checks, each once."""
    diagnostics = Diagnostics()
    diagnostics.warnings += check_places(view)
    meant = check_policies(view, diagnostics)
    check_targets(view, meant, diagnostics)
    for scope in view.scopes:
        diagnostics.problems += duplicate_gitops_repos(scope.fleet.gitops_repos)
        diagnostics.problems += unknown_types(scope.fleet.templates)
        diagnostics.warnings += wrong_types(scope)
        diagnostics.warnings += unknown_content_types(scope.fleet.templates)
        diagnostics.warnings += misspelled_fields(scope)
    diagnostics.warnings += check_configuration(view)
    diagnostics.warnings += view.faults
    return Diagnostics(
        list(dict.fromkeys(diagnostics.problems)),
        list(dict.fromkeys(diagnostics.warnings)),
        list(dict.fromkeys(diagnostics.notes)),
    )
