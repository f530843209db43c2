"""Breaks of the rules by which a run reuses folders with unchanged inputs."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import COMMANDS, GITOPS, Break, case

PLANS: Final = "tests/test_incremental_rendering.py"
WHOLE: Final = f"{PLANS}::test_the_tree_is_that_of_a_whole_run"
RENDERED: Final = f"{PLANS}::test_folders_that_are_rendered"
ID: Final = f"{PLANS}::test_the_id_of_a_tree"
INPUTS: Final = "kalypso_actions/input_digests.py"
ASSIGNMENTS: Final = "kalypso_actions/incremental_rendering.py"
FOLDERS: Final = f"{GITOPS}/unchanged_folders.py"
UNCHANGED: Final = "tests/gitops/test_unchanged_folders.py"
RECORDS: Final = f"{GITOPS}/inputs_record.py"
TAKEN_OVER: Final = "commands/chain/schedule_taken_over"

UNCHANGED_BREAKS: Final = (
    Break(
        "each tree counts as one that we have written",
        "kalypso_actions/snapshot/base_tree.py",
        "    written = bool(known) and ",
        "    written = True or ",
        (case(TAKEN_OVER, "a_folder_that_people_edit_is_rendered"),),
    ),
    Break(
        "anybody can record a tree",
        f"{COMMANDS}/runtime/tree_records.py",
        "    posted = own_statuses(context, commit)\n",
        "    github, control_plane = context.github, context.control_plane\n"
        "    posted = statuses.of_commits(github, control_plane, [commit])[commit]\n",
        (case(TAKEN_OVER, "forged_records_pass_nothing_on"),),
    ),
    Break(
        "the id of a tree leaves its folders out",
        RECORDS,
        'f"{folders.get(name)} {name}"',
        "name",
        (ID,),
    ),
    Break(
        "the id of a tree leaves its record out",
        RECORDS,
        "    lines: list[str] = [blob_id(sources)]\n",
        "    lines: list[str] = []\n",
        (ID,),
    ),
    Break(
        "trees that others have changed are taken over",
        FOLDERS,
        " for base in bases if base.is_as_written]",
        " for base in bases]",
        (RENDERED,),
    ),
    Break(
        "one of two trees suffices",
        FOLDERS,
        "    if len(records) < max(1, len(bases)):\n",
        "    if not records:\n",
        (f"{PLANS}::test_one_of_two_trees_is_not_as_written",),
    ),
    Break("other code renders the same", INPUTS, "_digest([code, ", '_digest(["", ', (RENDERED,)),
    Break(
        "Templates do not decide files",
        INPUTS,
        "_digest([item.name, names]) + templates",
        "_digest([item.name, names])",
        (WHOLE,),
    ),
    Break(
        "the configuration does not decide files",
        INPUTS,
        "_hashed(own + self._config.of_cluster_type(item))",
        "_hashed(own)",
        (WHOLE,),
    ),
    Break(
        "another target's folder counts as an unchanged one",
        FOLDERS,
        "    if set(folder.folders()) == paths:\n",
        "    if folder.folders():\n",
        (f"{UNCHANGED}::test_folders_with_anything_else_are_looked_at",),
    ),
    Break(
        "a file on a wrong level counts as one of a target",
        FOLDERS,
        '        and text.count("/") == depth * (count + others) + (depth + 1) * files\n',
        "",
        (f"{UNCHANGED}::test_folders_with_anything_else_are_looked_at",),
    ),
    Break(
        "a failure is not looked for again",
        ASSIGNMENTS,
        "unfit = {place for place, item in rendered.items() if item.failure}",
        "unfit = set()",
        (f"{PLANS}::test_a_failure_is_reported_again_by_each_run",),
    ),
    Break(
        "a missing value is reported once",
        ASSIGNMENTS,
        "            if any(map(rendering.lacks_value, files.values()))\n",
        "            if not files\n",
        (f"{PLANS}::test_a_missing_value_is_reported_again_by_each_run",),
    ),
    Break(
        "a registration whose assignments are doubtful is rendered in part",
        ASSIGNMENTS,
        "            if doubtful.isdisjoint(known):\n",
        "            if True:\n",
        (f"{PLANS}::test_an_expensive_assignment_renders_its_whole_registration",),
    ),
)
