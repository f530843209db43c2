"""Semantic checks of a fleet: find valid documents that select nothing or apply nowhere.

view = FleetView((scope,), environments)
findings = check_fleet(view)
"""

from __future__ import annotations

from kalypso_actions.errors import Diagnostics, Finding, distinct
from kalypso_actions.gitops.own_files import duplicate_gitops_repos
from kalypso_actions.planning.fleet_checks import documents
from kalypso_actions.planning.fleet_checks.policies import check_policies
from kalypso_actions.planning.fleet_checks.promotion import check_promotion
from kalypso_actions.planning.fleet_checks.repositories import check_places
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.planning.fleet_checks.targets import check_targets
from kalypso_actions.planning.fleet_checks.templates import check_templates

__all__ = ["FleetScope", "FleetView", "check_fleet"]


def check_fleet(view: FleetView) -> tuple[Finding, ...]:
    """Return the findings of all checks, each once."""
    found = Diagnostics()
    check_places(view, found)
    meant = check_policies(view, found)
    check_targets(view, meant, found)
    check_promotion(view, found)
    check_templates(view, found)
    for scope in view.scopes:
        found.problems += duplicate_gitops_repos(scope.fleet.gitops_repos)
        found.problems += documents.unknown_types(scope.fleet.templates)
        found.warnings += documents.wrong_types(scope)
        found.warnings += documents.unknown_content_types(scope.fleet.templates)
        found.warnings += documents.misspelled_fields(scope)
        # Errors of the assignments that they stop, if there are any.
        templates = {template.name for template in scope.fleet.templates}
        found.warnings += documents.missing_templates(scope.fleet.cluster_types, templates)
        found.warnings += documents.invalid_schemas(scope.fleet.config_schemas)
    found.warnings += documents.check_configuration(view)
    found.notes += documents.renamed_cluster_types(view)
    found.notes += documents.check_layers(view)
    found.notes += documents.unset_properties(view)
    found.notes += documents.other_keywords(view)
    found.warnings += view.faults
    found.notes += view.unjudged()
    return tuple(distinct(found.findings))
