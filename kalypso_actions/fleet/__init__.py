"""Documents of a control plane and of registered repositories → the fleet of an environment.

schemas     the fields of each kind (pydantic)
editor_schemas
            JSON Schemas of the kinds, for editors
parsing     a document → its resource, or all problems with it
annotations Kalypso's annotations without effect
builders    a validated schema → the resource as a value of `model.kinds`
assembly    documents of the environment branch and of base repositories → Fleet
delivered_texts
            rules for the texts of a Workload
unread      Templates that may exist in faulty documents
workloads   documents of a registered repository → Workloads and deployment targets
name_conflicts
            the owner of a name that several registrations deliver
workload_folders
            checks of a folder of Workloads without a control plane
"""

from kalypso_actions.fleet.assembly import Branch, assemble, registrations_named_as_bases
from kalypso_actions.fleet.delivered_texts import TEXT_CODES
from kalypso_actions.fleet.editor_schemas import ANY_KIND, editor_schemas
from kalypso_actions.fleet.name_conflicts import (
    Owners,
    legacy_namespace_conflicts,
    workload_conflicts,
)
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.fleet.unread import template_may_exist
from kalypso_actions.fleet.workload_folders import check_workloads, folder_of_workloads
from kalypso_actions.fleet.workloads import read_workloads, registered_problem, without_workloads

__all__ = [
    "ANY_KIND",
    "TEXT_CODES",
    "Branch",
    "Diagnostics",
    "Owners",
    "assemble",
    "check_workloads",
    "editor_schemas",
    "folder_of_workloads",
    "legacy_namespace_conflicts",
    "parse_document",
    "read_workloads",
    "registered_problem",
    "registrations_named_as_bases",
    "template_may_exist",
    "without_workloads",
    "workload_conflicts",
]
