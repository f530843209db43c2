"""Compare the sandbox with GitHub's own recordings of real traffic.

python -m tools.github_api.recordings    exit 1 if an answer has an unexplained difference

The tool creates the preconditions of the recorded requests (commits, issues, a renamed
repository), sends each request to the sandbox, and compares the two answers field by field:
status, fields and their kinds, headers, links between pages. `tools.github_api.known_differences`
lists the intended differences, with their reasons. The tool also checks the recorded answers
against GitHub's description, so that our checks are no stricter than GitHub.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from kalypso_sandbox import Sandbox
from tests.git_repositories import programs
from tools.github_api.known_differences import KNOWN_DIFFERENCES
from tools.github_api.npm_packages import FIXTURES
from tools.github_api.replay import Replay

Json = Any

SCENARIOS: Final = (
    "add-labels-to-issue",
    "create-status",
    "errors",
    "get-repository",
    "git-refs",
    "labels",
    "paginate-issues",
    "rename-repository",
)


def main() -> int:
    """Compare; return 1 for an unexplained difference, or an unused explanation."""
    recorded = read()
    with tempfile.TemporaryDirectory() as folder, Sandbox(Path(folder), programs()) as sandbox:
        differences = {
            difference
            for name, exchanges in recorded.items()
            for replay in [Replay(sandbox, name)]
            for exchange in exchanges
            for difference in replay.compare(exchange)
        }
    unexplained = [
        difference
        for difference in sorted(differences)
        if not any(known.explains(difference) for known in KNOWN_DIFFERENCES)
    ]
    unused = [known for known in KNOWN_DIFFERENCES if not any(map(known.explains, differences))]
    for difference in unexplained:
        print(f"unexplained: {difference}")
    for known in unused:
        print(f"unused explanation: {known.pattern} ({known.reason})")
    print(
        f"{sum(map(len, recorded.values()))} recorded answers, {len(differences)} differences: "
        f"{len(unexplained)} unexplained; {len(unused)} unused explanations"
    )
    return 1 if unexplained or unused else 0


def read() -> dict[str, list[Json]]:
    """Return requests and answers by scenario, with normalized times and ids."""
    paths = {name: f"scenarios/api.github.com/{name}/normalized-fixture.json" for name in SCENARIOS}
    contents = FIXTURES.read(*paths.values())
    return {name: json.loads(contents[path]) for name, path in paths.items()}


if __name__ == "__main__":
    sys.exit(main())
