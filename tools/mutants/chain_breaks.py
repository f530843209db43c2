"""Breaks of the chain's commands, and the stories and tables that should notice them."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import (
    CLIENTS,
    COMMANDS,
    COMPLIANCE,
    GITOPS,
    PROMOTION,
    Break,
    case,
    story,
)

THROUGH: Final = story("promotion", "a_commit_goes_through_all_environments")
ADOPTED: Final = story("adoption", "no_folder_is_deleted_while_its_owner_is_unknown")
UNOPENED: Final = (
    "tests/commands/chain/test_cd_at_once.py"
    "::test_an_older_commit_between_the_push_and_its_pull_request"
)
RESOURCE_MANAGER: Final = "tests/clients/resource_graph/test_resource_manager.py"
DELETED: Final = "tests/compliance/test_deleted_clusters.py"
CHECK_PROMOTE: Final = "tests/commands/chain/test_check_promote"

CHAIN_BREAKS: Final = (
    Break(
        "compliance starts no next environment",
        f"{COMMANDS}/check_promote/command.py",
        "    for environment in onward:\n",
        "    for environment in onward[:0]:\n",
        (THROUGH,),
    ),
    Break(
        "every promotion is superseded",
        f"{PROMOTION}/run_verdict.py",
        "    if promoted_commit == expected or (",
        "    if expected is None or (",
        (case("promotion/run_verdict", "when_another_commit_ends_a_promotion"),),
    ),
    Break(
        "Deployed is success while a next environment exists",
        f"{PROMOTION}/statuses.py",
        '"success" if is_last else "pending"',
        '"success"',
        (case("promotion/decisions", "the_table_of_statuses"),),
    ),
    Break(
        "zero rows comply",
        f"{COMPLIANCE}/assessment.py",
        'return ("none-targeted" if requirements.require_targets else "compliant"), reason',
        'return "compliant", reason',
        (case("compliance/assessment", "no_reports"),),
    ),
    Break(
        "failing clusters are waited for",
        f"{COMPLIANCE}/assessment.py",
        "    return failed > len(group) - _needed(group, requirements)\n",
        "    return failed > len(group)\n",
        (case("compliance/assessment", "the_outcome"),),
    ),
    Break(
        "a cluster complies with whatever commit it runs",
        f"{COMPLIANCE}/clusters.py",
        "    if commit in desired.commits:\n",
        "    if commit:\n",
        ("tests/compliance/test_clusters.py::test_the_first_state_that_fits",),
    ),
    Break(
        "a cluster complies before it has applied the commit",
        f"{COMPLIANCE}/clusters.py",
        "        if kustomization and commit and commit not in desired.commits:\n",
        "        if kustomization and not commit:\n",
        (f"{CHECK_PROMOTE}_applied.py::test_a_synced_commit_is_not_applied_yet",),
    ),
    Break(
        "an old failure of a nested object fails the new commit",
        f"{COMPLIANCE}/clusters.py",
        "not (origin and runs_earlier_revision(origin, commits, synced_at))",
        "not (origin == reported and runs_earlier_revision(origin, commits, synced_at))",
        (f"{CHECK_PROMOTE}_applied.py::test_a_failure_of_the_commit_before_is_no_verdict[nested]",),
    ),
    Break(
        "silent clusters count as deleted",
        f"{COMMANDS}/check_promote/deleted_clusters.py",
        "        self._deleted |= dict.fromkeys(deleted, now)\n",
        "        self._deleted |= dict.fromkeys(clusters, now)\n",
        (f"{CHECK_PROMOTE}_lost.py::test_a_cluster_that_azure_still_has_counts",),
    ),
    Break(
        "a verdict counts although a branch has moved",
        f"{COMMANDS}/check_promote/command.py",
        "        for max_age in (BRANCHES_AGE, timedelta()):\n",
        "        for max_age in (BRANCHES_AGE,):\n",
        (
            f"{CHECK_PROMOTE}_waiting.py::test_a_revert_just_before_the_clusters_comply_stops_the_commit",
        ),
    ),
    Break(
        "a cluster that is created again does not count",
        f"{COMPLIANCE}/deleted_clusters.py",
        "found_at is not None and (report.reported_at or NEVER) <= found_at",
        "found_at is not None",
        (f"{DELETED}::test_a_report_from_after_the_answer_is_of_a_new_cluster",),
    ),
    Break(
        "every 404 means a deleted cluster",
        f"{CLIENTS}/resource_graph/resource_manager.py",
        "response.status_code == 404 and _code(response) in NOT_FOUND",
        "response.status_code == 404",
        (f"{RESOURCE_MANAGER}::test_any_other_answer_proves_nothing[no such type]",),
    ),
    Break(
        "clusters of a former name are overlooked",
        f"{COMMANDS}/check_promote/other_urls.py",
        "self._leads_to(key, branch))",
        "not self._leads_to(key, branch))",
        (f"{CHECK_PROMOTE}_other_urls.py::test_the_clusters_of_a_former_name_count",),
    ),
    Break(
        "a rate limit makes a former name that of another repository",
        f"{COMMANDS}/check_promote/other_urls.py",
        "not in UNREADABLE or error.limited or name",
        "not in UNREADABLE or name",
        (f"{CHECK_PROMOTE}_other_urls.py::test_a_rate_limit_is_no_answer_about_a_name",),
    ),
    Break(
        "a former name is read with the credential for its owner",
        f"{CLIENTS}/github/repositories.py",
        'github.send(repository, "GET", f"/repos/{path}")',
        'github.send(name, "GET", f"/repos/{path}")',
        (f"{CHECK_PROMOTE}_other_urls.py::test_a_former_name_may_have_another_owner",),
    ),
    Break(
        "a failure of the commit before fails the new one",
        f"{COMPLIANCE}/kustomizations.py",
        "        and condition.last_transition < source_updated_at\n",
        "        and condition.last_transition == source_updated_at\n",
        (f"{CHECK_PROMOTE}_applied.py::test_a_failure_of_the_commit_before_is_no_verdict",),
    ),
    Break(
        "a failed commit is not carried on by its correction",
        f"{PROMOTION}/merges.py",
        'Merge("continuation", after) if is_open(latest) else Merge("configuration")',
        'Merge("configuration")',
        (case("promotion/decisions", "the_meaning_of_a_push"),),
    ),
    Break(
        "a promotion that changes no manifest is none",
        f"{GITOPS}/proposal_decision.py",
        "        has_changes=changed or is_new or is_incomplete,\n",
        "        has_changes=not only_tracks(changes, base.path) or is_new,\n",
        (story("promotion", "a_promotion_that_changes_no_manifest"),),
    ),
    Break(
        "what is merged meanwhile is no target",
        f"{COMMANDS}/check_promote/followed_branch.py",
        "        if head == self._head:\n            return\n",
        "        if self._head:\n            return\n",
        (
            case(
                "commands/chain/check_promote_waiting",
                "a_configuration_change_before_the_clusters_have_synced_still_promotes",
            ),
        ),
    ),
    Break(
        "a doubled run takes back what was found",
        f"{COMMANDS}/check_promote/status.py",
        "        if not is_deployed(latest):\n",
        "        if latest is None or failed:\n",
        (case("commands/chain/check_promote", "a_deployed_commit_does_not_fail_later"),),
    ),
    Break(
        "an old status is trusted: a deployed commit goes on with every merge",
        f"{PROMOTION}/statuses.py",
        "    return _state(status) not in {None, State.DEPLOYED}\n",
        "    return _state(status) is not None\n",
        (case("promotion/decisions", "the_meaning_of_a_push"),),
    ),
    Break(
        "an older commit overwrites a newer one",
        f"{PROMOTION}/cd_decision.py",
        'relation is None or relation == "ahead":',
        'relation is None or relation in {"ahead", "behind"}:',
        (case("promotion/decisions", "decisions_of_cd"),),
    ),
    Break(
        "a commit that was pushed but not opened yet is overwritten",
        f"{PROMOTION}/cd_decision.py",
        "    return own_head not in ended_heads and",
        "    return own_head in ended_heads and",
        (UNOPENED,),
    ),
    Break(
        "a rollback needs nobody's word",
        f"{PROMOTION}/cd_decision.py",
        "    if allow_rollback:\n",
        "    if allow_rollback or relation:\n",
        (case("promotion/decisions", "a_rollback_must_be_allowed"),),
    ),
    Break(
        "a rollback is forced upon the next environments",
        f"{PROMOTION}/cd_decision.py",
        "    if promoted_from:\n",
        '    if promoted_from in {"", "ci"}:\n',
        (case("promotion/decisions", "decisions_of_cd"),),
    ),
    Break(
        "nobody is told what has replaced a commit",
        f"{COMMANDS}/cd/command.py",
        "    if promoted.replaced:\n",
        "    if promoted.replaced and promoted.hook:\n",
        (case("commands/chain/cd_proposals", "a_newer_commit_takes_the_place_of_an_older_one"),),
    ),
    Break(
        "a revert is a promotion",
        f"{PROMOTION}/merges.py",
        "    if goes_back and environment_commit != after:\n",
        "    if goes_back and environment_commit is None:\n",
        (case("promotion/decisions", "the_meaning_of_a_push"),),
    ),
    Break(
        "what was closed is proposed again",
        f"{GITOPS}/rejections.py",
        "    for pull in sorted(closed, key=lambda pull: pull.number):\n",
        "    for pull in sorted(closed, key=lambda pull: pull.number)[:0]:\n",
        (case("gitops/rejections", "restrictions"),),
    ),
    Break(
        "what was reverted is proposed again",
        f"{GITOPS}/merge_history.py",
        "            if before in versions and not (restored or promotes):\n",
        "            if before in versions and restored:\n",
        (case("gitops/merge_history", "the_latest_merge_is_reverted"),),
    ),
    Break(
        "a changed setting is no wish",
        f"{GITOPS}/rejections.py",
        "        is_rejected = self.is_all and not self.commits & set(changed)\n",
        "        is_rejected = bool(self.content)\n",
        (case("gitops/rejections", "restrictions"),),
    ),
    Break(
        "force repairs nothing",
        f"{GITOPS}/proposal_decision.py",
        "and not (force or is_open):",
        "and not is_open:",
        (case("gitops/proposal_decision", "force_proposes_again_but_does_not_merge"),),
    ),
    Break(
        "the removal guard is off",
        f"{GITOPS}/mass_removals.py",
        "    return removal is not None and writes and not allow_removals\n",
        "    return False\n",
        (case("gitops/changes", "blocked_removals"),),
    ),
    Break(
        "what cannot be read is deleted",
        f"{GITOPS}/desired_tree.py",
        "            if has_unknown_targets(previous)\n",
        "            if not previous\n",
        (ADOPTED,),
    ),
    Break(
        "a lost start stays lost",
        f"{PROMOTION}/starts.py",
        "        is_before_merge=statuses.is_before_merge(latest),\n",
        "        is_before_merge=latest is None,\n",
        (case("promotion/starts", "starts_of_check_promote_by_schedule"),),
    ),
    Break(
        "cd of the commit that is there repairs nothing",
        f"{COMMANDS}/cd/command.py",
        '    if promoted.action in {"written", "unchanged"}:\n',
        '    if promoted.action == "written":\n',
        (case("commands/chain/cd", "run_again_it_changes_nothing_but_starts_schedule"),),
    ),
    Break(
        "issues stay open",
        f"{COMMANDS}/schedule/issues.py",
        "        _close(repository, settled, plan, context)\n",
        "        continue\n",
        (case("commands/chain/schedule_issues", "the_issue_follows_the_failure"),),
    ),
    Break(
        "a run by the clock rests after the time of a placement",
        f"{PROMOTION}/schedule_runs.py",
        "        and not is_over(record, now)\n",
        "",
        (case("promotion/schedule_runs", "environments_at_rest"),),
    ),
    Break(
        "another attempt repairs nothing",
        f"{PROMOTION}/schedule_runs.py",
        "    return event_name == CLOCK and attempt == 1 and not force\n",
        "    return event_name == CLOCK and not force\n",
        (case("promotion/schedule_runs", "only_a_run_by_the_clock_may_rest"),),
    ),
    Break(
        "what has moved is not polled",
        f"{PROMOTION}/schedule_inputs_digest.py",
        '        json.dumps(["folder", place.repo, place.branch, place.path, tree])\n',
        '        json.dumps(["folder", place.repo, place.branch, place.path])\n',
        (case("promotion/schedule_inputs_digest", "what_changes_the_digest"),),
    ),
    Break(
        "one of two GitOps repositories is enough",
        f"{COMMANDS}/check_promote/watch.py",
        "        if self._promoted_commit is not None:\n",
        "        if self._promoted_commit is None:\n",
        (
            case(
                "commands/chain/check_promote_repositories",
                "an_older_commit_in_the_other_repository",
            ),
        ),
    ),
    Break(
        "only one next environment is started",
        f"{PROMOTION}/environments.py",
        "    return tuple(dict.fromkeys(own.next_environments))\n",
        "    return own.next_environments[:1]\n",
        (case("promotion/decisions", "next_environments"),),
    ),
    Break(
        "a dispatch is believed",
        f"{PROMOTION}/requests.py",
        "    if requested is None:\n        return None\n    if requested == promoted_commit:\n",
        "    if requested is None:\n        return None\n    if promoted_commit:\n",
        ("tests/promotion/test_requests.py::test_problems_with_a_branch",),
    ),
    Break(
        "a broken commit is sent on",
        f"{COMMANDS}/ci/command.py",
        "    if not checked.problems and starts_cd(",
        "    if starts_cd(",
        (case("commands/chain/ci", "faults_of_main_fail"),),
    ),
)
"""There is at least one break for each kind of rule that the chain keeps."""
