"""Breaks of the rules by which assignments share work, and processes divide it."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import Break

SCALE_BREAKS: Final = (
    Break(
        "kept texts cost nothing near a limit",
        "kalypso_go/gotemplate/budget.py",
        "        if self.work + work > most:\n",
        "        if self.work + work > most << 1:\n",
        ("tests/go/gotemplate/test_kept_texts.py::test_executions_are_the_same",),
    ),
    Break(
        "each element of a range has the text of the first",
        "kalypso_go/gotemplate/compiler.py",
        "            steps = self.body_with_dot(node.body, None)\n",
        "            steps = self.body_with_dot(node.body, only_field(node.pipe, self.dot))\n",
        ("tests/go/gotemplate/test_kept_texts.py::test_executions_are_the_same",),
    ),
    Break(
        "a commit forgets the other files of a folder that it changes",
        "kalypso_actions/clients/git/commits.py",
        "        if folder in existing and folder not in changes:\n",
        "        if folder not in changes and folder not in existing:\n",
        (
            "tests/clients/git/test_commits.py"
            "::test_changes_are_what_a_dictionary_would_make_of_them",
        ),
    ),
    Break(
        "a Template changes the configuration of other assignments",
        "kalypso_actions/rendering/folder_files.py",
        "            self._changing[names] = any(map(self._changes_data, names))\n",
        "            self._changing[names] = False\n",
        (
            "tests/rendering/test_shared_configuration.py"
            "::test_a_change_is_seen_by_no_other_assignment",
        ),
    ),
    Break(
        "a commit does not wait for the blobs of all processes",
        "kalypso_actions/clients/worker_processes.py",
        "            for receiver_ in receivers:\n",
        "            for receiver_ in receivers[:0]:\n",
        (
            "tests/clients/test_worker_processes.py"
            "::test_nothing_is_done_before_all_contents_are_written",
        ),
    ),
    Break(
        "keys that need labels of both sides are no input",
        "kalypso_actions/platform_config/digests.py",
        "            if mask & provided != mask\n",
        "            if not mask\n",
        (
            "tests/platform_config/test_digests.py"
            "::test_another_key_changes_the_digests_of_its_assignments",
        ),
    ),
)
