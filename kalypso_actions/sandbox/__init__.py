"""An embedded GitHub and Azure Resource Graph on a loopback port, over bare git repositories.

The way of a request:

server          reads it, and sends the answer, the half of it, or nothing
front           meets it with the faults that are switched on, and notes it
application     where its path leads: GitHub's API, git, Azure, the sandbox's own controls
rest            GitHub's API: who asks, which endpoint, whether they may; then `github`, endpoints
git_http        git: fetches by git itself, pushes by `receive_pack`
azure           identities and Resource Graph, over simulated clusters

What they share is a `state`: the `store` of a folder and its lock.
"""

from kalypso_actions.sandbox.embedded import Sandbox
from kalypso_actions.sandbox.faults import Fault
from kalypso_actions.sandbox.traffic import Exchange

__all__ = ["Exchange", "Fault", "Sandbox"]
