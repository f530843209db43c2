"""An embedded GitHub and Azure Resource Graph on a loopback port, over bare git repositories.

    with Sandbox(folder, programs) as sandbox:
        sandbox.create_repository("acme/fleet", {"README.md": "Fleet"})
        run_a_program(sandbox.environment(sandbox.create_token()))

The README says what it serves, and in what it is as unkind as the real servers.
"""

from kalypso_sandbox.embedded import Sandbox
from kalypso_sandbox.faults import Fault
from kalypso_sandbox.state import Exchange

__all__ = ["Exchange", "Fault", "Sandbox"]
