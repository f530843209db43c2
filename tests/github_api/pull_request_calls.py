"""The calls of the clients about pull requests and merges."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import merging, overviews, pull_requests
from tests.github_api import call_sequences as sequences
from tests.github_api.call_sequences import FLEET
from tests.github_api.client_call import call
from tests.github_api.issue_calls import COMMENTS, LABELS

_PULL: Final = ("GET R/pulls/{pull_number}", "PATCH R/pulls/{pull_number}")

PULL_REQUEST_CALLS: Final = {
    "merging.merge": call(
        sequences.merge, "GET R/pulls/{pull_number}", "PUT R/pulls/{pull_number}/merge"
    ),
    "merging.merge_as_allowed": call(
        sequences.merge_as_allowed,
        "GET R/pulls/{pull_number}",
        "PUT R/pulls/{pull_number}/merge",
    ),
    "merging.merge_when_allowed": call(
        sequences.merge_when_allowed,
        "GET R/pulls/{pull_number}",
        "PUT R/pulls/{pull_number}/merge",
        "POST /graphql",
    ),
    "merging.enable_auto_merge": call(
        lambda github, scene: merging.enable_auto_merge(
            github, FLEET, scene.pull(), head=scene.second
        ),
        "GET R/pulls/{pull_number}",
        "POST /graphql",
    ),
    "merging.disable_auto_merge": call(
        lambda github, scene: merging.disable_auto_merge(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}",
    ),
    "overviews.read_proposal": call(
        lambda github, scene: [
            scene.pull(),
            *(
                overviews.read_proposal(github, FLEET, head=head, base=base, commit=commit)
                for head, base, commit in (
                    ("feature", "main", scene.second),
                    ("a", "protected", "e" * 40),
                    ("a", "nowhere", None),
                )
            ),
        ],
        "POST /graphql",
    ),
    "pull_requests.find": call(
        lambda github, _: pull_requests.find(github, FLEET, head="main", base="a", state="all"),
        "GET R/pulls",
    ),
    "pull_requests.newest_closed": call(
        lambda github, scene: [
            scene.merged_pull(),
            pull_requests.newest_closed(github, FLEET, head="a", base="main", without="b"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.closed_pages": call(
        lambda github, scene: [
            scene.merged_pull(),
            *pull_requests.closed_pages(github, FLEET, head="a", base="main", without="b"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.open_into": call(
        lambda github, scene: [scene.pull(), pull_requests.open_into(github, FLEET, "main")],
        "GET R/pulls",
    ),
    "pull_requests.open_from": call(
        lambda github, scene: [
            scene.pull(),
            pull_requests.open_from(github, FLEET, FLEET.partition("/")[0], "main"),
        ],
        "GET R/pulls",
    ),
    "pull_requests.changed_paths": call(
        lambda github, scene: pull_requests.changed_paths(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}/files",
    ),
    "pull_requests.get": call(
        lambda github, scene: pull_requests.get(github, FLEET, scene.pull()),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.with_head": call(
        lambda github, scene: pull_requests.with_head(github, FLEET, scene.pull(), scene.first),
        "GET R/pulls/{pull_number}",
    ),
    "pull_requests.ensure": call(
        sequences.ensure_pull_request,
        "GET R/pulls",
        "POST R/pulls",
        _PULL[1],
        LABELS[1],
        "POST /graphql",
    ),
    "pull_requests.set_texts": call(sequences.set_texts, *_PULL),
    "pull_requests.close": call(
        sequences.close_pull_request, *_PULL, *LABELS, *COMMENTS, "POST /graphql"
    ),
    "pull_requests.is_own": call(
        lambda github, scene: pull_requests.is_own(
            github, FLEET, pull_requests.get(github, FLEET, scene.pull())
        ),
        "GET R/pulls/{pull_number}",
        "POST /graphql",
    ),
}
