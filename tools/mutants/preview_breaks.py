"""Breaks of previews: whose rights, whose secrets, whose pull request."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import COMMANDS, Break

PREVIEW: Final = "tests/commands/chain/test_preview.py"
SECRETS: Final = "tests/commands/chain/test_preview_secrets.py"
COMMENT: Final = "tests/commands/chain/test_preview_comment.py"

PREVIEW_BREAKS: Final = (
    Break(
        "the App reads what only the head registers",
        f"{COMMANDS}/preview/environments.py",
        "    trust({change.url, *known})\n",
        "",
        (f"{SECRETS}::test_repositories_that_only_the_head_registers_are_read_by_the_job",),
    ),
    Break(
        "a plugin runs that only the head names",
        f"{COMMANDS}/preview/environments.py",
        "    trusted = trusted_scheduler(new, known, old)\n",
        "    trusted = new\n",
        (f"{PREVIEW}::test_a_plugin_that_only_the_head_names_does_not_run",),
    ),
    Break(
        "a repository of another visibility is shown",
        "kalypso_actions/comparison/visibility.py",
        "        if visibility is None or ORDER.index(visibility) < level\n",
        "        if visibility is None\n",
        (f"{SECRETS}::test_a_less_visible_repository_is_counted",),
    ),
    Break(
        "what arrives is not masked by the secrets of its files",
        f"{COMMANDS}/preview/environments.py",
        "        return self.pair.masked(mask) if self.pair else mask.masked(self.faults)\n",
        "        return MaskedComparison(self.pair.comparison if self.pair else self.faults)\n",
        (f"{SECRETS}::test_a_planted_secret",),
    ),
    Break(
        "the comment of an older head replaces that of a newer one",
        f"{COMMANDS}/preview/publish.py",
        "        if pull.head_commit == request.head_commit:\n",
        "        if pull.head_commit:\n",
        (f"{PREVIEW}::test_an_outdated_run_does_not_comment",),
    ),
    Break(
        "problems of the base fail a change",
        f"{COMMANDS}/preview/environments.py",
        "    problems, problems_known = new_findings(base.problems, head.problems)\n    warnings,",
        "    problems, problems_known = new_findings((), head.problems)\n    warnings,",
        (f"{PREVIEW}::test_known_problems_of_the_branch_do_not_fail",),
    ),
    Break(
        "the comment goes to any pull request of the branch",
        "kalypso_actions/promotion/previewed_pull_requests.py",
        "        and (pull.head_branch, pull.head_commit) == (head_branch, head_commit)\n",
        "",
        (f"{COMMENT}::test_only_a_pull_request_with_this_head",),
    ),
    Break(
        "the first of two pull requests gets the comment",
        "kalypso_actions/promotion/previewed_pull_requests.py",
        "    return matching[0] if len(matching) == 1 else None\n",
        "    return matching[0] if matching else None\n",
        (f"{COMMENT}::test_two_pull_requests_with_this_head",),
    ),
    Break(
        "a forged artifact links to another server",
        f"{COMMANDS}/preview_comment.py",
        "    return without_links(document)\n",
        "    return document\n",
        (f"{COMMENT}::test_everything_in_it_stays_text",),
    ),
)
