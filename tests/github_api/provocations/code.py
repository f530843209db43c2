"""Refs, commits, their statuses."""

from __future__ import annotations

from typing import Final

from tests.github_api.provocations.provocation import NOWHERE, Provocation

REFS: Final = (
    Provocation(200, "GET", "git/ref/heads/main"),
    Provocation(200, "GET", "git/ref/heads/{branch}"),
    Provocation(404, "GET", "git/ref/heads/nowhere"),
    Provocation(409, "GET", "/repos/acme/empty/git/ref/heads/main"),
    Provocation(200, "GET", "git/matching-refs/heads/ma"),
    Provocation(200, "GET", "git/matching-refs/heads/nowhere"),
    Provocation(409, "GET", "/repos/acme/empty/git/matching-refs/heads/main"),
    Provocation(201, "POST", "git/refs", {"ref": "refs/heads/a/b/{name}", "sha": "{first}"}),
    Provocation(201, "POST", "git/refs", {"ref": "refs/tags/{name}", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"ref": "refs/heads/main", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"ref": "refs/heads/{name}", "sha": NOWHERE}),
    Provocation(422, "POST", "git/refs", {"ref": "main", "sha": "{first}"}),
    Provocation(422, "POST", "git/refs", {"sha": "{first}"}),
    Provocation(403, "POST", "git/refs", {"ref": "refs/heads/{name}", "sha": "{workflows}"}, "job"),
    Provocation(
        409, "POST", "/repos/acme/empty/git/refs", {"ref": "refs/heads/a", "sha": "{first}"}
    ),
    Provocation(200, "PATCH", "git/refs/heads/{branch}", {"sha": "{second}", "force": True}),
    Provocation(422, "PATCH", "git/refs/heads/{branch}", {"sha": "{second}"}),
    Provocation(422, "PATCH", "git/refs/heads/{protected}", {"sha": "{second}"}),
    Provocation(422, "PATCH", "git/refs/heads/nowhere", {"sha": "{second}"}),
    Provocation(
        403, "PATCH", "git/refs/heads/{branch}", {"sha": "{workflows}", "force": True}, "job"
    ),
    Provocation(409, "PATCH", "/repos/acme/empty/git/refs/heads/main", {"sha": "{second}"}),
    Provocation(204, "DELETE", "git/refs/heads/{branch}"),
    Provocation(422, "DELETE", "git/refs/heads/nowhere"),
    Provocation(422, "DELETE", "git/refs/heads/main"),
    Provocation(409, "DELETE", "/repos/acme/empty/git/refs/heads/main"),
    Provocation(200, "GET", "branches/main"),
    Provocation(200, "GET", "branches/{protected}"),
    Provocation(404, "GET", "branches/nowhere"),
    Provocation(200, "GET", "rules/branches/{protected}"),
    Provocation(200, "GET", "rules/branches/main"),
)

COMMITS: Final = (
    Provocation(200, "GET", "git/commits/{second}"),
    Provocation(404, "GET", f"git/commits/{NOWHERE}"),
    Provocation(409, "GET", f"/repos/acme/empty/git/commits/{NOWHERE}"),
    Provocation(201, "POST", "git/blobs", {"content": "b25l", "encoding": "base64"}),
    Provocation(201, "POST", "git/blobs", {"content": "one"}),
    Provocation(422, "POST", "git/blobs", {"content": "one", "encoding": "utf-16"}),
    Provocation(409, "POST", "/repos/acme/empty/git/blobs", {"content": "one"}),
    Provocation(
        201,
        "POST",
        "git/trees",
        {
            "base_tree": "{second}",
            "tree": [
                {"path": "a/b.txt", "mode": "100644", "type": "blob", "content": "one"},
                {"path": "README.md", "mode": "100644", "type": "blob", "sha": None},
            ],
        },
    ),
    Provocation(
        422,
        "POST",
        "git/trees",
        {
            "base_tree": "{second}",
            "tree": [{"path": "nothing", "mode": "100644", "type": "blob", "sha": None}],
        },
    ),
    Provocation(422, "POST", "git/trees", {"tree": []}),
    Provocation(404, "POST", "git/trees", {"base_tree": NOWHERE, "tree": []}),
    Provocation(409, "POST", "/repos/acme/empty/git/trees", {"tree": []}),
    Provocation(
        201,
        "POST",
        "git/commits",
        {"message": "m", "tree": "{tree}", "parents": ["{second}"]},
        "installation",
    ),
    Provocation(
        201,
        "POST",
        "git/commits",
        {
            "message": "m",
            "tree": "{tree}",
            "author": {"name": "n", "email": "e@f.gh", "date": "2026-01-02T03:04:05Z"},
        },
    ),
    Provocation(422, "POST", "git/commits", {"message": "m", "tree": NOWHERE}),
    Provocation(
        422, "POST", "git/commits", {"message": "m", "tree": "{tree}", "parents": [NOWHERE]}
    ),
    Provocation(409, "POST", "/repos/acme/empty/git/commits", {"message": "m", "tree": NOWHERE}),
    Provocation(200, "GET", "commits/{second}"),
    Provocation(200, "GET", "commits/main"),
    Provocation(200, "GET", "commits/{root}"),
    Provocation(422, "GET", f"commits/{NOWHERE}"),
    Provocation(409, "GET", "/repos/acme/empty/commits/main"),
    Provocation(200, "GET", "commits/{second}/pulls"),
    Provocation(200, "GET", "commits/{branch_of_pull}/pulls"),
    Provocation(422, "GET", f"commits/{NOWHERE}/pulls"),
    Provocation(409, "GET", "/repos/acme/empty/commits/main/pulls"),
    Provocation(200, "GET", "compare/{first}...{second}"),
    Provocation(200, "GET", "compare/main...{branch}"),
    Provocation(200, "GET", "compare/{second}...{first}?per_page=1&page=1"),
    Provocation(404, "GET", "compare/main...nowhere"),
    Provocation(404, "GET", "compare/main...{unrelated}"),
    Provocation(200, "GET", "contents/README.md"),
    Provocation(200, "GET", "contents/docs?ref={first}"),
    Provocation(404, "GET", "contents/nothing"),
    Provocation(404, "GET", "contents/README.md?ref=nowhere"),
)

STATUSES: Final = (
    Provocation(201, "POST", "statuses/{second}", {"state": "success"}),
    Provocation(
        201,
        "POST",
        "statuses/{second}",
        {"state": "pending", "context": "k", "description": "d", "target_url": "https://a.b/c"},
    ),
    Provocation(422, "POST", f"statuses/{NOWHERE}", {"state": "success"}),
    Provocation(422, "POST", "statuses/{second}", {"state": "skipped"}),
    Provocation(422, "POST", "statuses/{second}", {"state": "error", "description": "d" * 141}),
    Provocation(422, "POST", "statuses/{second}", {"state": "error", "target_url": "ftp://a"}),
    Provocation(200, "GET", "commits/{second}/status"),
    Provocation(200, "GET", "commits/{first}/status"),
    Provocation(404, "GET", "commits/nowhere/status"),
    Provocation(200, "GET", "commits/{second}/statuses"),
    Provocation(404, "GET", "commits/nowhere/statuses"),
)
