"""Breaks of the rules by which assignments share work, and processes divide it."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import Break

SCALE_BREAKS: Final = (
    Break(
        "kept texts cost nothing near a limit",
        "kalypso_actions/gotemplate/budget.py",
        "        if self.work + work > most:\n",
        "        if self.work + work > most << 1:\n",
        ("tests/gotemplate/test_kept_texts.py::test_executions_are_the_same",),
    ),
    Break(
        "a Template changes the configuration of other assignments",
        "kalypso_actions/rendering/folder_files.py",
        "        if any(map(self._changes_data, names)):\n",
        "        if not names:\n",
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
        "            if mask & of_cluster_type != mask != mask & of_target\n",
        "            if not mask\n",
        (
            "tests/platform_config/test_digests.py"
            "::test_another_key_changes_the_digests_of_its_assignments",
        ),
    ),
)
