"""Breaks of access rules: allowed repositories, credentials, and whose text counts."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import CLIENTS, Break

URLS: Final = "tests/hostile/test_repository_urls.py"
GLOBS: Final = "tests/hostile/test_allow_list.py"
HOOKS: Final = (
    "tests/hostile/test_hooks.py::test_a_program_of_the_same_user_cannot_read_the_process"
)
OUTPUT: Final = "tests/hostile/test_output.py"
STATUSES: Final = "tests/hostile/test_statuses.py"
ONE: Final = "tests/hostile/test_one_stops_nobody.py"
SHELL: Final = "tests/hostile/test_shell_commands.py"
OBJECT_NAMES: Final = "tests/hostile/test_object_names.py"
INJECTION: Final = "tests/hostile/test_yaml_injection.py"
TAKEOVER: Final = "tests/hostile/test_takeover.py"
REDIRECTS: Final = "tests/hostile/test_redirects.py"

ACCESS_BREAKS: Final = (
    Break(
        "a redirect's target is not held against the allowed repositories",
        f"{CLIENTS}/git/connection.py",
        "                return self._accept(target)\n",
        "                return target\n",
        (f"{REDIRECTS}::test_the_target_is_not_asked_unless_it_is_allowed",),
    ),
    Break(
        "GraphQL follows a renamed repository",
        f"{CLIENTS}/github/registered_heads.py",
        ", followRenames: false",
        "",
        (f"{REDIRECTS}::test_the_heads_of_a_renamed_repository_are_left_to_git",),
    ),
    Break(
        "a glob's star crosses segments",
        "kalypso_actions/snapshot/allowed_repositories.py",
        '        return is_host and _match(self.groups, path.split("/"))\n',
        "        return is_host and _pattern(self.path).fullmatch(path) is not None\n",
        (f"{GLOBS}::test_not_allowed",),
    ),
    Break(
        "the labels of a glob end anywhere in a host",
        "kalypso_actions/snapshot/allowed_repositories.py",
        '    return f".{host}" if wild else host,',
        "    return host,",
        ("tests/snapshot/test_allowed_repositories.py::test_what_globs_allow",),
    ),
    Break(
        "an encoded slash is part of a segment",
        "kalypso_actions/model/urls.py",
        "        if character in _NEVER_ENCODED:\n",
        '        if character == "%":\n',
        (f"{URLS}::test_refused",),
    ),
    Break(
        "git gets the URL as it is written",
        f"{CLIENTS}/git/urls.py",
        "        url = normal_url(url)\n",
        "        normal_url(url)\n",
        ("tests/clients/git/test_urls.py::test_git_gets_the_normal_form",),
    ),
    Break(
        "JSON holds the runner's old commands as they are",
        "kalypso_actions/report/json_text.py",
        """(("##[", r"##\\u005b"), """,
        "(",
        (f"{OUTPUT}::test_every_command_with_every_separator",),
    ),
    Break(
        "statuses of everybody count as the chain's",
        "kalypso_actions/promotion/statuses.py",
        "    return {key: status for key, status in posted.items() if counts(status.author)}\n",
        "    return dict(posted)\n",
        (f"{STATUSES}::test_a_status_of_others_promotes_no_configuration_change",),
    ),
    Break(
        "a branch goes before the commit whose id is its name",
        f"{CLIENTS}/git/local.py",
        "        if self.has_commit(revision):\n",
        '        if revision == "":\n',
        ("tests/hostile/test_names.py::test_a_commit_is_a_commit_whatever_branches_are_called",),
    ),
    Break(
        "the waiting may have begun before the merge",
        "kalypso_actions/promotion/requests.py",
        "    return min(max(claimed, merged), now)\n",
        "    return min(claimed, now)\n",
        ("tests/hostile/test_waiting_time.py::test_the_waiting_began_between_the_merge_and_now",),
    ),
    Break(
        "the variables with which the process began stay in memory",
        "kalypso_actions/cli/own_process.py",
        "            ctypes.memset(address + len(name) + 1, 0, len(value))\n",
        "            pass\n",
        (HOOKS,),
    ),
    Break(
        "programs of the same user may read the process",
        "kalypso_actions/cli/own_process.py",
        "    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):",
        "    if libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0):",
        (HOOKS,),
    ),
    Break(
        "an equal status of anybody replaces ours",
        f"{CLIENTS}/github/statuses.py",
        "if is_equal and viewer.identity(github, repository).is_of_chain(current.author):",
        "if is_equal:",
        (f"{STATUSES}::test_an_equal_status_of_others_does_not_replace_ours",),
    ),
    Break(
        "a name has no owner while its registration cannot be read",
        "kalypso_actions/fleet/name_conflicts.py",
        "    unread = None if name in readable else",
        "    unread = None if name else",
        (f"{TAKEOVER}::test_the_owner_is_not_readable",),
    ),
    Break(
        "the names of Workloads are not recorded",
        "kalypso_actions/gitops/run_sources.py",
        "        workloads=workloads,\n",
        "        workloads={},\n",
        (f"{TAKEOVER}::test_the_owner_delivers_it_too",),
    ),
    Break(
        "a source that is a number in YAML is not compared",
        "kalypso_actions/rendering/delivered.py",
        "    return key in _USUAL and 0 < len(text)",
        "    return key == text and 0 < len(text)",
        ("tests/hostile/test_yaml_injection.py::test_plain_characters_leave_no_place",),
    ),
    Break(
        "any text may be a list of documents",
        "kalypso_actions/rendering/delivered.py",
        "_SEPARATOR.split(text) if key in self.lists else",
        "_SEPARATOR.split(text) if key else",
        ("tests/hostile/test_documents_of_a_list.py::test_no_other_documents",),
    ),
    Break(
        "objects may have any name",
        "kalypso_actions/rendering/object_names.py",
        "    if not suspicious:\n",
        "    if suspicious:\n",
        (f"{OBJECT_NAMES}::test_a_name_that_kubernetes_refuses",),
    ),
    Break(
        "a name that a Template gets wrong is its application's fault",
        "kalypso_actions/rendering/renderer.py",
        "if place not in known), None)",
        "if place), None)",
        (f"{OBJECT_NAMES}::test_a_name_of_the_template",),
    ),
    Break(
        "a script has nothing to compare",
        "kalypso_actions/rendering/shell_texts.py",
        'return "".join(char for char in',
        'return "".join("" for char in',
        (f"{SHELL}::test_no_text_changes_a_shell_command",),
    ),
    Break(
        "a label is never at fault",
        "kalypso_actions/rendering/delivered.py",
        "    for labels in (target.labels, usual, fixed):\n",
        "    for labels in (target.labels,):\n",
        (f"{ONE}::test_a_label_on_a_cluster_type_of_its_own",),
    ),
    Break(
        "a failure is its registration's fault if others render elsewhere",
        "kalypso_actions/snapshot/registration_faults.py",
        "cluster_type == assignment.cluster_type.name and name",
        "name",
        (f"{ONE}::test_a_fault_of_a_template_on_a_cluster_type_of_its_own",),
    ),
    Break(
        "a legacy namespace has no owner",
        "kalypso_actions/fleet/name_conflicts.py",
        "        if targets.get(target) == delivery.registration:\n",
        "        if targets.get(target) is delivery:\n",
        (f"{TAKEOVER}::test_a_legacy_namespace",),
    ),
    Break(
        "what a command of the user leaves behind goes on",
        f"{CLIENTS}/leftover_processes.py",
        "    _set_subreaper(1)\n",
        "    _set_subreaper(0)\n",
        ("tests/hostile/test_hooks.py::test_nothing_that_a_command_started_outlives_it",),
    ),
    Break(
        "the items of a Template may be cut off",
        "kalypso_actions/rendering/outline.py",
        "            self.places.append((self.file, item, ITEM))\n",
        "            pass\n",
        (f"{INJECTION}::test_one_line_does_not_change_the_documents",),
    ),
    Break(
        "a plain question mark is read in flow mappings",
        "kalypso_actions/rendering/outline.py",
        """                if "?" in event.value:\n""",
        """                if "??" in event.value:\n""",
        (f"{INJECTION}::test_one_line_does_not_change_the_documents",),
    ),
    Break(
        "an application repeats a key of the Template",
        "kalypso_actions/rendering/repeated_keys.py",
        "                if event.value in mappings[-1] and event.value in keys:\n",
        "                if not keys:\n",
        (f"{OBJECT_NAMES}::test_a_key_that_the_template_writes_as_well",),
    ),
)
