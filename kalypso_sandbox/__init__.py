"""An embedded GitHub and Azure Resource Graph on a loopback port, over bare git repositories.

A request passes through:

server          reads the request; sends the response, half of it, or nothing
dispatcher      applies the faults that are on, and records the exchange
application     routes: GitHub's API, git, Azure, the sandbox's own controls
rest            GitHub's API: token, endpoint, permission; then an endpoint of `github`
git_http        git: fetches with the git program, pushes with `receive_pack`
azure           identities and Resource Graph, over simulated clusters

They share a `state`: the `store` of a folder, and its lock. The modules beside them:

embedded        the sandbox as a context manager
certificates    its certificates for the names of this machine
controls, control_routes, page
                the sandbox's own controls, and its page for people
faults, interruptions, lag, traffic
                faults on request, events between requests, lagging endpoints, recorded requests
state, store, entities, event_log, folder_lock
                the data of a sandbox, in memory and on disk
github, payloads, endpoints, routing, pagination, strict_json
                GitHub's API: its endpoints, the way to them, the JSON that they read and return
tokens, permissions, rate_limits, branch_rules, valid_names
                GitHub's rules about requests, branches and names
administration, pull_request_changes, mergeability, merging, auto_merges, issue_events, statuses
                what people and GitHub do to repositories, pull requests, issues and commits
repositories, revisions, ancestry, git_commits, loose_files, loose_objects, diff_tree, tree_changes
                bare git repositories
receive_pack, incoming_pack, pkt_lines, pushes
                a push: git's protocol, its objects, its consequences
events, workflow_files, workflow_runner
                the events for workflows, and what runs them
"""

from kalypso_sandbox.embedded import Sandbox
from kalypso_sandbox.faults import Fault
from kalypso_sandbox.traffic import Exchange

__all__ = ["Exchange", "Fault", "Sandbox"]
