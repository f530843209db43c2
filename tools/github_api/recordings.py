"""Real traffic of GitHub, recorded by its own people, and the same requests to the sandbox.

python -m tools.github_api.recordings    exit 1 where an answer has another shape, unexplained

What the recorded requests need (commits, issues, a renamed repository) is made before; then each
is sent to the sandbox as it was sent to GitHub, and the two answers are compared field by field:
status, fields and their kinds, headers, links between pages. `tools.github_api.known_differences`
lists the intended differences, with their reasons. The recorded answers are also held against
GitHub's description, so that our checks are no stricter than GitHub.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from kalypso_actions.sandbox import Sandbox
from tests.git_repositories import programs
from tools.github_api.known_differences import EXPLAINED
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
    """Compare; 1 where a difference is unexplained, or an explanation explains nothing."""
    recorded = read()
    with tempfile.TemporaryDirectory() as folder, Sandbox(Path(folder), programs()) as sandbox:
        found = {
            difference
            for name, exchanges in recorded.items()
            for replay in [Replay(sandbox, name)]
            for one in exchanges
            for difference in replay.compare(one)
        }
    unexplained = [one for one in sorted(found) if not any(why.explains(one) for why in EXPLAINED)]
    idle = [why for why in EXPLAINED if not any(map(why.explains, found))]
    for one in unexplained:
        print(f"unexplained: {one}")
    for why in idle:
        print(f"not found any more: {why.pattern} ({why.reason})")
    print(
        f"{sum(map(len, recorded.values()))} recorded answers, {len(found)} differences: "
        f"{len(unexplained)} unexplained; {len(idle)} explanations of what is no more"
    )
    return 1 if unexplained or idle else 0


def read() -> dict[str, list[Json]]:
    """Scenario -> its requests and answers, in order, times and ids made equal."""
    paths = {name: f"scenarios/api.github.com/{name}/normalized-fixture.json" for name in SCENARIOS}
    contents = FIXTURES.read(*paths.values())
    return {name: json.loads(contents[path]) for name, path in paths.items()}


if __name__ == "__main__":
    sys.exit(main())
