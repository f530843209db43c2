"""All writes of the clients to GitHub's API."""

from __future__ import annotations

from typing import Final

from tests.faults.branch_writes import BRANCH_WRITES
from tests.faults.issue_writes import ISSUE_WRITES
from tests.faults.pull_request_writes import PULL_REQUEST_WRITES

WRITES: Final = (*BRANCH_WRITES, *PULL_REQUEST_WRITES, *ISSUE_WRITES)
