"""Documents of a control plane and of registered repositories → the fleet of one environment.

schemas.py     what each kind may and must hold (pydantic, at the border)
parsing.py     one document → one noun, or every problem with it
assembly.py    the documents of the environment branch and of its base repositories → Fleet
workloads.py   the documents of a registered repository → Workloads and deployment targets
"""

from kalypso_actions.fleet.assembly import Branch, assemble, registrations_named_as_bases
from kalypso_actions.fleet.parsing import Diagnostics, parse_document
from kalypso_actions.fleet.workloads import read_workloads, workload_conflicts

__all__ = [
    "Branch",
    "Diagnostics",
    "assemble",
    "parse_document",
    "read_workloads",
    "registrations_named_as_bases",
    "workload_conflicts",
]
