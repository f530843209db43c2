"""An embedded GitHub and Azure Resource Graph on a loopback port, over bare git repositories.

A request passes through:

server          reads the request; sends the response, half of it, or nothing
dispatcher      applies the faults that are on, and records the exchange
application     routes: GitHub's API, git, Azure, the sandbox's own controls
rest            GitHub's API: token, endpoint, permission; then an endpoint of `github`
git_http        git: fetches with the git program, pushes with `receive_pack`
azure           identities and Resource Graph, over simulated clusters

They share a `state`: the `store` of a folder, and its lock.
"""

from kalypso_actions.sandbox.embedded import Sandbox
from kalypso_actions.sandbox.faults import Fault
from kalypso_actions.sandbox.traffic import Exchange

__all__ = ["Exchange", "Fault", "Sandbox"]
